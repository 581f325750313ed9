"""arcsin, arccos, arctan and their hyperbolic relatives of complex numbers, as programs.

arcsin and arccos: Hull, Fairgrieve & Tang, Implementing the complex arcsine and arccosine
functions using exception handling, ACM TOMS 23, 1997, with one form for all regions.  arctanh:
Kahan, Branch cuts for complex elementary functions, 1987.  Special values are those of C
(ISO 9899:2018, annex G.6).
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
from npcompile.special.coefficients.exponential import LN2
from npcompile.special.coefficients.inverse import TURNS
from npcompile.special.complex_exponential import INFINITY, NAN, finite
from npcompile.special.complex_logarithm import log_modulus
from npcompile.special.formats import format_of
from npcompile.special.inverse import arctan2
from npcompile.special.logarithm import log1p
from npcompile.special.roots import hypot

Pair = tuple[Expr, Expr]


def arcsin(z: Expr) -> Expr:
    """Inverse sine."""
    return complex_(*_arcsine(real(z), imag(z)))


def arcsinh(z: Expr) -> Expr:
    """Inverse hyperbolic sine: ``-i * arcsin(i*z)``."""
    b, a = _arcsine(imag(z), real(z))
    return complex_(a, b)


def arccos(z: Expr) -> Expr:
    """Inverse cosine."""
    angle, size = _arccosine(real(z), imag(z))
    return complex_(angle, copysign(size, -imag(z)))


def arccosh(z: Expr) -> Expr:
    """Inverse hyperbolic cosine: ``arccos(z)`` turned into the right half plane."""
    angle, size = _arccosine(real(z), imag(z))
    lost = (real(z) != real(z)) & (imag(z) == 0.0)
    return complex_(size, where(lost, angle, copysign(angle, imag(z))))


def _arcsine(x: Expr, y: Expr) -> Pair:
    a, other, size = _sides(x, y)
    angle = where(x == 0.0, x, copysign(arctan2(a, other), x))
    return angle, copysign(size, y)


def _arccosine(x: Expr, y: Expr) -> Pair:
    """The inverse cosine's real part, and the magnitude of its imaginary part."""
    f = format_of(x)
    a, other, size = _sides(x, y)
    right, _ = TURNS[f.char][0]
    angle = arctan2(other, copysign(a, x))
    return where((x == 0.0) & (y != y), right, angle), size


def _sides(x: Expr, y: Expr) -> tuple[Expr, Expr, Expr]:
    """|x| and ``sqrt(a*a - x*x)``, both scaled alike, where ``a`` is half the sum of the distances
    from 1 and -1; and ``arccosh(a)``."""
    f = format_of(x)
    x, y = abs(x), abs(y)
    one = const(1.0, x)
    top = 2.0 ** (f.bias // 2 - 8)
    far = ~((x < top) & (y < top))
    u, v = where(far, one, x), where(far, one, y)
    r, s = hypot(u + 1.0, v), hypot(u - 1.0, v)
    a = 0.5 * (r + s)
    right = r + (u + 1.0)
    inner = u <= 1.0
    gap = s + abs(1.0 - u)
    near = where(gap > 0.0, gap, one)
    # a - u: of two positive terms on either side of 1
    less = where(inner, 0.5 * (v * v / right + gap), 0.0)
    inverse = 0.5 / right + 0.5 / near
    other = where(inner, sqrt((a + u) * less), v * sqrt((a + u) * inverse))
    # a - 1, and the root of (a - 1) * (a + 1); v is taken out where its square may vanish
    inside = u < 1.0
    above = where(inside, v * v * inverse, 0.5 * (v * v / right + (s + (u - 1.0))))
    above = where(a > 1.5, a - 1.0, above)
    root = where(inside, v * sqrt(inverse * (a + 1.0)), sqrt(above * (a + 1.0)))
    size = log1p(above + root)
    wide = log_modulus(where(far, x, 2.0), None, where(far, y, 0.0)) + LN2[f.char][0]
    size = rare(far, wide, size)
    return where(far, x, u), where(far, y, other), size


def arctanh(z: Expr) -> Expr:
    """Inverse hyperbolic tangent."""
    return complex_(*_arctanh(real(z), imag(z)))


def arctan(z: Expr) -> Expr:
    """Inverse tangent: ``-i * arctanh(i*z)``."""
    b, a = _arctanh(imag(z), real(z))
    return complex_(a, b)


def _arctanh(x: Expr, y: Expr) -> Pair:
    """``log1p(4*x / ((1-x)**2 + y**2)) / 4`` and ``arctan2(2*y, (1-x)*(1+x) - y**2) / 2``."""
    f = format_of(x)
    a, b = abs(x), abs(y)
    one, zero = const(1.0, x), const(0.0, x)
    most = 2.0 ** (f.bias // 2 - 8)
    far = ~((a < most) & (b < most))
    pole = (a == 1.0) & (b == 0.0)
    u, v = where(far | pole, zero, a), where(far, zero, where(pole, one, b))
    gap = 1.0 - u
    # next to the pole it is log(2 / v) / 2
    lift = f.mantissa + 1
    close = (u == 1.0) & (v < 2.0 ** -(f.bias // 2 - 10))
    top = where(close, const(2.0, x), 4.0 * u)
    size = log1p(top / where(close, v * 2.0**lift, fma(gap, gap, v * v)))
    size = where(close, fma(size, 0.5, 0.5 * lift * LN2[f.char][0]), 0.25 * size)
    size = rare(far | pole, _far_size(a, b, far, pole), size)
    size = where(x == 0.0, zero, size)
    w = where(far, zero, b)
    angle = 0.5 * arctan2(w + w, fma(gap, 1.0 + u, -(w * w)))
    right = TURNS[f.char][0][0]
    known = (b == INFINITY) | (finite(b) & (a == a)) | (a == INFINITY) & (b == b)
    angle = where(far, where(known, const(right, x), NAN), angle)
    return copysign(size, x), copysign(angle, y)


def _far_size(a: Expr, b: Expr, far: Expr, pole: Expr) -> Expr:
    """The real part for huge operands, ``x / (x*x + y*y)``, and at the pole."""
    endless = (a == INFINITY) | (b == INFINITY)
    fine = far & finite(a) & finite(b)
    h = hypot(where(fine, a, 1.0), where(fine, b, 1.0))
    value = where(fine, a, 0.0) / h / h
    at_pole = 1.0 / where(pole, const(0.0, a), const(1.0, a))
    return where(fine, value, where(pole, at_pole, where(endless, const(0.0, a), NAN)))
