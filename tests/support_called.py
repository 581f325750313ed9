"""The functions that are subprograms: their exact values and the points where they are tested."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np

from tests.support_special import Points, Samples

# ------------------------------------------------------------------ points


def spread(p: Points, low: float, high: float) -> np.ndarray:
    """Numbers of all sizes between powers of ten."""
    return 10.0 ** p.rng.uniform(low, high, p.count)


def joined(p: Points, *sets: tuple[Any, ...]) -> Samples:
    """Sets of points, one after the other."""
    return tuple(np.concatenate([np.broadcast_to(x, p.count).astype(p.kind) for x in column])
                 for column in zip(*sets, strict=True))


def gamma_pairs(p: Points) -> Samples:
    large = spread(p, 1, 3)
    return joined(
        p, (p.span(0, 1), p.span(0, 3)), (p.span(0, 12), p.span(0, 16)),
        (p.span(8, 40), p.span(5, 50)), (spread(p, -8, 2), spread(p, -8, 2)),
        (large, large * p.near(1.0)), (large, large * p.span(0.5, 1.5)),
        (large, large + p.rng.normal(size=p.count) * np.sqrt(large)))


# ------------------------------------------------------------------ exact values


def _digits(function: Callable[..., Any]) -> Callable[..., Any]:
    """With as many digits as large parameters lose."""

    def at(*args: Any) -> Any:
        with mp.workprec(400 + int(min(4000, max(args)))):
            return function(*args)

    return at


#: name: exact function, points
CALLED: dict[str, tuple[Callable[..., Any], Callable[[Points], Samples]]] = {
    "gammainc": (_digits(lambda a, x: mp.gammainc(a, 0, x, regularized=True)), gamma_pairs),
    "gammaincc": (_digits(lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True)), gamma_pairs),
}
#: special points where SciPy's values are not the function's: mpmath has ours
SCIPY_IS_WRONG: dict[str, Callable[..., Any]] = {
    "gammainc": lambda a, x: ((a > 0) & (a < 1e-30)) | (a > 1e38),  # P is next to 1; 0 or 1
    "gammaincc": lambda a, x: a > 1e38,
}
