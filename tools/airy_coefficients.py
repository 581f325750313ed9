"""Computes the constants of Airy's functions.

Run from the repository's root::

    python tools/airy_coefficients.py
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import mpmath as mp
from special_coefficients import pieces
from tables import Rows, main, table

mp.mp.prec = 200
#: the end of the pieces about 0, and 1/zeta there
END = 2
TOP = 3 / (2 * mp.mpf(END) ** mp.mpf("1.5"))


def _about_0(function: Callable[[Any], Any]) -> Rows:
    """Pieces on [-2, 2)."""
    return pieces(function, [mp.mpf(k) / 2 for k in range(-4, 5)], 13)


def _beyond(function: Callable[[Any, Any], Any], count: int) -> Rows:
    """Pieces in 1/zeta, zeta = 2/3 * x**1.5, for x >= 2; the function is of x and zeta."""
    least = mp.mpf(10) ** -4

    def value(v: Any) -> Any:
        v = max(v, least / 100)
        zeta = 1 / v
        with mp.workprec(260):
            return function(mp.root((3 * zeta / 2) ** 2, 3), zeta)

    edges = [TOP * k / 16 for k in range(17)]
    return pieces(value, edges, count)


def _ai(x: Any, order: int = 0) -> Any:
    return mp.airyai(x, derivative=order)


def _bi(x: Any, order: int = 0) -> Any:
    return mp.airybi(x, derivative=order)


def _of_phase(order: int, which: int) -> Callable[[Any, Any], Any]:
    """The factors of cosine and sine of the phase at -x (DLMF 9.7.9 to 9.7.12)."""

    def value(x: Any, zeta: Any) -> Any:
        if zeta > 300:
            return _asymptotic(order, which, zeta)
        size = mp.sqrt(mp.pi) * (x ** mp.mpf("-0.25") if order else x ** mp.mpf("0.25"))
        a, b = size * _ai(-x, order), size * _bi(-x, order)
        s, c = mp.sin(zeta - mp.pi / 4), mp.cos(zeta - mp.pi / 4)
        if order:
            return b * s - a * c if which else a * s + b * c
        return a * s + b * c if which else a * c - b * s

    return value


def _asymptotic(order: int, which: int, zeta: Any) -> Any:
    """The same by their series."""
    total, u = mp.mpf(0), mp.mpf(1)
    for k in range(24):
        factor = u * (mp.mpf(6 * k + 1) / (1 - 6 * k) if order else 1)
        if k % 2 == which:
            total += (-1) ** (k // 2) * factor / zeta**k
        u = u * (6 * k + 5) * (6 * k + 3) * (6 * k + 1) / (216 * mp.mpf(k + 1) * (2 * k + 1))
    return total


@table("airy_middle")
def airy_middle() -> Rows:
    """Ai, Ai', Bi and Bi' on [-2, 2), one after the other."""
    made = [_about_0(lambda x, f=f, k=k: f(x, k)) for f in (_ai, _bi) for k in (0, 1)]
    return {"d": tuple(rows["d"].coefficients for rows in made)}


@table("airy_falling")
def airy_falling() -> Rows:
    """2 * sqrt(pi) * exp(zeta) * x**(1/4) * Ai(x), and of -Ai' by x**(-1/4)."""
    root = 2 * mp.sqrt(mp.pi)
    first = _beyond(lambda x, z: root * mp.exp(z) * mp.root(x, 4) * _ai(x), 15)
    second = _beyond(lambda x, z: -root * mp.exp(z) / mp.root(x, 4) * _ai(x, 1), 15)
    return {"d": (first["d"].coefficients, second["d"].coefficients)}


@table("airy_rising")
def airy_rising() -> Rows:
    """sqrt(pi) * exp(-zeta) * x**(1/4) * Bi(x), and of Bi' by x**(-1/4)."""
    root = mp.sqrt(mp.pi)
    first = _beyond(lambda x, z: root * mp.exp(-z) * mp.root(x, 4) * _bi(x), 18)
    second = _beyond(lambda x, z: root * mp.exp(-z) / mp.root(x, 4) * _bi(x, 1), 18)
    return {"d": (first["d"].coefficients, second["d"].coefficients)}


@table("airy_waves")
def airy_waves() -> Rows:
    """The factors of cosine and sine of the phase for negative numbers, of the functions and of
    the derivatives; those of the sine over 1/zeta."""
    made = []
    for order in (0, 1):
        made.append(_beyond(_of_phase(order, 0), 13))
        sine = _of_phase(order, 1)
        made.append(_beyond(lambda x, z, sine=sine: z * sine(x, z), 13))
    return {"d": tuple(rows["d"].coefficients for rows in made)}


#: the tables of this script
OWN = ["AIRY_MIDDLE", "AIRY_FALLING", "AIRY_RISING", "AIRY_WAVES"]

if __name__ == "__main__":
    main("airy_coefficients.py", sys.argv[1:] or OWN)
