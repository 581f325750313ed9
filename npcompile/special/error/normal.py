"""erfinv, erfcinv, ndtri, erfcx and log_ndtr, as programs; none raises flags.

The inverses are pieces of functions from which the zero is divided, by octaves of the tail's
size; in the far tails, which are subprograms, they are ``y * g(s)``, ``s = sqrt(-log(1 - y*y))``
(Giles, Approximating the erfinv function, GPU Computing Gems 2, 2012), with g by pieces that reach
to the smallest numbers.  What rounding the leading terms loses is kept: errors are at most 0.5005
ulp.
"""

from __future__ import annotations

from collections.abc import Callable

from npcompile.graph.expression import (
    Expr,
    const,
    copysign,
    fma,
    lookup,
    poly,
    rare,
    to_bits,
    where,
)
from npcompile.graph.subprograms import (
    Results,
    choose,
    choose_among,
    packed_subprogram,
    subprogram,
)
from npcompile.special.arithmetic.double_double import Doubled, sum_of
from npcompile.special.arithmetic.double_word import joined, quick_two_sum, two_product, two_sum
from npcompile.special.arithmetic.formats import power_of_two
from npcompile.special.coefficients.error import ROOT_HALF
from npcompile.special.coefficients.normal import ERFCINV_MIDDLE, HALF_ROOT_PI, NDTRI_MIDDLE
from npcompile.special.coefficients.normal_tails import ERFINV
from npcompile.special.elementary.exponential import clamp, exp_parts, scaled_sum
from npcompile.special.elementary.logarithm import log1p, log_pair, log_parts
from npcompile.special.elementary.piecewise import (
    DOUBLE,
    INFINITY,
    NAN,
    Pair,
    Rows,
    halves,
    scaled_quietly,
    tabulated,
)
from npcompile.special.error.probability import ndtr, scaled_tail

#: where erfc and what is left of 1 are tails
TAIL = 2.0**-8
#: of the roots that the tails' pieces are given in: the first ones' start and width, the others'
NEAR, FAR = (2.0, 4.5 / 16), (6.5, 1.3125)
#: coefficients in two parts, and how many others float32 needs
DOUBLED, SINGLE_TERMS = 4, 10
#: up to where what a product with a number loses may not be a number
TINY, LIFT = 2.0**-960, 512
#: where half of the square overflows
BOTTOM = -1.896150381621835e154


def _inverse(y: Doubled, product: Pair, far: bool = True) -> Doubled:
    """The inverse error function at y, where ``1 - y*y`` is given in two parts; ``far``: it may
    be less than a double's distance from 0."""
    whole, low = product
    log, log_low = log_pair(whole, DOUBLE)
    s = Doubled(-log, -(log_low + low / whole)).root()
    near = _factor(s, *NEAR)
    if far:
        beyond, other = s.high >= FAR[0], _factor(s, *FAR)
        near = Doubled(rare(beyond, other.high, near.high), rare(beyond, other.low, near.low))
    return near * y


def _factor(s: Doubled, start: float, width: float) -> Doubled:
    """erfinv(y) / y, by the pieces from ``start`` on."""
    place = fma(s.high - start, 1 / width, -0.5) + DOUBLE.magic
    index = to_bits(place)
    rows = [row[16:] if start == FAR[0] else row[:16] for row in ERFINV["d"]]
    t = Doubled(*quick_two_sum(s.high - lookup(index, rows[0]), s.low))
    leading, rest = rows[1:2 * DOUBLED + 1], rows[2 * DOUBLED + 1:]
    total = Doubled(tabulated(t.high, index, rest))
    for k in range(2 * DOUBLED - 2, -1, -2):
        total = total * t + Doubled(lookup(index, leading[k]), lookup(index, leading[k + 1]))
    return total


def _middle(d: Expr, d_low: Expr | None, z: Expr, start: float, rows: Rows) -> Expr:
    """``d + d_low`` times the pieces at z, or, without d_low, at ``1 - d``, of which z is the
    rounded value; they are octaves cut into two.  What is lost of the first terms is exact (Dekker
    1971)."""
    index = halves(z, start)
    centre, value, value_low, slope, slope_low, bend, bend_low, twist = (
        lookup(index, row) for row in rows[:2 * DOUBLED])
    t, t_low = (z - centre, None) if d_low is not None else quick_two_sum(1.0 - centre, -d)
    curve = fma(twist, t, bend)
    curve_lost = fma(twist, t, bend - curve)
    slant = fma(curve, t, slope)
    slant_lost = fma(curve, t, slope - slant)
    head = fma(t, slant, value)
    lost = fma(t, slant, value - head)
    rest = fma(t, tabulated(t, index, rows[2 * DOUBLED:]), bend_low)
    tail = fma(t, fma(t, curve_lost + rest, slant_lost + slope_low), lost + value_low)
    if t_low is not None:
        tail = fma(t_low, fma(t, fma(t, twist, curve), slant), tail)
    product, lost = two_product(d, head)
    if d_low is not None:
        lost = fma(d_low, head, lost)
    return product + fma(d, tail, lost)


def single_middle(d: Expr, _: Expr | None, z: Expr, start: float, rows: Rows) -> Expr:
    """The same to 36 bits."""
    index = halves(z, start)
    leading, rest = rows[1:2 * DOUBLED:2], rows[2 * DOUBLED + 1:]
    t = z - lookup(index, rows[0])
    more = tabulated(t, index, [*leading[1:], *rest[:SINGLE_TERMS]])
    return d * fma(t, more, lookup(index, leading[0]))


Middle = Callable[[Expr, "Expr | None", Expr, float, Rows], Expr]


def erfinv(y: Expr, middle: Middle = _middle) -> Expr:
    """The inverse of erf."""
    a = abs(y)
    outer = ~((a < 1.0 - TAIL) & ((a > TINY) | (a == 0.0)))
    inside = where(outer, 0.0, a)
    value = middle(inside, None, 1.0 - inside, TAIL, ERFCINV_MIDDLE["d"])
    return rare(outer, erfinv_tail(where(outer, y, 0.0)), copysign(value, y))


def erfcinv(z: Expr, middle: Middle = _middle) -> Expr:
    """The inverse of erfc."""
    least = where(z > 1.0, 2.0 - z, z)
    outer = ~(least > TAIL)
    d, low = quick_two_sum(const(1.0, z), -where(outer, 1.0, z))
    value = middle(d, low, where(outer, 1.0, least), TAIL, ERFCINV_MIDDLE["d"])
    return rare(outer, erfcinv_tail(where(outer, z, 1.0)), value)


def ndtri(p: Expr, middle: Middle = _middle) -> Expr:
    """The inverse of ndtr."""
    least = where(p > 0.5, 1.0 - p, p)
    outer = ~(least > 0.5 * TAIL)
    d, low = quick_two_sum(const(-0.5, p), where(outer, 0.5, p))
    value = middle(d, low, where(outer, 0.5, least), 0.5 * TAIL, NDTRI_MIDDLE["d"])
    return rare(outer, ndtri_tail(where(outer, p, 0.5)), value)


@subprogram
def erfinv_tail(y: Expr) -> Expr:
    """The inverse of erf next to 0, in the tails and beyond."""
    a = abs(y)
    small = a < 0.5

    def next_to_0() -> Results:
        lifted = where(small, a, 0.0) * 2.0**LIFT
        slope, slope_low = HALF_ROOT_PI["d"]
        head, lost = two_product(lifted, slope)
        down = const(-LIFT, to_bits(a))
        return (scaled_sum(head, fma(lifted, slope_low, lost), down, small, DOUBLE),)

    def tail() -> Results:
        inside = where((a >= 0.5) & (a < 1.0), a, 1.0 - TAIL)
        z = 1.0 - inside
        more, more_low = quick_two_sum(const(1.0, y), inside)
        p, low = two_product(z, more)
        return (_inverse(Doubled(inside), (p, fma(z, more_low, low)), False).joined(),)

    (value,) = choose(small, next_to_0, tail)
    value = where(a == 1.0, INFINITY, where(a > 1.0, NAN, value))
    return where(y == y, copysign(value, y), y)


@subprogram
def erfcinv_tail(z: Expr) -> Expr:
    """The inverse of erfc in the tails and beyond."""
    value = _tail_inverse(z, 2.0).joined()
    value = where(z == 0.0, INFINITY, where(z == 2.0, -INFINITY, value))
    return where((z < 0.0) | (z > 2.0), NAN, where(z == z, value, z))


@subprogram
def ndtri_tail(p: Expr) -> Expr:
    """The inverse of ndtr, likewise."""
    root, root_low = (const(-2.0 * half, p) for half in ROOT_HALF["d"])
    value = (_tail_inverse(p, 1.0) * Doubled(root, root_low)).joined()
    value = where(p == 0.0, -INFINITY, where(p == 1.0, INFINITY, value))
    return where((p < 0.0) | (p > 1.0), NAN, where(p == p, value, p))


def _tail_inverse(z: Expr, end: float) -> Doubled:
    """erfcinv of z, or of 2*z where the end is 1."""
    inside = where((z > 0.0) & (z < end), z, 0.25)
    rest, lost = two_sum(const(end, z), -inside)
    double = 2.0 / end
    p, low = two_product(inside * double, rest * double)
    low = fma(inside * double, lost * double, low)
    return _inverse(sum_of(const(1.0, z), -inside * double), (p, low))


# ------------------------------------------------------------------ tails


def erfcx(x: Expr) -> Expr:
    """``exp(x*x) * erfc(x)``"""
    outside = ~((x >= 0.0) & (x < 28.0))
    value = _near_erfcx(where(outside, 0.0, x))
    return rare(outside, erfcx_outside(where(outside, x, 28.0)), value)


def _near_erfcx(x: Expr) -> Expr:
    return joined(scaled_tail(x))


@subprogram
def erfcx_outside(x: Expr) -> Expr:
    """The same below 0, by ``2*exp(x*x) - erfcx(-x)``, and from 28 on."""
    def mirrored() -> Results:
        a = where((x < 0.0) & (x > -27.0), -x, 0.0)
        value = _near_erfcx(a)
        square, low = two_product(a, a)
        head, tail, k = exp_parts(clamp(square, 0.0, 720.0), low, DOUBLE)
        head, tail = quick_two_sum(head, tail)
        grown = scaled_quietly(head + (tail - scaled_down(0.5 * value, k)), k + 1)
        return (where(x < -26.7, INFINITY, grown),)

    (value,) = choose(x < 0.0, mirrored, lambda: (_far_tail(x),))
    return where(x == x, value, x)


def scaled_down(value: Expr, k: Expr) -> Expr:
    """``value / 2**k`` for k from 0 on; nothing where that is too small to count."""
    return value * power_of_two(-where(k < 100, k, 100), DOUBLE)


def _far_tail(a: Expr) -> Expr:
    """By the asymptotic series for ``a >= 28`` (DLMF 7.12.1)."""
    inside = where((a >= 28.0) & (a < INFINITY), a, 28.0)
    u = 1.0 / inside
    v = 0.5 * u * u
    series = poly(v, (1.0, -1.0, 3.0, -15.0, 105.0, -945.0, 10395.0, -135135.0))
    return where(a == INFINITY, 0.0, u * 0.5641895835477563 * series)


@packed_subprogram
def log_ndtr(x: Expr) -> Expr:
    """The logarithm of ndtr."""
    def right() -> Expr:
        return log1p(-ndtr(-x), True)

    def left() -> Expr:
        a = where(x >= BOTTOM, -x, 1.0)
        square, low = two_product(0.5 * a, a)
        z = a * ROOT_HALF["d"][0]
        scaled = where(z < 28.0, _near_erfcx(where(z < 28.0, z, 0.0)), _far_tail(z))
        s, e = two_sum(-square, joined(log_parts(0.5 * scaled, DOUBLE)))
        return where(x < BOTTOM, -INFINITY, s + (e - low))

    return choose_among(x, (x >= -1.0, right), (x < -1.0, left))
