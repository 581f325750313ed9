"""Short rows that are summed some at a time, as leaves or as trees: NumPy's bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import npcompile
from npcompile.runtime.threads import pool

FUNCTIONS = [
    lambda x: x.sum(axis=-1),
    lambda x: x.mean(axis=-1, keepdims=True) + x,
    lambda x: x.var(axis=1),
    lambda x: (x * x - 1).sum(axis=1),
    lambda x: (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True),
    lambda x: (x.sum(axis=1), (x * x).sum(axis=1)),
    lambda x: x[:, ::2].sum(axis=1),
    lambda x: x.T.sum(axis=1),
]
COMPILED = [npcompile.jit(f) for f in FUNCTIONS]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "complex128"])
def test_bits(dtype: str) -> None:
    rng = np.random.default_rng(7)
    widths = (7, 8, 9, 15, 16, 31, 64, 100, 127, 128, 129, 136, 255, 316, 517, 1000, 1024, 1031)
    for width in widths:
        for rows in (3, 4, 8, 9, 21) if width < 140 else (9, 20):
            x = (rng.normal(size=(rows, width)) * 3).astype(dtype)
            if width == 16:
                x[1, 3], x[2, :] = np.nan, -0.0
            for plain, compiled in zip(FUNCTIONS, COMPILED, strict=True):
                with np.errstate(all="ignore"):
                    expected, found = plain(x), compiled(x)
                for e, g in zip(_all(expected), _all(found), strict=True):
                    np.testing.assert_array_equal(g, e)
                    assert g.dtype == e.dtype and g.strides == e.strides
                    assert (np.signbit(g.real) == np.signbit(e.real))[~np.isnan(e)].all()


def _all(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def test_threads() -> None:
    x = np.random.default_rng(8).normal(size=(30_001, 33))
    compiled, before = npcompile.jit(FUNCTIONS[4]), pool.get_num_threads()
    try:
        for threads in (1, 2, 3):
            pool.set_num_threads(threads)
            assert (compiled(x) == FUNCTIONS[4](x)).all()
    finally:
        pool.set_num_threads(before)
