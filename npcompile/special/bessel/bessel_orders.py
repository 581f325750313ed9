"""Bessel functions of whole order and spherical ones, as subprograms.

Y, K and, up to the order x, J run forward on their recurrence; what falls with the order is a
product of the ratios of successive functions, which a continued fraction begins (DLMF 10.6, 10.10,
10.29, 10.33, 10.51; Gautschi, Computational aspects of three-term recurrence relations, SIAM Review
9, 1967).  Both in two parts.
"""

from __future__ import annotations

from collections.abc import Callable

from npcompile.graph.expression import Expr, const, floor, fma, where
from npcompile.graph.subprograms import Results, choose, paired_subprogram, repeat
from npcompile.special.arithmetic.double_double import Doubled
from npcompile.special.bessel import bessel_integer
from npcompile.special.elementary.circular import cos, sin
from npcompile.special.elementary.exponential import clamp
from npcompile.special.elementary.hyperbolic import sinh
from npcompile.special.elementary.piecewise import INFINITY, NAN, exp_sum

#: below it all but the first two functions vanish, or are infinite
TINY = 1e-150
HALF_PI = 1.5707963267948966
Pair = tuple[Expr, Expr]
Start = Callable[[Expr], Pair]


def _first_j(x: Expr) -> Pair:
    """J_0 and J_1 of positive finite numbers."""
    near = x < bessel_integer.SWITCH

    def far() -> Results:
        inside = where(near, bessel_integer.SWITCH, x)
        s, c = sin(inside), cos(inside)
        return bessel_integer.hankel(inside, s, c, 0)[0], bessel_integer.hankel(inside, s, c, 1)[0]

    inside = where(near, x, 0.0)
    first, second = choose(
        near, lambda: (bessel_integer.near_j(inside, 0), bessel_integer.near_j(inside, 1)), far)
    return first, second


def _first_y(x: Expr) -> Pair:
    """Y_0 and Y_1 of positive finite numbers."""
    near = x < bessel_integer.SWITCH

    def far() -> Results:
        inside = where(near, bessel_integer.SWITCH, x)
        s, c = sin(inside), cos(inside)
        return bessel_integer.hankel(inside, s, c, 0)[1], bessel_integer.hankel(inside, s, c, 1)[1]

    inside = where(near, x, 1.0)
    first, second = choose(
        near, lambda: (bessel_integer.y0_near(inside), bessel_integer.y1_near(inside)), far
    )
    return first, second


def _forward(n: Expr, x: Expr, start: Pair, odd: float, sign: float) -> Expr:
    """``p_n`` from p_0 and p_1 by ``p_(k+1) = (2*k + odd) / x * p_k + sign * p_(k-1)``."""

    def step(k: Expr, high: Expr, low: Expr, before: Expr, before_low: Expr) -> Results:
        factor = inverse * (k + k + odd)
        size = high * factor.high
        far = ~(abs(size) < 1e300)
        now = Doubled(high, low) * factor + Doubled(before, before_low) * sign
        more = k + 1.0 < n
        return more, k + 1.0, where(far, size, now.high), where(far, 0.0, now.low), high, low

    first, second = start
    # nearer to 0 the second one overflows if it is used
    zero, inverse = const(0.0, x), Doubled(const(1.0, x)) / where(x < 1e-290, 1e-290, x)
    _, high, low, _, _ = repeat(step, const(1.0, x), second, zero, first, zero)
    return where(n < 1.0, first, where(n < 2.0, second, high + low))


def _fraction(n: Expr, x: Expr, odd: float, sign: float) -> Expr:
    """``p_n / p_(n+1)`` of the falling functions, by Lentz's method."""

    def step(k: Expr, c: Expr, d: Expr, value: Expr) -> Results:
        twice = k + k + odd
        b = fma(twice, inverse.high, twice * inverse.low)
        d = 1.0 / (b + sign * d)
        c = b + sign / c
        change = c * d
        more = (abs(change - 1.0) > 1e-16) & (k < n + 20000.0)
        return more, k + 1.0, c, d, value * change

    inverse = Doubled(const(1.0, x)) / x
    first = (n + n + (2.0 + odd)) / x
    return repeat(step, n + 2.0, first, const(0.0, x), first)[3]


def _falling(n: Expr, low_order: Expr, x: Expr, odd: float, sign: float) -> Expr:
    """``p_n / p_m`` of the falling functions: ``p_(k-1) = (2*k + odd) / x * p_k + sign *
    p_(k+1)``."""

    def step(k: Expr, high: Expr, low: Expr, product: Expr, product_low: Expr) -> Results:
        bottom = inverse * (k + k + odd) + Doubled(high, low) * sign
        ratio = Doubled(const(1.0, x)) / bottom
        value = Doubled(product, product_low) * ratio
        small = abs(value.high) < 1e-290
        rest = where(small, 0.0, value.low)
        return k - 1.0 > low_order, k - 1.0, ratio.high, ratio.low, value.high, rest

    above = n > low_order
    order, x = where(above, n, 1.0), where(above, x, 1.0)
    low_order = where(above, low_order, 0.0)
    one, zero, inverse = const(1.0, x), const(0.0, x), Doubled(const(1.0, x)) / x
    last = 1.0 / _fraction(order, x, odd, sign)
    _, _, _, high, low = repeat(step, order, last, zero, one, zero)
    return where(above, high + low, 1.0)


def _odd(n: Expr) -> Expr:
    half = 0.5 * n
    return half != floor(half)


def _bounded(n: Expr, x: Expr, start: Start, odd: float) -> Expr:
    """J for positive finite x."""
    least = floor(x)
    turn = where(n < least, n, least)
    small = x <= TINY
    inside = where(small, 1.0, x)
    value = _forward(turn, inside, start(inside), odd, -1.0)
    value = value * _falling(n, turn, inside, odd, -1.0)
    return where(small, _about_0(n, x, odd), value)


def _about_0(n: Expr, x: Expr, odd: float) -> Expr:
    return where(n == 0.0, 1.0, where(n == 1.0, x / (2.0 + odd), 0.0))


def _vector(n: Expr, x: Expr, start: Expr, odd: float) -> Expr:
    """I for positive finite x, whose function of order 0 is given."""
    small = x <= TINY
    value = start * _falling(n, n * 0.0, where(small, 1.0, x), odd, 1.0)
    return where(small, _about_0(n, x, odd), value)


def _with_parity(n: Expr, x: Expr, value: Expr) -> Expr:
    return where((x < 0.0) & _odd(n), -value, value)


def _inside(x: Expr) -> tuple[Expr, Expr]:
    """A positive finite number, and where it is one."""
    fine = (x > 0.0) & (x < INFINITY)
    return where(fine, x, 1.0), fine


# ------------------------------------------------------------------ of whole order


@paired_subprogram
def yn(n: Expr, x: Expr) -> Expr:
    """The Bessel function Y of whole order."""
    order, (inside, fine) = abs(n), _inside(x)
    value = _forward(order, inside, _first_y(inside), 0.0, -1.0)
    flipped = (n < 0.0) & _odd(n)
    value = where(fine, value, where(x == 0.0, -INFINITY, where(x == INFINITY, const(0.0, x), NAN)))
    return where(flipped, -value, value)


def _kn(n: Expr, x: Expr, first: Callable[[Expr], Expr], second: Callable[[Expr], Expr]) -> Expr:
    inside, fine = _inside(x)
    value = _forward(abs(n), inside, (first(inside), second(inside)), 0.0, 1.0)
    at_end = where(x == INFINITY, const(0.0, x), NAN)
    return where(fine, value, where(x == 0.0, INFINITY, at_end))


@paired_subprogram
def kn(n: Expr, x: Expr) -> Expr:
    """The modified Bessel function K of whole order."""
    return _kn(n, x, bessel_integer.k0, bessel_integer.k1)


@paired_subprogram
def scaled_kn(n: Expr, x: Expr) -> Expr:
    """``exp(x) * kn(n, x)``"""
    return _kn(n, x, bessel_integer.k0e, bessel_integer.k1e)


@paired_subprogram
def jn(n: Expr, x: Expr) -> Expr:
    """The Bessel function J of whole order."""
    order, (inside, fine) = abs(n), _inside(abs(x))
    value = _bounded(order, inside, _first_j, 0.0)
    value = _with_parity(n, x, where(fine, value, where(x == 0.0, _about_0(order, x, 0.0), 0.0)))
    value = where((n < 0.0) & _odd(n), -value, value)
    return where(x == x, value, x)


def _in(n: Expr, x: Expr, first: Callable[[Expr], Expr], end: float) -> Expr:
    order, (inside, fine) = abs(n), _inside(abs(x))
    value = _vector(order, inside, first(inside), 0.0)
    value = where(abs(x) == INFINITY, end, where(fine, value, _about_0(order, x, 0.0)))
    return where(x == x, _with_parity(n, x, value), x)


@paired_subprogram
def iv_of_whole(n: Expr, x: Expr) -> Expr:
    """The modified Bessel function I of whole order."""
    return _in(n, x, bessel_integer.i0, INFINITY)


@paired_subprogram
def scaled_iv_of_whole(n: Expr, x: Expr) -> Expr:
    """``exp(-abs(x)) * iv(n, x)``"""
    return _in(n, x, bessel_integer.i0e, 0.0)


# ------------------------------------------------------------------ spherical


def _first_two(x: Expr) -> Pair:
    """j_0 and j_1; the second is used from 1 on only."""
    s = sin(x) / x
    return s, (s - cos(x)) / x


@paired_subprogram
def spherical_jn(n: Expr, x: Expr) -> Expr:
    """The spherical Bessel function j."""
    inside, fine = _inside(abs(x))
    value = _bounded(where(n > 0.0, n, 0.0), inside, _first_two, 1.0)
    value = where(fine, value, where(x == 0.0, _about_0(n, x, 1.0), 0.0))
    return where((x == x) & (n >= 0.0), _with_parity(n, x, value), NAN)


@paired_subprogram
def spherical_yn(n: Expr, x: Expr) -> Expr:
    """The spherical Bessel function y."""
    inside, fine = _inside(abs(x))
    first = -cos(inside) / inside
    second = (first - sin(inside)) / inside
    value = _forward(where(n > 0.0, n, 0.0), inside, (first, second), 1.0, -1.0)
    value = where(fine, where(x < 0.0, -value, value), where(x == 0.0, const(-INFINITY, x), 0.0))
    return where((x == x) & (n >= 0.0), _with_parity(n, x, value), NAN)


@paired_subprogram
def spherical_in(n: Expr, x: Expr) -> Expr:
    """The modified spherical Bessel function i."""
    inside, fine = _inside(abs(x))
    value = _vector(where(n > 0.0, n, 0.0), inside, sinh(clamp(inside, 0.0, 800.0)) / inside, 1.0)
    endless = where(abs(x) == INFINITY, INFINITY, _about_0(n, x, 1.0))
    value = _with_parity(n, x, where(fine, value, endless))
    return where((x == x) & (n >= 0.0), value, NAN)


@paired_subprogram
def spherical_kn(n: Expr, x: Expr) -> Expr:
    """The modified spherical Bessel function k."""
    order = where(n > 0.0, n, 0.0)
    inside, fine = _inside(abs(x))
    first = exp_sum(-inside) * (HALF_PI / inside)
    second = first + first / inside
    value = _forward(order, inside, (first, second), 1.0, 1.0)

    def mirrored() -> Results:
        more = spherical_in(order, inside) * (2.0 * HALF_PI)
        return (where(_odd(order), value - more, -(value + more)),)

    value, = choose(fine & (x < 0.0), mirrored, lambda: (value,))
    at_infinity = where(x > 0.0, const(0.0, x), -INFINITY)
    value = where(fine, value, where(x == 0.0, INFINITY, at_infinity))
    return where((x == x) & (n >= 0.0), value, NAN)
