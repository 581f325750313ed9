"""exp, exp2, expm1 and what is made of them, as programs.

``x = n*log(2)/16 + r``, ``exp(x) = 2**(n/16) * exp(r)``, where the fractional powers of two come
from a table, in two parts, so that only the last addition rounds (Tang, Table-driven implementation
of the exponential function, ACM TOMS 15, 1989).  The scaling by whole powers adds to the exponent;
results that overflow or are subnormal are rare and rounded once there too.
"""

from __future__ import annotations

from npcompile.core.records import record
from npcompile.graph.expression import (
    Expr,
    const,
    copysign,
    fma,
    from_bits,
    horner,
    lookup,
    poly,
    rare,
    to_bits,
    where,
)
from npcompile.special.arithmetic.double_word import difference, quick_two_sum, quotient
from npcompile.special.arithmetic.formats import (
    FORMATS,
    Format,
    format_of,
    lowered,
    power_of_two,
    scale,
)
from npcompile.special.coefficients.exponential import (
    EXP,
    EXP_STEP,
    EXP_TABLE,
    GROWTH,
    LN2,
    LN10,
    LOG10_2,
    SINH,
    TANH,
)

Pair = tuple[Expr, Expr]

#: beyond these arguments exp is infinite or zero; up to the last in magnitude its result is normal
RANGE = {"d": (-746.0, 710.0, 708.3964185322641), "f": (-104.0, 89.0, 87.33654)}
#: beyond these exponents the product with even the smallest sine overflows
REACH = {"d": 1460.0, "f": 200.0}
#: half of the exponents that there are: numbers that are too large, or subnormal, are brought near
#: 1 by a power of two of it
HALFWAY = {"d": 512, "f": 64}
#: steps of a power of two are so many bits
STEP_BITS = 4
#: the table, its numbers lowered by as many steps as they stand for
LOWERED = {char: tuple(lowered(value, k, FORMATS[char]) for k, value in enumerate(table[0]))
           for char, table in EXP_TABLE.items()}
#: the small parts of the table, divided by the large ones
RELATIVE = {char: tuple(low / high for high, low in zip(*table, strict=True))
            for char, table in EXP_TABLE.items()}
#: intervals of a unit, and beyond which argument tanh is 1
TANH_STEPS, TANH_END = 3.49, 9.02
#: below it sinh is a polynomial
SMALL_SINH = 1 / 2
#: the same as RANGE for powers of ten
RANGE10 = {"d": (-324.0, 308.4, 307.6526555), "f": (-46.0, 38.6, 37.929775)}


def exp(x: Expr) -> Expr:
    """e**x."""
    f = format_of(x)
    low, high, normal = RANGE[f.char]
    special = ~(abs(x) <= normal)
    bits, r = reduced(rare(special, held(x, low, high), x), f)
    return whole_exp(bits, r, x, special, f)


def exp_parts(x: Expr, low: Expr | None, f: Format) -> tuple[Expr, Expr, Expr]:
    """``exp(x + low) / 2**k`` as a large and a small part, and k."""
    bits, r = reduced(x, f)
    return _tabulated(bits, r if low is None else r + low, f)


def reduced(x: Expr, f: Format) -> tuple[Expr, Expr]:
    """n, in the last bits of a number, and r."""
    step, step_low, inverse = EXP_STEP[f.char]
    shifted = fma(x, inverse, f.magic)
    n = shifted - f.magic
    return to_bits(shifted), fma(n, -step_low, fma(n, -step, x))


def _tabulated(bits: Expr, r: Expr, f: Format) -> tuple[Expr, Expr, Expr]:
    """``2**(n/16 - k) * exp(r)`` as a large and a small part, and k; n is in the last bits."""
    head, rest = (lookup(bits, row, f.char) for row in EXP_TABLE[f.char])
    rise = fma(r * r, poly(r, EXP[f.char]), r)
    return head, fma(head, rise, rest), bits - f.magic_bits >> STEP_BITS


def whole_exp(bits: Expr, r: Expr, x: Expr, special: Expr, f: Format, quiet: bool = False) -> Expr:
    """``2**(n/16) * exp(r)`` as one number: its power of two is there before the rest of it.  x is
    positive where a ``special`` result is large; ``quiet``: that raises no flag."""
    low = lookup(bits, RELATIVE[f.char], f.char)
    rise = fma(r * r, poly(r, EXP[f.char]), r + low)
    steps = bits << f.mantissa - STEP_BITS
    # where n may be too large for an exponent, HALFWAY nearer to 0
    far = HALFWAY[f.char] << f.mantissa
    nearer = steps - where(x > 0.0, const(far, steps), -far)
    inside = rare(special, where(special, nearer, steps), steps)
    power = from_bits(to_bits(lookup(bits, LOWERED[f.char], f.char)) + inside)
    head = where(special, power, 1.0)
    return rare(special, _extreme(head, head * rise, x, f, quiet), fma(power, rise, power))


def exp2(x: Expr, quiet: bool = False) -> Expr:
    """2**x."""
    f = format_of(x)
    special = ~(abs(x) <= float(f.bias - 1))
    inside = rare(special, held(x, -float(f.bias + f.mantissa + 1), float(f.bias + 1)), x)
    bits, r = _binary(inside, None, f)
    return whole_exp(bits, r, x, special, f, quiet)


def exp2_parts(x: Expr, more: Expr | None, f: Format) -> tuple[Expr, Expr, Expr]:
    """``2**(x + more - k)`` as a large and a small part, and k."""
    return _tabulated(*_binary(x, more, f), f)


def _binary(x: Expr, more: Expr | None, f: Format) -> tuple[Expr, Expr]:
    """n, in the last bits of a number, and r for powers of two."""
    shifted = x + f.magic / 16
    part = x - (shifted - f.magic / 16)
    high, _low, _ = LN2[f.char]
    r = part * high
    if more is not None:
        r = fma(more, high, r)
    return to_bits(shifted) + (STEP_BITS << f.mantissa), r


def exp10(x: Expr) -> Expr:
    """10**x, which raises no flags: ``10**x = 2**(n/16) * exp(r)``."""
    f = format_of(x)
    first, second, _third, inverse = LOG10_2[f.char]
    lowest, highest, normal = RANGE10[f.char]
    special = ~(abs(x) <= normal)
    inside = rare(special, held(x, lowest, highest), x)
    shifted = fma(inside, 16 * inverse, f.magic)
    n = shifted - f.magic
    part = fma(n, -second / 16, fma(n, -first / 16, inside))  # exact: the first part is short
    high, _low = LN10[f.char]
    return whole_exp(to_bits(shifted), part * high, x, special, f, True)


def expm1_parts(x: Expr, f: Format) -> tuple[Expr, Expr, Expr]:
    """``(exp(x) - 1) / 2**k`` in two parts, and k."""
    grown = growth(x, f)
    return *grown.beside(difference(grown.head, grown.unit)), grown.k


def tanh(x: Expr) -> Expr:
    """Hyperbolic tangent: ``expm1(2*a) / (expm1(2*a) + 2)``, both divided by ``2**k``."""
    f = format_of(x)
    a = abs(x)
    if f.char == "f":
        return copysign(_single_tanh(a, f), x)
    a = where(a > 20.0, const(20.0, a), a)
    grown = growth(a + a, f)
    top = grown.beside(quick_two_sum(grown.head, -grown.unit))
    bottom = grown.beside(quick_two_sum(grown.head, grown.unit))
    return copysign(quotient(top, bottom), x)


def hyperbolic_pair(x: Expr, f: Format) -> tuple[Expr, Expr, Expr]:
    """``sinh(x) / 2**k``, ``cosh(x) / 2**k`` and k, for ``x >= 0``: half the sum and the difference
    of an exponential and its inverse, which does not count where it is too small to."""
    head, tail, k = exp_parts(x, None, f)
    grown, low = quick_two_sum(head, tail)
    inverse = 1.0 / grown
    fallen = scale(inverse, -2 * where(k > 40, const(40, k), k), f)
    cosine = grown + (fallen + low)
    less = grown - fallen
    sine = less + (((grown - less) - fallen) + low)
    z, twice = x * x, x + x
    odd = fma(twice * z, poly(z, SINH[f.char]), twice)  # harmless where it is not taken
    return where(x < SMALL_SINH, odd, sine), cosine, k - 1


def _single_tanh(a: Expr, f: Format) -> Expr:
    """By a table of 32 intervals, of which values and slopes are exact enough."""
    a = where(a > TANH_END, const(TANH_END, a), a)
    index = to_bits(fma(a, TANH_STEPS, f.magic))
    centre, value, slope, *rest = (lookup(index, row, "f") for row in TANH["f"])
    t = a - centre
    head = fma(t, slope, value)
    lost = fma(t, slope, value - head)
    return head + fma(t * t, horner(t, rest), lost)


@record
class Growth:
    """``exp(x) / 2**k = head + head*r + rest`` and ``unit = 2**-k``, which is no smaller than
    counts beside it."""

    head: Expr
    r: Expr
    rest: Expr
    unit: Expr
    k: Expr

    def beside(self, changed: Pair) -> Pair:
        """The sum in two parts, where the head is changed, to something larger than ``head*r`` or
        0; the second may be large."""
        whole = fma(self.head, self.r, changed[0])
        lost = fma(self.head, self.r, changed[0] - whole)
        return whole, self.rest + (changed[1] + lost)


def growth(x: Expr, f: Format) -> Growth:
    """The exponential in parts of which a power of two can be taken away."""
    step, step_low, inverse = EXP_STEP[f.char]
    shifted = fma(x, inverse, f.magic)
    n, bits = shifted - f.magic, to_bits(shifted)
    r, more = fma(n, -step, x), n * -step_low
    near = r + more
    curve = fma(0.5 * near, near, fma(near * near * near, poly(near, GROWTH[f.char]), more))
    head, low = (lookup(bits, row, f.char) for row in EXP_TABLE[f.char])
    rest = fma(head, curve, fma(low, r, low))
    k = bits - f.magic_bits >> 4
    return Growth(head, r, rest, power_of_two(-where(k > 100, const(100, k), k), f), k)


def clamp(x: Expr, low: float, high: float) -> Expr:
    """``x`` between two bounds; NaN stays."""
    x = where(x > high, const(high, x), x)
    return where(x < low, const(low, x), x)


def held(x: Expr, low: float, high: float) -> Expr:
    """The same, but NaN becomes the lower one."""
    return where(x > low, where(x < high, x, high), low)


def scaled_sum(head: Expr, tail: Expr, n: Expr, special: Expr, f: Format) -> Expr:
    """``(head + tail) * 2**n``, head below 2 and n not above 0, rounded once; where ``special`` it
    may be subnormal or NaN."""
    half = HALFWAY[f.char]
    up = power_of_two(where(special, n + half, 0), f)
    small = _rounded(head * up, tail * up, f) * 2.0**-half
    return rare(special, small, scale(head + tail, n, f))


def _extreme(head: Expr, tail: Expr, x: Expr, f: Format, quiet: bool) -> Expr:
    """``head + tail``, HALFWAY from a number that may be too large or subnormal, brought there: it
    overflows silently if x is infinite, or if ``quiet``.  NaN where x is."""
    big, endless = 2.0**HALFWAY[f.char], float("inf")
    near = _rounded(head, tail, f)
    up = where(near > 1.0, const(big, x), 1 / big)
    if quiet:
        over, end = (near >= big) | (x != x), abs(x) + endless
    else:
        over, end = ~(x < endless), x
    return where(over, end, where(over, const(1.0, x), near) * up)


def _rounded(head: Expr, tail: Expr, f: Format) -> Expr:
    """The sum as it must be rounded to be exact when it is divided by ``2**HALFWAY``, be the result
    subnormal: beside a number whose last place is that of these (head and it are of one size, or it
    is larger, so that what their sum loses is exact)."""
    least = f.smallest_normal * 2.0**HALFWAY[f.char]
    beside = where(head + tail < least, const(least, head), 0.0)
    whole = beside + head
    return (whole + (((beside - whole) + head) + tail)) - beside
