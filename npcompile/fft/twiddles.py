"""Points of the unit circle, rounded once: what twiddle factors are read from.

An index is reduced to an eighth of the circle in integers.  There the angle is one of 33 tabulated
angles and a rest below pi/256, whose sine and cosine are computed in two parts
(Muller et al., Handbook of Floating-Point Arithmetic, 2nd ed., chapter 4), so that a result is
correctly rounded but for one in some thousands, and never off by more than a 4000th of a unit.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import numpy as np

Array = Any  # of float64 numbers, or one
Pair = tuple[Array, Array]  # an unevaluated sum

_BITS = 192
#: 2 pi * 2**192 (DLMF 3.12)
_CIRCLE = 39440193395453077124792266728456537782926901730380179465120
_STEPS = 256  # tabulated angles in a circle


def _in_two(number: int, bits: int) -> tuple[float, float]:
    """``number / 2**bits`` as a sum of two floats."""
    first = number / (1 << bits)
    numerator, denominator = first.as_integer_ratio()
    return first, (number * denominator - (numerator << bits)) / (denominator << bits)


@cache
def _table() -> tuple[Pair, Pair]:
    """Cosines and sines of the multiples of a step, up to an eighth of the circle."""
    one, rows = 1 << _BITS, []
    for k in range(_STEPS // 8 + 1):
        angle = _CIRCLE * k // _STEPS
        sums, term, j = [0, 0], one, 0
        while term:  # Taylor's series of both
            sums[j % 2] += -term if j % 4 > 1 else term
            j += 1
            term = (term * angle >> _BITS) // j
        rows.append([_in_two(s, _BITS) for s in sums])
    parts = np.array(rows).transpose(1, 2, 0)
    return (parts[0, 0], parts[0, 1]), (parts[1, 0], parts[1, 1])


def _halves(a: Array) -> Pair:
    """A float as a sum of two of 26 bits (Veltkamp)."""
    t = a * 134217729.0
    high = t - (t - a)
    return high, a - high


def _product(a: Array, b: Array) -> Pair:
    """``a * b`` in two parts (Dekker)."""
    p, (a1, a2), (b1, b2) = a * b, _halves(a), _halves(b)
    return p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2


def _sum(large: Array, small: Array, rest: Array) -> Array:
    """``large + small + rest``, rounded once; ``rest`` is far less than what ``small`` rounds."""
    s = large + small
    t = s - large
    return s + (((large - (s - t)) + (small - t)) + rest)


def _rest(numerator: Array, n: int) -> tuple[Pair, Array, Array]:
    """Sine in two parts of ``2 pi numerator / (256 n)``, below pi/256, and the two parts of one
    less its cosine."""
    high, low = _in_two((_CIRCLE << 64) // (_STEPS * n), _BITS + 64)
    count = numerator.astype(np.float64)
    b, e = _product(np.float64(high), count)
    e = e + low * count
    p, q = _product(b, b)
    sine = e + b * p * (-1 / 6 + p * (1 / 120 + p * (-1 / 5040 + p / 362880)))
    versine = b * e + q / 2 - p * p * (1 / 24 - p * (1 / 720 - p / 40320))
    return (b, sine), p / 2, versine


def circle(j: Array, n: int) -> tuple[Array, Array]:
    """``cos(2 pi j / n)`` and ``sin(2 pi j / n)`` of integers.

    >>> circle(np.arange(8), 8)[1]
    array([ 0.        ,  0.70710678,  1.        ,  0.70710678,  0.        ,
           -0.70710678, -1.        , -0.70710678])
    """
    quarter, t = np.divmod(4 * (np.asarray(j, np.int64) % n), n)
    upper = 2 * t > n
    t = np.where(upper, n - t, t)
    k = (64 * t + n // 2) // n
    (s, s_low), v, v_low = _rest(64 * t - k * n, n)
    (c0, c0_low), (s0, s0_low) = ((a[k], b[k]) for a, b in _table())
    p, e = _product(c0, s)
    sine = _sum(s0, p, e + s0_low + c0 * s_low + c0_low * s - s0 * v - s0 * v_low)
    p, e = _product(s0, s)
    cosine = _sum(c0, -p, c0_low - e - s0 * s_low - s0_low * s - c0 * v - c0 * v_low)
    cosine, sine = np.where(upper, sine, cosine), np.where(upper, cosine, sine)
    odd = quarter % 2 == 1
    cosine, sine = np.where(odd, sine, cosine), np.where(odd, cosine, sine)
    negative = (quarter == 1) | (quarter == 2)
    return np.where(negative, 0.0 - cosine, cosine), np.where(quarter >= 2, 0.0 - sine, sine)


@lru_cache(256)
def constant(j: int, n: int) -> tuple[float, float]:
    """``exp(-2 pi i j / n)`` as two numbers."""
    cosine, sine = circle(np.array([j]), n)
    return float(cosine[0]), -float(sine[0])


def factors(j: Array, n: int, dtype: np.dtype) -> Array:
    """``exp(-2 pi i j / n)``: real and imaginary parts as a new last axis."""
    cosine, sine = circle(j, n)
    return np.stack([cosine, 0.0 - sine], -1).astype(dtype)
