"""Short functions as people write them, which are captured whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

#: a function and what makes its arguments, once for each kind of call
Idiom = tuple[Callable[..., Any], tuple[Callable[[], tuple[Any, ...]], ...]]
IDIOMS: dict[str, Idiom] = {}


def idiom(*makers: Callable[[], tuple[Any, ...]]) -> Callable[[Any], Any]:
    """Adds the decorated function."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        IDIOMS[function.__name__] = (function, makers)
        return function

    return add


def vector(n: int = 40, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(n)


def matrix(rows: int = 12, columns: int = 7, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal((rows, columns))
