"""The functions of scipy.fft in compiled functions: results, dtypes and strides are SciPy's."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.fft

import npcompile
from npcompile import jit
from tests.fft.support_fft import numbers

ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
SEVERAL = tuple(f"{name}{end}" for name in ONE for end in ("2", "n"))
WAVES = ("dct", "idct", "dst", "idst")


def compiled(name: str, *args: Any, **options: Any) -> Callable[..., Any]:
    given = [*map(repr, args), *(f"{key}={value!r}" for key, value in options.items())]
    source = f"lambda a: fft.{name}({', '.join(['a', *given])})"
    made: Callable[..., Any] = jit(fullgraph=True)(eval(source, {"fft": scipy.fft}))
    return made


def check(f: Callable[..., Any], a: np.ndarray, name: str, *args: Any, **options: Any) -> None:
    theirs = getattr(scipy.fft, name)(a.copy(), *args, **options)
    ours = f(a)
    assert (ours.shape, ours.dtype, ours.strides) == (theirs.shape, theirs.dtype, theirs.strides)
    unit = float(np.finfo(theirs.dtype).eps) * max(1.0, float(np.abs(theirs).max()))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=16 * unit)
    assert f"fft.{name}" not in str(f.explain(a)).partition("library functions")[2]  # type: ignore


@pytest.mark.parametrize("name", ONE)
def test_one_axis(name: str) -> None:
    for options in ({}, {"axis": 0}, {"norm": "ortho"}, {"norm": "forward"}, {"n": 12}, {"n": 51},
                    {"workers": -1, "overwrite_x": True}):
        f = compiled(name, **options)
        for char in "fdie" if name in ("rfft", "ihfft") else "fdFDie":
            for shape in ((16,), (5, 30), (3, 17, 9)):
                check(f, numbers(1, shape, char), name, **options)


@pytest.mark.parametrize("name", SEVERAL)
def test_several_axes(name: str) -> None:
    for options in ({}, {"norm": "ortho"}, {"s": (4, 9), "axes": (0, 2)}, {"s": (8, 9)},
                    {"s": (-1, 9), "axes": [0, 1]}):
        f = compiled(name, **options)
        for char in "fd" if name.startswith(("rfft", "ihfft")) else "dF":
            check(f, numbers(2, (6, 12, 10), char), name, **options)


@pytest.mark.parametrize("type", [1, 2, 3, 4])
@pytest.mark.parametrize("name", WAVES)
def test_cosine_and_sine_transforms(name: str, type: int) -> None:
    for options in ({}, {"norm": "ortho"}, {"norm": "forward"}, {"n": 12}, {"axis": 0},
                    {"norm": "ortho", "orthogonalize": False}, {"orthogonalize": True}):
        f = compiled(name, type, **options)
        for char in "fdD":
            for shape in ((16,), (15,), (5, 8), (2,), (3, 2)):
                check(f, numbers(3, shape, char), name, type, **options)


@pytest.mark.parametrize("type", [1, 2, 3, 4])
@pytest.mark.parametrize("name", WAVES)
def test_cosine_and_sine_transforms_along_several_axes(name: str, type: int) -> None:
    for options in ({}, {"norm": "ortho"}, {"s": (8, 9)}, {"axes": (0, 1)}):
        check(compiled(f"{name}n", type, **options), numbers(4, (6, 5, 4), "d"), f"{name}n", type,
              **options)


def test_integers_of_cosine_transforms() -> None:
    check(compiled("dct"), numbers(5, (4, 9), "i"), "dct")
    for options in ({"n": 5}, {"axis": 0, "n": 3}):  # SciPy's results lie in a larger array
        a = numbers(5, (4, 9), "i")
        f = jit(lambda a, options=options: scipy.fft.dct(a, **options))
        found, wanted = f(a), scipy.fft.dct(a, **options)
        assert found.strides == wanted.strides
        assert np.array_equal(found, wanted)


@pytest.mark.parametrize("module", [np.fft, scipy.fft])
@pytest.mark.parametrize("n", [1, 2, 9, 16])
def test_the_order_of_frequencies(module: Any, n: int) -> None:
    a = np.arange(5.0 * n).reshape(n, 5)
    calls: list[Callable[[np.ndarray], np.ndarray]] = [
        lambda a: module.fftshift(a), lambda a: module.ifftshift(a),
        lambda a: module.fftshift(a, axes=0), lambda a: module.ifftshift(a, axes=(1,)),
        lambda a: module.fftfreq(a.shape[0]), lambda a: module.fftfreq(a.shape[0], d=0.1),
        lambda a: module.rfftfreq(a.shape[0], 3), lambda a: module.rfftfreq(len(a) * 2 + 1)]
    for call in calls:
        f = jit(fullgraph=True)(call)
        found, wanted = f(a), call(a)
        assert found.dtype == wanted.dtype
        assert np.array_equal(found, wanted)
        assert "library functions" not in str(f.explain(a))


def test_fast_lengths() -> None:
    def convolved(a, b):
        n = scipy.fft.next_fast_len(len(a) + len(b) - 1, True)
        return scipy.fft.irfft(scipy.fft.rfft(a, n) * scipy.fft.rfft(b, n), n)

    f = jit(fullgraph=True)(convolved)
    for n in (7, 20, 100, 7):
        a, b = numbers(n, (n,), "d"), numbers(1, (13,), "d")
        np.testing.assert_allclose(f(a, b), convolved(a, b), rtol=0, atol=1e-14)
    g = jit(fullgraph=True)(lambda a: a * scipy.fft.prev_fast_len(len(a) * 11))
    assert np.array_equal(g(np.ones(8)), np.full(8, scipy.fft.prev_fast_len(88)))


def test_the_parity_of_a_length_is_asked_for() -> None:
    f = jit(fullgraph=True)(lambda a: scipy.fft.irfft(scipy.fft.rfft(a), a.shape[-1]))
    for n in (8, 9, 10, 15):
        a = numbers(n, (3, n), "d")
        np.testing.assert_allclose(f(a), a, rtol=0, atol=1e-15)
    assert f.cache_info().compiled == 2


def test_nothing_is_reported() -> None:
    """SciPy's functions tell of no floating-point errors, NumPy's beside them do."""
    huge = np.full((3, 64), 1e308)
    calls: list[Callable[[np.ndarray], Any]] = [
        lambda a: scipy.fft.fft(a), lambda a: scipy.fft.rfft(a), lambda a: scipy.fft.dct(a),
        lambda a: scipy.fft.dst(a, 4) + 1.0, lambda a: scipy.fft.idctn(a, 3)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for call in calls:
            jit(fullgraph=True)(call)(huge)
    with pytest.warns(RuntimeWarning, match="overflow encountered in fft"):
        jit(fullgraph=True)(lambda a: np.fft.fft(a) + scipy.fft.fft(a * 1e-9))(huge + 0j)


def test_float32_is_transformed_in_float32() -> None:
    a = numbers(6, (1000,), "F")
    exact = np.fft.fft(a.astype(complex))
    ours = np.linalg.norm(compiled("fft")(a) - exact)
    assert ours > 2 * np.linalg.norm(npcompile.fft.fft(a) - exact)
    assert ours < 1.5 * np.linalg.norm(scipy.fft.fft(a) - exact)


@pytest.mark.parametrize("call", [
    lambda a: scipy.fft.fft(a, n=0), lambda a: scipy.fft.fft(a, norm="none"),
    lambda a: scipy.fft.fft(a, workers=0), lambda a: scipy.fft.rfft(a + 1j),
    lambda a: scipy.fft.dct(a, 5), lambda a: scipy.fft.fftn(a, axes=(0, 0)),
    lambda a: scipy.fft.dct(a[:, :1], 1), lambda a: scipy.fft.fft(a, plan=1)])
def test_what_scipy_raises(call: Callable[[np.ndarray], Any]) -> None:
    a = numbers(7, (4, 6), "d")
    with pytest.raises(Exception) as wanted:
        call(a)
    with pytest.raises(type(wanted.value)) as found:
        jit(call)(a)
    assert str(found.value) == str(wanted.value)


def test_lengths_that_are_none_are_refused() -> None:
    f = jit(lambda a: scipy.fft.fftn(a, (None, 4), axes=(0, 1)))
    with pytest.raises(ValueError, match="iterable of integers"):
        f(np.ones((3, 4)))
