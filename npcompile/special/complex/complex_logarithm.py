"""log, log2, log10, log1p and sqrt of complex numbers, as programs.

The modulus is squared in two parts, so that its logarithm keeps its digits next to 1.  Special
values are those of C (ISO 9899:2018, annex G.6).
"""

from __future__ import annotations

from npcompile.graph.expression import (
    Expr,
    complex_,
    const,
    copysign,
    fma,
    imag,
    rare,
    real,
    sqrt,
    where,
)
from npcompile.ops import complexes as cx
from npcompile.special.arithmetic.double_word import quick_two_sum, two_product, two_sum
from npcompile.special.arithmetic.formats import Format, format_of
from npcompile.special.coefficients.exponential import LN2, LN10
from npcompile.special.complex.complex_exponential import INFINITY, NAN, finite
from npcompile.special.elementary.inverse_circular import arctan2
from npcompile.special.elementary.logarithm import log_sum

Pair = tuple[Expr, Expr]


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
