"""cbrt and hypot, as programs."""

from __future__ import annotations

from npcompile.graph.expression import (
    Expr,
    const,
    copysign,
    fma,
    from_bits,
    poly,
    rare,
    sqrt,
    to_bits,
    where,
)
from npcompile.special.coefficients.roots import CBRT
from npcompile.special.formats import format_of, power_of_two
from npcompile.special.words import quick_two_sum, two_product

INFINITY = float("inf")


def cbrt(x: Expr) -> Expr:
    """The cube root: ``1/m**(1/3)`` by a polynomial and one step of order four, then a Newton
    step on the root with an exact residual; no division."""
    f = format_of(x)
    a = abs(x)
    subnormal = a < f.smallest_normal
    up = 3 * (f.mantissa // 3 + 1)
    bits = to_bits(a * where(subnormal, const(2.0**up, x), 1.0))
    adjust = -f.bias % 3
    exponent = (bits >> f.mantissa) + adjust
    third = (exponent * 21846) >> 16  # exponent // 3
    m = bits & ((1 << f.mantissa) - 1)
    m = from_bits(m | (exponent - third * 3 + f.bias << f.mantissa))  # in [1, 8)
    third = third - (f.bias + adjust) // 3
    third = where(subnormal, third - up // 3, third)
    r = poly(m, CBRT[f.char])
    e = 1.0 - m * r * r * r
    r = fma(r * e, poly(e, (1 / 3, 2 / 9, 14 / 81)), r)
    root = m * r * r
    square, lost = two_product(root, root)
    residual = fma(square, root, -m) + lost * root
    root = fma(residual * (r * r), -1 / 3, root)
    value = root * power_of_two(third, f)
    return where((a > 0.0) & (a < INFINITY), copysign(value, x), x)


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
