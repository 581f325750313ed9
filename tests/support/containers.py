"""Containers that the run fills, compiled and plain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from npcompile import jit


def compare(function: Callable[..., Any], *args: Any, compiled: bool = True) -> None:
    """Results and arguments, the first call and one more; whether it is compiled."""
    made = jit(function)
    for _ in range(2):
        ours, theirs = ([np.copy(a) if isinstance(a, np.ndarray) else a for a in args]
                        for _ in range(2))
        assert repr(made(*ours)) == repr(function(*theirs))
        assert repr(ours) == repr(theirs)
    assert bool(made.cache_info().refused) != compiled
