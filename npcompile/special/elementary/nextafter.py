"""nextafter and spacing of float32 and float64, by the order of floats' bits."""

from __future__ import annotations

from npcompile.graph.expression import Expr, const, copysign, from_bits, rare, to_bits, where
from npcompile.ops.elementwise import loops, ufunc
from npcompile.ops.record import Domain, Errors
from npcompile.special.arithmetic.formats import Format, format_of, positive

INFINITY = float("inf")
REALS = "fd"  # the steps of float16 are not those of float32
HUGE = 1e300


def nextafter(x: Expr, y: Expr) -> Expr:
    """The next float after x towards y."""
    f = format_of(x)
    bits = to_bits(x)
    moves = (x < y) | (y < x)
    away = (x < y) ^ (x < 0.0)
    near = from_bits(where(away, bits + 1, bits - 1))
    special = ~(moves & positive(abs(near), f, True))
    return rare(special, _special_neighbour(x, y, near, f), near)


def _special_neighbour(x: Expr, y: Expr, near: Expr, f: Format) -> Expr:
    """The neighbour of a number that is zero, infinite, NaN, or equal to y, or that has such or a
    subnormal neighbour; these set flags."""
    moved = where(x == 0.0, copysign(f.smallest_subnormal, y), near)
    nan = (x != x) | (y != y)
    moved = where(nan, where(nan, x, 0.0) + where(nan, y, 0.0), where(x == y, y, moved))
    changed = ~(x == y) & ~nan
    return _told(moved, changed & (abs(moved) == INFINITY),
                 changed & (abs(moved) < f.smallest_normal), f)


def spacing(x: Expr) -> Expr:
    """The distance to the next float away from zero, with x's sign."""
    f = format_of(x)
    special = ~positive(from_bits(to_bits(abs(x)) + 1), f, True)
    inside = rare(special, where(special, const(1.0, x), x), x)
    return rare(special, _special_spacing(x, f), from_bits(to_bits(inside) + 1) - inside)


def _special_spacing(x: Expr, f: Format) -> Expr:
    a = abs(x)
    least = copysign(f.smallest_subnormal, x)
    value = where(x == 0.0, const(f.smallest_subnormal, x), least)
    value = where(a == f.largest, copysign(INFINITY, x), value)
    value = where(a <= f.largest, value, float("nan"))
    return _told(value, a == f.largest, (x != 0.0) & (a < f.smallest_normal), f)


def _told(value: Expr, over: Expr, under: Expr, f: Format) -> Expr:
    """The value, with a flag raised where it overflows or is subnormal."""
    big = where(over, const(f.largest, value), 1.0) * 2.0
    value = where(over, copysign(where(over, big, INFINITY), value), value)
    small = where(under, const(f.smallest_normal, value), 1.0)
    return value - where(under, small * small, 0.0)  # less 0: -0 stays


ufunc("nextafter", loops("xx->x", REALS), nextafter,
      domains=(Domain(-HUGE, HUGE), Domain(-HUGE, HUGE)), errors=Errors("ou"),
      doc="The next number after x1 towards x2.")
ufunc("spacing", loops("x->x", REALS), spacing, domains=(Domain(-HUGE, HUGE),),
      errors=Errors("ou"),
      doc="The distance to the next number away from zero.")
