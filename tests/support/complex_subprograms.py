"""Further functions that are subprograms: exact values, points and where SciPy is no measure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np

from tests.support.special_functions import SIZES, Points, Samples
from tests.support.subprogram_families import Case, joined, spread


def extreme(*operands: Any) -> Any:
    """Whether an operand is next to 0, too large for SciPy, or NaN."""
    return np.any([((x != 0) & (abs(x) < 1e-29)) | ~(abs(x) < 1e9) for x in operands], axis=0)


# ------------------------------------------------------------------ Bessel functions


def orders_of_turns(p: Points) -> Samples:
    """Orders and arguments everywhere, and where they are alike."""
    v = spread(p, 0, 2.5)
    top = 4 if p.kind is np.float64 else 2
    return joined(p, (p.span(-20, 20), p.span(0, 50)), (p.span(0, 200), p.span(0, 200)),
                  (v, abs(v + 6 * p.rng.normal(size=p.count) * np.cbrt(v))),
                  (spread(p, -6, 1), spread(p, -6, 1)), (p.span(0, 50), spread(p, 1, top)),
                  (np.rint(p.span(0, 40)) / 2, p.near(33.0)), (p.span(-1, 1), p.near(2.0)))


def _waves(function: Callable[..., Any]) -> Callable[..., Any]:
    def at(v: Any, x: Any) -> Any:
        if abs(v) > 1000 or x > 1e5:
            raise ValueError(v)  # mpmath's takes seconds
        return function(v, x, maxprec=100000)

    return at


def _size(x: Any) -> Any:
    return mp.sqrt(2 / (mp.pi * max(abs(x), 1)))


def orders_of_growth(p: Points) -> Samples:
    top = 600 if p.kind is np.float64 else 60
    return joined(p, (p.span(-0.5, 9), p.span(0, 30)), (p.span(-20, 0), p.span(0, 40)),
                  (p.span(0, 99), p.span(0, top)), (spread(p, -6, 2), spread(p, -6, 2)),
                  (np.floor(p.span(-9, 0)) - 0.5, p.span(0, 9)), (p.span(-5, 60), p.near(120.0)))


def _struve(v: Any, x: Any) -> Any:
    if max(abs(v), abs(x)) > 1000:
        raise ValueError(v)  # mpmath's takes seconds
    return mp.struvel(v, x, maxprec=100000)


# ------------------------------------------------------------------ elliptic integrals


def sides(p: Points) -> Samples:
    wide = [spread(p, -9, 9) for _ in range(4)]
    return joined(p, [p.span(0, 9) for _ in range(4)], wide, [p.near(2.0) for _ in range(4)],
                  (0.0, *wide[1:]), (*wide[:3], -wide[3]), (*wide[:3], p.span(-9, 0)),
                  [*(p.span(0, 9) for _ in range(3)), spread(p, -15, 0)])


def _third_kind(x: Any, y: Any, z: Any, p: Any) -> Any:
    """The principal value for negative p (DLMF 19.20.14)."""
    if p > 0:
        return mp.elliprj(x, y, z, p)
    x, y, z = sorted((x, y, z))
    q = (z * (x + y - p) - x * y) / (z - p)
    terms = (q - z) * mp.elliprj(x, y, z, q), _of_pole(x, y, z, p), -3 * mp.elliprf(x, y, z)
    return mp.fsum(terms) / (z - p)


def _of_pole(x: Any, y: Any, z: Any, p: Any) -> Any:
    x, y, z = sorted((x, y, z))
    product = -p * (z * (x + y - p) - x * y) / (z - p)
    both = x * y + product
    return 3 * mp.sqrt(x * y * z / both) * mp.elliprc(both, product)


def _cancelling(x: Any, y: Any, z: Any, p: Any) -> Any:
    """The terms of which the principal value is the difference."""
    if p > 0:
        return mp.mpf(0)
    return (_of_pole(x, y, z, p) + 3 * mp.elliprf(x, y, z)) / (max(x, y, z) - p)


# ------------------------------------------------------------------ all


FURTHER: dict[str, Case] = {
    "jv": (_waves(mp.besselj), orders_of_turns), "yv": (_waves(mp.bessely), orders_of_turns),
    "elliprj": (_third_kind, sides), "modstruve": (_struve, orders_of_growth),
}

SIZES["yv"] = lambda v, x: _size(x)
SIZES["jv"] = lambda v, x: _size(x) if abs(x) > v else mp.mpf(0)

SIZES["elliprj"] = _cancelling

#: special points where SciPy's values are not the function's
FURTHER_WRONG: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("jv", "yv"), lambda v, x: (x == 0) | extreme(v, x)),
    "modstruve": lambda v, x: (x == 0) | extreme(v, x) | (v < -1e3) | ((v < 0) & (v % 1 == 0.5)),
    # of negative p, next to two zeros, everything cancels
    "elliprj": lambda x, y, z, p: np.isnan(p) | (p < 0) & (np.sort([x, y, z], 0)[1] < 1e-30),
}

# ------------------------------------------------------------------ error functions

#: of complex numbers
FADDEEVA: dict[str, Callable[[Any], Any]] = {
    "wofz": lambda z: mp.exp(-z * z) * mp.erfc(-1j * z), "erf": mp.erf, "erfc": mp.erfc,
    "erfcx": lambda z: mp.exp(z * z) * mp.erfc(z), "erfi": mp.erfi,
    "dawsn": lambda z: mp.sqrt(mp.pi) / 2 * mp.exp(-z * z) * mp.erfi(z),
    "ndtr": lambda z: mp.erfc(-z / mp.sqrt(2)) / 2,
}
