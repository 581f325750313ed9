"""Sorting and scans run as NumPy's own functions between compiled regions."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from npcompile import jit

X = np.random.default_rng(0).standard_normal((6, 5))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.sort(x * 2)[..., ::-1],
        lambda x: np.sort(x, axis=0) + 1,
        lambda x: np.argsort(x, axis=1),
        lambda x: x.argsort(),
        lambda x: np.cumsum(x) * 2,
        lambda x: (x * x).cumsum(axis=0),
        lambda x: np.cumprod(x, axis=-1),
    ],
)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
def test_equals_numpy(function: Any, dtype: str) -> None:
    compiled = jit(function, fullgraph=True)
    for x in (X.astype(dtype), X[:3].astype(dtype)):
        got, want = compiled(x), function(x)
        assert got.dtype == want.dtype
        assert got.strides == want.strides
        assert np.array_equal(got, want)
    assert compiled.cache_info().compiled == 1


def test_no_points() -> None:
    f = jit(lambda x: np.fft.fft(x))
    with pytest.raises(ValueError, match="number of FFT data points"):
        f(np.zeros(0))


def test_results_are_taken_as_they_are() -> None:
    def f(x: Any) -> Any:
        total = np.zeros(len(x))
        for k in range(4):
            s = np.sort(x * k)
            s[0] = 9.0
            total += s
            x = np.sort(x + s)
        return total, np.sort(x), np.argsort(x)

    x = np.random.default_rng(1).random(50)
    compiled = jit(f, fullgraph=True)
    for _ in range(3):
        for got, want in zip(compiled(x), f(x), strict=True):
            assert got.tobytes() == want.tobytes()
            assert got.base is None
            assert sys.getrefcount(got) == sys.getrefcount(want)
