"""The error function, as a program.

Sixteen intervals, each with its own polynomial about its centre: coefficients are looked up, so
all lanes run one scheme.  Value and slope at the centre stand in two parts each; in float32 the
value is nearly exact instead.
"""

from __future__ import annotations

from collections.abc import Sequence

from npcompile.graph.expression import (
    Expr,
    cast,
    const,
    copysign,
    fma,
    lookup,
    poly,
    rare,
    to_bits,
    where,
)
from npcompile.special.arithmetic.formats import FORMATS, Format
from npcompile.special.coefficients.error import ERF, SINGLE_ERF

Rows = Sequence[Sequence[float]]
#: intervals per unit, the first one's middle in units of their width, and the last argument
#: before erf rounds to 1
INTERVALS = (8.0 / 3.0, 0.5, 5.9999)
#: for float32: intervals per unit, whose middles are about their multiples, and the last argument
SINGLE_STEPS, SINGLE_END = 8.0, 3.936
SINGLE_TINY = 2.0**-60
TINY = 2.0**-60
SLOPE_AT_0 = 0.1283791670955126  # 2/sqrt(pi) - 1


def erf(x: Expr) -> Expr:
    """The error function."""
    a = abs(x)
    value = piecewise(a, ERF["d"], *INTERVALS, FORMATS["d"])
    # the parts of a tiny argument's slope would round to subnormals
    tiny = where(a < TINY, a, 0.0)
    value = rare(a < TINY, fma(tiny, SLOPE_AT_0, tiny), value)
    return copysign(value, x)


def single_erf(x: Expr) -> Expr:
    """The same for float32 by 32 intervals, rounded once: what Horner's scheme loses in its last
    three steps is exact (Dekker 1971); errors are at most 0.50005 ulp."""
    f = FORMATS["f"]
    a = abs(x)
    tiny = a < SINGLE_TINY
    a = where(a > SINGLE_END, const(SINGLE_END, a), a)
    index = to_bits(fma(a, SINGLE_STEPS, f.magic))
    centre, value, slope, slope_low, bend, bend_low, twist, *rest = (
        lookup(index, row, "f") for row in SINGLE_ERF["f"])
    t = a - centre
    curve = fma(twist, t, bend)
    curve_lost = fma(twist, t, bend - curve)
    slant = fma(curve, t, slope)
    slant_lost = fma(curve, t, slope - slant)
    head = fma(t, slant, value)
    lost = fma(t, slant, value - head)
    bend_low = fma(t * t, poly(t, rest), bend_low)
    tail = fma(t, fma(t, curve_lost + bend_low, slant_lost + slope_low), lost)
    # what is lost of tiny numbers may be subnormal
    wide = cast(where(tiny, a, 0.0), "d")
    value = rare(tiny, cast(fma(wide, SLOPE_AT_0, wide), "f"), head + tail)
    return copysign(value, x)


def piecewise(
    a: Expr, rows: Rows, per_unit: float, middle: float, last: float, f: Format
) -> Expr:
    """A function of ``a >= 0`` by 16 intervals; beyond the last argument it is constant.  Rows
    hold the centres, values and slopes there in two parts each, then coefficients."""
    a = where(a > last, const(last, a), a)
    index = to_bits(fma(a, per_unit, -middle) + f.magic)
    centre, value, value_low, slope, slope_low, *rest = (
        lookup(index, row, a.dtype) for row in rows)
    t = a - centre
    head = fma(t, slope, value)
    lost = fma(t, slope, value - head)
    tail = fma(t * t, poly(t, rest), fma(t, slope_low, value_low))
    return head + (lost + tail)
