"""Branches and short inner loops of independent iterations become lanes: same bits, same flags."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from npcompile import jit, vectorize

X = np.array([0.0, -0.0, 2.0, -3.0, 1e300, -1e300, np.nan, np.inf, 0.5, 1e-300] * 5)


def inverse(x):
    if x > 0.25:
        return 1.0 / x
    return x * 2.0


def root(x):
    if x >= 0.0:
        if x > 1.0:
            return np.sqrt(x) + 1.0
        return x - 3.0
    return -x


def newton(x):
    z = x
    for _ in range(5):
        z = 0.5 * (z + x / z)
    return z


def quietly(function: Any, x: Any) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.array([function(value) for value in x])


@pytest.mark.parametrize("function", [inverse, root, newton], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_same_bits(function: Any, dtype: Any) -> None:
    with np.errstate(all="ignore"):
        x = X.astype(dtype)
        np.testing.assert_array_equal(vectorize(function)(x), quietly(function, x))


def test_lanes_that_do_not_take_an_arm_raise_no_flags() -> None:
    made = vectorize(inverse)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made(np.array([0.0, -0.0, 2.0, 1e300, np.inf, np.nan] * 8))  # 1 / 0, 1e300 * 2: not taken
    with pytest.warns(RuntimeWarning, match="overflow"):
        made(np.array([1.0] * 31 + [-1e308]))
    halved = vectorize(lambda x: x / 0.0 if x > 3.0 else x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        halved(np.arange(3.0).repeat(16))
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        halved(np.arange(5.0).repeat(16))


def test_such_loops_are_kernels() -> None:
    @jit
    def loop(x, out):
        for i in range(len(out)):
            out[i] = root(x[i])

    assert "lanes over" in str(loop.explain(X, np.empty(50)))
