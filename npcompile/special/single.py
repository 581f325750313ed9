"""float32 powers in float64, which takes fewer operations than two parts in float32.  The only
rounding that counts is the last cast, which overflows and underflows as it must."""

from __future__ import annotations

from npcompile.graph.expression import Expr, cast, fma, from_bits, horner, lookup, to_bits
from npcompile.special.coefficients.exponential import SINGLE_EXP2, SINGLE_ROOTS
from npcompile.special.coefficients.logarithm import (
    LOG2_TABLES,
    LOG_INVERSE,
    SINGLE_LOG2,
)
from npcompile.special.formats import FORMATS
from npcompile.special.logarithm import split

DOUBLE = FORMATS["d"]
#: the logarithm of 1 is not quite 0, so that its product with infinity is no invalid operation
BASES = tuple(base or 2.0**-300 for base in LOG2_TABLES["d"][0])


def log2(x: Expr) -> Expr:
    """The logarithm to base 2 of a positive number of float32, in float64."""
    k, m, i = split(cast(x, "d"), DOUBLE)
    r = fma(m, lookup(i, LOG_INVERSE["d"]), -1.0)
    return fma(r, horner(r, SINGLE_LOG2["d"]), cast(k, "d") + lookup(i, BASES))


def exp2(x: Expr) -> Expr:
    """2**x for float32, in float64; ``|x| <= 1000``."""
    shifted = x + DOUBLE.magic / 16
    r = x - (shifted - DOUBLE.magic / 16)
    n = to_bits(shifted)
    root = from_bits(to_bits(lookup(n, SINGLE_ROOTS["d"])) + (n << 48))
    return fma(root * r, horner(r, SINGLE_EXP2["d"]), root)
