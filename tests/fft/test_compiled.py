"""Transforms in compiled functions: whole, with the bits of the functions called by themselves."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import npcompile
from npcompile import jit
from tests.fft.support_fft import numbers
from tests.fft.test_numpy import ONE, SEVERAL

fft = npcompile.fft


def compiled(name: str, **options: Any) -> Callable[..., Any]:
    source = ", ".join(["a", *[f"{key}={value!r}" for key, value in options.items()]])
    made: Callable[..., Any] = jit(fullgraph=True)(
        eval(f"lambda a: np.fft.{name}({source})", {"np": np}))
    return made


def check(name: str, a: np.ndarray, **options: Any) -> None:
    ours, own = compiled(name, **options)(a), getattr(fft, name)(a, **options)
    theirs = getattr(np.fft, name)(a, **options)
    assert (ours.shape, ours.dtype, ours.strides) == (theirs.shape, theirs.dtype, theirs.strides)
    assert np.array_equal(ours, own)


@pytest.mark.parametrize("name", ONE)
def test_one_axis(name: str) -> None:
    for char in "fi" if name in ("rfft", "ihfft") else "dF":
        for shape in ((16,), (5, 30), (3, 17, 9), (30, 40)):
            a = numbers(1, shape, char)
            for options in ({}, {"axis": 0}, {"norm": "ortho"}, {"n": 12}, {"n": 51}):
                check(name, a, **options)


@pytest.mark.parametrize("name", SEVERAL)
def test_several_axes(name: str) -> None:
    a = numbers(2, (6, 12, 10), "d" if name[0] == "r" else "D")
    for options in ({}, {"norm": "forward"}, {"s": (8, 9), "axes": (0, 1)}):
        check(name, a, **options)


@pytest.mark.parametrize("name", ONE + SEVERAL)
def test_results_lie_as_operands_do(name: str) -> None:
    a = numbers(3, (3, 4, 5), "d")
    given = (a.T, a.transpose(1, 0, 2), a.transpose(2, 0, 1)[::-1], np.asfortranarray(a)[:, ::2],
             np.broadcast_to(a[:1], a.shape), a.transpose(0, 2, 1)[:, :, :2])
    for each in given:
        for options in ({}, {"norm": "ortho"}):
            check(name, each, **options)
        if name in ONE:
            for options in ({"axis": 0}, {"n": 1}, {"n": 2, "axis": 1}, {"n": 9, "axis": 0}):
                check(name, each, **options)


def test_lengths_need_no_new_version() -> None:
    f = jit(fullgraph=True)(lambda a: np.fft.ifft(1j * np.fft.fft(a)).real)
    for n in (64, 100, 34, 17, 1009, 64):
        a = numbers(n, (3, n), "d")
        assert np.array_equal(f(a), (fft.ifft(1j * fft.fft(a))).real)
    assert f.cache_info().compiled == 1


def test_deterministic_modes() -> None:
    modes: tuple[Any, ...] = (True, "portable")
    for mode in modes:
        f = jit(deterministic=mode)(lambda a: np.fft.irfft(np.fft.rfft(a) * 2))
        a = numbers(0, (64,), "d")
        assert np.array_equal(f(a), fft.irfft(fft.rfft(a) * 2))


def test_the_functions_of_npcompile_are_the_same() -> None:
    f = jit(fullgraph=True)(lambda a: npcompile.fft.fft(a))
    a = numbers(0, (64,), "D")
    assert np.array_equal(f(a), fft.fft(a))


def test_floating_point_errors() -> None:
    f = jit(fullgraph=True)(lambda a: np.fft.fft(a))
    a = np.full((3, 64), 1e308) + 0j
    with pytest.warns(RuntimeWarning, match="overflow encountered in fft"):
        f(a)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in (15, 17, 34, 60, 64, 100):
            f(np.ones((3, n)) + 0j)


def test_what_python_raises() -> None:
    f = jit(lambda a: np.fft.fft(a))
    with pytest.raises(ValueError, match="Invalid number of FFT data points"):
        f(np.ones((3, 0)) + 0j)
    assert f(np.ones((0, 3)) + 0j).shape == (0, 3)


def test_explain_names_the_transform() -> None:
    f = jit(lambda a: np.fft.fft(a))
    a = numbers(0, (64,), "D")
    f(a)
    assert "fft.fft of 64 points along axis 0 (8 x 8)" in str(f.explain(a))


@pytest.mark.parametrize("call", [
    lambda a: np.fft.fft2(a, s=(-1, 8), axes=(0, 0)),
    lambda a: np.fft.fft2(a, axes=(0, 0)),
    lambda a: np.fft.rfft2(a.real, s=(-1, 8), axes=(0, 0)),
    lambda a: np.fft.irfft2(a, s=(3, -1), axes=(0, 1)),
    lambda a: np.fft.irfftn(a, s=(-1, -1), axes=(0, 1)),
    lambda a: np.fft.irfft2(a, axes=(1, 1)),
    lambda a: np.fft.fft2(a, s=(-1, 8), axes=(0, 1)),
])
def test_lengths_that_the_operand_has(call) -> None:
    a = numbers(0, (5, 6, 7), "D")
    found, wanted = jit(call)(a), call(a)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-13)
