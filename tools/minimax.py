"""Minimax polynomials with machine coefficients.

Lawson's iteration (reweighted least squares: Rice, The Approximation of Functions, vol. 2, section
13-10) on a fine Chebyshev grid, in 300-bit arithmetic.  Unlike Remez's exchange it needs no Haar
system, so any powers may be asked for on any interval.  Coefficients are rounded to the format one
after another, from the lowest power on; after each the rest is fitted again to make up for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath as mp

mp.mp.prec = 300
ROUNDS = 12

Real = Callable[[Any], Any]


@dataclass(frozen=True)
class Fit:
    """``sum(coefficients[j] * x**powers[j])`` and its largest weighted error."""

    coefficients: tuple[float, ...]
    error: Any


def rounded(value: Any, bits: int) -> float:
    """The nearest number of ``bits`` significant bits."""
    with mp.workprec(bits):
        return float(+mp.mpf(value))


def split(value: Any, bits: int, parts: int = 2, first: int | None = None) -> tuple[float, ...]:
    """A constant as a sum of numbers of ``bits`` bits (the first of ``first`` bits)."""
    rest, out = mp.mpf(value), []
    for k in range(parts):
        out.append(rounded(rest, first if first is not None and k == 0 else bits))
        rest -= mp.mpf(out[-1])
    return tuple(out)


def _grid(low: Any, high: Any, count: int) -> list[Any]:
    middle, half = (high + low) / 2, (high - low) / 2
    return [middle - half * mp.cos(mp.pi * (k + mp.mpf(1) / 2) / count) for k in range(count)]


def _lawson(columns: list[list[Any]], target: list[Any]) -> list[Any]:
    """Coefficients that level the error of ``sum(c[j] * columns[j]) - target`` on the grid."""
    n, count = len(columns), len(target)
    weight = [mp.mpf(1)] * count
    best: tuple[Any, list[Any]] | None = None
    for _ in range(ROUNDS):
        heavy = [[w * v for w, v in zip(weight, column)] for column in columns]
        system = mp.matrix(n, n)
        right = mp.matrix(n, 1)
        for i in range(n):
            right[i] = mp.fdot(heavy[i], target)
            for j in range(i + 1):
                system[i, j] = system[j, i] = mp.fdot(heavy[i], columns[j])
        solution = mp.cholesky_solve(system, right)
        error = [abs(mp.fdot(solution, row) - t) for row, t in zip(zip(*columns), target)]
        worst = max(error)
        if best is None or worst < best[0]:
            best = worst, list(solution)
        weight = [w * e for w, e in zip(weight, error)]
        total = mp.fsum(weight)
        if not total:
            break
        weight = [w / total for w in weight]
    assert best is not None
    return best[1]


def minimax(
    function: Real, powers: Sequence[int], low: Any, high: Any, bits: int, weight: Real = abs
) -> Fit:
    """The polynomial in ``powers`` whose ``weight(x) * |p(x) - function(x)|`` is smallest."""
    low, high = mp.mpf(low), mp.mpf(high)
    points = _grid(low, high, 12 * (len(powers) + 2))
    weights = [mp.mpf(weight(x)) for x in points]
    target = [w * function(x) for x, w in zip(points, weights)]
    columns = [[w * x**p for x, w in zip(points, weights)] for p in powers]
    fixed: list[float] = []
    rest = list(target)
    for j in range(len(powers)):
        first = rounded(_lawson(columns[j:], rest)[0], bits)
        fixed.append(first)
        rest = [r - mp.mpf(first) * value for r, value in zip(rest, columns[j])]
    return Fit(tuple(fixed), max(map(abs, rest)))


def interpolation(function: Real, count: int, low: Any, high: Any, bits: int,
                  in_two: int = 1) -> Fit:
    """The polynomial of ``count`` coefficients in ``x - (low + high) / 2`` through Chebyshev
    points, rounded: within a small factor of the best on a short interval, at a fraction of the
    cost (Trefethen, Approximation Theory and Approximation Practice, theorem 16.1).  The first
    coefficients come in two parts each."""
    low, high = mp.mpf(low), mp.mpf(high)
    middle, half = (low + high) / 2, (high - low) / 2
    nodes = [mp.cos(mp.pi * (k + mp.mpf(1) / 2) / count) for k in range(count)]
    scaled = mp.lu_solve(mp.matrix([[u**j for j in range(count)] for u in nodes]),
                         mp.matrix([function(middle + half * u) for u in nodes]))
    exact = [c / half**j for j, c in enumerate(scaled)]
    parts = [split(c, bits) if j < in_two else (rounded(c, bits),) for j, c in enumerate(exact)]
    summed = [mp.fsum(map(mp.mpf, part)) for part in parts]
    error = mp.mpf(0)
    for k in range(2 * count + 1):
        t = half * mp.cos(mp.pi * k / (2 * count)) * mp.mpf("0.9999999")
        value = function(middle + t)
        error = max(error, abs(mp.polyval(summed[::-1], t) / value - 1))
    return Fit(tuple(c for part in parts for c in part), error)


def log2_of(error: Any) -> str:
    """An error as a power of two."""
    return f"2**{float(mp.log(error, 2)):.1f}" if error else "0"
