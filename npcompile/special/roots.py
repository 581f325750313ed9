"""cbrt and hypot, as programs."""

from __future__ import annotations

from npcompile.graph.expression import (
    Expr,
    complex_,
    const,
    copysign,
    fma,
    from_bits,
    imag,
    poly,
    rare,
    real,
    sqrt,
    to_bits,
    where,
)
from npcompile.special.coefficients.roots import CBRT
from npcompile.special.formats import format_of, positive
from npcompile.special.words import quick_two_sum, two_product

INFINITY = float("inf")


def cbrt(x: Expr) -> Expr:
    """The cube root: ``1/m**(1/3)`` by a polynomial and one step of order four, then a Newton
    step on the root with an exact residual; no division."""
    f = format_of(x)
    a = abs(x)
    special = ~positive(a, f, True)
    tiny = (a > 0.0) & (a < f.smallest_normal)
    up, adjust = 3 * (f.mantissa // 3 + 1), -f.bias % 3
    down = 2.0 ** (-(f.bias + adjust) // 3)  # what the exponents of roots are counted from
    raised = complex_(where(tiny, where(tiny, a, 1.0) * 2.0**up, 1.0),
                      where(tiny, const(down * 2.0 ** (-up // 3), x), down))
    both = rare(special, raised, complex_(a, const(down, x)))
    bits = to_bits(real(both))
    exponent = ((bits >> f.mantissa) & 2 * f.bias + 1) + adjust
    third = (exponent * 21846) >> 16  # exponent // 3
    m = bits - ((third * 3 << f.mantissa) - (f.bias + adjust << f.mantissa))  # in [1, 8)
    m = from_bits(m)
    r = poly(m, CBRT[f.char])
    e = 1.0 - m * r * r * r
    r = fma(r * e, poly(e, (1 / 3, 2 / 9, 14 / 81)), r)
    root = m * r * r
    square, lost = two_product(root, root)
    residual = fma(square, root, -m) + lost * root
    root = fma(residual * (r * r), -1 / 3, root)
    value = root * from_bits(to_bits(imag(both)) + (third << f.mantissa))
    return rare(special, where(tiny, copysign(value, x), x), copysign(value, x))


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
