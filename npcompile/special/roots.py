"""cbrt and hypot, as programs."""

from __future__ import annotations

from npcompile.graph.expression import (
    Expr,
    const,
    copysign,
    fma,
    from_bits,
    horner,
    lean_poly,
    rare,
    sqrt,
    to_bits,
    where,
)
from npcompile.special.coefficients.roots import CBRT
from npcompile.special.formats import format_of, positive
from npcompile.special.words import quick_two_sum, two_product

INFINITY = float("inf")
CBRT_STEP = {"d": (1 / 3, 2 / 9, 14 / 81), "f": (1 / 3, 2 / 9)}


def cbrt(x: Expr) -> Expr:
    """The cube root: ``1/m**(1/3)`` by a polynomial and one step of order four, then a Newton
    step on the root with an exact residual; no division.  In float32 the step is of order three and
    the square in the residual is rounded, which costs a quarter of a unit at most."""
    f = format_of(x)
    a = abs(x)
    special = ~positive(a, f, True)
    tiny = (a > 0.0) & (a < f.smallest_normal)
    up, more = f.mantissa // 3 + 1, -f.bias % 3
    inside = rare(special, where(tiny, where(tiny, a, 1.0) * 8.0**up, 1.0), a)
    bits = to_bits(inside)
    exponent = bits >> f.mantissa
    third = exponent * 21846 + (more * 21846 - ((f.bias + more) // 3 << 16)) >> 16
    lifted = third << f.mantissa
    m = from_bits(bits - (lifted + lifted + lifted))  # in [1, 8)
    r = lean_poly(m, CBRT[f.char])
    e = fma(-m * r * r, r, 1.0)
    r = fma(r * e, horner(e, CBRT_STEP[f.char]), r)
    squared = r * r
    root = m * squared
    square, lost = two_product(root, root)
    residual = fma(square, root, -m)
    if f.char == "d":
        residual = fma(lost, root, residual)
    root = fma(residual * squared, -1 / 3, root)
    value = from_bits(to_bits(root) + lifted)
    back = where(inside < 1.0, copysign(value * 2.0**-up, x), x)
    return rare(special, back, copysign(value, x))


def hypot(x: Expr, y: Expr) -> Expr:
    """``sqrt(x*x + y*y)``, the sum of squares rounded once, without undue overflow."""
    f = format_of(x)
    one = const(1.0, x)
    a, b = abs(x), abs(y)
    special = ~((a < INFINITY) & (b < INFINITY))
    a, b = rare(special, one, a), rare(special, one, b)
    large, small = where(a > b, a, b), where(a > b, b, a)
    lift = 2.0 ** (f.bias // 2 + f.mantissa + 8)
    top, bottom = 2.0 ** (f.bias // 2 - 1), 2.0 ** -(f.bias // 2 - f.mantissa - 2)
    tall, tiny = large > top, large < bottom
    down = where(tall, const(1 / lift, x), where(tiny, const(lift, x), one))
    back = where(tall, const(lift, x), where(tiny, const(1 / lift, x), one))
    large, small = large * down, small * down
    (square, low), (other, other_low) = two_product(large, large), two_product(small, small)
    total, lost = quick_two_sum(square, other)
    value = sqrt(total + (lost + (low + other_low))) * back
    endless = (abs(x) == INFINITY) | (abs(y) == INFINITY)
    return rare(special, where(endless, const(INFINITY, x), where(x != x, x, y)), value)
