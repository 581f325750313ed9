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
from npcompile.special.arithmetic.formats import Format, format_of
from npcompile.special.coefficients.exponential import LN2
from npcompile.special.coefficients.inverse import TURNS
from npcompile.special.complex.complex_exponential import INFINITY, NAN, finite
from npcompile.special.elementary.inverse_circular import arctan2
from npcompile.special.elementary.logarithm import log1p

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
    from 1 and -1; and ``arccosh(a)``, which is the logarithm of ``2*abs(z)`` far away."""
    f = format_of(x)
    x, y = abs(x), abs(y)
    one = const(1.0, x)
    far, down = _far(x, y, f)
    u, v = where(far, one, x), where(far, one, y)
    r = _distance(where(far, x * down, u + 1.0), where(far, y * down, v))
    # both may be so small that their squares vanish
    gap, low = abs(1.0 - u), 2.0 ** (f.mantissa - f.bias // 2)
    tiny = (gap < low) & (v < low)
    up = where(tiny, const(2.0 ** (f.bias // 2), x), one)
    s = _distance(gap * up, v * up) * where(tiny, const(2.0 ** -(f.bias // 2), x), one)
    size = where(far, r, one)
    r = where(far, one, r)
    a = 0.5 * (r + s)
    right = r + (u + 1.0)
    inner = u <= 1.0
    near = where(s + gap > 0.0, s + gap, one)
    # a - u: of two positive terms on either side of 1
    less = where(inner, 0.5 * (v * v / right + (s + gap)), 0.0)
    inverse = 0.5 / right + 0.5 / near
    other = where(inner, sqrt((a + u) * less), v * sqrt((a + u) * inverse))
    # a - 1, and the root of (a - 1) * (a + 1); v is taken out where its square may vanish
    inside = u < 1.0
    above = where(inside, v * v * inverse, 0.5 * (v * v / right + (s + (u - 1.0))))
    above = where(a > 1.5, a - 1.0, above)
    root = where(inside, v * sqrt(inverse * (a + 1.0)), sqrt(above * (a + 1.0)))
    size = log1p(where(far, size - 1.0, above + root))
    size = size + where(far, const((1 - _DOWN[f.char]) * LN2[f.char][0], x), 0.0)
    size = where((x == INFINITY) | (y == INFINITY), INFINITY, size)
    return where(far, x, u), where(far, y, other), size


#: the power of two that takes huge numbers to where their squares are in range
_DOWN = {"d": -514, "f": -66}


def _far(x: Expr, y: Expr, f: Format) -> tuple[Expr, float]:
    """Whether one of two numbers is huge or NaN, and a factor for them."""
    top = 2.0 ** (f.bias // 2 - 8)
    return ~((x < top) & (y < top)), 2.0 ** _DOWN[f.char]


def _distance(x: Expr, y: Expr) -> Expr:
    """``hypot(x, y)`` of numbers whose squares are in range."""
    return sqrt(fma(x, x, y * y))


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
    far, down = _far(a, b, f)
    pole = (a == 1.0) & (b == 0.0)
    u, v = where(far | pole, zero, a), where(far, zero, where(pole, one, b))
    gap = 1.0 - u
    # next to the pole it is log(2 / v) / 2
    lift = f.mantissa + 1
    close = (u == 1.0) & (v < 2.0 ** -(f.bias // 2 - 10))
    top = where(close, const(2.0, x), 4.0 * u)
    size = log1p(top / where(close, v * 2.0**lift, fma(gap, gap, v * v)))
    size = where(close, fma(size, 0.5, 0.5 * lift * LN2[f.char][0]), 0.25 * size)
    size = rare(far | pole, _far_size(a, b, far, pole, down), size)
    size = where(x == 0.0, zero, size)
    w = where(far, zero, b)
    angle = 0.5 * arctan2(w + w, fma(gap, 1.0 + u, -(w * w)))
    right = TURNS[f.char][0][0]
    known = (b == INFINITY) | (finite(b) & (a == a)) | (a == INFINITY) & (b == b)
    angle = where(far, where(known, const(right, x), NAN), angle)
    return copysign(size, x), copysign(angle, y)


def _far_size(a: Expr, b: Expr, far: Expr, pole: Expr, down: float) -> Expr:
    """The real part for huge operands, ``x / (x*x + y*y)``, and at the pole."""
    endless = (a == INFINITY) | (b == INFINITY)
    fine = far & finite(a) & finite(b)
    u, v = where(fine, a, 0.0) * down, where(fine, b, 1.0 / down) * down
    value = u / fma(u, u, v * v) * down
    at_pole = 1.0 / where(pole, const(0.0, a), const(1.0, a))
    return where(fine, value, where(pole, at_pole, where(endless, const(0.0, a), NAN)))
