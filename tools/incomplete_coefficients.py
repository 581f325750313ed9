"""Computes the constants of the incomplete gamma function and what is like it.

Run from the repository's root::

    python tools/incomplete_coefficients.py
"""

from __future__ import annotations

import sys
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath as mp
from minimax import minimax, rounded
from tables import Rows, Tables, main, table

mp.mp.prec = 200
#: up to which |x/a - 1| the uniform expansion is used, the smallest a, and that |eta|
NEAR, LEAST, ETA = mp.mpf("0.32"), 20, mp.mpf("0.37")
TERMS, ORDER = 12, 64


@table("incomplete")
def entropy() -> Rows:
    """(2 * (m - log(1 + m)) / m**2 - 1) / m for |m| <= 0.32."""

    def value(m: Any) -> Any:
        if abs(m) < mp.mpf(10) ** -12:
            return m / 2 - mp.mpf(2) / 3
        return (2 * (m - mp.log1p(m)) / m**2 - 1) / m

    return {"d": minimax(cache(value), range(21), -NEAR, NEAR, 53)}


def _product(a: list[Fraction], b: list[Fraction]) -> list[Fraction]:
    return [sum((a[k] * b[n - k] for k in range(n + 1)), Fraction(0)) for n in range(len(a))]


def _ratio() -> list[Fraction]:
    """eta / m as a series in eta, where eta**2 / 2 = m - log(1 + m): so m * m' = eta * (1 + m)."""
    m = [Fraction(0), Fraction(1)]
    for n in range(2, ORDER + 2):
        # the coefficient of eta**n in m * m', in which the new one stands (n + 1) times
        known = sum((m[k] * (n + 1 - k) * m[n + 1 - k] for k in range(2, n)), Fraction(0))
        m.append((m[n - 1] - known) / (n + 1))
    over = m[1:]  # m / eta
    inverse = [Fraction(1)]
    for n in range(1, len(over)):
        inverse.append(-sum((over[k] * inverse[n - k] for k in range(1, n + 1)), Fraction(0)))
    return inverse


@table("incomplete")
def temme() -> Rows:
    """c_k(eta), the k-th row in powers of eta, of Temme's uniform expansion (DLMF 8.12.9 to
    8.12.14), as far as it matters for a >= 20 and |eta| <= 0.37."""
    inverse = _ratio()  # 1/m = inverse / eta
    series = inverse[1:]  # c_0 = 1/m - 1/eta
    rows, left = [], mp.mpf(0)
    for k in range(TERMS):
        unit = mp.mpf(LEAST) ** k
        sizes = [abs(mp.mpf(c.numerator) / c.denominator) * ETA**n / unit
                 for n, c in enumerate(series)]
        count = max([n + 1 for n, size in enumerate(sizes) if size > 2.0**-58], default=1)
        left += mp.fsum(sizes[count:])
        rows.append(tuple(rounded(mp.mpf(c.numerator) / c.denominator, 53)
                          for c in series[:count]))
        # (1/eta) * c_k' plus the multiple of 1/m that takes the pole away
        slope = [n * series[n] for n in range(1, len(series))]
        pole = slope[0]
        series = [slope[n + 1] - pole * inverse[n + 1] for n in range(len(slope) - 1)]
    return {"d": Tables(tuple(rows), left)}


if __name__ == "__main__":
    main("incomplete_coefficients.py", sys.argv[1:])
