"""power, as a program.

``x**y = exp(y * log(x))`` with the logarithm and the product in two parts; the third and the fourth
power of what is far from both ends of the range are products in two parts.  Exponents -1, 0.5, 1
and 2 have one operation that is rounded correctly, whether the exponent is known or not.  Special
cases are those of C (ISO 9899:2018, F.10.4.4), which are NumPy's.
"""

from __future__ import annotations

from npcompile.graph.expression import (
    Expr,
    complex_,
    const,
    copysign,
    floor,
    fma,
    from_bits,
    imag,
    rare,
    real,
    rint,
    sqrt,
    to_bits,
    where,
)
from npcompile.graph.ir import Const
from npcompile.special.arithmetic.double_word import two_product
from npcompile.special.arithmetic.formats import (
    Format,
    between,
    format_of,
    positive,
    scale,
    sign_bit,
)
from npcompile.special.elementary.exponential import RANGE, exp_parts, held, reduced, whole_exp
from npcompile.special.elementary.logarithm import normal_log_pair

INFINITY = float("inf")
#: exponents beyond which every base but 1 overflows or vanishes
STEEP = 2.0**66
#: up to these magnitudes, of which some 2**-11 may be left to a second part, exp is a normal number
NORMAL = {"d": 708.0, "f": 87.25}


#: the exponents that products serve, and from where on to where their bases have no rounding error
#: that is subnormal and no power that overflows
WHOLE = (3.0, 4.0)
MODERATE = {"d": (2.0**-224, 2.0**255), "f": (2.0**-18, 2.0**31)}


#: the exponents that one operation serves
SINGLE = (-1.0, 0.5, 1.0, 2.0)


def power(x: Expr, y: Expr) -> Expr:
    """x**y."""
    f = format_of(x)
    exponent = y.node.attrs.value if isinstance(y.node.attrs, Const) else None
    for number in SINGLE:
        if exponent == number:
            return _single(x, number)
    if exponent is not None and exponent not in WHOLE:
        return _general(x, y, f)
    inside = between(x, *MODERATE[f.char], f) | (to_bits(x) == 0)
    if exponent is None:
        general, whole = _general(x, y, f), (y == WHOLE[0]) | (y == WHOLE[1])
        inside &= whole
        made = where(inside, _products(where(inside, x, const(1.0, x)), y), general)
        for number in SINGLE:
            chosen = y == number
            whole |= chosen
            made = where(chosen, _single(where(chosen, x, const(1.0, x)), number), made)
        return rare(whole, made, general)
    outside = ~inside
    base = rare(outside, where(outside, const(1.0, x), x), x)
    return rare(outside, _general(x, y, f), _products(base, y))


def _single(x: Expr, y: float) -> Expr:
    if y == 0.5:  # C's of -0.0 and -inf are positive, as those of all exponents that are no integer
        root = sqrt(where(x == -INFINITY, const(INFINITY, x), x))
        return where(x == 0.0, const(0.0, x), root)
    return const(1.0, x) / x if y == -1.0 else x * x if y == 2.0 else x


def _products(x: Expr, y: Expr) -> Expr:
    """``x**3``, or ``x**4`` where y is 4: rounded almost once, for what is left out is 2**-50 of
    the last place."""
    square, rest = two_product(x, x)
    fourth = y == WHOLE[1]
    high, low = two_product(square, where(fourth, square, x))
    return high + fma(rest, where(fourth, square + square, x), low)


def _general(x: Expr, y: Expr, f: Format) -> Expr:
    steep = abs(y) <= STEEP
    special = ~(positive(x, f, True) & steep)
    base, exponent = _real(x, y, steep, f)
    both = rare(special, complex_(base, exponent), complex_(x, y))
    exponent = imag(both)
    high, low = normal_log_pair(real(both), f)
    product, rest = two_product(exponent, high)
    value = exp_pair(product, fma(exponent, low, rest), f)
    return rare(special, _special(x, y, exponent, value, f), value)


def _real(x: Expr, y: Expr, steep: Expr, f: Format) -> tuple[Expr, Expr]:
    """``abs(x)``, as :func:`normal_log_pair` wants it, and y, not too large, where the power is
    finite or overflows, and real; 1 and 0 elsewhere.  Not a term is one of :func:`_special`, or it
    would be computed for all numbers."""
    a = abs(x)
    finite = (a <= f.largest) & (x != 0.0) & (abs(y) <= f.largest)
    usual = finite & ((x > 0.0) | (rint(y) == y))
    base = where(usual, a, 1.0)
    tiny = base < f.smallest_normal
    up = f.mantissa + 2
    raised = base * where(tiny, const(2.0**up, x), 1.0)
    bits = to_bits(raised) - where(tiny, const(up << f.mantissa, to_bits(x)), 0)
    y = where(steep, y, copysign(STEEP, y))
    return from_bits(bits), where(usual, y, 0.0)


def exp_pair(x: Expr, low: Expr, f: Format) -> Expr:
    """``exp(x + low)``."""
    lowest, highest, _ = RANGE[f.char]
    extreme = ~(abs(x) <= NORMAL[f.char])
    inside = complex_(held(x, lowest, highest), where(abs(x) <= -lowest, low, 0.0))
    both = rare(extreme, inside, complex_(x, low))
    bits, r = reduced(real(both), f)
    return whole_exp(bits, r + imag(both), x, extreme, f)


def ordinary_exp_pair(x: Expr, low: Expr, f: Format) -> Expr:
    """The same where it is a normal number."""
    head, tail, k = exp_parts(x, low, f)
    return scale(head + tail, k, f)


def _special(x: Expr, y: Expr, exponent: Expr, value: Expr, f: Format) -> Expr:
    """``x**y`` where x or y is not finite, or x is not positive.  value is ``abs(x)**exponent``:
    the exponent is 0, and so value 1, where that is not a finite number or one that overflows."""
    a = from_bits(to_bits(x) & ~sign_bit(f))  # abs(x) would be a term that _real has too
    zero, one, half = const(0.0, x), const(1.0, x), y * 0.5
    broken = floor(y) < y  # not where y is infinite or NaN
    odd = (floor(half) < half) & ~broken
    shrinks = (a > 1.0) ^ (y > 0.0)
    end = where(shrinks, zero, const(INFINITY, x))
    value = where((exponent == 0.0) & (a != 1.0), end, value)
    invalid = broken & (x < 0.0) & (x > -INFINITY)
    apart = invalid | ((x == 0.0) & (y < 0.0))
    flagged = where(invalid, zero, one) / where(apart, zero, one)  # 0 / 0 or 1 / 0
    value = where(apart, flagged, value)
    value = where(odd, from_bits(to_bits(value) | (to_bits(x) & sign_bit(f))), value)
    either = where(x == x, y, x)
    value = where(either == either, value, either)
    return where((x == 1.0) | (y == 0.0), one, value)
