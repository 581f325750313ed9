"""power, as a program.

``x**y = exp(y * log(x))`` with the logarithm and the product in two parts.  Special cases are
those of C (ISO 9899:2018, F.10.4.4), which are NumPy's.
"""

from __future__ import annotations

from npcompile.graph.expression import (
    Expr,
    cast,
    const,
    fma,
    from_bits,
    rare,
    rint,
    sqrt,
    to_bits,
    where,
)
from npcompile.special import single
from npcompile.special.exponential import RANGE, clamp, exp_parts, scaled_sum
from npcompile.special.formats import Format, format_of, sign_bit
from npcompile.special.logarithm import log_pair
from npcompile.special.words import two_product

INFINITY = float("inf")
#: exponents beyond which every base but 1 overflows or vanishes
STEEP = 2.0**66


def power(x: Expr, y: Expr) -> Expr:
    """x**y."""
    f = format_of(x)
    special = ~((x > 0.0) & (x < INFINITY) & (abs(y) < INFINITY))
    a = abs(x)
    real = (a > 0.0) & (a < INFINITY) & (abs(y) < INFINITY) & ((x > 0.0) | (rint(y) == y))
    base = rare(special, where(real, a, const(1.0, x)), x)
    if f.char == "f":
        exponent = rare(special, where(real, y, 0.0), y)  # no overflow of 1**inf
        value = cast(single.power_parts(base, exponent), x.dtype)
    else:
        value = _double_power(base, y, f)
    return rare(special, _special(x, y, value, f), value)


def _double_power(x: Expr, y: Expr, f: Format) -> Expr:
    """``x**y`` for ``x > 0``."""
    high, low = log_pair(x, f)
    exponent = clamp(y, -STEEP, STEEP)
    product, rest = two_product(exponent, high)
    return exp_pair(product, fma(exponent, low, rest), f)


def exp_pair(x: Expr, low: Expr, f: Format) -> Expr:
    """``exp(x + low)``."""
    lowest, highest, normal = RANGE[f.char]
    extreme = ~(abs(x) <= normal)
    low = where(abs(x) <= -lowest, low, 0.0)
    head, tail, k = exp_parts(clamp(x, lowest, highest), low, f)
    return scaled_sum(head, tail, k, x, extreme, f)


def _special(x: Expr, y: Expr, value: Expr, f: Format) -> Expr:
    """``x**y`` where x or y is not finite, or x is not positive; value is ``abs(x)**y``."""
    a, b = abs(x), abs(y)
    zero, one = const(0.0, x), const(1.0, x)
    half = y * 0.5
    whole = rint(y) == y
    odd = whole & (rint(half) != half)
    at_end = (a == 0.0) | (a == INFINITY) | (b == INFINITY)
    shrinks = (a > 1.0) ^ (y > 0.0)
    pole = (a == 0.0) & (y < 0.0) & (b < INFINITY)
    invalid = (x < 0.0) & (a < INFINITY) & ~whole
    value = where(at_end, where(shrinks, zero, const(INFINITY, x)), value)
    value = where(pole, one / where(pole, zero, one), value)
    value = where(a == 1.0, one, value)
    value = where(odd, from_bits(to_bits(value) | (to_bits(x) & sign_bit(f))), value)
    value = where(invalid, sqrt(where(invalid, -one, one)), value)
    value = where((x != x) | (y != y), where(x != x, x, y), value)
    return where((x == 1.0) | (y == 0.0), one, value)
