"""erfinv, erfcinv, ndtri, erfcx and log_ndtr, as programs; none raises flags.

The inverses are pieces of functions from which the zero is divided, by octaves of the tail's
size; in the far tails, which are subprograms, they are ``y * g(s)``, ``s = sqrt(-log(1 - y*y))``
(Giles, Approximating the erfinv function, GPU Computing Gems 2, 2012), with g by pieces that reach
to the smallest numbers.
"""

from __future__ import annotations

from npcompile.graph.expression import Expr, const, copysign, fma, poly, rare, sqrt, to_bits, where
from npcompile.graph.subprograms import (
    Results,
    choose,
    choose_among,
    packed_subprogram,
    subprogram,
)
from npcompile.special.coefficients.error import ROOT_HALF
from npcompile.special.coefficients.normal import ERFCINV_MIDDLE, ERFINV, NDTRI_MIDDLE
from npcompile.special.exponential import clamp, exp_parts
from npcompile.special.formats import power_of_two
from npcompile.special.logarithm import log1p, log_parts, log_sum
from npcompile.special.pieces import (
    DOUBLE,
    INFINITY,
    NAN,
    Pair,
    Rows,
    halves,
    piece,
    scaled_quietly,
)
from npcompile.special.probability import ndtr, scaled_tail
from npcompile.special.words import joined, quick_two_sum, two_product, two_sum

#: where erfc and what is left of 1 are tails
TAIL = 2.0**-8
NEAR, WIDTH = 6.5, 1.3
#: where half of the square overflows
BOTTOM = -1.896150381621835e154


def _inverse(y: Expr, product: Pair, far: bool = True) -> Expr:
    """The inverse error function at y, where ``1 - y*y`` is given in two parts; ``far``: it may
    be less than a double's distance from 0."""
    whole, low = product
    small = whole < 1e-280
    lift = where(small, const(2.0**100, y), 1.0)
    high, rest = log_sum(whole * lift, low * lift, DOUBLE)
    size, more = two_sum(where(small, const(69.31471805599453, y), 0.0), -high)
    more = more - rest
    s = sqrt(where(size + more > 0.0, size + more, 0.0))
    s_low = (fma(-s, s, size) + more) / where(s > 0.0, s + s, 1.0)
    near = _factor(s, s_low, 0.0, NEAR / 16)
    if not far:
        return y * near
    return y * rare(s >= NEAR, _factor(s, s_low, NEAR, WIDTH), near)


def _factor(s: Expr, s_low: Expr, start: float, width: float) -> Expr:
    """erfinv(y) / y, by the pieces from ``start`` on."""
    rows = tuple(row[16:] if start else row[:16] for row in ERFINV["d"])
    place = fma(s - start, 1 / width, -0.5) + DOUBLE.magic
    value, tail = piece(s, s_low, to_bits(place), rows)
    return value + tail


def _middle(d: Expr, low: Expr | None, z: Expr, start: float, rows: Rows) -> Expr:
    """``d + low`` times the pieces at z, which are octaves cut into two."""
    value, tail = piece(z, None, halves(z, start), rows)
    head = d * value
    lost = fma(d, value, -head)
    if low is not None:
        lost = fma(low, value, lost)
    return head + fma(d, tail, lost)


def erfinv(y: Expr) -> Expr:
    """The inverse of erf."""
    z = 1.0 - abs(y)
    outer = ~(z > TAIL)
    value = _middle(where(outer, 0.0, y), None, where(outer, 1.0, z), TAIL, ERFCINV_MIDDLE["d"])
    return rare(outer, erfinv_tail(where(outer, y, 0.0)), copysign(value, y))


def erfcinv(z: Expr) -> Expr:
    """The inverse of erfc."""
    least = where(z > 1.0, 2.0 - z, z)
    outer = ~(least > TAIL)
    d, low = quick_two_sum(const(1.0, z), -where(outer, 1.0, z))
    value = _middle(d, low, where(outer, 1.0, least), TAIL, ERFCINV_MIDDLE["d"])
    return rare(outer, erfcinv_tail(where(outer, z, 1.0)), value)


def ndtri(p: Expr) -> Expr:
    """The inverse of ndtr."""
    least = where(p > 0.5, 1.0 - p, p)
    outer = ~(least > 0.5 * TAIL)
    d, low = quick_two_sum(const(-0.5, p), where(outer, 0.5, p))
    value = _middle(d, low, where(outer, 0.5, least), 0.5 * TAIL, NDTRI_MIDDLE["d"])
    return rare(outer, ndtri_tail(where(outer, p, 0.5)), value)


@subprogram
def erfinv_tail(y: Expr) -> Expr:
    """The inverse of erf, best in the tails and beyond."""
    a = abs(y)
    inside = where(a < 1.0, a, 0.5)
    less, lost = two_sum(const(1.0, y), -inside)
    more, more_low = two_sum(const(1.0, y), inside)
    p, low = two_product(less, more)
    value = copysign(_inverse(
        inside, (p, low + fma(less, more_low, lost * more)), False), y)
    value = where(a == 1.0, copysign(INFINITY, y), where(a > 1.0, NAN, value))
    return where(y == y, value, y)


@subprogram
def erfcinv_tail(z: Expr) -> Expr:
    """The inverse of erfc, likewise."""
    value = _tail_inverse(z, 2.0)
    value = where(z == 0.0, INFINITY, where(z == 2.0, -INFINITY, value))
    return where((z < 0.0) | (z > 2.0), NAN, where(z == z, value, z))


@subprogram
def ndtri_tail(p: Expr) -> Expr:
    """The inverse of ndtr, likewise."""
    root, root_low = ROOT_HALF["d"]
    value = -_tail_inverse(p, 1.0)
    value = fma(value, root_low + root_low, value * (root + root))
    value = where(p == 0.0, -INFINITY, where(p == 1.0, INFINITY, value))
    return where((p < 0.0) | (p > 1.0), NAN, where(p == p, value, p))


def _tail_inverse(z: Expr, end: float) -> Expr:
    """erfcinv of z, or of 2*z where the end is 1."""
    inside = where((z > 0.0) & (z < end), z, 0.25)
    rest, lost = two_sum(const(end, z), -inside)
    double = 2.0 / end
    p, low = two_product(inside * double, rest * double)
    low = fma(inside * double, lost * double, low)
    return _inverse((1.0 - inside * double), (p, low))


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
