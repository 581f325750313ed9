"""Positions of extremes, the first one, and counts: over types, sizes of blocks and axes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import npcompile
from tests.support.oracle import alike

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


COUNTS = [
    lambda a: a.sum(),
    lambda a: np.count_nonzero(a),
    lambda a: ((a > 0).sum(), (a < 1).sum(), a.sum()),
    lambda a: ((a != 0).sum(axis=-1), (a > 0).sum(axis=0)),
    lambda a: (a > 0).sum(dtype=np.int8),
    lambda a: (a > 0).sum(initial=5),
    lambda a: (a[..., ::2] > 0).mean(),
]
COUNTING = [npcompile.jit(f) for f in COUNTS]


@pytest.mark.parametrize("dtype", list("?bHqfd"))
def test_counts(dtype: str) -> None:
    rng = np.random.default_rng(3)
    for shape in [(1,), (5,), (64,), (65,), (100_001,), (30, 70), (3, 5), (4, 5, 66), (0,), (3, 0)]:
        x = rng.integers(0, 2, shape).astype(dtype)
        for plain, compiled in zip(COUNTS, COUNTING, strict=True):
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected, found = plain(x), compiled(x)
            if not isinstance(expected, tuple):
                expected, found = (expected,), (found,)
            for e, g in zip(expected, found, strict=True):
                assert type(e) is type(g) and np.asarray(e).dtype == np.asarray(g).dtype
                np.testing.assert_array_equal(g, e)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i2", "c16", "?"])
@pytest.mark.parametrize("size", [7, 64, 300])
def test_constants_under_masks(dtype: str, size: int) -> None:
    """Numbers that are nowhere in memory are brought together a register at a time, too."""
    def f(a: Any, m: Any) -> Any:
        ones = np.ones_like(a)
        return ones[ones != 7], np.full(len(m), 2.0)[m], ones[m]

    alike(f, (np.arange(size).astype(dtype), np.arange(size) % 3 != 1), backends=("cpu",))
