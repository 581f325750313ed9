"""sin, cos and tan, as programs.

``x = n*pi/16 + r + low``: pi/16 in three parts by fused multiply-adds (Cody & Waite 1980; Boldo,
Daumas & Li, Formally verified argument reduction with a fused multiply-add, IEEE TC 58, 2009).
The first two steps are exact.  Large arguments are reduced in a subprogram: by parts as wide as the
format, where n is exact, and beyond by 16/pi to 210 bits (Payne & Hanek, Radian reduction for
trigonometric functions, SIGNUM 18, 1983).  Sines and cosines of n*pi/16 come from a
table, those of r from short polynomials (Gal & Bachelis, An accurate elementary mathematical
library for the IEEE floating point standard, ACM TOMS 17, 1991).  Signs are transferred at the end,
so -0 needs no care.  float32 goes by steps of pi/8, in three parts, up to 2**17, and beyond it by
the subprograms of float64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from npcompile.core.records import record
from npcompile.graph.expression import (
    Expr,
    cast,
    complex_,
    const,
    fma,
    from_bits,
    horner,
    imag,
    lookup,
    poly,
    rare,
    real,
    rint,
    to_bits,
    where,
)
from npcompile.graph.subprograms import choose, subprogram
from npcompile.special.arithmetic.double_word import (
    joined,
    quick_two_sum,
    quotient,
    two_product,
    two_sum,
)
from npcompile.special.arithmetic.formats import FORMATS, Format, format_of, sign_bit
from npcompile.special.coefficients.circular import (
    COS,
    QUARTER_STEP,
    SIN,
    SINGLE_COS,
    SINGLE_SIN,
    SINGLE_SINES,
    SINGLE_STEP,
    STEPS_BY_ANGLE,
    TAN,
    TURN_SINES,
    TURN_STEP,
    WIDE_STEP,
)

Pair = tuple[Expr, Expr]
DOUBLE = FORMATS["d"]
INFINITY = float("inf")
#: steps of half a turn; two bits of n more give the sign
STEPS, STEP_BITS = 16, 4
#: beyond these three parts of pi/16 do not reduce numbers well enough: n has more than 24 bits in
#: float64; and beyond the last wide ones don't
LARGE, WIDE = {"d": 2.0**21, "f": 2.0**16}, 2.0**40
#: beyond it three parts of pi/8 do not reduce float32 well enough
LARGE_SINGLE = 2.0**17
#: sines and cosines of multiples of pi/4, the latter's whole part, times sqrt(2) where n is odd
QUARTERS = (0.0, 1.0, 1.0, -1.0), (1.0, 1.0, 0.0, 1.0)


def sin(x: Expr) -> Expr:
    """Sine."""
    f = format_of(x)
    if f.char == "f":
        return _single(x, False)
    bits, r, low, large = reduce(abs(x), f)
    value = _sine(bits, r, low, f)
    value = with_sign(value, (_half_turn(bits, f) ^ to_bits(x)) & sign_bit(f))
    return rare(large, _far(x, large, far_sine), value)


def cos(x: Expr) -> Expr:
    """Cosine: a sine, eight steps further."""
    f = format_of(x)
    if f.char == "f":
        return _single(x, True)
    bits, r, low, large = reduce(abs(x), f, STEPS // 2)
    value = with_sign(_sine(bits, r, low, f), _half_turn(bits, f) & sign_bit(f))
    return rare(large, _far(x, large, far_cosine), value)


def tan(x: Expr) -> Expr:
    """Tangent: the quotient of sine and cosine, each in two parts."""
    f = format_of(x)
    if f.char == "f":
        return _single_tangent(x)
    bits, r, low, large = reduce(abs(x), f)
    value = quotient(*sine_cosine(bits, r, low, f))
    value = with_sign(value, to_bits(x) & sign_bit(f))
    return rare(large, _far(x, large, far_tangent), value)


def _half_turn(bits: Expr, f: Format) -> Expr:
    """The sign bit is set after an odd number of half turns."""
    return bits << f.sign_shift - STEP_BITS


@record
class Turned:
    """Sine and cosine of one angle, each as a large and a small part and the bits to flip."""

    sine: Pair
    cosine: Pair
    sine_sign: Expr
    cosine_sign: Expr


def turned(x: Expr, f: Format, more: Expr | None = None) -> Turned:
    """Sine and cosine of ``x + more``, their signs apart so that zeros keep them."""
    bits, r, low, large = reduce(abs(x), f)
    if more is not None:
        low = low + where(x < 0.0, -more, more)
    (s, s_low), (c, c_low) = sine_cosine(bits, r, low, f)
    far = rare(large, complex_(_far(abs(x), large, far_cosine),
                                   _far(abs(x), large, far_sine)), complex_(c, s))
    s_low, c_low = where(large, 0.0, s_low), where(large, 0.0, c_low)
    sign = where(large, const(0, bits), _half_turn(bits, f))
    return Turned((imag(far), s_low), (real(far), c_low),
                  (sign ^ to_bits(x)) & sign_bit(f), sign & sign_bit(f))


def circle(angle: Expr, low: Expr | None = None) -> tuple[Pair, Pair]:
    """Sine and cosine of an angle of moderate size, each in two parts; errors are parts of 1."""
    bits, r, rest = _reduced(abs(angle), DOUBLE)
    rest = rest if low is None else rest + with_sign(low, to_bits(angle) & sign_bit(DOUBLE))
    sine, cosine = sine_cosine(bits, r, rest, DOUBLE)
    flip = _half_turn(bits, DOUBLE) & sign_bit(DOUBLE)
    both = flip ^ to_bits(angle) & sign_bit(DOUBLE)
    return ((with_sign(sine[0], both), with_sign(sine[1], both)),
            (with_sign(cosine[0], flip), with_sign(cosine[1], flip)))


def with_sign(x: Expr, sign: Expr) -> Expr:
    """A number, negated where the sign's bit is set."""
    return from_bits(to_bits(x) ^ sign)


def sine_cosine(bits: Expr, r: Expr, low: Expr, f: Format) -> tuple[Pair, Pair]:
    """Sine and cosine of ``n*pi/16 + r + low``, each as a large and a small part; the last four
    bits are those of n, ``|r| <= pi/32``.  A small part of the table times r does not count."""
    s, s_low, c, c_low = (lookup(bits, row, f.char) for row in TURN_SINES[f.char])
    z = r * r
    rise = fma(r * z, horner(z, SIN[f.char]), low)  # sin(r) - r
    fall = z * horner(z, COS[f.char])  # cos(r) - 1
    return _turn(s, s_low, c, r, rise, fall), _turn(c, c_low, -s, r, rise, fall)


def _sine(bits: Expr, r: Expr, low: Expr, f: Format) -> Expr:
    """The sine alone, by fewer products: ``a + b*r``, what it loses, and the rest over r**2."""
    a, a_low, b = (lookup(bits, row, f.char) for row in TURN_SINES[f.char][:3])
    z, slant = r * r, b * r
    value = fma(b, r, a)
    lost = fma(b, r, a - value) + a_low
    bend = fma(slant, horner(z, SIN[f.char]), a * horner(z, COS[f.char]))
    return value + fma(z, bend, fma(b, low, lost))


def _turn(a: Expr, a_low: Expr, b: Expr, r: Expr, rise: Expr, fall: Expr) -> Pair:
    """``a * cos(r) + b * sin(r)``"""
    value = fma(b, r, a)
    lost = fma(b, r, a - value)
    return value, fma(b, rise, fma(a, fall, a_low + lost))


def reduce(x: Expr, f: Format, ahead: int = 0) -> tuple[Expr, Expr, Expr, Expr]:
    """For ``x >= 0``: ``n + ahead``, of whose bits the last five count, the remainder in two parts,
    and where x is too large for it, which is taken for 0 there; ahead is even."""
    large = ~(x < LARGE[f.char])
    return *_reduced(rare(large, where(large, const(0.0, x), x), x), f, ahead), large


def _reduced(x: Expr, f: Format, ahead: int = 0, wide: bool = False) -> tuple[Expr, Expr, Expr]:
    """The same for arguments that are not too large.  Eighths of n: nothing overflows.  Next to a
    multiple of pi the second step is exact, in float64 because the second part is short; ``wide``:
    where n is too long for that."""
    first, second, third, inverse = (WIDE_STEP if wide else TURN_STEP)[f.char]
    middle = (f.magic + ahead) / 8
    shifted = fma(x, inverse / 8, middle)
    eighth = shifted - middle
    most = fma(eighth, -8 * first, x)
    more = eighth * (-8 * second)
    r, low = quick_two_sum(most, more)
    if wide or f.char == "f":
        low = low + fma(eighth, -8 * second, -more)
    return to_bits(shifted), r, fma(eighth, -8 * third, low)


# ------------------------------------------------------------------ large arguments


def _far(x: Expr, large: Expr, program: Callable[[Expr], Expr]) -> Expr:
    """A subprogram's value where needed; infinite arguments are invalid."""
    inside = where(large & (abs(x) < INFINITY), x, const(1.0, x))
    return cast(program(inside), x.dtype) + where(large, x - x, 0.0)


@subprogram
def far_sine(x: Expr) -> Expr:
    """Sine of any double of magnitude 1 or more."""
    bits, r, low = _far_reduced(abs(x))
    sign = (_half_turn(bits, DOUBLE) ^ to_bits(x)) & sign_bit(DOUBLE)
    return with_sign(_sine(bits, r, low, DOUBLE), sign)


@subprogram
def far_cosine(x: Expr) -> Expr:
    """Cosine, likewise."""
    bits, r, low = _far_reduced(abs(x))
    bits = bits + STEPS // 2
    return with_sign(_sine(bits, r, low, DOUBLE), _half_turn(bits, DOUBLE) & sign_bit(DOUBLE))


@subprogram
def far_tangent(x: Expr) -> Expr:
    """Tangent, likewise."""
    bits, r, low = _far_reduced(abs(x))
    value = quotient(*sine_cosine(bits, r, low, DOUBLE))
    return with_sign(value, to_bits(x) & sign_bit(DOUBLE))


def _far_reduced(x: Expr) -> tuple[Expr, Expr, Expr]:
    """The reduction of any double of 1 or more."""
    bits, r, low = choose(x < WIDE, lambda: _reduced(x, DOUBLE, wide=True),
                          lambda: payne_hanek(x))
    return bits, r, low


def payne_hanek(x: Expr) -> tuple[Expr, Expr, Expr]:
    """The reduction of any double >= 1, exactly enough for the worst case.

    ``x = X * 2**(32*g - 52)`` with an integer X < 2**84, times 16/pi * 2**(32*g - 52) modulo 32:
    the parts of the product that are multiples of 32 drop out.
    """
    f = DOUBLE
    bits = to_bits(x)
    group = (bits - (f.bias << f.mantissa)) >> f.mantissa + 5
    whole = from_bits(bits - (group << f.mantissa + 5)) * 2.0**f.mantissa
    parts = [lookup(group, row) for row in STEPS_BY_ANGLE["d"]]
    (h0, l0), (h1, l1), (h2, l2) = (two_product(whole, part) for part in parts[:3])
    s, e = two_sum(_modulo(h0), _modulo(l0))
    s, e1 = two_sum(s, _modulo(h1))
    e, e2 = two_sum(e, e1)
    m, m1 = two_sum(h2, l1)
    n = rint(s)
    high, t = two_sum(s - n, m)
    low, t1 = two_sum(t, e)
    rest = t1 + (e2 + (m1 + fma(whole, parts[3], l2)))
    high, low = two_sum(high, low)
    high, low = two_sum(high, low + rest)
    first, second, _, _ = WIDE_STEP["d"]
    r = high * first
    r_low = fma(high, first, -r) + fma(high, second, low * first)
    return to_bits(n + f.magic), r, r_low


def _modulo(x: Expr) -> Expr:
    """``x`` less the nearest multiple of 32: exact."""
    return x - 32.0 * rint(x / 32)


# ------------------------------------------------------------------ float32


def _single(x: Expr, shifted: bool) -> Expr:
    """``sin(x)``, or ``sin(x + pi/2)``."""
    bits, r, low, large = _single_reduced(x, SINGLE_STEP["f"])
    (s, s_low), (c, c_low) = _single_parts(bits)
    rise, fall = _single_changes(r, low)
    if shifted:
        value = joined(_turn(c, fma(-s_low, r, c_low), -s, r, rise, fall))
    else:
        value = where(x == 0.0, x, joined(_turn(s, fma(c_low, r, s_low), c, r, rise, fall)))
    return rare(large, _far(x, large, far_cosine if shifted else far_sine), value)


def _single_tangent(x: Expr) -> Expr:
    """The tangent of ``n*pi/4 + r``: ``(s + c*tan(r)) / (c - s*tan(r))``."""
    bits, r, low, large = _single_reduced(abs(x), QUARTER_STEP["f"])
    s, c = (lookup(bits, row, "f") for row in QUARTERS)
    z = r * r
    tail = fma(r * z, horner(z, TAN["f"]), low)
    value = quotient(_linear(s, c, r, tail), _linear(c, -s, r, tail))
    value = with_sign(value, to_bits(x) & sign_bit(FORMATS["f"]))
    return rare(large, _far(x, large, far_tangent), value)


def _linear(a: Expr, b: Expr, r: Expr, tail: Expr) -> Pair:
    """``a + b * (r + tail)`` for whole a and b."""
    value = fma(b, r, a)
    return value, fma(b, tail, fma(b, r, a - value))


def _single_parts(bits: Expr) -> tuple[Pair, Pair]:
    """Sine and cosine of a multiple of pi/8, each in two parts."""
    s, s_low, c, c_low = (lookup(bits, row, "f") for row in SINGLE_SINES["f"])
    return (s, s_low), (c, c_low)


def _single_changes(r: Expr, low: Expr) -> Pair:
    """``sin(r + low) - r`` and ``cos(r) - 1``."""
    z = r * r
    return fma(r * z, poly(z, SINGLE_SIN["f"]), low), z * poly(z, SINGLE_COS["f"])


def _single_reduced(x: Expr, step: Sequence[float]) -> tuple[Expr, Expr, Expr, Expr]:
    """Multiples of a step in the last bits, the remainder in two parts, and where x is so large
    that three parts of the step are not enough."""
    f = FORMATS["f"]
    large = ~(abs(x) < LARGE_SINGLE)
    x = rare(large, where(large, const(0.0, x), x), x)
    first, second, third, inverse = step
    shifted = fma(x, inverse, f.magic)
    n = shifted - f.magic
    r1 = fma(n, -first, x)
    part, rest = two_product(n, -second)
    r, low = quick_two_sum(r1, part)  # what they cancel to is exact
    return to_bits(shifted), r, fma(n, -third, low + rest), large
