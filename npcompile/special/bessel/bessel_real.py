"""Modified Bessel functions of real order, as subprograms.

Where order and argument are 40 or more from 0 together, Debye's uniform expansions (DLMF 10.41),
which hold for small orders there, too.  Nearer, I is its power series (10.25.2), and K runs forward
on its recurrence from orders in [-1/2, 3/2], which are Temme's series (On the numerical evaluation
of the modified Bessel function of the third kind, J. Comput. Phys. 19, 1975) or a trapezoidal rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from npcompile.graph.expression import (
    Expr,
    cast,
    const,
    floor,
    fma,
    lookup,
    poly,
    rint,
    sqrt,
    where,
)
from npcompile.graph.subprograms import (
    Results,
    choose,
    choose_among,
    packed_subprogram,
    repeat,
)
from npcompile.special.arithmetic.double_double import Doubled, product_of, sum_of
from npcompile.special.arithmetic.double_word import two_product, two_sum
from npcompile.special.arithmetic.formats import power_of_two
from npcompile.special.coefficients.bessel import DEBYE
from npcompile.special.coefficients.gamma import GAMMA_PAIR
from npcompile.special.coefficients.quadrature import HYPERBOLAS, STEPS
from npcompile.special.elementary.exponential import exp_parts
from npcompile.special.elementary.hyperbolic import sinh
from npcompile.special.elementary.logarithm import log_pair
from npcompile.special.elementary.piecewise import DOUBLE, INFINITY, NAN, exp_sum
from npcompile.special.gamma_functions.gamma_function import half_turns
from npcompile.special.gamma_functions.incomplete_gamma import factor_parts

#: from which distance from 0 the uniform expansions are used, and beyond which nothing is computed
DISTANCE, MOST = 40.0, 1e100
#: up to which order arguments beyond that are large against it
FEW = 1e40
#: up to which argument K is Temme's series, and below which it is that of the limit
SERIES, TINY = 1.0, 1e-290


def _uniform(n: Expr, x: Expr) -> tuple[Doubled, Expr, Expr, Expr]:
    """For Debye's expansions: the exponent, ``1 / sqrt(n*n + x*x)``, and the sums of their even
    and odd terms."""
    square = product_of(n, n) + product_of(x, x)
    r = square.root()
    q = (r + n) / x
    log, low = log_pair(q.high, DOUBLE)
    exponent = r - Doubled(*two_sum(log, low + q.low / q.high)) * n
    t = 1.0 / r.high
    p = n * t
    p = p * p
    rows = [poly(p, row) for row in DEBYE["d"]]
    by_square = t * t
    return exponent, t, poly(by_square, rows[::2]), t * poly(by_square, rows[1::2])


def _exponential(exponent: Doubled, x: Expr, factor: Expr) -> Expr:
    """``exp(exponent + x) * factor``, rounded once where it is subnormal."""
    whole = exponent + x
    small = whole.high < 0.0
    whole = whole + where(small, const(100.0, x), -4.0)
    back = where(small, const(math.exp(-100.0), x), math.exp(4.0))
    return exp_sum(whole.high, whole.low) * (factor * back)


def _power_series(n: Expr, half: Expr) -> Expr:
    """The sum of ``y**k / (k! * (n + 1)...(n + k))``, ``y = half**2``, four terms by one division;
    the powers that all terms share are corrected for their rounding."""
    y, lost = two_product(half, half)
    square, low = two_product(y, y)
    cube = square * y
    fourth, rest = two_product(square, square)
    rest = fma(square + square, low, rest)

    def step(k: Expr, term: Expr, total: Expr) -> Results:
        bottom, top = (k + 1.0) * (n + (k + 1.0)), const(1.0, y)
        for j, power in enumerate((y, square, cube)):
            last = (k + (j + 2.0)) * (n + (k + (j + 2.0)))
            bottom, top = bottom * last, fma(top, last, power)
        share = term / bottom
        following = fma(share, rest, share * fourth)
        return following > 1e-17 * total, k + 4.0, following, fma(share * y, top, total)

    one = const(1.0, y)
    total = repeat(step, const(0.0, y), one, one)[2]
    largest = 0.5 * (sqrt(fma(n, n, 4.0 * y)) - n)  # the term that is, where they are many
    return fma(total, where(y > 1.0, largest * lost / y, 0.0), total)


def _first_uniform(n: Expr, x: Expr, scaled: bool) -> Expr:
    """I by the uniform expansion."""
    exponent, t, even, odd = _uniform(n, where(x < TINY, TINY, x))
    size = sqrt(t * (0.5 / math.pi)) * (even + odd)
    return _exponential(exponent, -x if scaled else x * 0.0, size)


def _first_series(n: Expr, x: Expr, scaled: bool) -> Expr:
    """I by its power series."""
    half = where(x < 1e-323, 1e-323, 0.5 * x)
    high, low, size = factor_parts(n, half)
    total = _power_series(n, half)
    return _exponential(Doubled(high, low), -half if scaled else half, size * total)


def _is_far(n: Expr, x: Expr) -> Expr:
    return n * n + x * x >= DISTANCE**2


# ------------------------------------------------------------------ K


def temme_start(u: Expr, x: Expr) -> Results:
    """What Temme's series of K and of Y begin with: the numerator and the denominator of the first
    term, ``(2/x)**u``, its inverse, ``1/gamma(1 + u)`` and ``1/gamma(1 - u)``."""
    tiny = x < TINY
    lifted = where(tiny, x * 2.0**100, x)
    q = 2.0 / lifted
    log, low = log_pair(q, DOUBLE)
    log, low = two_sum(log, low + fma(-q, lifted, 2.0) * 0.5)
    log = where(tiny, log + 100 * math.log(2.0), log)
    e, e_low = two_product(u, log)
    grown = exp_sum(e, fma(u, low, e_low))
    fallen = 1.0 / grown
    small = abs(e) < 1.0
    shrunk = where(small, sinh(where(small, e, 0.0)), 0.5 * (grown - fallen))
    flat = abs(e) < 1e-150
    ratio = where(flat, 1.0, shrunk / where(flat, 1.0, e))
    z = u * u
    odd, even = (poly(z, row) for row in GAMMA_PAIR["d"])
    less, more = fma(u, -odd, even), fma(u, odd, even)
    top = fma(odd, 0.5 * (grown + fallen), even * ratio * log)
    return top, less * more, grown, fallen, less, more


def _temme(u: Expr, x: Expr) -> Results:
    """K of the orders u and u + 1, ``|u| <= 1/2``, for small x."""
    top, bottom, grown, fallen, less, more = temme_start(u, x)
    first = top / bottom
    p, q = 0.5 * grown / less, 0.5 * fallen / more
    d = 0.25 * x * x

    def step(k: Expr, f: Expr, p: Expr, q: Expr, c: Expr, total: Expr, other: Expr) -> Results:
        below, above = k - u, k + u
        inverse = 1.0 / (below * above * k)
        f = fma(k, f, p + q) * (inverse * k)
        p, q, c = p * (above * k * inverse), q * (below * k * inverse), c * (
            d * (below * above * inverse))
        rise, lift = c * f, c * fma(-k, f, p)
        total, other = total + rise, other + lift
        more = (abs(rise) > 1e-17 * abs(total)) | (abs(lift) > 1e-17 * abs(other))
        return more, k + 1.0, f, p, q, c, total, other

    one = const(1.0, x)
    *_, total, other = repeat(step, one, first, p, q, one, first, p)
    return total, other * (2.0 / x)


def _quadrature(u: Expr, x: Expr) -> Results:
    """The same for larger x, times exp(x): the trapezoidal rule for the integral of
    ``exp(x - x*cosh(t)) * cosh(u*t)`` (DLMF 10.32.9, 3.5.4), all of whose terms are positive."""
    steps, starts = STEPS["d"]
    index = cast(where(x < starts[1], 0.0, where(x < starts[2], 1.0, where(
        x < starts[3], 2.0, const(3.0, x)))), "l")
    step = lookup(index, steps)
    sums = [Hyperbolic(u * step), Hyperbolic((u + 1.0) * step)]
    terms: list[tuple[Expr, Expr]] = []
    for row in HYPERBOLAS["d"]:
        height = x * lookup(index, row)
        head, tail, k = exp_parts(where(height < 700.0, -height, -700.0), None, DOUBLE)
        weight = (head + tail) * power_of_two(k, DOUBLE)
        first, second = (of.following() for of in sums)
        terms.append((weight * first, weight * second))
    total = other = const(0.0, x)
    for first, second in reversed(terms):
        total, other = total + first, other + second
    return (total + 0.5) * step, (other + 0.5) * step


class Hyperbolic:
    """``cosh(k*z)`` for ``k = 1, 2, ...``, by its differences, which keep small errors small."""

    def __init__(self, z: Expr) -> None:
        square = z * z
        self.factor = square * poly(square, [2 / math.factorial(k) for k in range(2, 18, 2)])
        self.value, self.rise = const(1.0, z), 0.5 * self.factor

    def following(self) -> Expr:
        """The next one."""
        self.value = self.value + self.rise
        self.rise = fma(self.factor, self.value, self.rise)
        return self.value


def _second_uniform(n: Expr, x: Expr, scaled: bool) -> Expr:
    """K by the uniform expansion."""
    exponent, t, even, odd = _uniform(n, where(x < TINY, TINY, x))
    size = sqrt(t * (0.5 * math.pi)) * (even - odd)
    return _exponential(-exponent, x if scaled else x * 0.0, size)


def _forward(start: Callable[[Expr, Expr], Results], n: Expr, x: Expr) -> Expr:
    """K of the order n by those of the orders next to it in [-1/2, 3/2]."""
    order = rint(n)
    u = n - order
    first, second = start(u, x)

    def step(k: Expr, high: Expr, low: Expr, before: Expr, before_low: Expr) -> Results:
        factor = sum_of(u, k) * by
        size = high * factor.high
        endless = ~(abs(size) < 1e300)
        now = Doubled(high, low) * factor + Doubled(before, before_low)
        return (k + 1.0 < order, k + 1.0, where(endless, size, now.high),
                where(endless, 0.0, now.low), high, low)

    one, zero = const(1.0, x), const(0.0, x)
    by = Doubled(one + one) / where(x < TINY, TINY, x)
    _, high, low, _, _ = repeat(step, one, second, zero, first, zero)
    return where(order < 1.0, first, where(order < 2.0, second, high + low))


# ------------------------------------------------------------------ all numbers


def _iv(v: Expr, x: Expr, scaled: bool) -> Expr:
    n, y = abs(v), abs(x)
    whole, odd = n == floor(n), 0.5 * n != floor(0.5 * n)
    fine = (n <= MOST) & (y <= MOST) & (y > 0.0) & (whole | (x > 0.0))
    mirrored, far = fine & (v < 0.0) & ~whole, _is_far(n, y)

    def usual() -> Expr:
        value, = choose(_is_far(n, y), lambda: (_first_uniform(n, y, scaled),),
                        lambda: (_first_series(n, y, scaled),))
        return value

    def other() -> Expr:
        """``I_n + 2/pi * sin(pi*n) * K_n`` (DLMF 10.27.2)."""
        sine, _ = half_turns(n)
        half = 0.5 * floor(n)
        sine = where(half == floor(half), sine, -sine)
        more = kv_of_real(n, y) * exp_sum(-y) if scaled else kv_of_real(n, y)
        return usual() + (2 / math.pi) * sine * more

    def ends() -> Expr:
        at_0 = where((v > 0.0) | whole, where(v == 0.0, 1.0, const(0.0, x)), INFINITY)
        value = where((x == 0.0) & (v == v), at_0, NAN)
        far = sqrt((0.5 / math.pi) / abs(x)) if scaled else const(INFINITY, x)
        far = where((x < 0.0) & odd, -far, far)
        value = where((abs(x) > MOST) & (abs(v) < FEW) & ((x > 0.0) | whole), far, value)
        value = where((abs(v) > MOST) & (abs(x) <= MOST) & (x != 0.0), 0.0, value)
        return where((x == x) & (v == v), value, NAN)

    direct = fine & ~mirrored
    value = choose_among(
        const(0.0, x), (direct & far, lambda: _first_uniform(n, y, scaled)),
        (direct & ~far, lambda: _first_series(n, y, scaled)), (mirrored, other), (~fine, ends))
    return where(fine & (x < 0.0) & odd, -value, value)


def _kv(v: Expr, x: Expr, scaled: bool) -> Expr:
    n = abs(v)
    fine = (n <= MOST) & (x > 0.0) & (x <= MOST)
    far, small = _is_far(n, x), x <= SERIES

    def series() -> Expr:
        value = _forward(_temme, n, x)
        return value * exp_sum(x) if scaled else value

    def quadrature() -> Expr:
        value = _forward(_quadrature, n, x)
        return value if scaled else value * exp_sum(-x)

    def ends() -> Expr:
        value = sqrt((0.5 * math.pi) / x) if scaled else const(0.0, x)
        value = where((x > MOST) & (n < FEW), value, NAN)
        endless = (x == 0.0) | ((n > MOST) & (x > 0.0) & (x <= MOST))
        return where((n == n) & endless, INFINITY, value)

    return choose_among(
        const(0.0, x), (fine & far, lambda: _second_uniform(n, x, scaled)),
        (fine & ~far & small, series), (fine & ~far & ~small, quadrature), (~fine, ends))


@packed_subprogram
def iv_of_real(v: Expr, x: Expr) -> Expr:
    """The modified Bessel function I."""
    return _iv(v, x, False)


@packed_subprogram
def ive_of_real(v: Expr, x: Expr) -> Expr:
    """``exp(-abs(x)) * iv(v, x)``"""
    return _iv(v, x, True)


@packed_subprogram
def kv_of_real(v: Expr, x: Expr) -> Expr:
    """The modified Bessel function K."""
    return _kv(v, x, False)


@packed_subprogram
def kve_of_real(v: Expr, x: Expr) -> Expr:
    """``exp(x) * kv(v, x)``"""
    return _kv(v, x, True)
