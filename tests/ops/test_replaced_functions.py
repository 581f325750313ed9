"""Library functions that functions of our own stand in for: NumPy's results to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from npcompile import jit
from npcompile.runtime.versions import fast_calls


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast_calls, "LEAST", 1)


def groups(x: Any) -> Any:
    found, at, counts = np.unique(x, return_inverse=True, return_counts=True)
    _, other = np.unique(x, return_inverse=True)
    first = np.unique(x, True, True)
    return found, at, counts, other, *np.unique(x, return_counts=True), *first


@pytest.mark.parametrize("dtype", [
    "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f8", ">i4", "b1",
])
def test_unique(dtype: str) -> None:
    compiled, rng = jit(groups), np.random.default_rng(3)
    ends = np.iinfo(dtype) if dtype[-2] in "iu" else np.iinfo("i1")
    for first in (0, ends.min, ends.max - 40):
        for n in (0, 1, 50, 3000):
            x = (rng.integers(0, 40, n).astype(object) + int(first)).astype(dtype)
            for got, want in zip(compiled(x), groups(x), strict=True):
                np.testing.assert_array_equal(got, want)
                assert got.dtype == want.dtype
                assert got.flags.c_contiguous


def test_what_numpy_is_asked_for() -> None:
    x = np.arange(9)
    assert fast_calls._unique(x) is None
    assert fast_calls._unique(x, return_inverse=True) is not None
    assert fast_calls._unique(x * 5, return_inverse=True) is None  # far apart
    assert fast_calls._unique(x.reshape(3, 3), return_inverse=True) is None
    assert fast_calls._unique(x, True, True) is None
    assert fast_calls._unique(x, return_inverse=True, axis=0) is None
    assert fast_calls._unique(x.tolist(), return_inverse=True) is None
    assert fast_calls._unique(x[:0], return_inverse=True) is None
