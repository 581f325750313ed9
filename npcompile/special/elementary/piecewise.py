"""Functions given by pieces, and programs that compute float32 in float64.

A table of pieces holds one polynomial per interval: its rows are the centres, the values there in
two parts, and the other coefficients in the distance from the centre.  All lanes run one scheme;
what differs is looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log2

from npcompile.graph.expression import (
    Expr,
    cast,
    copysign,
    fma,
    from_bits,
    lookup,
    poly,
    to_bits,
    where,
)
from npcompile.special.arithmetic.double_word import joined, quick_two_sum, two_sum
from npcompile.special.arithmetic.formats import FORMATS, power_of_two
from npcompile.special.elementary.exponential import clamp, exp_parts, expm1_parts
from npcompile.special.elementary.logarithm import log_parts

Pair = tuple[Expr, Expr]
Rows = Sequence[Sequence[float]]
DOUBLE = FORMATS["d"]
INFINITY, NAN = float("inf"), float("nan")
#: keeps the end of the last interval in it
INSIDE = 1 - 2.0**-40


def in_double(program: Callable[..., Expr],
              single: Callable[..., Expr] | None = None) -> Callable[..., Expr]:
    """The program with other operands computed in float64, then rounded to the last one's dtype;
    it overflows without a flag.  ``single``: a shorter one for these, which never overflows."""

    def run(*args: Expr) -> Expr:
        kind = args[-1].dtype
        if single is not None and kind.char != "d":
            return cast(single(*(cast(a, "d") for a in args)), kind)
        wide = program(*(cast(a, "d") for a in args))
        if kind.char == "d":
            return wide
        over = abs(wide) >= 2.0**128 - 2.0**103
        return cast(where(over, copysign(INFINITY, wide), wide), kind)

    return run


def uniform(u: Expr, per_unit: float) -> Expr:
    """The interval of a number among equal ones from 0 on."""
    return to_bits(fma(u, per_unit * INSIDE, -0.5) + DOUBLE.magic)


def halves(x: Expr, start: float = 1.0) -> Expr:
    """The interval of a number among octaves cut into two, from a power of two on; below 1 the
    intervals hold their upper ends."""
    first = (DOUBLE.bias + round(log2(start))) << DOUBLE.mantissa
    return to_bits(x) - (first + (start < 1)) >> DOUBLE.mantissa - 1


def middle_of_half(x: Expr) -> Expr:
    """The middle of the half of an octave in which a number is."""
    half = to_bits(x) >> DOUBLE.mantissa - 1 << DOUBLE.mantissa - 1
    return from_bits(half | 1 << DOUBLE.mantissa - 2)


def piece(u: Expr, low: Expr | None, index: Expr, rows: Rows, by_halves: bool = False) -> Pair:
    """The function at ``u + low``, in two parts whose sum is to be rounded.  ``by_halves``: the
    centres are those of halves of octaves."""
    centre = middle_of_half(u) if by_halves else lookup(index, rows[0])
    t = u - centre
    if low is not None:
        t = t + low
    value, value_low = (lookup(index, row) for row in rows[1:3])
    return value, fma(t, tabulated(t, index, rows[3:]), value_low)


def accurate_piece(u: Expr, index: Expr, rows: Rows) -> Pair:
    """The same where values and slopes at the centres are nearly exact: what the linear part loses
    is exact (Dekker 1971)."""
    centre, value, slope = (lookup(index, row) for row in rows[:3])
    t = u - centre
    head = fma(t, slope, value)
    lost = fma(t, slope, value - head)
    return head, fma(t * t, tabulated(t, index, rows[3:]), lost)


def tabulated(t: Expr, index: Expr, rows: Rows) -> Expr:
    """A polynomial as :func:`poly` computes it, its coefficients looked up where they are needed:
    few registers."""
    pairs = [fma(lookup(index, rows[k + 1]), t, lookup(index, rows[k]))
             for k in range(0, len(rows) - 1, 2)]
    pairs += [lookup(index, row) for row in rows[len(rows) // 2 * 2:]]
    return poly(t * t, pairs)


def folded(x: Expr, centre: float) -> Pair:
    """``centre / (centre + x)`` for ``x >= 0``, in two parts."""
    bottom, lost = two_sum(x, x * 0.0 + centre)
    v = centre / bottom
    return v, (fma(-v, bottom, centre) - v * lost) * v * (1 / centre)


def scaled_quietly(value: Expr, k: Expr) -> Expr:
    """``value * 2**k``, infinite without a flag; value is about 1 and k at most 1100."""
    small = value * power_of_two(where(k > -900, k, -900) - 100, DOUBLE)
    small = small * power_of_two(where(k > -900, 0, k + 900), DOUBLE)
    over = abs(small) >= 2.0**924
    return where(over, copysign(INFINITY, value), where(over, 1.0, small) * 2.0**100)


def exp_sum(high: Expr, low: Expr | float = 0.0) -> Expr:
    """``exp(high + low)`` in a subprogram: subnormal results are rounded twice."""
    inside = clamp(high, -760.0, 720.0)
    head, tail, k = exp_parts(inside, where(inside == high, low, inside * 0.0), DOUBLE)
    half = k >> 1
    return (head + tail) * power_of_two(half, DOUBLE) * power_of_two(k - half, DOUBLE)


def expm1_sum(x: Expr) -> Expr:
    """``exp(x) - 1`` in a subprogram."""
    head, tail, k = expm1_parts(clamp(x, -40.0, 700.0), DOUBLE)
    return (head + tail) * power_of_two(k, DOUBLE)


def log_of(x: Expr) -> Expr:
    """The logarithm of positive finite numbers."""
    return joined(log_parts(x, DOUBLE))


def sum_of(*terms: Expr) -> Pair:
    """Terms of falling size, added in two parts."""
    head, tail = terms[0], terms[0] * 0.0
    for term in terms[1:]:
        head, lost = two_sum(head, term)
        tail = tail + lost
    return quick_two_sum(head, tail)
