"""Bessel functions of orders 0 and 1, as programs; none raises flags.

J and Y: pieces below 8, Hankel's expansion above (DLMF 10.8, 10.17).  I and K: series about 0 and
pieces of the scaled functions (DLMF 10.31, 10.40).
"""

from __future__ import annotations

from collections.abc import Callable

from npcompile.graph.expression import Expr, const, copysign, fma, poly, rare, sqrt, where
from npcompile.graph.subprograms import subprogram
from npcompile.special.arithmetic.double_word import joined, quick_two_sum, two_sum
from npcompile.special.coefficients.bessel import (
    BESSEL_HANKEL,
    BESSEL_J0,
    BESSEL_J1,
    BESSEL_Y0,
    BESSEL_Y1,
    ROOT_PI,
)
from npcompile.special.coefficients.bessel_modified import (
    BESSEL_I0,
    BESSEL_I1,
    BESSEL_K0,
    BESSEL_K1,
    BESSEL_SMALL,
)
from npcompile.special.elementary.circular import turned, with_sign
from npcompile.special.elementary.exponential import clamp, exp, exp_parts
from npcompile.special.elementary.logarithm import log_parts
from npcompile.special.elementary.piecewise import (
    DOUBLE,
    INFINITY,
    NAN,
    Pair,
    Rows,
    folded,
    piece,
    scaled_quietly,
    uniform,
)

SWITCH = 8.0
#: where I0 and I1 overflow
I0_END, I1_END = 713.9869085439683, 713.9876098185423
Program = Callable[[Expr], Expr]


# ------------------------------------------------------------------ J and Y


def j0(x: Expr) -> Expr:
    """The Bessel function of the first kind of order 0."""
    a = abs(x)
    value, tail = _near(a, BESSEL_J0["d"])
    far, _ = _hankel(a, 0)
    return rare(~(a < SWITCH), where(a == INFINITY, 0.0, far), value + tail)


def j1(x: Expr) -> Expr:
    """The Bessel function of the first kind of order 1."""
    a = abs(x)
    value, tail = _near(a, BESSEL_J1["d"])
    inside = where(a < SWITCH, a, 0.0)
    far, _ = _hankel(a, 1)
    found = rare(~(a < SWITCH), where(a == INFINITY, 0.0, far), fma(inside, tail, inside * value))
    return copysign(1.0, x) * found


def y0(x: Expr) -> Expr:
    """The Bessel function of the second kind of order 0."""
    near = ~(x >= SWITCH)
    _, far = _hankel(where(near, SWITCH, x), 0)
    return rare(near, y0_near(where(near, x, 1.0)), where(x == INFINITY, 0.0, far))


@subprogram
def y0_near(x: Expr) -> Expr:
    """Y0 below 8, and for NaN."""
    value, tail = _near(x, BESSEL_Y0["d"])
    j = joined(_near(x, BESSEL_J0["d"]))
    high, low = _log(x)
    _, left, left_low = ROOT_PI["d"]
    turn = j * left
    part = high * turn
    rest = fma(high, turn, -part) + fma(low, turn, high * fma(j, left_low, fma(j, left, -turn)))
    s, e = two_sum(part, value)
    return _second(x, s + (e + (tail + rest)))


def y1(x: Expr) -> Expr:
    """The Bessel function of the second kind of order 1."""
    near = ~(x >= SWITCH)
    _, far = _hankel(where(near, SWITCH, x), 1)
    return rare(near, y1_near(where(near, x, 1.0)), where(x == INFINITY, 0.0, far))


@subprogram
def y1_near(x: Expr) -> Expr:
    """Y1 below 8, and for NaN."""
    value, tail = _near(x, BESSEL_Y1["d"])
    high, low = _log(x)
    _, left, left_low = ROOT_PI["d"]
    inside = where((x > 1e-300) & (x < SWITCH), x, 1.0)
    grown = (high + low) * (left * joined(_near(x, BESSEL_J1["d"]))) + (value + tail)
    pole = left / inside
    pole_low = (fma(-pole, inside, left) + left_low) / inside
    s, e = two_sum(-pole, inside * grown)
    found = s + (e + (fma(inside, grown, -inside * grown) - pole_low))
    tiny = where(x < 4e-309, -INFINITY, -left / where(x < 4e-309, 1.0, where(x < 1.0, x, 1.0)))
    return _second(x, where(x <= 1e-300, tiny, found))


def _near(x: Expr, rows: Rows) -> Pair:
    inside = where((x >= 0.0) & (x < SWITCH), x, 0.0)
    return piece(inside, None, uniform(inside, 2.0), rows)


def _log(x: Expr) -> Pair:
    return log_parts(where((x > 0.0) & (x < SWITCH), x, 1.0), DOUBLE)


def _second(x: Expr, value: Expr) -> Expr:
    """At the pole and on the negative axis."""
    return where(x > 0.0, value, where(x == 0.0, const(-INFINITY, x), where(x == x, NAN, x)))


def _hankel(x: Expr, order: int) -> Pair:
    """J and Y for finite ``x >= 8``."""
    inside = where((x >= SWITCH) & (x < INFINITY), x, SWITCH)
    turn = turned(inside, DOUBLE)
    c = with_sign(turn.cosine[0] + turn.cosine[1], turn.cosine_sign)
    s = with_sign(turn.sine[0] + turn.sine[1], turn.sine_sign)
    j, y = hankel(inside, s, c, order)
    nan = x != x
    return where(nan, x, j), where(nan, x, y)


def hankel(x: Expr, s: Expr, c: Expr, order: int) -> Pair:
    """J and Y for finite ``x >= 8``, whose sine and cosine are given: sums of both, whose
    coefficients vary slowly."""
    u = SWITCH / x
    z = u * u
    p, q = (poly(z, row) for row in BESSEL_HANKEL["d"][2 * order : 2 * order + 2])
    q = u * q
    size = ROOT_PI["d"][0] / sqrt(x)
    plus, minus = p + q, p - q
    if order == 0:
        j, y = fma(plus, c, minus * s), fma(plus, s, -(minus * c))
    else:
        j, y = fma(plus, s, -(minus * c)), -fma(plus, c, minus * s)
    return size * j, size * y


def near_j(x: Expr, order: int) -> Expr:
    """J for ``0 <= x < 8``."""
    value, tail = _near(x, (BESSEL_J1 if order else BESSEL_J0)["d"])
    return fma(x, tail, x * value) if order else value + tail


# ------------------------------------------------------------------ I


def _scaled_i0(a: Expr) -> Expr:
    safe = where(a < INFINITY, a, 1.0)
    v, low = folded(safe, 8.0)
    value, tail = piece(v, low, uniform(v, 16.0), BESSEL_I0["d"])
    return (value + tail) / sqrt(1.0 + safe)


def _scaled_i1(a: Expr) -> Pair:
    """Two factors of ``exp(-a) * i1(a) / a``"""
    safe = where(a < INFINITY, a, 1.0)
    v, low = folded(safe, 8.0)
    value, tail = piece(v, low, uniform(v, 16.0), BESSEL_I1["d"])
    bottom = 1.0 + safe
    return 1.0 / bottom, (value + tail) / sqrt(bottom)


def _ends(x: Expr, value: Expr, at_infinity: float, odd: bool = False) -> Expr:
    value = where(abs(x) == INFINITY, copysign(at_infinity, x) if odd else at_infinity, value)
    return where(x == x, value, x)


def i0e(x: Expr) -> Expr:
    """``exp(-abs(x)) * i0(x)``"""
    return _ends(x, _scaled_i0(abs(x)), 0.0)


def i1e(x: Expr) -> Expr:
    """``exp(-abs(x)) * i1(x)``"""
    inside = where(abs(x) < INFINITY, x, 0.0)
    first, second = _scaled_i1(abs(x))
    return _ends(x, inside * first * second, 0.0, True)


def _grown(a: Expr, scaled: Expr) -> Expr:
    """``exp(a) * scaled``"""
    head, tail, k = exp_parts(clamp(where(a == a, a, 0.0), 0.0, 720.0), None, DOUBLE)
    head, tail = quick_two_sum(head, tail)
    return scaled_quietly(fma(head, scaled, tail * scaled), k)


def i0(x: Expr) -> Expr:
    """The modified Bessel function of the first kind of order 0."""
    a = abs(x)
    value = _grown(where(a < I0_END, a, 0.0), _scaled_i0(a))
    return _ends(x, where(a >= I0_END, INFINITY, value), INFINITY)


def i1(x: Expr) -> Expr:
    """The modified Bessel function of the first kind of order 1."""
    a = abs(x)
    inside = where(a < I1_END, x, 0.0)
    first, second = _scaled_i1(a)
    value = inside * _grown(where(a < I1_END, a, 0.0), first * second)
    return _ends(x, where(a >= I1_END, copysign(INFINITY, x), value), INFINITY, True)


# ------------------------------------------------------------------ K


def _near_k0(x: Expr) -> Expr:
    """K0 on (0, 1]."""
    z = x * x
    grown, shifted, _, _ = BESSEL_SMALL["d"]
    high, low = log_parts(x, DOUBLE)
    series = poly(z, grown)
    product = high * series
    rest = fma(high, series, -product) + low * series
    s, e = two_sum(poly(z, shifted), -product)
    return s + (e - rest)


def _near_k1(x: Expr) -> Expr:
    """K1 on (0, 1]."""
    small = where(x > 1e-300, x, 1.0)
    z = small * small
    _, _, grown, shifted = BESSEL_SMALL["d"]
    high, low = log_parts(small, DOUBLE)
    rest = small * fma(high + low, poly(z, grown), poly(z, shifted))
    inverse = 1.0 / small
    inverse_low = fma(-inverse, small, 1.0) * inverse
    tiny = where(x < 6e-309, const(INFINITY, x), 1.0 / where(x < 6e-309, 1.0, x))
    return where(x <= 1e-300, tiny, inverse + (rest + inverse_low))


def _modified(name: str, near: Program, rows: Rows, scaled: bool) -> Program:
    """K by pieces of ``exp(x) * sqrt(x) * K(x)`` from 1 on; what is below is a subprogram."""

    def small(x: Expr) -> Expr:
        inside = where((x > 0.0) & (x <= 1.0), x, 1.0)
        value = near(inside) * exp(inside) if scaled else near(inside)
        value = where(x == 0.0, INFINITY, where(x < 0.0, NAN, value))
        return where(x == x, value, x)

    called = subprogram(small, name=f"{name}_near")

    def program(x: Expr) -> Expr:
        below = ~(x > 1.0)
        inside = where(~below & (x < INFINITY), x, 1.0)
        u = 1.0 / inside
        value, tail = piece(u, None, uniform(u, 16.0), rows)
        value = (value + tail) / sqrt(inside)
        if not scaled:
            value = value * exp(-inside)
        return rare(below, called(where(below, x, 1.0)), where(x == INFINITY, 0.0, value))

    return program


k0 = _modified("k0", _near_k0, BESSEL_K0["d"], False)
k0e = _modified("k0e", _near_k0, BESSEL_K0["d"], True)
k1 = _modified("k1", _near_k1, BESSEL_K1["d"], False)
k1e = _modified("k1e", _near_k1, BESSEL_K1["d"], True)
