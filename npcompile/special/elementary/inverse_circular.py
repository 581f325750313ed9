"""arctan, arctan2, arcsin and arccos, as programs.

The arctangent of a quotient is ``atan(c) + atan(t)``, ``t = (low - c*high) / (high + c*low)``
(Muller, Elementary Functions, 3rd ed., section 11.3), so that arctan and arctan2 take one division.
c is so near the quotient that ``low - c*high`` is exact (Sterbenz, Floating-Point Computation,
1974).  ``asin(x) = pi/2 - 2*asin(sqrt((1 - x)/2))`` beyond 1/2 (Cody & Waite 1980, chapter 10).
"""

from __future__ import annotations

from npcompile.graph.expression import (
    Expr,
    complex_,
    const,
    copysign,
    fma,
    imag,
    lean_poly,
    lookup,
    rare,
    real,
    sqrt,
    to_bits,
    where,
)
from npcompile.special.arithmetic.double_word import quick_two_sum
from npcompile.special.arithmetic.formats import Format, format_of, rough_half_inverse, sign_bit
from npcompile.special.coefficients.inverse import (
    ARCSIN,
    ARCTAN,
    ARCTAN2,
    ARCTAN2_BASES,
    ARCTAN_POINTS,
    TURNS,
)
from npcompile.special.elementary.circular import with_sign

INFINITY = float("inf")
#: from where on an arctangent is that of -1/x and pi/2
STEEP = 7.875
#: quotients from which on 1/2 and 1 are the nearest points
TO_HALF, TO_ONE = 0.25, 0.7207592200561265
#: where the larger of two numbers is beyond the first, or the smaller one below the second, both
#: are scaled by the third, up if the larger one is below the fourth
TAMED = {"d": (2.0**1000, 2.0**-960, 2.0**500, 2.0**200),
         "f": (2.0**120, 2.0**-100, 2.0**64, 2.0**40)}


def arctan(x: Expr) -> Expr:
    """Inverse tangent."""
    angle, rest = arctan_parts(abs(x))
    return copysign(angle + rest, x)


def arctan_parts(a: Expr) -> tuple[Expr, Expr]:
    """The inverse tangent of a number that is not negative, in two parts."""
    f = format_of(a)
    end = 2.0 ** (f.mantissa + 8)
    far = a > end
    a = rare(far, where(far, const(end, a), a), a)
    steep = a >= STEEP
    index = to_bits(where(steep, const(8.0, a), a + 0.125)) >> f.mantissa - 1
    c, base, base_low = (lookup(index, row, a.dtype) for row in ARCTAN_POINTS[f.char])
    flat = fma(a, c, 1.0)
    top, bottom = where(steep, const(-1.0, a), a - c), where(steep, a, flat)
    t, t_low = _ratio(top, bottom, fma(a, c, 1.0 - flat))
    z = t * t
    tail = fma(t * z, lean_poly(z, ARCTAN[f.char]), t_low)
    angle, lost = quick_two_sum(base, t)
    return angle, lost + (tail + base_low)


def _ratio(top: Expr, bottom: Expr, bottom_low: Expr) -> tuple[Expr, Expr]:
    """A quotient in two parts."""
    inverse = 1.0 / bottom
    t = top * inverse
    return t, fma(-t, bottom_low, fma(-t, bottom, top)) * inverse


def arctan2(y: Expr, x: Expr) -> Expr:
    """The angle of the point (x, y)."""
    f = format_of(x)
    a, b = abs(y), abs(x)
    steep = a > b
    low, high = _tamed(where(steep, b, a), where(steep, a, b), f)
    by_half, by_one = low >= TO_HALF * high, low > TO_ONE * high
    c = where(by_one, const(1.0, x), where(by_half, const(0.5, x), 0.0))
    bottom = fma(c, low, high)
    t, t_low = _ratio(fma(-c, high, low), bottom, fma(c, low, high - bottom))
    z = t * t
    tail = fma(t * z, lean_poly(z, ARCTAN2[f.char]), t_low)
    left = to_bits(x)
    nearest = where(by_one, const(2, left), where(by_half, const(1, left), 0))
    # the bases are negative where t would be subtracted from them: only magnitudes count
    index = nearest | where(steep, const(4, left), 0) | ((left >> f.sign_shift) & 8)
    base, base_low = (lookup(index, row, x.dtype) for row in ARCTAN2_BASES[f.char])
    angle, lost = quick_two_sum(base, t)
    return copysign(angle + (lost + (tail + base_low)), y)


def _tamed(low: Expr, high: Expr, f: Format) -> tuple[Expr, Expr]:
    """The coordinates of a point, scaled where they are so large or small that a product or its
    rounding error would be lost; others on the same ray where one is infinite or both are zero."""
    tall, tiny, lift, middle = TAMED[f.char]
    far = ~((high < tall) & (low >= tiny))
    one = const(1.0, high)
    axis = (high == INFINITY) | (high == 0.0)
    scale = where(high < middle, const(lift, high), where(high <= tall, one, 1 / lift))
    scale = where(axis | ~far, one, scale)
    across = where(axis, where(low == INFINITY, one, where(low == low, 0.0, low)), low * scale)
    both = rare(far, complex_(across, where(axis, one, high * scale)), complex_(low, high))
    return real(both), imag(both)


def arcsin(x: Expr) -> Expr:
    """Inverse sine."""
    f = format_of(x)
    outside, outer, s, tail = _arcsine(x, f)
    base = where(outer, const(TURNS[f.char][0][0], x), 0.0)
    factor = where(outer, const(-2.0, x), 1.0)
    return _inside(x, outside, copysign(_angle(base, factor, s, tail, f), x))


def arccos(x: Expr) -> Expr:
    """Inverse cosine: a multiple of pi/2 and the arcsine or twice it, of either sign."""
    f = format_of(x)
    outside, outer, s, tail = _arcsine(x, f)
    (right, _), (pi, _) = TURNS[f.char]
    base = where(outer, where(x < 0.0, const(pi, x), 0.0), right)
    factor = with_sign(where(outer, const(2.0, x), -1.0), to_bits(x) & sign_bit(f))
    return _inside(x, outside, _angle(base, factor, s, tail, f))


def _angle(base: Expr, factor: Expr, s: Expr, tail: Expr, f: Format) -> Expr:
    """A multiple of pi/2, of which base is the large part, and ``factor * (s + tail)``."""
    right, right_low = TURNS[f.char][0]
    head = fma(factor, s, base)
    lost = fma(factor, s, base - head)
    return head + fma(factor, tail, fma(base, right_low / right, lost))


def _arcsine(x: Expr, f: Format) -> tuple[Expr, Expr, Expr, Expr]:
    """Whether |x| is beyond 1, whether beyond 1/2, and the arcsine of |x|, or of
    ``sqrt((1 - |x|) / 2)`` beyond 1/2, in two parts."""
    a = abs(x)
    outside = ~(a <= 1.0)
    a = rare(outside, where(outside, const(0.0, x), a), a)
    outer = a > 0.5
    half = fma(a, -0.5, 0.5)  # exact beyond 1/2
    root = sqrt(half)
    s, z = where(outer, root, a), where(outer, half, a * a)
    # a rounding error needs few digits
    rest = where(outer, fma(-root, root, half) * rough_half_inverse(root, f), 0.0)
    return outside, outer, s, fma(s * z, lean_poly(z, ARCSIN[f.char]), rest)


def _inside(x: Expr, outside: Expr, value: Expr) -> Expr:
    """Beyond 1 the result is invalid."""
    one, beyond = const(1.0, x), outside & (x == x)
    return rare(outside, where(beyond, sqrt(where(beyond, -one, one)), x), value)
