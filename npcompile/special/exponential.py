"""exp, exp2, expm1 and what is made of them, as programs.

``x = n*log(2) + r``, ``exp(x) = 2**n * exp(r)`` (Cody & Waite, Software Manual for the Elementary
Functions, 1980, chapter 6), where ``1 + r`` is kept in two parts so that only the last addition
rounds.  The scaling by ``2**n`` adds to the exponent; results that overflow or are subnormal are
rare and rounded once there too.
"""

from __future__ import annotations

from npcompile.graph.expression import (
    Expr,
    const,
    copysign,
    fma,
    from_bits,
    poly,
    rare,
    to_bits,
    where,
)
from npcompile.special.coefficients.exponential import (
    COSH,
    EXP,
    EXPM1_TAIL,
    LN2,
    LN10,
    LOG10_2,
    SINH,
    TANH,
)
from npcompile.special.error import piecewise
from npcompile.special.formats import Format, format_of, power_of_two, scale
from npcompile.special.words import quick_two_sum, quotient, two_sum

#: beyond these arguments exp is infinite or zero; up to the last in magnitude its result is normal
RANGE = {"d": (-746.0, 710.0, 708.3964185322641), "f": (-104.0, 89.0, 87.33654)}
#: beyond these exponents the product with even the smallest sine overflows
REACH = {"d": 1460.0, "f": 200.0}
#: the same as RANGE for powers of ten
RANGE10 = {"d": (-324.0, 308.4, 307.6526555), "f": (-46.0, 38.6, 37.929775)}


def exp(x: Expr) -> Expr:
    """e**x."""
    f = format_of(x)
    low, high, normal = RANGE[f.char]
    head, tail, k = exp_parts(clamp(x, low, high), None, f)
    return scaled_sum(head, tail, k, x, ~(abs(x) <= normal), f)


def exp_parts(x: Expr, low: Expr | None, f: Format) -> tuple[Expr, Expr, Expr]:
    """``exp(x + low) / 2**n`` as a large and a small part, and n."""
    n, k, r0, r = reduce(x, f)
    head = r0 + 1.0
    tail = fma(n, -LN2[f.char][1], r0 - (head - 1.0))
    if low is not None:
        r, tail = r + low, tail + low
    return head, fma(r * r, poly(r, EXP[f.char]), tail), k


def exp2(x: Expr, quiet: bool = False) -> Expr:
    """2**x."""
    f = format_of(x)
    inside = clamp(x, -float(f.bias + f.mantissa + 1), float(f.bias + 1))
    head, tail, k = exp2_parts(inside, None, f)
    return scaled_sum(head, tail, k, x, ~(abs(x) <= float(f.bias - 1)), f, quiet)


def exp2_parts(x: Expr, more: Expr | None, f: Format) -> tuple[Expr, Expr, Expr]:
    """``2**(x + more - n)`` as a large and a small part, and n."""
    shifted = x + f.magic
    part = x - (shifted - f.magic)
    high, low, _ = LN2[f.char]
    r = part * high
    head = r + 1.0
    rest = fma(part, low, fma(part, high, -r))
    if more is not None:
        rest = fma(more, high, rest)
    tail = (r - (head - 1.0)) + rest
    if more is not None:
        r = r + rest
    return head, fma(r * r, poly(r, EXP[f.char]), tail), to_bits(shifted) - f.magic_bits


def exp10(x: Expr) -> Expr:
    """10**x, which raises no flags: ``10**x = 2**n * exp(r)``, r in two parts."""
    f = format_of(x)
    first, second, third, inverse = LOG10_2[f.char]
    lowest, highest, normal = RANGE10[f.char]
    inside = clamp(x, lowest, highest)
    shifted = fma(inside, inverse, f.magic)
    n = shifted - f.magic
    whole = fma(n, -first, inside)  # exact: the first part is short
    part = fma(n, -second, whole)
    lost = fma(n, -third, fma(n, -second, whole - part))
    high, low = LN10[f.char]
    r = part * high
    rest = fma(part, low, fma(part, high, -r))
    rest = fma(lost, high, rest)
    head = r + 1.0
    tail = (r - (head - 1.0)) + rest
    r = r + rest
    tail = fma(r * r, poly(r, EXP[f.char]), tail)
    k = to_bits(shifted) - f.magic_bits
    return scaled_sum(head, tail, k, x, ~(abs(x) <= normal), f, True)


def expm1(x: Expr, quiet: bool = False) -> Expr:
    """e**x - 1."""
    f = format_of(x)
    _, high, normal = RANGE[f.char]
    lowest = {"d": -40.0, "f": -18.0}[f.char]
    head, tail, _, k = expm1_parts(clamp(x, lowest, high), f)
    return copysign(scaled_sum(head, tail, k, x, ~(x <= normal), f, quiet), x)


def tanh(x: Expr) -> Expr:
    """Hyperbolic tangent: ``expm1(2*a) / (expm1(2*a) + 2)``, both divided by ``2**n``."""
    f = format_of(x)
    a = abs(x)
    if f.char == "f":
        return copysign(piecewise(a, TANH["f"], 64 / 37, 0.25, 9.1, f), x)
    a = where(a > 20.0, const(20.0, a), a)
    head, tail, unit, _ = expm1_parts(a + a, f)
    bottom, rest = two_sum(head, unit + unit)
    value = quotient(quick_two_sum(head, tail), quick_two_sum(bottom, rest + tail))
    return copysign(value, x)


def sinh(x: Expr) -> Expr:
    """Hyperbolic sine."""
    f = format_of(x)
    plus, minus, odd, even, k = _hyperbolic(x, f, RANGE[f.char][1] + 0.5)
    return copysign(_wide(_rotated(minus, plus, odd, even), k, x, f), x)


def cosh(x: Expr) -> Expr:
    """Hyperbolic cosine."""
    f = format_of(x)
    plus, minus, odd, even, k = _hyperbolic(x, f, RANGE[f.char][1] + 0.5)
    return _wide(_rotated(plus, minus, odd, even), k, x, f)


Pair = tuple[Expr, Expr]


def _hyperbolic(x: Expr, f: Format, high: float) -> tuple[Pair, Pair, Pair, Pair, Expr]:
    """With ``|x| = n*log(2) + r``, |x| at most ``high``: ``1 + 4**-n``, ``1 - 4**-n``,
    ``sinh(r)``, ``cosh(r) - 1``, each as a large and a small part, and ``n - 1``."""
    a = abs(x)
    a = where(a > high, const(high, a), a)
    n, k, r0, r = reduce(a, f)
    low = fma(n, -LN2[f.char][1], r0 - r)
    small = power_of_two(where(n > 40.0, const(0, k), -k - k), f)
    small = where(n > 40.0, const(0.0, x), small)
    plus, minus = small + 1.0, 1.0 - small
    half = 0.5 * r
    h = half * r
    z = h + h
    odd = r, fma(r * z, poly(z, SINH[f.char]), low)
    even = h, fma(z * z, poly(z, COSH[f.char]), fma(r, low, fma(half, r, -h)))
    return (plus, small - (plus - 1.0)), (minus, (1.0 - minus) - small), odd, even, k - 1


def hyperbolic_pair(x: Expr, f: Format) -> tuple[Expr, Expr, Expr]:
    """``sinh(abs(x)) / 2**k``, ``cosh(x) / 2**k`` and k."""
    plus, minus, odd, even, k = _hyperbolic(x, f, REACH[f.char])
    return _rotated(minus, plus, odd, even), _rotated(plus, minus, odd, even), k


def _rotated(u: Pair, v: Pair, odd: Pair, even: Pair) -> Expr:
    """``u * (1 + even) + v * odd``."""
    tail = fma(u[0], even[1], fma(v[0], odd[1], fma(v[1], odd[0], u[1])))
    return fma(v[0], odd[0], fma(u[0], even[0], tail)) + u[0]


def _wide(value: Expr, k: Expr, x: Expr, f: Format) -> Expr:
    """``value * 2**k`` where that may overflow."""
    special = ~(abs(x) <= RANGE[f.char][2])
    endless = abs(x) == float("inf")
    half = value * power_of_two(where(special, k - 1, k), f)
    over = half * where(endless, const(1.0, x), const(2.0, x))
    return rare(special, where(endless, abs(x), over), half)


def reduce(x: Expr, f: Format) -> tuple[Expr, Expr, Expr, Expr]:
    """``x = n*log(2) + r``: n as a float and as an integer, ``x - n*high`` (exact), and r."""
    high, low, inverse = LN2[f.char]
    shifted = fma(x, inverse, f.magic)
    n = shifted - f.magic
    r0 = fma(n, -high, x)
    return n, to_bits(shifted) - f.magic_bits, r0, fma(n, -low, r0)


def expm1_parts(x: Expr, f: Format) -> tuple[Expr, Expr, Expr, Expr]:
    """``(exp(x) - 1) / 2**n`` as a large and a small part, ``2**-n``, and n."""
    n, k, r0, r = reduce(x, f)
    low = fma(n, -LN2[f.char][1], r0 - r)
    half = 0.5 * r
    h = half * r
    low = fma(half, r, -h) + fma(low, r, low)
    low = fma(r * (h + h), poly(r, EXPM1_TAIL[f.char]), low)
    high, rest = quick_two_sum(r, h)
    unit = power_of_two(-where(k > f.bias - 1, const(f.bias - 1, k), k), f)
    one, lost = two_sum(const(1.0, x), -unit)
    head, more = two_sum(one, high)
    return head, (low + rest) + (more + lost), unit, k


def clamp(x: Expr, low: float, high: float) -> Expr:
    """``x`` between two bounds; NaN stays."""
    x = where(x > high, const(high, x), x)
    return where(x < low, const(low, x), x)


def scaled_sum(head: Expr, tail: Expr, n: Expr, x: Expr, special: Expr, f: Format,
               quiet: bool = False) -> Expr:
    """``(head + tail) * 2**n``, head below 2, rounded once; where ``special`` it may overflow
    (silently if ``x`` is infinite, or if ``quiet``), be subnormal or NaN."""
    value = head + tail
    return rare(special, _extreme(head, tail, n, x, special, f, quiet), scale(value, n, f))


def _extreme(head: Expr, tail: Expr, n: Expr, x: Expr, special: Expr, f: Format,
             quiet: bool) -> Expr:
    """The same where ``2**n`` is out of range; harmless elsewhere."""
    large = special & (x > 0.0)
    small = special & ~(x > 0.0)
    endless = abs(x) == float("inf")
    half = from_bits(to_bits(head + tail) + (n - 1 << f.mantissa))
    if quiet:
        half = where(large, half, 1.0)  # elsewhere it may be a signalling NaN
        endless = endless | (half >= 2.0**f.bias)
        x = const(float("inf"), half)
    over = where(large & ~endless, half, 1.0) * 2.0
    # 2 + y, y < 2, has the rounding position of a subnormal result, and its low part is exact
    up = power_of_two(where(small, n + f.bias, 0), f)
    y = head * up
    whole = y + 2.0
    rest = ((2.0 - whole) + y) + tail * up
    under = ((whole + rest) - 2.0) * 0.5 * f.smallest_normal
    return where(large, where(endless, x, over), under)
