"""log and its relatives, as programs.

``x = 2**k * m`` with m in [0.703, 1.406); a table of 16 short reciprocals gives ``r = m/c - 1``
exactly, and ``log(x) = k*log(2) + log(c) + log1p(r)`` (Tang, Table-driven implementation of the
logarithm function, ACM TOMS 16, 1990).  The interval around 1 has c = 1, so nothing cancels there.
"""

from __future__ import annotations

from typing import Any

from npcompile.graph.expression import (
    Expr,
    complex_,
    const,
    copysign,
    fma,
    from_bits,
    horner,
    imag,
    lean_poly,
    lookup,
    poly,
    rare,
    real,
    sqrt,
    to_bits,
    where,
)
from npcompile.special.arithmetic.double_word import joined, quick_two_sum, two_product
from npcompile.special.arithmetic.formats import FORMATS, Format, format_of, positive, small_float
from npcompile.special.coefficients.logarithm import (
    LOG,
    LOG2,
    LOG2_BASE,
    LOG2_TABLES,
    LOG10,
    LOG10_BASE,
    LOG10_TABLES,
    LOG_INVERSE,
    LOG_LN2,
    LOG_RANGE,
    LOG_TABLES,
    NEAR_LOG,
    NEAR_TABLES,
    POWER_SINGLE,
    POWER_SINGLE_LOG,
)

Pair = tuple[Expr, Expr]
#: beyond it log1p is the logarithm of a power of two less
MODERATE_BITS = 64
MODERATE = 2.0**MODERATE_BITS
#: intervals of a unit about 1, and what rounds numbers to multiples of 2**-18 when it is added
NEAR_STEPS, ROUNDS = 224.0, 1.5 * 2.0**34


def split(x: Expr, f: Format, halvings: int = 4) -> tuple[Expr, Expr, Expr]:
    """``x = 2**k * m``: k, m in [0.703, 1.406), and the interval of m, one of ``2**halvings``."""
    bits = to_bits(x)
    offset = bits - LOG_RANGE[f.char]
    k = offset >> f.mantissa
    return k, from_bits(bits - (k << f.mantissa)), offset >> f.mantissa - halvings


def normalised(x: Expr, f: Format) -> tuple[Expr, Expr, Expr]:
    """The same for subnormal numbers too, with k as a float."""
    special = ~positive(x, f, True)
    tiny = (x > 0.0) & (x < f.smallest_normal)
    up = 2.0 ** (f.mantissa + 2)
    raised = complex_(where(tiny, where(tiny, x, 1.0) * up, x),
                      where(tiny, const(f.magic + f.mantissa + 2, x), f.magic))
    both = rare(special, raised, complex_(x, const(f.magic, x)))
    k, m, i = split(real(both), f)
    return from_bits(k + f.magic_bits) - imag(both), m, i


def log(x: Expr) -> Expr:
    """Natural logarithm."""
    return edges(x, joined(log_parts(x, format_of(x))), 0.0)


def log1p(x: Expr, quiet: bool = False) -> Expr:
    """``log(1 + x)``: the rounding error of ``1 + x``, over it, is added to r."""
    f = format_of(x)
    special = ~((x > -1.0) & (x < MODERATE))
    inside = rare(special, where(special, const(0.0, x), x), x)
    whole = inside + 1.0
    lost = inside - (whole - 1.0)  # exact up to 1/eps, and beyond it does not count
    large = (x >= MODERATE) & (x <= f.largest)
    down = where(large, x, 1.0) * (1 / MODERATE)
    both = rare(special, complex_(down, const(0.0, x)), complex_(whole, lost))
    less = where(x < MODERATE, 0.0, const(MODERATE_BITS, x))  # by no term of the other choice
    value = copysign(joined(log_sum(real(both), imag(both), f, (special, less))), x)
    return edges(x, value, -1.0, quiet, special)


def log_sum(whole: Expr, low: Expr, f: Format, more: Pair | None = None,
            moderate: bool = False) -> Pair:
    """``log(whole + low)`` in two parts: whole is positive and normal, low a rounding error.
    ``more``: where it is to be raised by multiples of log(2), and by how many.  ``moderate``:
    whole is less than 2**100, and low is small against what whole differs from 1 by."""
    k, m, i = split(whole, f)
    inverse = lookup(i, LOG_INVERSE[f.char], whole.dtype)
    count = small_float(k, f)
    if more is not None:
        count = rare(more[0], count + more[1], count)
    if moderate or more is not None:
        lowered = from_bits(to_bits(inverse) - (k << f.mantissa))
    else:
        lowered = _twice_lowered(k, f) * (0.5 * inverse)
    if moderate:
        r, rest = fma(m, inverse, -1.0), low * lowered
        rest = fma(-rest, r, rest)  # over 1 + r, up to r**2
    else:
        near, near_low = two_product(m, inverse)
        r, rest = quick_two_sum(near - 1.0, fma(low, lowered, near_low))
    return _parts(count, i, r, rest, f)


def _twice_lowered(k: Expr, f: Format) -> Expr:
    """``2**(1 - k)``; 0 for the largest k, where it no longer counts."""
    return from_bits((f.bias + 1 << f.mantissa) - (k << f.mantissa))


def log_parts(x: Expr, f: Format) -> Pair:
    """The logarithm of ``x > 0`` in two parts, the second as exact as the sum's last rounding
    needs."""
    k, m, i = normalised(x, f)
    r = fma(m, lookup(i, LOG_INVERSE[f.char], x.dtype), -1.0)
    return _parts(k, i, r, None, f)


def normal_log_parts(x: Expr, f: Format) -> Pair:
    """The same for normal numbers."""
    k, m, i = split(x, f)
    r = fma(m, lookup(i, LOG_INVERSE[f.char], x.dtype), -1.0)
    return _parts(small_float(k, f), i, r, None, f)


def _parts(k: Expr, i: Expr, r: Expr, low: Expr | None, f: Format) -> Pair:
    """``k*log(2) + log(c) + log1p(r + low)``, as a large and a small part."""
    c_high, c_low = LOG_TABLES[f.char]
    ln2_high, ln2_low = LOG_LN2[f.char]
    high = fma(k, ln2_high, lookup(i, c_high, r.dtype))
    small = fma(k, ln2_low, lookup(i, c_low, r.dtype))
    if low is not None:
        small = small + low
    head = high + r
    tail = small + ((high - head) + r)
    return head, fma(fma(poly(r, LOG[f.char]), r, -0.5), r * r, tail)


def log2(x: Expr) -> Expr:
    """Logarithm to base 2."""
    return _to_base(x, LOG2_TABLES, LOG2_BASE, LOG2)


def log10(x: Expr) -> Expr:
    """Logarithm to base 10."""
    return _to_base(x, LOG10_TABLES, LOG10_BASE, LOG10)


def _to_base(x: Expr, tables: Any, base: Any, rest: Any) -> Expr:
    """``k*log_b(2) + log_b(c) + log1p(r) / log(b)``, the factor in two parts."""
    f = format_of(x)
    k, m, i = normalised(x, f)
    r = fma(m, lookup(i, LOG_INVERSE[f.char], x.dtype), -1.0)
    head, low = _linear_part(k, i, r, f, tables, base)
    return edges(x, head + fma(r, lean_poly(r, (base[f.char][3], *rest[f.char])), low), 0.0)


def _linear_part(k: Expr, i: Expr, r: Expr, f: Format, tables: Any, base: Any) -> Pair:
    """``k*log_b(2) + log_b(c) + r * factor`` in two parts, factor the large part of ``1 / log(b)``.
    Where the first two are not 0 they are larger than the third, so that what the first sum loses
    is exact (Dekker 1971)."""
    c_high, c_low = (lookup(i, row, r.dtype) for row in tables[f.char])
    two_high, two_low, factor, _ = base[f.char]
    high = k + c_high if two_high == 1.0 else fma(k, two_high, c_high)
    low = fma(k, two_low, c_low) if two_low else c_low
    head = fma(r, factor, high)
    lost = fma(r, factor, high - head)
    return head, lost + low


def log2_sum(whole: Expr, low: Expr, f: Format) -> Pair:
    """``log2(whole + low)``, as :func:`log_sum`."""
    k, m, i = split(whole, f)
    inverse = lookup(i, LOG_INVERSE[f.char], whole.dtype)
    r, rest = quick_two_sum(fma(m, inverse, -1.0), low * (_twice_lowered(k, f) * (0.5 * inverse)))
    head, tail = _linear_part(small_float(k, f), i, r, f, LOG2_TABLES, LOG2_BASE)
    _, _, factor, factor_low = LOG2_BASE[f.char]
    tail = fma(rest, factor, tail)
    return head, fma(r, lean_poly(r, (factor_low, *LOG2[f.char])), tail)


def log_pair(x: Expr, f: Format) -> Pair:
    """The logarithm of ``x > 0`` in two parts, to some 14 bits more than the format has."""
    k, m, i = normalised(x, f)
    return quick_two_sum(*_log_pair(k, m, i))


def log_pair_of_normal(x: Expr, f: Format) -> Pair:
    """The same for normal numbers."""
    k, m, i = split(x, f)
    return quick_two_sum(*_log_pair(small_float(k, f), m, i))


def normal_log_pair(x: Expr, f: Format) -> Pair:
    """The same, the second part up to some 2**-11 of the first; of normal numbers, and of what
    subnormal ones would be if exponents had more bits: these borrow the sign's."""
    k, m, i = split(x, f, 4 if f.char == "d" else 5)
    count = small_float(k, f)
    return _log_pair(count, m, i) if f.char == "d" else _single_log_pair(count, m, i, f)


def _single_log_pair(k: Expr, m: Expr, i: Expr, f: Format) -> Pair:
    """By a longer table, of which r is exact."""
    inverse, c_high, c_low = (lookup(i, row, "f") for row in POWER_SINGLE["f"])
    ln2_high, ln2_low = LOG_LN2[f.char]
    r = fma(m, inverse, -1.0)
    square, square_low = two_product(0.5 * r, r)
    s, e = quick_two_sum(fma(k, ln2_high, c_high), r)
    s, e1 = quick_two_sum(s, -square)
    low = fma(r * square, horner(r, POWER_SINGLE_LOG["f"]), fma(k, ln2_low, c_low))
    return s, low + ((e + e1) - square_low)


def _log_pair(k: Expr, m: Expr, i: Expr) -> Pair:
    """The large part of m is brought next to 1 twice, by numbers so short that it stays exact, and
    so does the square of what it then differs from 1 by; the small part is brought along.  The
    second part of the result is up to 2**-18 of the first."""
    f = FORMATS["d"]
    ln2_high, ln2_low = LOG_LN2["d"]
    first, c_high, c_low = (lookup(i, row) for row in (LOG_INVERSE["d"], *LOG_TABLES["d"]))
    large = (m + ROUNDS) - ROUNDS
    near = large * first
    index = to_bits(fma(near, NEAR_STEPS, f.magic - NEAR_STEPS))
    second, d_high, d_low = (lookup(index, row) for row in NEAR_TABLES["d"])
    r, more = fma(near, second, -1.0), (m - large) * (first * second)
    whole, lost = quick_two_sum(fma(k, ln2_high, c_high) + d_high + r, more)
    square = r * r
    head = fma(square, -0.5, whole)
    lost = lost + fma(square, -0.5, whole - head)
    r = r + more
    tail = fma(k, ln2_low, c_low) + d_low
    tail = fma(-more, fma(more, -0.5, r), tail)  # what the square leaves of that of r
    tail = fma(r * r * r, horner(r, NEAR_LOG["d"]), tail)
    return head, tail + lost


def edges(x: Expr, inside: Expr, pole: float, quiet: bool = False,
          apart: Expr | None = None) -> Expr:
    """A logarithm where its argument is at the pole, below it, infinite or NaN; ``quiet``: without
    raising flags there.  Other arguments may go the same way: those that are ``apart``; if the pole
    is 0 subnormal ones, as in :func:`normalised`: one test for both."""
    endless = float("inf")
    if apart is None:
        apart = ~positive(x, format_of(x), True)
    ordinary = where(x < endless, inside, x)
    one = const(1.0, x)
    if quiet:
        special = where(x == pole, -endless, where(x < pole, float("nan"), ordinary))
        return rare(apart, special, inside)
    at_pole = -1.0 / where(x == pole, const(0.0, x), one)
    invalid = sqrt(where(x < pole, -one, one))
    special = where(x == pole, at_pole, where(x < pole, invalid, ordinary))
    return rare(apart, special, inside)
