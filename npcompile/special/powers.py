"""power, as a program.

``x**y = exp(y * log(x))`` with the logarithm and the product in two parts.  Special cases are
those of C (ISO 9899:2018, F.10.4.4), which are NumPy's.
"""

from __future__ import annotations

from npcompile.graph.expression import (
    Expr,
    cast,
    complex_,
    const,
    fma,
    from_bits,
    imag,
    rare,
    real,
    rint,
    sqrt,
    to_bits,
    trunc,
    where,
)
from npcompile.special import single
from npcompile.special.exponential import RANGE, clamp, exp_parts, scaled_sum
from npcompile.special.formats import Format, format_of, positive, scale, sign_bit
from npcompile.special.logarithm import log_pair
from npcompile.special.words import two_product

INFINITY = float("inf")
#: exponents beyond which every base but 1 overflows or vanishes
STEEP = 2.0**66
#: powers of two whose exponent is smaller are normal numbers of float32
SINGLE_REACH = 126.0


def power(x: Expr, y: Expr) -> Expr:
    """x**y."""
    f = format_of(x)
    return _single_power(x, y, f) if f.char == "f" else _double_power(x, y, f)


def _single_power(x: Expr, y: Expr, f: Format) -> Expr:
    exponent = cast(y, "d") * single.log2(abs(x))
    special = ~positive(x, f) | ~(abs(exponent) < SINGLE_REACH)
    inside = where(_is_real(x, y, f), clamp(exponent, -2 * SINGLE_REACH, 2 * SINGLE_REACH), 0.0)
    value = cast(single.exp2(rare(special, inside, exponent)), x.dtype)
    return rare(special, _special(x, y, value, f), value)


def _double_power(x: Expr, y: Expr, f: Format) -> Expr:
    special = ~(positive(x, f) & (abs(y) <= STEEP))
    usual = _is_real(x, y, f)
    inside = complex_(where(usual, abs(x), 1.0), where(usual, clamp(y, -STEEP, STEEP), 0.0))
    both = rare(special, inside, complex_(x, y))
    high, low = log_pair(real(both), f)
    product, rest = two_product(imag(both), high)
    value = exp_pair(product, fma(imag(both), low, rest), f)
    return rare(special, _special(x, y, value, f), value)


def _is_real(x: Expr, y: Expr, f: Format) -> Expr:
    """Where the power is finite or overflows, and real.  Not a term of it is one of
    :func:`_special`, or both would be computed for all numbers."""
    finite = (abs(x) <= f.largest) & (y <= f.largest) & (y >= -f.largest)
    return finite & (x != 0.0) & ((x > 0.0) | (trunc(y) == y))


def exp_pair(x: Expr, low: Expr, f: Format) -> Expr:
    """``exp(x + low)``."""
    lowest, highest, normal = RANGE[f.char]
    extreme = ~(abs(x) <= normal)
    inside = complex_(clamp(x, lowest, highest), where(abs(x) <= -lowest, low, 0.0))
    both = rare(extreme, inside, complex_(x, low))
    head, tail, k = exp_parts(real(both), imag(both), f)
    return scaled_sum(head, tail, k, x, extreme, f)


def ordinary_exp_pair(x: Expr, low: Expr, f: Format) -> Expr:
    """The same where it is a normal number."""
    head, tail, k = exp_parts(x, low, f)
    return scale(head + tail, k, f)


def _special(x: Expr, y: Expr, value: Expr, f: Format) -> Expr:
    """``x**y`` where x or y is not finite, or x is not positive; value is ``abs(x)**y``."""
    a, b = abs(x), abs(y)
    zero, one = const(0.0, x), const(1.0, x)
    half = y * 0.5
    whole = rint(y) == y
    odd = whole & (rint(half) != half)
    at_end = (a == 0.0) | (a == INFINITY) | (b == INFINITY)
    shrinks = (a > 1.0) ^ (y > 0.0)
    pole = (a == 0.0) & (y < 0.0)
    invalid = (x < 0.0) & (a < INFINITY) & ~whole & (y == y)
    value = where(at_end, where(shrinks, zero, const(INFINITY, x)), value)
    value = where(pole, one / where(pole, zero, one), value)
    value = where(a == 1.0, one, value)
    value = where(odd, from_bits(to_bits(value) | (to_bits(x) & sign_bit(f))), value)
    value = where(invalid, sqrt(where(invalid, -one, one)), value)
    value = where((x != x) | (y != y), where(x != x, x, y), value)
    return where((x == 1.0) | (y == 0.0), one, value)
