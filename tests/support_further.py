"""Further functions that are subprograms: exact values, points and where SciPy is no measure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np

from tests.support_families import Case, joined, spread
from tests.support_special import SIZES, Points, Samples


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


FURTHER: dict[str, Case] = {
    "jv": (_waves(mp.besselj), orders_of_turns), "yv": (_waves(mp.bessely), orders_of_turns),
}

SIZES["yv"] = lambda v, x: _size(x)
SIZES["jv"] = lambda v, x: _size(x) if abs(x) > v else mp.mpf(0)

#: special points where SciPy's values are not the function's
FURTHER_WRONG: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("jv", "yv"), lambda v, x: (x == 0) | extreme(v, x)),
}

# ------------------------------------------------------------------ error functions

#: of complex numbers
FADDEEVA: dict[str, Callable[[Any], Any]] = {
    "wofz": lambda z: mp.exp(-z * z) * mp.erfc(-1j * z), "erf": mp.erf, "erfc": mp.erfc,
    "erfcx": lambda z: mp.exp(z * z) * mp.erfc(z), "erfi": mp.erfi,
    "dawsn": lambda z: mp.sqrt(mp.pi) / 2 * mp.exp(-z * z) * mp.erfi(z),
    "ndtr": lambda z: mp.erfc(-z / mp.sqrt(2)) / 2,
}
