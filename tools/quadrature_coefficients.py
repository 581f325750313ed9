"""Computes the nodes of the trapezoidal rule for the modified Bessel function K.

Run from the repository's root::

    python tools/quadrature_coefficients.py
"""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import Any

import mpmath as mp
from minimax import rounded
from tables import Rows, Tables, main, table

mp.mp.prec = 120
#: where intervals of x begin, and the points' distance in each: the more points, the larger x
STARTS = (1, 2, 8, 20, 41)
STEPS = tuple(Fraction(n, 256) for n in (54, 48, 40, 30))
COUNT = 22


def _error(start: int, end: int, step: Any) -> Any:
    """The largest relative error of the rule in an interval, for orders up to 3/2."""
    worst = mp.mpf(0)
    for place in range(9):
        x = mp.mpf(start) + mp.mpf(end - start) * place / 8
        for order in (mp.mpf(0), mp.mpf("0.5"), mp.mpf("1.5")):
            terms = [mp.exp(-x * mp.cosh(k * step)) * mp.cosh(order * k * step)
                     for k in range(COUNT)]
            found = step * (mp.fsum(terms) - terms[0] / 2)
            worst = max(worst, abs(found / mp.besselk(order, x) - 1))
    return worst


@table("quadrature")
def hyperbolas() -> Rows:
    """cosh(t) - 1 at the points t = k*h of the rule for K, from k = 1 on, a column for each of the
    intervals of x that begin at 1, 2, 8 and 20; the error is the rule's up to x = 41."""
    steps = [mp.mpf(s.numerator) / s.denominator for s in STEPS]
    rows = tuple(tuple(rounded(2 * mp.sinh(k * step / 2) ** 2, 53) for step in steps)
                 for k in range(1, COUNT))
    worst = max(_error(*ends, step) for *ends, step in zip(STARTS, STARTS[1:], steps))
    return {"d": Tables(rows, worst)}


@table("quadrature")
def steps() -> Rows:
    """The distances of these points, and the starts of the intervals."""
    found = tuple(float(s) for s in STEPS), tuple(float(x) for x in STARTS[:-1])
    return {"d": Tables(found, mp.mpf(0))}


if __name__ == "__main__":
    main("quadrature_coefficients.py", sys.argv[1:])
