"""Values of transforms, beside the definition in long double and beside NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import npcompile
from npcompile.fft.butterflies import ComplexArithmetic
from npcompile.fft.plans import Passes, is_smooth, plan
from npcompile.fft.twiddles import circle
from tests.fft.support_fft import LENGTHS, bound, error, numbers

fft = npcompile.fft


def exact(x: Any, inverse: bool = False) -> Any:
    """By the definition, in long double."""
    n, pi = x.shape[-1], np.longdouble("3.14159265358979323846264338327950288")
    j = np.outer(np.arange(n), np.arange(n)) % n
    angle = (2 * pi / n) * j.astype(np.longdouble)
    w = np.cos(angle) + (1j if inverse else -1j) * np.sin(angle)
    return x.astype(np.clongdouble) @ w


@pytest.mark.parametrize("n", LENGTHS)
def test_error(n: int) -> None:
    """Double and single precision, both directions; scaled ones are in the arrays' precision."""
    for char in "DF":
        x = numbers(n, (3, n), char)
        for inverse, ours in ((False, fft.fft), (True, fft.ifft)):
            y = ours(x) * (n if inverse else 1)
            assert error(y, exact(x, inverse)) <= bound(n, is_smooth(n)) + 1.0


@pytest.mark.parametrize("n", [64, 256, 1000, 1024, 1155, 2048])
def test_error_of_smooth_lengths(n: int) -> None:
    x = numbers(n, (8, n), "D")
    assert error(fft.fft(x), exact(x)) <= bound(n)


@pytest.mark.parametrize("n", [8, 100, 1024, 2000, 34])
def test_error_of_real_rows(n: int) -> None:
    x = numbers(n, (4, n), "d")
    whole = exact(x.astype("D"))
    assert error(fft.rfft(x), whole[:, : n // 2 + 1]) <= bound(n, is_smooth(n)) + 0.2
    assert error(fft.irfft(fft.rfft(x)), x) <= 2 * bound(n, is_smooth(n)) + 0.2


def test_unscaled_float32_is_rounded_once() -> None:
    x = numbers(0, (4, 1024), "F")
    assert error(fft.fft(x), exact(x)) < 0.6
    assert error(fft.rfft(x.real), exact(x.real + 0j)[:, :513]) < 0.6


class _Arrays:
    """NumPy's arithmetic for butterflies."""

    def add(self, a: Any, b: Any) -> Any:
        return a + b

    def sub(self, a: Any, b: Any) -> Any:
        return a - b

    def mul(self, a: Any, b: Any) -> Any:
        return a * b

    def neg(self, a: Any) -> Any:
        return -a

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        return a * b + c

    def constant(self, number: float) -> Any:
        return np.array(number)


@pytest.mark.parametrize("radix", range(1, 17))
def test_butterflies(radix: int) -> None:
    x = numbers(radix, (radix,), "D")
    pairs = ComplexArithmetic(_Arrays()).transform([(v.real, v.imag) for v in x])
    made = np.array([re + 1j * im for re, im in pairs])
    assert np.allclose(made, exact(x).astype("D"), rtol=0, atol=1e-14)


def test_circle_is_rounded_once() -> None:
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workprec(160):
        for n in (7, 8, 360, 1024, 10007, 1 << 40):
            j = np.unique(np.random.default_rng(n & 0xFF).integers(0, n, 40))
            for k, c, s in zip(j.tolist(), *circle(j, n)):
                angle = 2 * mpmath.pi * k / n
                for found, true in ((c, mpmath.cos(angle)), (s, mpmath.sin(angle))):
                    unit = float(np.spacing(max(abs(found), 1e-17)))
                    assert abs(found - true) <= 0.5001 * unit


def test_plans_are_text() -> None:
    assert str(plan(17)) == "Rader 17 by [16]"
    assert str(plan(34)).startswith("Bluestein 34 by [")
    for n in LENGTHS:
        made = plan(n)
        assert made.n == n
        if isinstance(made, Passes):
            assert all(radix <= 16 for radix in made.radices)


@pytest.mark.parametrize("n", [1 << 16, 98304])
def test_long_lengths(n: int) -> None:
    """Columns and rows; NumPy computes in long double."""
    x = numbers(3, (n,), "D")
    whole = np.fft.fft(x.astype(np.clongdouble))
    assert error(fft.fft(x), whole) <= bound(n)
    assert error(fft.ifft(x.astype("F")), np.fft.ifft(x.astype("F").astype("G"))) <= bound(n)
    real = np.fft.rfft(x.real.astype(np.longdouble))
    assert error(fft.rfft(x.real), real) <= bound(n) + 0.2
