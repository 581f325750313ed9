"""float32 powers in float64, which takes fewer operations than two parts in float32.  The only
rounding that counts is the last cast, which overflows and underflows as it must."""

from __future__ import annotations

from npcompile.graph.expression import Expr, cast, fma, from_bits, lookup, poly, to_bits, where
from npcompile.special.coefficients.exponential import SINGLE_EXP2
from npcompile.special.coefficients.logarithm import (
    LOG2_TABLES,
    LOG_INVERSE,
    SINGLE_LOG2,
)
from npcompile.special.formats import FORMATS, small_float
from npcompile.special.logarithm import split

DOUBLE = FORMATS["d"]


def power_parts(x: Expr, y: Expr) -> Expr:
    """``x**y`` in float64 for finite ``x > 0`` and finite y of float32."""
    wide = cast(x, "d")
    k, m, i = split(wide, DOUBLE)
    r = fma(m, lookup(i, LOG_INVERSE["d"]), -1.0)
    base = small_float(k, DOUBLE) + lookup(i, LOG2_TABLES["d"][0])
    logarithm = fma(r, poly(r, SINGLE_LOG2["d"]), base)
    exponent = clamp(cast(y, "d") * logarithm)
    shifted = exponent + DOUBLE.magic
    r = exponent - (shifted - DOUBLE.magic)
    bits = to_bits(poly(r, SINGLE_EXP2["d"]))
    return from_bits(bits + (to_bits(shifted) << DOUBLE.mantissa))


def clamp(x: Expr) -> Expr:
    """Exponents beyond those of float32's numbers, made harmless."""
    x = where(x > 200.0, 200.0, x)
    return where(x < -200.0, -200.0, x)
