"""Exponential, trigonometric and Fresnel integrals and the dilogarithm, as subprograms.

Pieces next to 0; beyond, those of auxiliary functions that vary slowly (DLMF 6.2, 7.5).
"""

from __future__ import annotations

import math

from npcompile.graph.expression import Expr, const, copysign, fma, poly, rint, where
from npcompile.graph.subprograms import Results, choose, repeat, subprogram
from npcompile.special.arithmetic.double_word import quick_two_sum, two_product, two_sum
from npcompile.special.coefficients.exponential_integral import (
    EXPI_FAR,
    EXPI_MIDDLE,
    EXPI_NEAR,
    EXPI_ROOT,
    HYPERBOLIC_COSINE_NEAR,
    HYPERBOLIC_SINE_NEAR,
)
from npcompile.special.coefficients.fresnel import (
    DILOGARITHM,
    FRESNEL_F,
    FRESNEL_G,
    FRESNEL_NEAR,
)
from npcompile.special.coefficients.sine_integral import (
    AUXILIARY_F,
    AUXILIARY_G,
    COSINE_NEAR,
    SINE_NEAR,
)
from npcompile.special.elementary.circular import cos, sin
from npcompile.special.elementary.exponential import clamp, exp_parts
from npcompile.special.elementary.logarithm import log_pair, log_sum
from npcompile.special.elementary.piecewise import (
    DOUBLE,
    INFINITY,
    NAN,
    Pair,
    Rows,
    exp_sum,
    halves,
    log_of,
    piece,
    scaled_quietly,
    uniform,
)
from npcompile.special.gamma_functions.gamma_function import digamma, half_turns
from npcompile.special.gamma_functions.incomplete_gamma import upper_fraction
from npcompile.special.integrals.dawson import dawsn, exp1

(ROOT, ROOT_LOW), (EULER, EULER_LOW) = EXPI_ROOT["d"]
HALF_PI = (math.pi / 2, 6.123233995736766e-17)
BY_PI = 1 / math.pi


def exp_times(x: Expr, factor: Expr, low: Expr | None = None) -> Expr:
    """``exp(x + low) * factor`` for a factor of about 1; infinite from 720 on."""
    head, tail, k = exp_parts(clamp(x, -760.0, 720.0), low, DOUBLE)
    head, tail = quick_two_sum(head, tail)
    value = scaled_quietly(fma(head, factor, tail * factor), k)
    return where(x < 720.0, where(x > -760.0, value, value * 0.0), INFINITY)


def _with_log(x: Expr, rest: Expr, rest_low: Expr) -> Expr:
    """``euler + log(x) + rest``, next to zeros of the sum, too."""
    high, low = log_pair(x, DOUBLE)
    s, e = two_sum(high, const(EULER, x))
    s, e1 = two_sum(s, rest)
    return s + (e + e1 + (low + rest_low + EULER_LOW))


# ------------------------------------------------------------------ exponential integrals


def _positive_expi(x: Expr) -> Expr:
    """Ei for positive finite x."""
    near, far = x <= 0.25, x >= 64.0

    def small() -> Results:
        inside = where(near, x, 0.25)
        rest, lost = two_product(inside, poly(inside, EXPI_NEAR["d"]))
        return (_with_log(inside, rest, lost),)

    def large() -> Results:
        middle = where(near | far, 1.0, x)
        value, tail = piece(middle, None, halves(middle, 0.25), EXPI_MIDDLE["d"])
        d, d_low = two_sum(middle, const(-ROOT, x))
        share = d / middle
        share_low = (fma(-share, middle, d) + (d_low - ROOT_LOW)) / middle
        product, lost = two_product(share, value)
        factor = product + (lost + fma(share, tail, share_low * value))
        u = 1.0 / where(far, x, 64.0)
        factor = where(far, u * poly(u, EXPI_FAR["d"]), factor)
        return (exp_times(x, factor),)

    return choose(near, small, large)[0]


@subprogram
def expi(x: Expr) -> Expr:
    """The exponential integral Ei."""
    a = abs(x)
    fine = (a > 0.0) & (a < INFINITY)
    inside = where(fine, a, 1.0)
    value, = choose(x < 0.0, lambda: (-exp1(inside),), lambda: (_positive_expi(inside),))
    value = where(a == INFINITY, where(x > 0.0, x, -0.0), where(a == 0.0, -INFINITY, value))
    return where(x == x, value, x)


def _series(n: Expr, x: Expr) -> Expr:
    """E_n for ``0 < x <= 1`` (DLMF 8.19.8)."""

    def step(m: Expr, term: Expr, total: Expr, lost: Expr) -> Results:
        bottom = m - n + 1.0
        added = where(bottom == 0.0, 0.0, -term / where(bottom == 0.0, 1.0, bottom))
        total, e = two_sum(total, added)
        m = m + 1.0
        return m < 22.0, m, -term * x / m, total, lost + e

    zero = const(0.0, x)
    _, _, total, lost = repeat(step, zero, const(1.0, x), zero, zero)
    whole = where(n < 100.0, n, 100.0)
    high, low = log_pair(x, DOUBLE)
    power = const(1.0, x)
    few = where(whole < 26.0, whole, 26.0)

    def raised(k: Expr, power: Expr) -> Results:
        return k + 1.0 < few, k + 1.0, where(k < few, power * (-x / k), power)

    _, power = repeat(raised, const(1.0, x), power)
    start, start_low = two_sum(digamma(whole), -high)
    product, lost_1 = two_product(power, start)
    total, e = two_sum(total, product)
    rest = lost_1 + power * (start_low - low)
    return where(n < 26.0, total + (lost + e + rest), total - product + lost)


@subprogram
def expn(n: Expr, x: Expr) -> Expr:
    """The exponential integral of whole order n."""
    fine = (n >= 1.0) & (x > 0.0) & (x < INFINITY)
    order, inside = where(fine, n, 1.0), where(fine, x, 1.0)

    def above() -> Results:
        return (exp_sum(-inside) * upper_fraction(1.0 - order, inside),)

    value, = choose(inside > 1.0, above, lambda: (_series(order, inside),))
    value = where(n == 1.0, exp1(inside), value)
    at_zero = where(n < 2.0, INFINITY, 1.0 / where(n < 2.0, 1.0, n - 1.0))
    flat = exp_sum(-x) / where(x > 0.0, x, 1.0)
    value = where(x == 0.0, at_zero, where(n == 0.0, flat, value))
    value = where(x > 800.0, 0.0, value)
    return where((n < 0.0) | (x < 0.0) | (x != x), NAN, value)


# ------------------------------------------------------------------ sine and cosine integrals


def _near(x: Expr, rows: Rows) -> Pair:
    return piece(x, None, uniform(x, 2.0), rows)


def _waves(x: Expr) -> tuple[Expr, Expr, Expr, Expr]:
    """f, g, sine and cosine for ``x >= 4``."""
    v = 1.0 / x
    u = 4.0 * v
    f, g = (sum(piece(u, None, uniform(u, 16.0), rows["d"])) for rows in (AUXILIARY_F, AUXILIARY_G))
    return f * v, g * v * v, sin(x), cos(x)


@subprogram
def sine_integral(x: Expr) -> Expr:
    """The sine integral Si."""
    a = abs(x)
    fine = (a < INFINITY)
    near = ~(a >= 4.0)

    def small() -> Results:
        inside = where(near & fine, a, 0.0)
        value, tail = _near(inside, SINE_NEAR["d"])
        return (inside * (value + tail),)

    def large() -> Results:
        f, g, sine, cosine = _waves(where(near | ~fine, 4.0, a))
        return (HALF_PI[0] - (fma(f, cosine, g * sine) - HALF_PI[1]),)

    value, = choose(near, small, large)
    value = copysign(where(a == INFINITY, HALF_PI[0], value), x)
    return where(x == x, value, x)


@subprogram
def cosine_integral(x: Expr) -> Expr:
    """The cosine integral Ci; its real part for negative numbers."""
    a = abs(x)
    fine = (a > 0.0) & (a < INFINITY)
    near = ~(a >= 4.0)

    def small() -> Results:
        inside = where(near & fine, a, 1.0)
        value, tail = _near(inside, COSINE_NEAR["d"])
        square, lost = two_product(inside, inside)
        rest, rest_low = two_product(square, value)
        return (_with_log(inside, rest, rest_low + fma(square, tail, lost * value)),)

    def large() -> Results:
        f, g, sine, cosine = _waves(where(near | ~fine, 4.0, a))
        return (fma(f, sine, -(g * cosine)),)

    value, = choose(near, small, large)
    value = where(a == 0.0, -INFINITY, where(x == INFINITY, 0.0, value))
    return where((x == x) & (x > -INFINITY), value, NAN)


@subprogram
def hyperbolic_sine_integral(x: Expr) -> Expr:
    """The hyperbolic sine integral Shi."""
    a = abs(x)
    near = ~(a >= 1.0)
    large = where(near | (a == INFINITY), 1.0, a)

    def small() -> Results:
        inside = where(near & (a == a), a, 0.0)
        square = inside * inside
        return (fma(inside * square, poly(square, HYPERBOLIC_SINE_NEAR["d"]), inside),)

    value, = choose(near, small, lambda: (fma(_positive_expi(large), 0.5, 0.5 * exp1(large)),))
    value = copysign(where(a == INFINITY, INFINITY, value), x)
    return where(x == x, value, x)


@subprogram
def hyperbolic_cosine_integral(x: Expr) -> Expr:
    """The hyperbolic cosine integral Chi; its real part for negative numbers."""
    a = abs(x)
    near = ~(a >= 1.0)
    large = where(near | (a == INFINITY), 1.0, a)

    def small() -> Results:
        inside = where(near & (a > 0.0), a, 0.5)
        square, lost = two_product(inside, inside)
        first = HYPERBOLIC_COSINE_NEAR["d"][0]
        rest, rest_low = two_product(square, first)
        more = square * square * poly(square, HYPERBOLIC_COSINE_NEAR["d"][1:])
        rest, e = quick_two_sum(rest, more)
        return (_with_log(inside, rest, e + fma(lost, first, rest_low)),)

    value, = choose(near, small, lambda: (fma(_positive_expi(large), 0.5, -0.5 * exp1(large)),))
    value = where(a == INFINITY, INFINITY, where(a == 0.0, -INFINITY, value))
    return where(x == x, value, x)


# ------------------------------------------------------------------ Fresnel integrals


def _circle(x: Expr) -> Pair:
    """Sine and cosine of ``pi * x**2 / 2``."""
    square, low = two_product(x, x)
    square, low = where(x < 1e15, square, 0.0), where(x < 1e15, low, 0.0)
    r = square - 4.0 * rint(0.25 * square)  # quarters of a turn, from -2 to 2
    r, low = two_sum(r, low)
    sine, cosine = half_turns(0.5 * r)
    cosine = where(abs(r) > 1.0, -cosine, cosine)
    sine = copysign(sine, r)
    angle = HALF_PI[0] * low
    return fma(angle, cosine, sine), fma(-angle, sine, cosine)


def _fresnel(x: Expr, sine: bool) -> Expr:
    a = abs(x)
    near = ~(a >= 1.5)

    def small() -> Results:
        inside = where(near & (a == a), a, 0.0)
        square = inside * inside
        value = poly(square * square, FRESNEL_NEAR["d"][not sine])
        return (inside * square * value if sine else inside * value,)

    def large() -> Results:
        inside = where(near | (a > 1e300), 1.5, a)
        v = 1.0 / inside
        u = 2.25 * v * v
        f, g = (sum(piece(u, None, uniform(u, 16.0), rows["d"])) for rows in (FRESNEL_F, FRESNEL_G))
        f, g = f * (v * BY_PI), g * (v * v * v * BY_PI * BY_PI)
        s, c = _circle(inside)
        wave = fma(f, c, g * s) if sine else fma(g, c, -(f * s))
        return (0.5 - where(a > 1e300, 0.0, wave),)

    value, = choose(near, small, large)
    return where(x == x, copysign(value, x), x)


@subprogram
def fresnel_sine(x: Expr) -> Expr:
    """The Fresnel integral S."""
    return _fresnel(x, True)


@subprogram
def fresnel_cosine(x: Expr) -> Expr:
    """The Fresnel integral C."""
    return _fresnel(x, False)


# ------------------------------------------------------------------ dilogarithm


@subprogram
def spence(x: Expr) -> Expr:
    """The dilogarithm of ``1 - x`` (DLMF 25.12.4 and 25.12.6)."""
    fine = (x > 0.0) & (x < INFINITY)
    inside = where(fine, x, 1.0)
    above = inside > 1.5
    z = where(above, 1.0 / inside, inside)  # up to 1.5
    small = z < 0.5
    less = where(above, (1.0 - inside) / inside, inside - 1.0)  # z - 1
    w = where(small, -z, less)
    value = -w * poly(w, DILOGARITHM["d"])
    log = where(inside == 1.0, 0.0, log_of(inside))
    first = where(above, -log, log)  # of z
    high, low = log_sum(*two_sum(const(1.0, x), -where(small, z, 0.0)), DOUBLE)
    second = high + low
    product, lost = two_product(first, second)
    s, e = two_sum(const(1.6449340668482264, x), -product)
    t, e1 = two_sum(s, -value)
    folded = t + (e + e1 - lost)
    value = where(small, folded, value)
    value = where(above, fma(-0.5 * log, log, -value), value)
    value = where(x == 0.0, 1.6449340668482264, where(x == INFINITY, -INFINITY, value))
    return where(x >= 0.0, value, NAN)


# ------------------------------------------------------------------ error function


@subprogram
def erfi(x: Expr) -> Expr:
    """The imaginary error function: ``2 / sqrt(pi) * exp(x*x) * dawsn(x)``."""
    fine = abs(x) < 30.0
    inside = where(fine, x, 0.0)
    square, low = two_product(inside, inside)
    value = exp_times(square, dawsn(inside) * 1.1283791670955126, low)
    far = where(x != x, x, copysign(INFINITY, x))
    return where(fine, where(abs(x) < 1e-150, x * 1.1283791670955126, value), far)
