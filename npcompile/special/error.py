"""The error function, as a program.

Sixteen intervals, each with its own polynomial about its centre: coefficients are looked up, so
all lanes run one scheme.  Value and slope at the centre stand in two parts each.
"""

from __future__ import annotations

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
from npcompile.special.coefficients import ERF
from npcompile.special.formats import format_of

#: intervals per unit, and the last argument before erf rounds to 1
INTERVALS = {"d": (8.0 / 3.0, 5.9999), "f": (4.0, 3.9999)}
TINY = 2.0**-60
SLOPE_AT_0 = 0.1283791670955126  # 2/sqrt(pi) - 1


def erf(x: Expr) -> Expr:
    """The error function."""
    f = format_of(x)
    per_unit, last = INTERVALS[f.char]
    a = abs(x)
    a = where(a > last, const(last, a), a)
    index = to_bits(fma(a, per_unit, -0.5) + f.magic)
    centre, value, value_low, slope, slope_low, *rest = (
        lookup(index, row, x.dtype) for row in ERF[f.char])
    t = a - centre
    head = fma(t, slope, value)
    lost = fma(t, slope, value - head)
    tail = fma(t * t, poly(t, rest), fma(t, slope_low, value_low))
    value = head + (lost + tail)
    # the parts of a tiny argument's slope would round to subnormals
    value = rare(a < TINY, fma(a, SLOPE_AT_0, a), value)
    return copysign(value, x)
