"""Laws of the discrete Fourier transform."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import npcompile
from tests.fft.support_fft import numbers

fft = npcompile.fft
lengths = st.integers(2, 300)


def close(a: np.ndarray, b: np.ndarray) -> bool:
    return bool(np.linalg.norm(a - b) <= 1e-14 * max(float(np.linalg.norm(b)), 1e-300))


@settings(max_examples=25, deadline=None)
@given(n=lengths, seed=st.integers(0, 9))
def test_linear(n: int, seed: int) -> None:
    x, y = numbers(seed, (2, n), "D")
    assert close(fft.fft(2 * x + 3j * y), 2 * fft.fft(x) + 3j * fft.fft(y))


@settings(max_examples=25, deadline=None)
@given(n=lengths, by=st.integers(0, 300))
def test_shift(n: int, by: int) -> None:
    x = numbers(n, (n,), "D")
    transposed = fft.fft(x) * np.exp(-2j * np.pi * ((np.arange(n) * by) % n) / n)
    assert close(fft.fft(np.roll(x, by)), transposed)


@settings(max_examples=25, deadline=None)
@given(n=lengths)
def test_energy(n: int) -> None:
    x = numbers(n, (n,), "D")
    energy = np.sum(np.abs(fft.fft(x)) ** 2) / n
    assert abs(energy - np.sum(np.abs(x) ** 2)) <= 1e-14 * energy


@settings(max_examples=25, deadline=None)
@given(n=lengths)
def test_inverse(n: int) -> None:
    x = numbers(n, (n,), "D")
    assert close(fft.ifft(fft.fft(x)), x)
    assert close(fft.irfft(fft.rfft(x.real), n), x.real)


@settings(max_examples=25, deadline=None)
@given(n=lengths)
def test_convolution(n: int) -> None:
    x, y = numbers(n, (2, n), "D")
    whole = np.array([np.sum(x * np.roll(y[::-1], k + 1)) for k in range(n)])
    assert np.linalg.norm(fft.ifft(fft.fft(x) * fft.fft(y)) - whole) <= 1e-13 * n
