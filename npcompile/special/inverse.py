"""arctan, arctan2, arcsin and arccos, as programs.

The arctangent of a quotient is ``atan(c) + atan(t)``, ``t = (low - c*high) / (high + c*low)``, for
c of 0, 1/2 and 1 (Muller, Elementary Functions, 3rd ed., section 11.3), so that arctan and
arctan2 take one division.  ``asin(x) = pi/2 - 2*asin(sqrt((1 - x)/2))`` beyond 1/2 (Cody & Waite
1980, chapter 10).
"""

from __future__ import annotations

from npcompile.graph.expression import (
    Expr,
    cast,
    const,
    copysign,
    fma,
    lookup,
    poly,
    rare,
    sqrt,
    to_bits,
    where,
)
from npcompile.special.coefficients.inverse import ARCSIN, ARCTAN, ARCTAN_BASES, TURNS
from npcompile.special.formats import Format, format_of
from npcompile.special.words import quick_two_sum, two_sum

INFINITY = float("inf")
#: between the quotients that 0, 1/2 and 1 stand for: tan of the means of their arctangents
TO_HALF, TO_ONE = 0.2360679774997897, 0.7207592200561265
#: where the larger of two numbers is beyond, both are lowered; where it is below, both are lifted
TALL = {"d": (2.0**1000, 2.0**500), "f": (2.0**120, 2.0**40)}
LIFT = {"d": 2.0**500, "f": 2.0**64}


def arctan(x: Expr) -> Expr:
    """Inverse tangent."""
    f = format_of(x)
    a = abs(x)
    a = where(a > 2.0 ** (f.mantissa + 8), const(2.0 ** (f.mantissa + 8), x), a)
    high, low = _first_quadrant(a, const(1.0, x), f)
    return copysign(high + low, x)


def arctan2(y: Expr, x: Expr) -> Expr:
    """The angle of the point (x, y)."""
    f = format_of(x)
    infinity = const(INFINITY, x)
    a, b = abs(y), abs(x)
    special = ~((a < infinity) & (b < infinity) & ((a > 0.0) | (b > 0.0)))
    zero, one = const(0.0, x), const(1.0, x)
    both = (a == infinity) & (b == infinity)
    up = where((a == infinity) & ~both, one, where(both, one, zero))
    right = where(a == infinity, where(both, one, zero), one)
    a, b = rare(special, up, a), rare(special, right, b)
    tall, small = TALL[f.char]
    largest = where(a > b, a, b)
    factor = where(largest > tall, const(1 / LIFT[f.char], x), one)
    factor = where(largest < small, const(LIFT[f.char], x), factor)
    high, low = _first_quadrant(a * factor, b * factor, f)
    pi, pi_low = TURNS[f.char][1]
    left = copysign(1.0, x) < 0.0
    turned, lost = quick_two_sum(const(pi, x), -high)
    angle = where(left, turned + (lost + (pi_low - low)), high + low)
    return where(x != x, x, where(y != y, y, copysign(angle, y)))


def _first_quadrant(y: Expr, x: Expr, f: Format) -> tuple[Expr, Expr]:
    """The angle of the point (x, y), x and y not negative, in two parts."""
    steep = y > x
    low, high = where(steep, x, y), where(steep, y, x)
    by_half, by_one = low > TO_HALF * high, low > TO_ONE * high
    c = where(by_one, const(1.0, x), where(by_half, const(0.5, x), 0.0))
    index = to_bits(where(steep, c + (0.5 * f.magic + 2.0), c + 0.5 * f.magic))
    part = c * high
    top, top_low = two_sum(low, -part)
    bottom, bottom_low = quick_two_sum(high, c * low)
    inverse = 1.0 / bottom
    t = top * inverse
    t_low = (fma(-t, bottom, top) + fma(-t, bottom_low, top_low)) * inverse
    z = t * t
    tail = fma(t * z, poly(z, ARCTAN[f.char]), t_low)
    t = where(steep, -t, t)
    tail = where(steep, -tail, tail)
    base, base_low = (lookup(index, row, x.dtype) for row in ARCTAN_BASES[f.char])
    angle, lost = quick_two_sum(base, t)
    return angle, lost + (tail + base_low)


def arcsin(x: Expr) -> Expr:
    """Inverse sine."""
    f = format_of(x)
    a, outer, s, s_low, tail = _arcsine(x, f)
    right, right_low = TURNS[f.char][0]
    head, lost = quick_two_sum(const(right, x), -2.0 * s)
    far = head + (lost + fma(-2.0, tail + s_low, right_low))
    value = where(outer, far, s + tail)
    return _inside(x, a, copysign(value, x))


def arccos(x: Expr) -> Expr:
    """Inverse cosine."""
    f = format_of(x)
    a, outer, s, s_low, tail = _arcsine(x, f)
    (right, right_low), (pi, pi_low) = TURNS[f.char]
    negative = x < 0.0
    twice, twice_low = s + s, 2.0 * (tail + s_low)
    near, lost = quick_two_sum(const(right, x), copysign(-s, -x))
    middle = near + (lost + (right_low - copysign(tail, x)))
    head, lost = quick_two_sum(const(pi, x), -twice)
    far = where(negative, head + (lost + (pi_low - twice_low)), twice + twice_low)
    return _inside(x, a, where(outer, far, middle))


def _arcsine(x: Expr, f: Format) -> tuple[Expr, Expr, Expr, Expr, Expr]:
    """|x|, whether it is beyond 1/2, and ``asin(s + s_low) = s + s_low + tail`` where s is |x|,
    or ``sqrt((1 - |x|) / 2)`` beyond 1/2."""
    a = abs(x)
    outer = a > 0.5
    half = fma(a, -0.5, 0.5)  # exact beyond 1/2
    half = where(a <= 1.0, half, 0.0)
    root = sqrt(half)
    s = where(outer, root, a)
    z = where(outer, half, s * s)
    safe = where(root > 0.0, root + root, 1.0)
    inverse = cast(1.0 / cast(safe, "f"), x.dtype)  # a rounding error needs few digits
    s_low = where(outer, fma(-root, root, half) * inverse, 0.0)
    return a, outer, s, s_low, s * z * poly(z, ARCSIN[f.char])


def _inside(x: Expr, a: Expr, value: Expr) -> Expr:
    """Beyond 1 the result is invalid."""
    one = const(1.0, x)
    invalid = sqrt(where(a > 1.0, -one, one))
    return rare(~(a <= 1.0), where(a > 1.0, invalid, x), value)
