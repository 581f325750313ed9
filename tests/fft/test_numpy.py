"""The functions of numpy.fft: shapes, dtypes, arguments, errors and warnings are NumPy's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import npcompile
from tests.fft.support_fft import numbers

fft = npcompile.fft
ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
SEVERAL = ("fft2", "ifft2", "fftn", "ifftn", "rfft2", "rfftn", "irfft2", "irfftn")


def check(name: str, *args: Any, **kwargs: Any) -> None:
    theirs, ours = (getattr(module, name)(*args, **kwargs) for module in (np.fft, fft))
    assert (ours.shape, ours.dtype, ours.strides) == (theirs.shape, theirs.dtype, theirs.strides)
    size = max(float(np.linalg.norm(theirs)), 1e-300)
    assert np.linalg.norm(ours - theirs) <= (4e-15 if ours.dtype.char in "dD" else 1e-6) * size


def test_all_names() -> None:
    assert set(fft.__all__) == set(np.fft.__all__) <= set(dir(fft))
    assert fft.fftfreq is np.fft.fftfreq
    for name in ONE + SEVERAL:
        function = getattr(fft, name)
        assert function.__module__.startswith("npcompile") or function.__wrapped__
        assert function.__doc__ == getattr(np.fft, name).__doc__


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_one_axis(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(ONE))
    chars = "fdih?" if name in ("rfft", "ihfft") else "fdihFD"
    shape = tuple(data.draw(st.lists(st.integers(1, 20), min_size=1, max_size=4)))
    x = numbers(0, shape, data.draw(st.sampled_from(chars)))
    if data.draw(st.booleans()):
        x = np.asfortranarray(x)[::-1]
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    least = 2 if name in ("irfft", "hfft") and x.shape[axis] == 1 else 1
    n = data.draw(st.none() | st.integers(1, 40)) if least == 1 else 2
    check(name, x, n, axis, data.draw(st.sampled_from([None, "backward", "ortho", "forward"])))


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_several_axes(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(SEVERAL))
    shape = tuple(data.draw(st.lists(st.integers(2, 18), min_size=2, max_size=4)))
    x = numbers(1, shape, data.draw(st.sampled_from("fd" if name[0] == "r" else "fdFD")))
    axes = tuple(data.draw(st.permutations(range(len(shape))))[:2])
    s = data.draw(st.none() | st.tuples(st.integers(2, 20), st.integers(2, 20)))
    norm = data.draw(st.sampled_from([None, "ortho", "forward"]))
    check(name, x, s=s, axes=axes, norm=norm)


def test_out() -> None:
    x = numbers(2, (6, 32), "D")
    for name in ("fft", "ifft", "fft2", "fftn"):
        out = np.empty_like(x)
        assert getattr(fft, name)(x, out=out) is out
        assert np.allclose(out, getattr(np.fft, name)(x))
        own = x.copy()
        assert getattr(fft, name)(own, out=own) is own
        assert np.allclose(own, out)


@pytest.mark.parametrize("call", [
    lambda f: f.fft(np.ones(3), 0), lambda f: f.fft(np.ones(3), -1), lambda f: f.fft(np.ones(0)),
    lambda f: f.fft(np.ones(3), norm="other"), lambda f: f.fft(np.ones(3), axis=1),
    lambda f: f.fft(np.ones(3), 2.5), lambda f: f.rfft(np.ones(3) + 1j), lambda f: f.fft(1.0),
    lambda f: f.fft(np.ones((2, 2)), axis=None), lambda f: f.fft2(np.ones(3)),
    lambda f: f.fft(np.ones(3), out=np.empty(4, "D")),
    lambda f: f.fftn(np.ones((2, 2)), (2,), (0, 1)),
    lambda f: f.fft(np.ones(3), out=np.empty(3)), lambda f: f.fft("a"),
    lambda f: f.irfft([1.0]),
])
def test_errors(call: Any) -> None:
    with pytest.raises(Exception) as theirs, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call(np.fft)
    with pytest.raises(type(theirs.value)) as ours, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call(fft)
    assert str(ours.value) == str(theirs.value)


def test_what_numpy_does() -> None:
    for x in (np.ones(4, np.longdouble), np.ones(4, np.float16), np.ones((0, 4)),
              np.ones(4).astype(">f8"), [1, 2, 3], 3 * [True]):
        ours, theirs = fft.fft(x), np.fft.fft(x)
        assert ours.dtype == theirs.dtype
        assert np.allclose(ours, theirs)


def test_floating_point_errors_are_reported() -> None:
    x = np.full(64, 1e308)
    with pytest.warns(RuntimeWarning, match="overflow encountered in fft"):
        fft.fft(x + 0j)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        fft.fft(x + 0j)
    x[3] = np.inf
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        fft.fft(x + 0j)
    for n in (15, 17, 34, 60, 64, 100):  # padding and idle lanes raise nothing
        with np.errstate(all="raise", under="ignore"):
            fft.fft(np.ones((3, n)) + 0j)
            fft.rfft(np.zeros((3, n)))


@pytest.mark.parametrize("name", ["fft2", "fftn", "rfftn", "irfftn", "ifft2"])
@pytest.mark.parametrize("shape", [(17, 30, 13), (3, 17, 5), (9, 8, 31)])
@pytest.mark.parametrize("layout", [
    np.asfortranarray, lambda a: a.swapaxes(0, -1).copy().swapaxes(0, -1), lambda a: a[::-1]])
def test_several_axes_of_any_layout(name, shape, layout) -> None:
    """Later transforms take the place of their operands, in blocks of columns that may overlap."""
    a = layout(numbers(0, shape, "d"))
    found, wanted = getattr(fft, name)(a), getattr(np.fft, name)(a)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)
    assert found.strides == wanted.strides


@pytest.mark.parametrize("name", ["fftn", "rfftn", "irfftn", "ihfft"])
def test_results_beside_floating_point_errors_are_whole(name) -> None:
    """An error of an earlier transform does not end the call."""
    a = np.full((4, 5, 6), 1e307)
    a[1, 2, 3] = np.inf
    with pytest.warns(RuntimeWarning):
        found = getattr(fft, name)(a)
    with pytest.warns(RuntimeWarning):
        wanted = getattr(np.fft, name)(a)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
