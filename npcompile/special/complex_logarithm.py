"""log, log2, log10, log1p, sqrt and power of complex numbers, as programs.

The modulus is squared in two parts, so that its logarithm keeps its digits next to 1.  Special
values are those of C (ISO 9899:2018, annex G.6); powers follow NumPy: small whole exponents by
products, others by ``exp(w * log(z))``.
"""

from __future__ import annotations

from npcompile.graph.expression import (
    Expr,
    cast,
    complex_,
    const,
    copysign,
    fma,
    imag,
    rare,
    real,
    rint,
    sqrt,
    where,
)
from npcompile.graph.ir import Const
from npcompile.ops import complexes as cx
from npcompile.special import complex_exponential
from npcompile.special.coefficients.exponential import LN2, LN10
from npcompile.special.complex_exponential import INFINITY, NAN, finite
from npcompile.special.formats import Format, format_of
from npcompile.special.inverse import arctan2
from npcompile.special.logarithm import log_sum
from npcompile.special.words import quick_two_sum, two_product, two_sum

Pair = tuple[Expr, Expr]
#: NumPy multiplies for whole exponents below this
WHOLE = 100.0


def scaling(largest: Expr, f: Format) -> tuple[Expr, Expr, Expr]:
    """A factor that keeps squares in range, its inverse, and its exponent as a float."""
    up = f.bias // 2 + f.mantissa + 8
    tall, tiny = largest > 2.0 ** (f.bias // 2 - 2), largest < 2.0 ** (f.mantissa - f.bias // 2)
    one, zero = const(1.0, largest), const(0.0, largest)
    lift, drop = const(2.0**up, largest), const(2.0**-up, largest)
    return (where(tall, drop, where(tiny, lift, one)), where(tall, lift, where(tiny, drop, one)),
            where(tall, const(float(-up), largest), where(tiny, const(float(up), largest), zero)))


def log(z: Expr) -> Expr:
    """Natural logarithm."""
    return complex_(log_modulus(real(z), None, imag(z)), arctan2(imag(z), real(z)))


def log2(z: Expr) -> Expr:
    """Logarithm to base 2."""
    w = log(z)
    return cx.ctimes(w, const(LN2[format_of(real(w)).char][2], real(w)))


def log10(z: Expr) -> Expr:
    """Logarithm to base 10."""
    w = log(z)
    return cx.ctimes(w, const(1 / LN10["d"][0], real(w)))


def log1p(z: Expr) -> Expr:
    """``log(1 + z)``."""
    x, y = real(z), imag(z)
    whole, low = two_sum(where(finite(x), x, 0.0), const(1.0, x))
    whole = where(finite(x), whole, x)
    return complex_(log_modulus(whole, low, y), arctan2(y, whole))


def log_modulus(x: Expr, x_low: Expr | None, y: Expr) -> Expr:
    """``log(abs(x + x_low + i*y))``."""
    f = format_of(x)
    a, b = abs(x), abs(y)
    ordinary = finite(a) & finite(b) & ((a > 0.0) | (b > 0.0))
    one, zero = const(1.0, x), const(0.0, x)
    safe, other = where(ordinary, x, one), where(ordinary, b, zero)
    factor, _, exponent = scaling(where(abs(safe) > other, abs(safe), other), f)
    safe, other = safe * factor, other * factor
    square, low = two_product(safe, safe)
    cross, cross_low = two_product(other, other)
    if x_low is not None:
        low = fma(safe + safe, x_low * factor, low)
    total, lost = two_sum(square, cross)
    total, lost = quick_two_sum(total, lost + (low + cross_low))
    high, rest = log_sum(total, lost, f)
    twice, twice_low, _ = LN2[f.char]
    head, more = quick_two_sum(exponent * -twice, high * 0.5)
    value = head + (more + fma(rest, 0.5, exponent * -twice_low))
    value = where(exponent == 0.0, 0.5 * (high + rest), value)
    nothing = (a == 0.0) & (b == 0.0)
    pole = -1.0 / where(nothing, zero, one)
    endless = (a == INFINITY) | (b == INFINITY)
    return rare(~ordinary, where(nothing, pole, where(endless, const(INFINITY, x), NAN)), value)


# ------------------------------------------------------------------ sqrt


def csqrt(z: Expr) -> Expr:
    """The square root: ``t = sqrt((abs(z) + abs(x)) / 2)`` in two parts, then ``y / (2*t)``."""
    x, y = real(z), imag(z)
    f = format_of(x)
    a, b = abs(x), abs(y)
    one, zero = const(1.0, x), const(0.0, x)
    ordinary = finite(a) & finite(b) & ((a > 0.0) | (b > 0.0))
    a, b = where(ordinary, a, one), where(ordinary, b, zero)
    larger = where(a > b, a, b)
    tall, tiny = larger > 2.0 ** (f.bias // 2 - 2), larger < 2.0 ** (f.mantissa - f.bias // 2)
    half = f.bias // 4 + f.mantissa // 2 + 5  # of the exponent by which both are scaled
    lift, drop = const(2.0 ** (2 * half), x), const(2.0 ** (-2 * half), x)
    factor = where(tall, drop, where(tiny, lift, one))
    back = where(tall, const(2.0**half, x), where(tiny, const(2.0**-half, x), one))
    a, b = a * factor, b * factor
    square, low = two_product(a, a)
    cross, cross_low = two_product(b, b)
    total, lost = two_sum(square, cross)
    total, lost = quick_two_sum(total, lost + (low + cross_low))
    root = sqrt(total)
    root_low = (fma(-root, root, total) + lost) / (root + root)
    whole, rest = two_sum(root, a)
    whole, rest = 0.5 * whole, 0.5 * (rest + root_low)
    t = sqrt(whole)
    t_low = (fma(-t, t, whole) + rest) / (t + t)
    q = b / (t + t)
    q = q + fma(-(q + q), t, b) / (t + t) - q * (t_low / t)
    first, second = (t + t_low) * back, q * back
    left = x < 0.0
    value = complex_(where(left, second, first), copysign(where(left, first, second), y))
    return rare(~ordinary, _sqrt_edges(x, y), value)


def _sqrt_edges(x: Expr, y: Expr) -> Expr:
    """The root of zeros, and where an operand is not finite."""
    infinity, zero = const(INFINITY, x), const(0.0, x)
    nan = where(y == y, zero, const(NAN, x))
    left = x == -INFINITY
    re = where(left, nan, where(x == INFINITY, infinity, NAN))
    im = where(left, copysign(infinity, y), where(x == INFINITY, copysign(nan, y), NAN))
    lost = (finite(x) & (y != y)) | ((x != x) & finite(y))
    re, im = where(lost, NAN, re), where(lost, NAN, im)
    nothing, tall = (x == 0.0) & (y == 0.0), abs(y) == INFINITY
    re = where(nothing, zero, where(tall, infinity, re))
    return complex_(re, where(nothing | tall, y, im))


# ------------------------------------------------------------------ power


def power(z: Expr, w: Expr) -> Expr:
    """z**w."""
    exponent = w.node.attrs.value if isinstance(w.node.attrs, Const) else None
    if exponent is not None and not exponent.imag and _is_small(exponent.real):
        return _edges_of_power(z, w, _whole_power(z, int(exponent.real)))
    x, y, p, q = real(z), imag(z), real(w), imag(w)
    whole = (q == 0.0) & (abs(p) < WHOLE) & (rint(p) == p)
    nothing = ((p == 0.0) & (q == 0.0)) | ((x == 0.0) & (y == 0.0))
    whole = whole | nothing
    one, zero = const(1.0, x), const(0.0, x)
    base = complex_(where(whole, one, x), where(whole, zero, y))
    by = complex_(where(whole, one, p), where(whole, zero, q))
    general = complex_exponential.exp(_endless_product(by, log(base)))
    if exponent is not None:
        return _edges_of_power(z, w, general)
    tame = complex_(where(whole & ~nothing, x, one), where(whole & ~nothing, y, zero))
    found = rare(~whole, general, _traced_power(tame, where(whole & ~nothing, p, one)))
    return _edges_of_power(z, w, found)


def _is_small(value: float) -> bool:
    return abs(value) < WHOLE and value == int(value)


def _edges_of_power(z: Expr, w: Expr, value: Expr) -> Expr:
    """Anything to the power 0 is 1; powers of 0 are 0 or invalid."""
    p, q = real(w), imag(w)
    one, zero = const(1.0, real(z)), const(0.0, real(z))
    at_0 = (real(z) == 0.0) & (imag(z) == 0.0)
    by_0 = (p == 0.0) & (q == 0.0)
    lost = cx.invalid((at_0 & ~by_0 & ~(p > 0.0)) | ((q == 0.0) & (p != p)), zero)
    at_0 = at_0 | ((q == 0.0) & (p != p))
    re, im = where(at_0, lost, real(value)), where(at_0, lost, imag(value))
    return complex_(where(by_0, one, re), where(by_0, zero, im))


def _whole_power(z: Expr, n: int) -> Expr:
    """NumPy's products for an exponent that is known."""
    if n in (1, 2, 3):
        square = cx.cmul_plain(z, z)
        return z if n == 1 else square if n == 2 else cx.cmul_plain(z, square)
    result = complex_(const(1.0, real(z)), const(0.0, real(z)))
    one, factor = result, z
    for bit in range(abs(n).bit_length()):
        if abs(n) >> bit & 1:
            result = cx.cmul_plain(result, factor)
        factor = cx.cmul_plain(factor, factor)
    return cx.cdiv(one, result) if n < 0 else result


def _traced_power(z: Expr, p: Expr) -> Expr:
    """The same for any whole exponent below 100 in magnitude; lanes that need no product of a
    step multiply ones, so that they raise no flags."""
    n = cast(abs(p), format_of(p).integer)
    looped = ~((p >= 1.0) & (p <= 3.0))
    one = complex_(const(1.0, p), const(0.0, p))
    base = where(looped | (p == 1.0), one, z)
    square = cx.cmul_plain(base, base)
    cube = cx.cmul_plain(where(p == 3.0, z, one), where(p == 3.0, square, one))
    result, factor = one, z
    for bit in range(int(WHOLE).bit_length()):
        if bit:
            factor = where(looped & (n >= 1 << bit), factor, one)
            factor = cx.cmul_plain(factor, factor)
        chosen = looped & (((n >> bit) & 1) != 0)
        more = cx.cmul_plain(where(chosen, result, one), where(chosen, factor, one))
        result = where(chosen, more, result)
    inverse = cx.cdiv(one, where(p < 0.0, result, one))
    result = where(p < 0.0, inverse, result)
    return where(looped, result, where(p == 1.0, z, where(p == 2.0, square, cube)))


def _endless_product(x: Expr, y: Expr) -> Expr:
    """C's product: infinite where an operand is, though a part be NaN (ISO 9899:2018, G.5.1)."""
    plain = cx.cmul_plain(x, y)
    nan = (real(plain) != real(plain)) & (imag(plain) != imag(plain))
    (a, b), (c, d) = cx.parts(x), cx.parts(y)
    first = (abs(a) == INFINITY) | (abs(b) == INFINITY)
    second = (abs(c) == INFINITY) | (abs(d) == INFINITY)
    a, b = _boxed(a, first, second), _boxed(b, first, second)
    c, d = _boxed(c, second, first), _boxed(d, second, first)
    again = cx.cmul_plain(complex_(a, b), complex_(c, d))
    endless = nan & (first | second)
    re, im = (where(endless, part(again), 1.0) * INFINITY for part in (real, imag))
    return where(endless, complex_(re, im), plain)


def _boxed(x: Expr, own: Expr, other: Expr) -> Expr:
    """1 for infinity, 0 for numbers beside it, and for NaN beside or against it."""
    sized = copysign(where(abs(x) == INFINITY, const(1.0, x), 0.0), x)
    return where(own, sized, where(other & (x != x), copysign(0.0, x), x))
