"""exp, exp2, expm1 and what is made of them, as programs.

``x = n*log(2) + r``, ``exp(x) = 2**n * exp(r)`` (Cody & Waite, Software Manual for the Elementary
Functions, 1980, chapter 6), where ``1 + r`` is kept in two parts so that only the last addition
rounds.  The scaling by ``2**n`` adds to the exponent; results that overflow or are subnormal are
rare and rounded once there too.
"""

from __future__ import annotations

from npcompile.graph.expression import Expr, const, fma, from_bits, poly, rare, to_bits, where
from npcompile.special.coefficients import EXP, LN2
from npcompile.special.formats import Format, format_of, power_of_two, scale

#: beyond these arguments exp is infinite or zero; up to the last in magnitude its result is normal
RANGE = {"d": (-746.0, 710.0, 708.3964185322641), "f": (-104.0, 89.0, 87.33654)}


def exp(x: Expr) -> Expr:
    """e**x."""
    f = format_of(x)
    low, high, normal = RANGE[f.char]
    inside = clamp(x, low, high)
    ln2_high, ln2_low, inverse = LN2[f.char]
    shifted = fma(inside, inverse, f.magic)
    n = shifted - f.magic
    r0 = fma(n, -ln2_high, inside)
    r = fma(n, -ln2_low, r0)
    head = r0 + 1.0
    tail = fma(n, -ln2_low, r0 - (head - 1.0))
    tail = fma(r * r, poly(r, EXP[f.char]), tail)
    return scaled_sum(head, tail, to_bits(shifted) - f.magic_bits, x, ~(abs(x) <= normal), f)


def clamp(x: Expr, low: float, high: float) -> Expr:
    """``x`` between two bounds; NaN stays."""
    x = where(x > high, const(high, x), x)
    return where(x < low, const(low, x), x)


def scaled_sum(head: Expr, tail: Expr, n: Expr, x: Expr, special: Expr, f: Format) -> Expr:
    """``(head + tail) * 2**n``, head in [1/2, 2), rounded once; where ``special`` it may overflow
    (silently if ``x`` is infinite), be subnormal or NaN."""
    value = head + tail
    return rare(special, _extreme(head, tail, n, x, f), scale(value, n, f))


def _extreme(head: Expr, tail: Expr, n: Expr, x: Expr, f: Format) -> Expr:
    """The same where ``2**n`` is out of range."""
    large = x > 0.0
    endless = abs(x) == float("inf")
    half = from_bits(to_bits(head + tail) + (n - 1 << f.mantissa))
    over = where(large & ~endless, half, const(1.0, x)) * 2.0
    # 2 + y, y < 2, has the rounding position of a subnormal result, and its low part is exact
    up = power_of_two(where(large, const(0, n), n + f.bias), f)
    y = head * up
    whole = y + 2.0
    rest = ((2.0 - whole) + y) + tail * up
    under = ((whole + rest) - 2.0) * 0.5 * f.smallest_normal
    return where(large, where(endless, x, over), under)
