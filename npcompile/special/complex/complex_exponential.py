"""exp, exp2, expm1, the hyperbolic and the circular functions of complex numbers, as programs.

Each is a product of an exponential part ``m * 2**k`` and of a sine or cosine; the scaling comes
last, so that only results overflow.  Special values are those of C (ISO 9899:2018, annex G.6).
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
    where,
)
from npcompile.ops import complexes as cx
from npcompile.special.arithmetic.double_word import difference, joined, quick_two_sum, two_product
from npcompile.special.arithmetic.formats import Format, format_of, power_of_two
from npcompile.special.coefficients.exponential import LN2
from npcompile.special.elementary import exponential
from npcompile.special.elementary.circular import Turned, turned, with_sign
from npcompile.special.elementary.exponential import (
    RANGE,
    REACH,
    clamp,
    exp2_parts,
    exp_parts,
    growth,
)

Pair = tuple[Expr, Expr]
INFINITY, NAN = float("inf"), float("nan")


def finite(x: Expr) -> Expr:
    """Whether a number is neither infinite nor NaN."""
    return abs(x) < INFINITY


def scaled(value: Expr, k: Expr, f: Format) -> Expr:
    """``value * 2**k`` for exponents up to three times those of the format."""
    third = (k * 21846) >> 16
    up = power_of_two(third, f)
    return value * up * up * power_of_two(k - third - third, f)


def product(a: Pair, b: Pair) -> Expr:
    """A product of sums, rounded almost once; the second part of ``a`` is a rounding error."""
    p = a[0] * b[0]
    return p + fma(a[0], b[1], fma(a[1], b[0] + b[1], fma(a[0], b[0], -p)))


# ------------------------------------------------------------------ exponentials


def exp(z: Expr) -> Expr:
    """e**z."""
    x, y = real(z), imag(z)
    f = format_of(x)
    reach = REACH[f.char]
    head, tail, k = exp_parts(clamp(_tame(x, y), -reach, reach), None, f)
    return _edges(x, y, _rotated((head, tail), k, turned(_tame(y), f), f))


def exp2(z: Expr) -> Expr:
    """2**z."""
    x, y = real(z), imag(z)
    f = format_of(x)
    reach = 1.4 * REACH[f.char]
    head, tail, k = exp2_parts(clamp(_tame(x, y), -reach, reach), None, f)
    high, low, _ = LN2[f.char]
    angle, rest = two_product(_tame(y), high)
    rest = where(abs(angle) < 2.0**20, fma(_tame(y), low, rest), 0.0)
    turn = turned(angle, f, rest)
    return _edges(x, y, _rotated((head, tail), k, turn, f))


def _tame(x: Expr, y: Expr | None = None) -> Expr:
    """0 for x where one is not finite."""
    return where(finite(x) if y is None else finite(x) & finite(y), x, 0.0)


def _rotated(size: Pair, k: Expr, turn: Turned, f: Format) -> Expr:
    """``size * 2**k`` times cosine and sine."""
    size = quick_two_sum(*size)
    re = scaled(product(size, turn.cosine), k, f)
    im = scaled(product(size, turn.sine), k, f)
    return complex_(with_sign(re, turn.cosine_sign), with_sign(im, turn.sine_sign))


def _edges(x: Expr, y: Expr, value: Expr) -> Expr:
    """``exp(x + i*y)`` where an operand is not finite; ``value`` is that of 0 for those."""
    c, s = real(value), imag(value)
    special = ~(finite(x) & finite(y))
    size = where(x == -INFINITY, const(0.0, x), where(x == x, const(INFINITY, x), NAN))
    size = where(finite(x), const(NAN, x), size)
    quiet = where(finite(y), copysign(size, c), where(x == -INFINITY, 0.0, size))
    cross = where(finite(y), copysign(size, s), where(x == -INFINITY, copysign(0.0, y), NAN))
    cross = where(y == 0.0, y, cross)
    return rare(special, complex_(quiet, cx.invalid(is_invalid(x, y), cross)), value)


def is_invalid(x: Expr, y: Expr) -> Expr:
    """Whether ``exp(x + i*y)`` is an invalid operation: of an infinite angle, or of one NaN."""
    turns = (abs(y) == INFINITY) & (x == x) & ~(x == -INFINITY)
    return turns | ((y != y) & finite(x)) | ((x != x) & (y == y) & (y != 0.0))


def expm1(z: Expr) -> Expr:
    """``e**z - 1``: the real part is ``expm1(x)*cos(y) + (cos(y) - 1)``."""
    x, y = real(z), imag(z)
    turn = turned(y, format_of(x))
    cosine = with_sign(turn.cosine[0] + turn.cosine[1], turn.cosine_sign)
    less = 1.0 - with_sign(turn.cosine[0], turn.cosine_sign)
    less = less - with_sign(turn.cosine[1], turn.cosine_sign)
    sine = with_sign(turn.sine[0] + turn.sine[1], turn.sine_sign)
    shifted, grown = _expm1_and_exp(x, format_of(x))
    return complex_(shifted * cosine - less, grown * sine)


def _expm1_and_exp(x: Expr, f: Format) -> Pair:
    """``exp(x) - 1`` and ``exp(x)`` of a real number."""
    special = ~(abs(x) <= RANGE[f.char][2])
    parts = growth(rare(special, where(special, const(0.0, x), x), x), f)
    up, zero = power_of_two(parts.k, f), const(0.0, x)
    shifted = joined(parts.beside(difference(parts.head, parts.unit))) * up
    grown = joined(parts.beside((parts.head, zero))) * up
    beyond = _extreme_exp(x, special & finite(x), f)
    beyond = where(finite(x), beyond, where(x == -INFINITY, zero, x))
    extreme = complex_(where(x < 0.0, const(-1.0, x), beyond), beyond)
    both = rare(special, extreme, complex_(copysign(shifted, x), grown))
    return real(both), imag(both)


def _extreme_exp(x: Expr, extreme: Expr, f: Format) -> Expr:
    """``exp(x)`` where it overflows or is subnormal, then rounded twice."""
    lowest, highest, _ = RANGE[f.char]
    head, tail, k = exp_parts(where(extreme, clamp(x, lowest, highest), 0.0), None, f)
    half = k >> 1
    return (head + tail) * power_of_two(half, f) * power_of_two(k - half, f)


# ------------------------------------------------------------------ hyperbolic and circular


def _hyperbolic(x: Expr, y: Expr) -> tuple[Expr, Expr, Expr, Expr]:
    """``sinh(x)*cos(y)``, ``cosh(x)*sin(y)``, ``cosh(x)*cos(y)`` and ``sinh(x)*sin(y)``."""
    f = format_of(x)
    reach = REACH[f.char]
    shrunk, grown, k = exponential.hyperbolic_pair(clamp(abs(_tame(x, y)), 0.0, reach), f)
    turn = turned(_tame(y), f)
    cosine, sine = turn.cosine[0] + turn.cosine[1], turn.sine[0] + turn.sine[1]

    def part(size: Expr, angle: Expr, sign: Expr, odd: bool) -> Expr:
        value = with_sign(scaled(size * angle, k, f), sign)
        return copysign(1.0, x) * value if odd else value

    return (part(shrunk, cosine, turn.cosine_sign, True), part(grown, sine, turn.sine_sign, False),
            part(grown, cosine, turn.cosine_sign, False), part(shrunk, sine, turn.sine_sign, True))


def _far(x: Expr, y: Expr, angle: Expr, odd: bool) -> Expr:
    """``sinh(x)`` (odd) or ``cosh(x)`` times ``angle``, a sine or cosine of y, where an operand
    is not finite; ``angle`` is 0 only where y is."""
    size = where(x == x, const(INFINITY, x), NAN)
    size = where(finite(x), const(NAN, x), size)
    signed = copysign(size, x) if odd else size
    value = copysign(1.0, angle) * signed
    return where(finite(y), value, signed)


def sinh(z: Expr) -> Expr:
    """Hyperbolic sine."""
    return complex_(*_sinh(real(z), imag(z)))


def _sinh(x: Expr, y: Expr) -> Pair:
    a, b, c, _ = _hyperbolic(x, y)
    special = ~(finite(x) & finite(y))
    re = where(finite(y), _far(x, y, c, True), where(finite(x), NAN, abs(x)))
    re = where(x == 0.0, x, re)
    im = where(y == 0.0, y, where(finite(y), _far(x, y, b, False), NAN))
    lost = ((abs(y) == INFINITY) & (x == x)) | ((y != y) & finite(x) & (x != 0.0))
    both = rare(special, complex_(re, cx.invalid(lost, im)), complex_(a, b))
    return real(both), imag(both)


def cosh(z: Expr) -> Expr:
    """Hyperbolic cosine."""
    return complex_(*_cosh(real(z), imag(z)))


def _cosh(x: Expr, y: Expr) -> Pair:
    _, b, c, d = _hyperbolic(x, y)
    special = ~(finite(x) & finite(y))
    re = where(finite(y), _far(x, y, c, False), where(finite(x), NAN, abs(x)))
    re = cx.invalid((abs(y) == INFINITY) & finite(x), re)
    im = where(finite(y), _far(x, y, b, True), NAN)
    im = where(x == 0.0, 0.0, where(y == 0.0, where(x == x, y * copysign(1.0, x), y), im))
    both = rare(special, complex_(re, cx.invalid((abs(y) == INFINITY) & (abs(x) == INFINITY), im)),
                complex_(c, d))
    return real(both), imag(both)


def sin(z: Expr) -> Expr:
    """Sine: ``-i * sinh(i*z)``."""
    a, b = _sinh(imag(z), real(z))
    return complex_(b, a)


def cos(z: Expr) -> Expr:
    """Cosine: ``cosh(i*z)``."""
    a, b = _cosh(-imag(z), real(z))
    return complex_(a, b)


def tanh(z: Expr) -> Expr:
    """Hyperbolic tangent."""
    return complex_(*_tanh(real(z), imag(z)))


def tan(z: Expr) -> Expr:
    """Tangent: ``-i * tanh(i*z)``."""
    a, b = _tanh(imag(z), real(z))
    return complex_(b, a)


def _tanh(x: Expr, y: Expr) -> Pair:
    """``(sinh(x)*cosh(x) + i*sin(y)*cos(y)) / (sinh(x)**2 + cos(y)**2)`` (Kahan, Branch cuts for
    complex elementary functions, 1987)."""
    f = format_of(x)
    reach = REACH[f.char]
    shrunk, grown, k = exponential.hyperbolic_pair(clamp(abs(_tame(x, y)), 0.0, reach), f)
    turn = turned(_tame(y), f)
    cosine, sine = turn.cosine[0] + turn.cosine[1], turn.sine[0] + turn.sine[1]
    k = where(k > f.bias - 1, const(f.bias - 1, k), k)
    down = power_of_two(-k, f)
    small = cosine * down
    bottom = fma(shrunk, shrunk, small * small)
    re = copysign(shrunk * grown / bottom, x)
    im = scaled(sine * cosine / bottom, -k - k, f)
    im = with_sign(im, turn.sine_sign ^ turn.cosine_sign)
    special = ~(finite(x) & finite(y))
    endless = abs(x) == INFINITY
    far_re = where(endless, copysign(1.0, x), where(x == 0.0, x, NAN))
    sign = with_sign(copysign(1.0, sine * cosine), turn.sine_sign ^ turn.cosine_sign)
    sign = where(finite(y), sign, copysign(1.0, y))
    far_im = where(endless, copysign(0.0, sign), where(y == 0.0, y, NAN))
    far_im = cx.invalid((abs(y) == INFINITY) & ~endless, far_im)
    both = rare(special, complex_(far_re, far_im), complex_(re, im))
    return real(both), imag(both)
