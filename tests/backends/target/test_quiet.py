"""No call leaves compiled code for NaN of which NumPy tells nothing, on any machine."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from npcompile import jit

FUNCTIONS: tuple[Callable[..., Any], ...] = (
    lambda x, y: np.isnan(x) | np.isnan(y), lambda x, y: (x == x) & (y == y),
    lambda x, y: (np.isnan(x) | np.isnan(y)).sum(), lambda x, y: np.where(x < y, x, y),
    lambda x, y: np.nextafter(x, y), lambda x, y: (np.fmax(x, y), np.minimum(x, y)),
    lambda x, y: (x.max(), y.argmax(), x.argmin()), lambda x, y: np.cumsum(y).max(),
    lambda x, y: np.maximum.accumulate(x), lambda x, y: (np.isfinite(x) & np.isfinite(y), x % 2),
)


@pytest.mark.parametrize("char", "df")
@pytest.mark.parametrize("count", [3, 203])
def test_nothing_is_told_of_nan(count: int, char: str) -> None:
    x, y = np.linspace(0.5, 2, count, dtype=char), np.linspace(2, 1, count, dtype=char)
    first = x.copy()
    x[::2], y[count // 2] = np.nan, np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for function in FUNCTIONS:
            compiled = jit(function, cache=False)
            compiled(first, first)
            for operands in ((x, y), (x, first), (first, y)):
                got, want = compiled(*operands), function(*operands)
                for a, b in zip(*(v if isinstance(v, tuple) else (v,) for v in (got, want))):
                    assert np.array_equal(a, b, equal_nan=True)
            left = [line for line in compiled.explain().history if "floating-point" in line]
            assert not left, function
