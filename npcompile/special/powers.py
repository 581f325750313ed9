"""power, as a program.

``x**y = exp(y * log(x))`` with the logarithm and the product in two parts; the third and the fourth
power of what is far from both ends of the range are products in two parts.  Special cases are those
of C (ISO 9899:2018, F.10.4.4), which are NumPy's.
"""

from __future__ import annotations

from npcompile.graph.expression import (
    Expr,
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
from npcompile.graph.ir import Const
from npcompile.special.exponential import RANGE, clamp, exp_parts, reduced, whole_exp
from npcompile.special.formats import Format, between, format_of, positive, scale, sign_bit
from npcompile.special.logarithm import normal_log_pair
from npcompile.special.words import two_product

INFINITY = float("inf")
#: exponents beyond which every base but 1 overflows or vanishes
STEEP = 2.0**66
#: up to these magnitudes, of which some 2**-11 may be left to a second part, exp is a normal number
NORMAL = {"d": 708.0, "f": 87.25}


#: the exponents that products serve, and from where on to where their bases have no rounding error
#: that is subnormal and no power that overflows
WHOLE = (3.0, 4.0)
MODERATE = {"d": (2.0**-224, 2.0**255), "f": (2.0**-18, 2.0**31)}


def power(x: Expr, y: Expr) -> Expr:
    """x**y."""
    f = format_of(x)
    exponent = y.node.attrs.value if isinstance(y.node.attrs, Const) else None
    if exponent is not None and exponent not in WHOLE:
        return _general(x, y, f)
    inside = between(x, *MODERATE[f.char], f) | (to_bits(x) == 0)
    if exponent is None:
        general, whole = _general(x, y, f), (y == WHOLE[0]) | (y == WHOLE[1])
        inside &= whole
        made = where(inside, _products(where(inside, x, const(1.0, x)), y), general)
        return rare(whole, made, general)
    outside = ~inside
    base = rare(outside, where(outside, const(1.0, x), x), x)
    return rare(outside, _general(x, y, f), _products(base, y))


def _products(x: Expr, y: Expr) -> Expr:
    """``x**3``, or ``x**4`` where y is 4: rounded almost once, for what is left out is 2**-50 of
    the last place."""
    square, rest = two_product(x, x)
    fourth = y == WHOLE[1]
    high, low = two_product(square, where(fourth, square, x))
    return high + fma(rest, where(fourth, square + square, x), low)


def _general(x: Expr, y: Expr, f: Format) -> Expr:
    special = ~(positive(x, f, True) & (abs(y) <= STEEP))
    usual = _is_real(x, y, f)
    base = where(usual, abs(x), 1.0)
    up = f.mantissa + 2
    base = base * where(base < f.smallest_normal, const(2.0**up, x), 1.0)
    both = rare(special, complex_(base, where(usual, clamp(y, -STEEP, STEEP), 0.0)),
                complex_(x, y))
    exponent = to_bits(x) & (2 * f.bias + 1 << f.mantissa)  # no term of the conditions above
    less = where(exponent == 0, const(-up, x), 0.0)
    high, low = normal_log_pair(real(both), (special, less), f)
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
    lowest, highest, _ = RANGE[f.char]
    extreme = ~(abs(x) <= NORMAL[f.char])
    inside = complex_(clamp(x, lowest, highest), where(abs(x) <= -lowest, low, 0.0))
    both = rare(extreme, inside, complex_(x, low))
    bits, r = reduced(real(both), f)
    return whole_exp(bits, r + imag(both), x, extreme, f)


def ordinary_exp_pair(x: Expr, low: Expr, f: Format) -> Expr:
    """The same where it is a normal number."""
    head, tail, k = exp_parts(x, low, f)
    return scale(head + tail, k, f)


def _special(x: Expr, y: Expr, value: Expr, f: Format) -> Expr:
    """``x**y`` where x or y is not finite, or x is not positive; value is ``abs(x)**y``."""
    magnitude = ~sign_bit(f)  # abs(x) would be a term that _is_real has too
    a, b = from_bits(to_bits(x) & magnitude), from_bits(to_bits(y) & magnitude)
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
