"""Positions of extremes: the first one, over types, sizes of blocks and axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import npcompile

FUNCTIONS = [
    lambda a: a.argmin(),
    lambda a: a.argmax(),
    lambda a: a.argmin(axis=0),
    lambda a: a.argmax(axis=-1),
    lambda a: np.argmax(a, axis=-1, keepdims=True),
    lambda a: (a == a).argmin(),
    lambda a: a[..., ::3].argmax(),
    lambda a: a[..., ::-1].argmin(axis=-1),
]
COMPILED = [npcompile.jit(f) for f in FUNCTIONS]
SHAPES = [(1,), (17,), (64,), (65,), (1000,), (70000,), (40, 70), (5, 6, 7), (3, 5000), (200, 5)]


def filled(shape: tuple[int, ...], dtype: str) -> list[Any]:
    """Few values and so many ties, many, rising ones, NaNs, and zeros of both signs."""
    rng = np.random.default_rng(len(shape))
    made = [rng.integers(0, top, shape).astype(dtype) for top in (3, 100)]
    made.append(np.sort(made[1].ravel()).reshape(shape))
    if np.dtype(dtype).kind == "f":
        nans = made[1].copy()
        nans.ravel()[rng.integers(0, nans.size, 2)] = np.nan
        zeros = np.zeros(shape, dtype)
        zeros.ravel()[rng.integers(0, zeros.size, 9)] = -0.0
        made += [nans, zeros]
    return made


@pytest.mark.parametrize("dtype", list("?bBhHiIqQefd"))
def test_first_extreme(dtype: str) -> None:
    for shape in SHAPES:
        for x in filled(shape, dtype):
            for plain, compiled in zip(FUNCTIONS, COMPILED, strict=True):
                expected, found = plain(x), compiled(x)
                assert type(expected) is type(found)
                np.testing.assert_array_equal(found, expected)


def test_flags_of_what_is_not_looked_at() -> None:
    """The first NaN ends the search, but not the computation."""
    compiled = npcompile.jit(lambda a, b: (a / b).argmax())
    a, b = np.ones(5000), np.ones(5000)
    a[3], b[-1] = np.nan, 0.0
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError, match="divide by zero"):
        compiled(a, b)
