"""Powers of complex numbers, as NumPy has them: small whole exponents by products, others by
``exp(w * log(z))``.

An exponent that is known is multiplied out in the kernel.  Everything else is subprograms, which
raise no flags: what the results tell of overflow is raised beside them.
"""

from __future__ import annotations

from collections.abc import Callable

from npcompile.graph.expression import (
    Expr,
    cast,
    complex_,
    const,
    copysign,
    floor,
    imag,
    rare,
    real,
    rint,
    where,
)
from npcompile.graph.ir import Const
from npcompile.graph.subprograms import Results, repeat, subprogram
from npcompile.ops import complexes as cx
from npcompile.special.arithmetic.formats import format_of
from npcompile.special.complex.complex_exponential import INFINITY, exp, finite, is_invalid
from npcompile.special.complex.complex_logarithm import log_modulus
from npcompile.special.elementary.inverse_circular import arctan2
from npcompile.special.integrals.omega import Complex

#: NumPy multiplies for whole exponents below this
WHOLE = 100.0


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
    general = _general_power(base, by)
    if exponent is not None:
        return _edges_of_power(z, w, general)
    multiplied = whole & ~nothing
    inside = complex_(where(multiplied, x, one), where(multiplied, y, zero))
    found = rare(~whole, general, _traced_power(inside, where(multiplied, p, one)))
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


# ------------------------------------------------------------------ whole exponents


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


def _is_direct(p: Expr) -> Expr:
    """Whether NumPy multiplies without a loop, which begins with 1."""
    return (p >= 1.0) & (p <= 3.0)


def _products(char: str) -> Callable[[Expr, Expr, Expr], Complex]:
    """The same for any whole exponent, without the inverse of negative ones; rounded to a format
    after each operation."""

    def rounded(x: Expr) -> Expr:
        return x if char == "d" else cast(cast(x, char), "d")

    def times(a: Complex, b: Complex) -> Complex:
        re = rounded(a.re * b.re) - rounded(a.im * b.im)
        return Complex(rounded(re), rounded(rounded(a.re * b.im) + rounded(a.im * b.re)))

    def run(x: Expr, y: Expr, p: Expr) -> Complex:
        z, one, zero = Complex(x, y), const(1.0, x), const(0.0, x)

        def step(n: Expr, *parts: Expr) -> Results:
            result, factor = Complex(*parts[:2]), Complex(*parts[2:])
            half = floor(0.5 * n)
            result = times(result, factor).where(half + half != n, result)
            square = times(factor, factor)
            return half > 0.0, half, result.re, result.im, square.re, square.im

        _, re, im, *_ = repeat(step, abs(p), one, zero, x, y)
        square = times(z, z)
        few = z.where(p == 1.0, square.where(p == 2.0, times(z, square)))
        return few.where(_is_direct(p), Complex(re, im))

    return run


def _whole_parts(char: str) -> tuple[Callable[..., Expr], Callable[..., Expr]]:
    """Both parts of the products, as subprograms."""
    products = _products(char)

    def re(x: Expr, y: Expr, p: Expr) -> Expr:
        return products(x, y, p).re

    def im(x: Expr, y: Expr, p: Expr) -> Expr:
        return products(x, y, p).im

    return (subprogram(re, name=f"whole_power_real_{char}"),
            subprogram(im, name=f"whole_power_imaginary_{char}"))


_WHOLE_PARTS = {char: _whole_parts(char) for char in "df"}


def _traced_power(z: Expr, p: Expr) -> Expr:
    """For any whole exponent below 100 in magnitude but 0."""
    x, y, f = real(z), imag(z), format_of(p)
    parts = [cast(part(x, y, p), x.dtype) for part in _WHOLE_PARTS[f.char]]
    half = 0.5 * p
    odd = ((abs(x) == INFINITY) | (abs(y) == INFINITY)) & ~_is_direct(p) & (rint(half) != half)
    lost = ((x == x) & (y == y)) | odd  # 0 times infinity
    vanished = (parts[0] == 0.0) & (parts[1] == 0.0)
    parts = [_with_flags(part, finite(x) & finite(y), lost, (part != 0.0) | vanished)
             for part in parts]
    result = complex_(*parts)
    one = complex_(const(1.0, p), const(0.0, p))
    inverse = cx.cdiv(one, where(p < 0.0, result, one))
    return where(p < 0.0, inverse, result)


def _with_flags(part: Expr, over: Expr, lost: Expr, under: Expr) -> Expr:
    """A part of a result of subprograms with the flags of overflow, of an invalid operation and of
    underflow, where it tells of them and they are possible."""
    f = format_of(part)
    over = over & ~finite(part)
    large = where(over, const(f.largest, part), 1.0)
    part = where(over, part * (large * large), part)
    under = under & (abs(part) < f.smallest_normal)
    small = where(under, const(f.smallest_normal, part), 0.0)
    part = where(under, part * (1.0 + small * small), part)
    return cx.invalid((part != part) & lost, part)


# ------------------------------------------------------------------ others


@subprogram
def complex_log_real(x: Expr, y: Expr) -> Expr:
    """The real part of a complex logarithm."""
    return log_modulus(x, None, y)


@subprogram
def complex_log_imaginary(x: Expr, y: Expr) -> Expr:
    """Its imaginary part."""
    return arctan2(y, x)


@subprogram
def complex_exp_real(x: Expr, y: Expr) -> Expr:
    """The real part of a complex exponential."""
    return real(exp(complex_(x, y)))


@subprogram
def complex_exp_imaginary(x: Expr, y: Expr) -> Expr:
    """Its imaginary part."""
    return imag(exp(complex_(x, y)))


def _general_power(z: Expr, w: Expr) -> Expr:
    """``exp(w * log(z))`` for z that is not 0, in float64."""
    x, y = real(z), imag(z)
    log = complex_(_limited(complex_log_real(x, y), x), _limited(complex_log_imaginary(x, y), x))
    exponent = _endless_product(complex_(cast(real(w), "d"), cast(imag(w), "d")), log)
    a, b = _limited(real(exponent), x), _limited(imag(exponent), x)
    bounded = finite(a) & finite(b)
    lost = is_invalid(a, b)
    re = _with_flags(complex_exp_real(a, b), bounded, lost, bounded)
    im = _with_flags(complex_exp_imaginary(a, b), bounded, lost, bounded & (b != 0.0))
    return complex_(cast(re, x.dtype), cast(im, x.dtype))


def _limited(value: Expr, like: Expr) -> Expr:
    """A float64 number, 0 or infinite where it would be as a number of another dtype."""
    if like.dtype == value.dtype:
        return value
    narrow = cast(cast(value, like.dtype), value.dtype)
    return where((narrow == 0.0) | (abs(narrow) == INFINITY), narrow, value)


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
