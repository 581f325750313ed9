"""log and its relatives, as programs.

``x = 2**k * m`` with m in [0.703, 1.406); a table of 16 short reciprocals gives ``r = m/c - 1``
exactly, and ``log(x) = k*log(2) + log(c) + log1p(r)`` (Tang, Table-driven implementation of the
logarithm function, ACM TOMS 16, 1990).  The interval around 1 has c = 1, so nothing cancels there.
"""

from __future__ import annotations

from npcompile.graph.expression import (
    Expr,
    const,
    fma,
    from_bits,
    lookup,
    poly,
    rare,
    sqrt,
    to_bits,
    where,
)
from npcompile.special.coefficients import LOG, LOG_LN2, LOG_RANGE, LOG_TABLES
from npcompile.special.formats import Format, format_of, small_float


def split(x: Expr, f: Format) -> tuple[Expr, Expr, Expr]:
    """``x = 2**k * m``: k as a float, m in [0.703, 1.406), and the interval of m."""
    subnormal = x < f.smallest_normal
    bits = to_bits(where(subnormal, x * 2.0 ** (f.mantissa + 2), x))
    offset = bits - LOG_RANGE[f.char]
    k = offset >> f.mantissa
    m = from_bits(bits - (k << f.mantissa))
    kf = small_float(k, f)
    kf = where(subnormal, kf - float(f.mantissa + 2), kf)
    return kf, m, offset >> (f.mantissa - 4)


def log(x: Expr) -> Expr:
    """Natural logarithm."""
    f = format_of(x)
    inverse, c_high, c_low = LOG_TABLES[f.char]
    ln2_high, ln2_low = LOG_LN2[f.char]
    k, m, i = split(x, f)
    r = fma(m, lookup(i, inverse, x.dtype), -1.0)
    high = fma(k, ln2_high, lookup(i, c_high, x.dtype))
    low = fma(k, ln2_low, lookup(i, c_low, x.dtype))
    head = high + r
    low = low + ((high - head) + r)
    tail = fma(fma(poly(r, LOG[f.char]), r, -0.5), r * r, low)
    return edges(x, head + tail)


def edges(x: Expr, inside: Expr) -> Expr:
    """A logarithm where its argument is zero (a pole), negative, infinite or NaN."""
    outside = ~((x > 0.0) & (x < float("inf")))
    one = const(1.0, x)
    pole = -1.0 / where(x == 0.0, abs(x), one)
    invalid = sqrt(where(x < 0.0, -one, one))
    special = where(x == 0.0, pole, where(x < 0.0, invalid, x))
    return rare(outside, special, inside)
