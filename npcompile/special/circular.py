"""sin, cos and tan, as programs.

``x = n*pi/2 + r + low``: pi/2 in two parts by fused multiply-adds (Cody & Waite 1980; Boldo,
Daumas & Li, Formally verified argument reduction with a fused multiply-add, IEEE TC 58, 2009).
The first step is exact.  Where the remainder is small against ``x``, that is where ``x`` is huge
or next to a multiple of pi/2, the rare path takes 2/pi to 210 bits (Payne & Hanek, Radian
reduction for trigonometric functions, SIGNUM 18, 1983).  Signs are transferred at the end, so -0
needs no care.
"""

from __future__ import annotations

from dataclasses import dataclass

from npcompile.graph.expression import (
    Expr,
    cast,
    complex_,
    const,
    fma,
    from_bits,
    imag,
    lookup,
    poly,
    rare,
    real,
    rint,
    to_bits,
    where,
)
from npcompile.special.coefficients.circular import COS, HALF_PI, SIN, TWO_OVER_PI
from npcompile.special.formats import FORMATS, Format, format_of, sign_bit
from npcompile.special.words import joined, quick_two_sum, quotient, two_product, two_sum


def sin(x: Expr) -> Expr:
    """Sine."""
    f = format_of(x)
    quadrant, r, low = reduce(abs(x), f)
    sine, cosine = sine_cosine(r, low, f)
    value = where((quadrant & 1) != 0, joined(cosine), joined(sine))
    sign = quadrant << f.sign_shift - 1
    return from_bits(to_bits(value) ^ ((sign ^ to_bits(x)) & sign_bit(f)))


def cos(x: Expr) -> Expr:
    """Cosine."""
    f = format_of(x)
    quadrant, r, low = reduce(abs(x), f)
    sine, cosine = sine_cosine(r, low, f)
    value = where((quadrant & 1) != 0, joined(sine), joined(cosine))
    sign = (quadrant + 1) << f.sign_shift - 1
    return from_bits(to_bits(value) ^ (sign & sign_bit(f)))


def tan(x: Expr) -> Expr:
    """Tangent: the quotient of sine and cosine, each in two parts."""
    f = format_of(x)
    quadrant, r, low = reduce(abs(x), f)
    sine, cosine = (quick_two_sum(*pair) for pair in sine_cosine(r, low, f, True))
    odd = (quadrant & 1) != 0
    top = where(odd, cosine[0], sine[0]), where(odd, cosine[1], sine[1])
    bottom = where(odd, sine[0], cosine[0]), where(odd, sine[1], cosine[1])
    value = quotient(top, bottom)
    sign = quadrant << f.sign_shift
    return from_bits(to_bits(value) ^ sign ^ (to_bits(x) & sign_bit(f)))


Pair = tuple[Expr, Expr]


@dataclass(frozen=True, slots=True)
class Turned:
    """Sine and cosine of one angle, each as a large and a small part and the bits to flip."""

    sine: Pair
    cosine: Pair
    sine_sign: Expr
    cosine_sign: Expr


def turned(x: Expr, f: Format, more: Expr | None = None) -> Turned:
    """Sine and cosine of ``x + more``, their signs apart so that zeros keep them."""
    quadrant, r, low = reduce(abs(x), f)
    if more is not None:
        low = low + where(x < 0.0, -more, more)
    sine, cosine = sine_cosine(r, low, f)
    odd = (quadrant & 1) != 0
    first = where(odd, cosine[0], sine[0]), where(odd, cosine[1], sine[1])
    second = where(odd, sine[0], cosine[0]), where(odd, sine[1], cosine[1])
    sign, other = quadrant << f.sign_shift - 1, (quadrant + 1) << f.sign_shift - 1
    return Turned(first, second, (sign ^ to_bits(x)) & sign_bit(f), other & sign_bit(f))


def with_sign(x: Expr, sign: Expr) -> Expr:
    """A number, negated where the sign's bit is set."""
    return from_bits(to_bits(x) ^ sign)


def sine_cosine(r: Expr, low: Expr, f: Format, precise: bool = False) -> tuple[Pair, Pair]:
    """Sine and cosine of ``r + low``, ``|r| <= pi/4``, each as a large and a small part."""
    half = r * 0.5
    h = half * r  # r**2 / 2, whose rounding error counts in the cosine
    h_low = fma(half, r, -h)
    z = h + h
    w = 1.0 - h
    cube, square, low_part = r * z, z * z, low * w
    sixth, *rest = SIN[f.char]
    first, *more = COS[f.char]
    if precise:  # h_low in z too
        low_part = fma(r * h_low, -1 / 3, low_part)
        h_low = fma(h_low * z, -1 / 6, h_low)
    sine = fma(cube, sixth, fma(cube * z, poly(z, rest), low_part))
    h_low = fma(r, low, h_low)
    if precise:
        even = fma(square, first, fma(square * z, poly(z, more), -h_low))
    else:
        even = fma(square, poly(z, COS[f.char]), -h_low)
    return (r, sine), (w, ((1.0 - w) - h) + even)


def reduce(x: Expr, f: Format) -> tuple[Expr, Expr, Expr]:
    """For ``x >= 0``: a quadrant (its last two bits count) and the remainder in two parts."""
    first, second, inverse, trust = HALF_PI[f.char]
    shifted = fma(x, inverse, f.magic)
    n = shifted - f.magic
    r1 = fma(n, -first, x)
    r = fma(n, -second, r1)
    low = fma(n, -second, r1 - r)
    untrusted = abs(r) < x * trust
    wide = cast(where(untrusted, x, const(1.0, x)), "d")
    quadrant, slow, slow_low = payne_hanek(wide)
    # one rare carries all three: the quadrant in the last bits of the low part
    short = cast(slow, x.dtype)
    slow_low = cast((slow - cast(short, "d")) + slow_low, x.dtype)
    marked = from_bits((to_bits(slow_low) & ~3) | (cast(quadrant, f.integer) & 3))
    both = rare(untrusted, complex_(short, marked), complex_(r, low))
    r, low = real(both), imag(both)
    return where(untrusted, to_bits(low), to_bits(shifted)), r, low


def payne_hanek(x: Expr) -> tuple[Expr, Expr, Expr]:
    """The same for any double >= 1, exactly enough for the worst case.

    ``x = X * 2**(32*g - 52)`` with an integer X < 2**84, times 2/pi * 2**(32*g - 52) modulo 4:
    the parts of the product that are multiples of 4 drop out.
    """
    f = FORMATS["d"]
    bits = to_bits(x)
    group = (bits - (f.bias << f.mantissa)) >> f.mantissa + 5
    whole = from_bits(bits - (group << f.mantissa + 5)) * 2.0**f.mantissa
    parts = [lookup(group, row) for row in TWO_OVER_PI["d"]]
    (h0, l0), (h1, l1), (h2, l2) = (two_product(whole, part) for part in parts[:3])
    s, e = two_sum(modulo_four(h0), modulo_four(l0))
    s, e1 = two_sum(s, modulo_four(h1))
    e, e2 = two_sum(e, e1)
    m, m1 = two_sum(h2, l1)
    n = rint(s)
    high, t = two_sum(s - n, m)
    low, t1 = two_sum(t, e)
    rest = t1 + (e2 + (m1 + fma(whole, parts[3], l2)))
    high, low = two_sum(high, low)
    high, low = two_sum(high, low + rest)
    first, second, _, _ = HALF_PI["d"]
    r = high * first
    r_low = fma(high, first, -r) + fma(high, second, low * first)
    return to_bits(n + f.magic), r, r_low


def modulo_four(x: Expr) -> Expr:
    """``x`` less the nearest multiple of 4: exact."""
    return x - 4.0 * rint(x * 0.25)
