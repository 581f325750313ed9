"""Functions whose results differ between releases of NumPy: as the one at hand has them."""

from __future__ import annotations

import numpy as np
import pytest

from npcompile import jit
from tests.support.oracle import check_calls

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("decimals", [0, 2, -1])
@pytest.mark.parametrize("dtype", "bLdD")
def test_rounded_arrays(dtype: str, decimals: int) -> None:
    """Before 2.4, integers rounded to decimals are the array itself, which then is written."""
    def rounded(a):
        b = np.round(a, decimals)
        found = b is a
        b[...] = 7
        return found, a.copy(), b, np.round(a[0, 0], decimals)

    compiled = jit(rounded)
    for a in (np.arange(12).reshape(3, 4), np.arange(12).reshape(4, 3).T):
        check_calls(compiled, rounded, a.astype(dtype))


@pytest.mark.parametrize("dtype", "efd")
@pytest.mark.parametrize("function", [
    lambda x, q: np.percentile(x, q), lambda x, q: np.quantile(x, q / 100),
    lambda x, q: np.nanpercentile(x, q, axis=-1), lambda x, q: np.percentile(x, [q, 50.0], axis=0)])
def test_quantiles(function, dtype: str) -> None:
    x = RNG.normal(size=(5, 13)).astype(dtype)
    compiled = jit(function)
    for q in (30, 30.5, 90, np.float64(33.3)):
        check_calls(compiled, function, x, q)


def test_squares_of_single_complex_numbers() -> None:
    def squared(z, k):
        return np.square(z[k]), np.square(z), z[k] * z[k]

    z, compiled = RNG.normal(size=40) + 1j * RNG.normal(size=40), jit(squared)
    for k in range(40):
        check_calls(compiled, squared, z, k)


@pytest.mark.parametrize("function", [
    lambda z, out: np.square(z), lambda z, out: np.square(z[()]),
    lambda z, out: np.square(z, out=out), lambda z, out: np.square(z[()], out=out),
    lambda z, out: np.square(np.full(5, z[()]), out=out)])
def test_squares_of_arrays_without_axes(function) -> None:
    """These are fused as those of other arrays, which those of numbers are only before 2.4."""
    compiled = jit(function)
    for z in RNG.normal(size=40) + 1j * RNG.normal(size=40):
        check_calls(compiled, function, np.array(z), np.zeros(5, complex))


def test_sizes_along_several_axes() -> None:
    """Before 2.4 they are errors."""
    def sized(a):
        return np.size(a, (0, 1)), np.size(a, 0)

    check_calls(jit(sized), sized, np.ones((3, 4, 5)))
