"""Transforms of rows share a loop over blocks with the kernels around them; the bits stay."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.fft

import npcompile
from npcompile import jit
from tests.fft.support_fft import numbers

fft = npcompile.fft


def derivative(u: np.ndarray, k: np.ndarray) -> Any:
    return np.fft.ifft(1j * k * np.fft.fft(u)).real


def test_rows_pass_through_all_in_one_loop() -> None:
    f = jit(fullgraph=True)(derivative)
    for shape in ((7, 64), (300, 100), (5, 17), (3, 1009)):
        u, k = numbers(0, shape, "d"), numbers(1, shape[-1:], "d")
        wanted = fft.ifft(1j * k * fft.fft(u)).real
        assert np.array_equal(f(u, k), wanted)
    assert f.cache_info().compiled == 1
    text = str(f.lower(u, k).program)
    assert text.count("transform_rows") == 2
    assert text.count("parallel for") == 1
    assert "fft.ifft of 64 points" in str(f.explain(u, k))
    assert np.array_equal(npcompile.jit(derivative)(u[:1], k), wanted[:1])


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_any_number_of_threads(threads: int) -> None:
    u, k = numbers(2, (700, 512), "d"), numbers(3, (512,), "d")
    wanted = fft.ifft(1j * k * fft.fft(u)).real
    before = npcompile.get_num_threads()
    npcompile.set_num_threads(threads)
    try:
        f = jit(fullgraph=True)(derivative)
        assert all(np.array_equal(f(u, k), wanted) for _ in range(3))
    finally:
        npcompile.set_num_threads(before)


@pytest.mark.parametrize("n", [15, 16])
def test_padded_convolutions(n: int) -> None:
    def convolved(a: np.ndarray, b: np.ndarray) -> Any:
        m = 2 * a.shape[-1]
        return np.fft.irfft(np.fft.rfft(a, m) * np.fft.rfft(b, m), m)[..., : a.shape[-1]]

    a, b = numbers(4, (9, 4, n), "d"), numbers(5, (n,), "d")
    f = jit(fullgraph=True)(convolved)
    wanted = fft.irfft(fft.rfft(a, 2 * n) * fft.rfft(b, 2 * n), 2 * n)[..., :n]
    assert np.array_equal(f(a, b), wanted)
    assert "transform_rows" in str(f.lower(a, b).program)


@pytest.mark.parametrize("n", [9, 12])
def test_real_rows_in_float32(n: int) -> None:
    """By SciPy's rules, whose transforms are quiet, between kernels that are not."""
    def smoothed(a: np.ndarray) -> Any:
        y = scipy.fft.rfft(a * np.float32(2), axis=-1)
        return scipy.fft.irfft(y * np.float32(0.5), a.shape[-1]) + np.float32(1)

    a = numbers(6, (40, n), "f")
    f = jit(fullgraph=True)(smoothed)
    np.testing.assert_allclose(f(a), smoothed(a), rtol=0, atol=1e-6)
    assert "transform_rows" in str(f.lower(a).program)


def test_arguments_that_are_written() -> None:
    def steps(u: Any, k: np.ndarray) -> Any:
        u *= 2.0
        v = np.fft.fft(u + 1.0)
        u += np.fft.ifft(v * k).real
        return v

    ours: Any = numbers(7, (20, 32), "d")
    plain, k = ours.copy(), numbers(8, (32,), "d")
    found, wanted = jit(steps)(ours, k), steps(plain, k)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-13)
    np.testing.assert_allclose(ours, plain, rtol=0, atol=1e-13)


def test_overflow_in_a_block_is_reported() -> None:
    f = jit(fullgraph=True)(lambda u: np.fft.fft(u * 1.0) + 0.5)
    u = np.ones((100, 64)) + 0j
    f(u)
    u[57] = 1e308
    with pytest.warns(RuntimeWarning, match="overflow encountered in fft"):
        f(u)
