"""The error function, as a program.

Sixteen intervals, each with its own polynomial about its centre: coefficients are looked up, so
all lanes run one scheme.  Value and slope at the centre stand in two parts each.  float32 is
computed in float64, as SciPy does, and needs no second parts.
"""

from __future__ import annotations

from collections.abc import Sequence

from npcompile.graph.expression import (
    Expr,
    const,
    copysign,
    fma,
    lookup,
    poly,
    rare,
    to_bits,
    where,
)
from npcompile.special.coefficients.error import ERF, SINGLE_ERF
from npcompile.special.formats import FORMATS, Format

Rows = Sequence[Sequence[float]]
#: intervals per unit, the first one's middle in units of their width, and the last argument
#: before erf rounds to 1
INTERVALS = (8.0 / 3.0, 0.5, 5.9999)
#: the first and the last of these for float32, whose first interval's middle is 0
SINGLE_INTERVALS = (63 / 16, 3.936)
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
    """The same in float64 to 35 bits, for numbers of float32."""
    per_unit, last = SINGLE_INTERVALS
    a, magic = abs(x), FORMATS["d"].magic
    a = where(a > last, const(last, a), a)
    shifted = fma(a, per_unit, magic)
    u, index = fma(a, per_unit, magic - shifted), to_bits(shifted)
    return copysign(poly(u, [lookup(index, row) for row in SINGLE_ERF["d"]]), x)


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
