"""Computes the constants of the complete elliptic integrals.

Run from the repository's root::

    python tools/elliptic_coefficients.py
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import mpmath as mp
from minimax import minimax
from tables import SMALL, Rows, main, table

mp.mp.prec = 200
COUNT = 22


def _half(function: Any) -> Rows:
    """A polynomial on [0, 1/2]."""
    function = cache(function)
    return {"d": minimax(function, range(COUNT), SMALL, mp.mpf(1) / 2, 53,
                         lambda x: 1 / function(x))}


@table("elliptic")
def first() -> Rows:
    """K(m) for m <= 1/2."""
    return _half(mp.ellipk)


@table("elliptic")
def second() -> Rows:
    """E(m) for m <= 1/2."""
    return _half(mp.ellipe)


@table("elliptic")
def difference() -> Rows:
    """(K(m) - E(m)) / m for m <= 1/2."""
    return _half(lambda m: (mp.ellipk(m) - mp.ellipe(m)) / m)


@table("elliptic")
def first_rest() -> Rows:
    """K(1 - p) + log(p) * K(p) / pi for p <= 1/2 (DLMF 19.12.1)."""
    return _half(lambda p: mp.ellipk(1 - p) + mp.log(p) * mp.ellipk(p) / mp.pi)


@table("elliptic")
def second_rest() -> Rows:
    """E(1 - p) + log(p) * (K(p) - E(p)) / pi for p <= 1/2 (DLMF 19.12.2)."""
    return _half(lambda p: mp.ellipe(1 - p) + mp.log(p) * (mp.ellipk(p) - mp.ellipe(p)) / mp.pi)


if __name__ == "__main__":
    main("elliptic_coefficients.py", sys.argv[1:])
