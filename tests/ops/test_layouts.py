"""Orders of memory, windows, read-only views and weighted means: values, layout and flags."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from npcompile import jit

FUNCTIONS: list[Callable[..., Any]] = [
    lambda a, n: a.ravel(order="F"),
    lambda a, n: np.ravel(a, order="A"),
    lambda a, n: a.flatten("F"),
    lambda a, n: a.flatten("A"),
    lambda a, n: a.reshape(-1, order="F"),
    lambda a, n: a.reshape((a.shape[1], a.shape[0]), order="F"),
    lambda a, n: np.reshape(a, (-1, 2), order="A"),
    lambda a, n: np.diagonal(a),
    lambda a, n: np.diag(a, 1),
    lambda a, n: np.broadcast_to(a, (2, *a.shape)),
    lambda a, n: np.broadcast_to(a[0], a.shape)[1:],
    lambda a, n: sliding_window_view(a, n, axis=1),
    lambda a, n: sliding_window_view(a, (2, n)),
    lambda a, n: sliding_window_view(a, n, axis=0).sum(axis=-1),
    lambda a, n: sliding_window_view(a[0], n)[::2],
    lambda a, n: np.lib.stride_tricks.sliding_window_view(a[0], n, writeable=True),
    lambda a, n: np.average(a, weights=a * a),
    lambda a, n: np.average(a, axis=1, weights=a[0]),
    lambda a, n: np.average(a, axis=0, weights=a[:, 0], keepdims=True),
    lambda a, n: np.average(a.astype(int), axis=-1, weights=a + n),
    lambda a, n: np.mgrid[0 : a.shape[0], 0:n],
    lambda a, n: np.mgrid[0:3],
    lambda a, n: np.ogrid[0:n, 0:1:5j][1] * a[0, 0],
    lambda a, n: np.r_[a[0], n, a[1, ::-1]],
    lambda a, n: np.r_[0:n, 5],
    lambda a, n: np.c_[a[0], a[1]],
    lambda a, n: a[np.s_[:n, ::2]],
    lambda a, n: a[np.index_exp[0]],
]


def describe(x: Any) -> Any:
    flags = (x.flags.writeable, x.flags.c_contiguous) if isinstance(x, np.ndarray) else ()
    strides = [s for s, n in zip(np.asarray(x).strides, np.asarray(x).shape) if n > 1]
    return type(x), np.asarray(x).dtype, np.asarray(x).shape, strides, flags, np.array(x).tobytes()


@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
def test_as_numpy(number: int) -> None:
    function = FUNCTIONS[number]
    compiled = jit(function, fullgraph=True)
    whole = np.arange(1.0, 97.0).reshape(8, 12)
    for a in (whole, np.asfortranarray(whole), whole[:, ::-1], whole[::2, ::3], whole.T):
        for n in (1, 2, 3):
            got, want = compiled(a, n), function(a, n)
            assert describe(got) == describe(want)
            if isinstance(want, np.ndarray):
                assert np.shares_memory(got, a) == np.shares_memory(want, a)


def test_what_python_raises() -> None:
    a = np.ones((4, 6))
    for function, error in (
        (lambda a: np.average(a, weights=a - a), ZeroDivisionError),
        (lambda a: np.average(a, axis=0, weights=a[0]), ValueError),
        (lambda a: sliding_window_view(a[0], 7), ValueError),
        (lambda a: np.broadcast_to(a, (2, 4, 6)).__setitem__(0, 1.0), ValueError),
    ):
        with pytest.raises(error):
            jit(function)(a)


def test_arrays_that_warn_when_written() -> None:
    def function(a: Any) -> Any:
        return np.broadcast_arrays(a, a[0])[1]

    a = np.ones((2, 3))
    assert jit(function)(a).flags.writeable == function(a).flags.writeable


STRIDED: list[Callable[..., Any]] = [
    lambda a: a.T.cumsum(axis=0),
    lambda a: a.T.cumprod(axis=1),
    lambda a: a.T + 1,
    lambda a: np.zeros_like(a.T),
    lambda a: a[a[:, 0] > 1][:, ::2],
    lambda a: a[a[:, 0] > 1].T,
    lambda a: a[:, (a > 1).any(axis=0)][::2],
    lambda a: a[a > 1][::2],
    lambda a: a[a > 1].reshape(-1, 1),
    lambda a: (a + 1)[:, None],
]


@pytest.mark.parametrize("number", range(len(STRIDED)))
def test_strides_where_axes_have_length_one_or_none(number: int) -> None:
    function, compiled = STRIDED[number], jit(STRIDED[number])
    for shape in ((2, 6), (1, 5), (5, 1), (1, 1), (0, 3), (1, 8)):
        for dtype in (np.float64, np.float32, np.int8):
            for value in (0, 2):
                a = np.full(shape, value, dtype)
                for x in (a, np.asfortranarray(a)):
                    got, want = compiled(x), function(x)
                    assert (got.shape, got.strides) == (want.shape, want.strides)
                    assert got.tobytes() == want.tobytes()


UNITS: list[Callable[..., Any]] = [
    lambda a: np.expand_dims(a, 0), lambda a: np.expand_dims(a, (0, 1)),
    lambda a: np.expand_dims(a, 1), lambda a: a[:, None], lambda a: a.reshape(-1),
    lambda a: a[1:], lambda a: a.T, lambda a: a.reshape(a.shape), lambda a: a.reshape(1, -1),
    lambda a: a.T[None] + 1, lambda a: np.ones_like(a, None),
    lambda a: a.copy(), lambda a: a.astype("f4"),
    lambda a: np.zeros_like(a.T[None]), lambda a: np.square(a.T[None]) * a.T[None],
    lambda a: np.squeeze(a, None),
    lambda a: np.zeros_like(a[..., ::2]), lambda a: np.asarray(a, dtype="f4"),
    lambda a: np.ones_like(a, shape=a.shape[::-1]), lambda a: a.reshape(-1, a.shape[-1] or 1),
    lambda a: a.reshape(a.shape[::-1], order="F"), lambda a: np.copy(np.array_split(a, 2)[0]),
    lambda a: np.broadcast_arrays(a, a[:1])[0], lambda a: np.zeros_like(a, order="A"),
    lambda a: abs((a * 1j).real), lambda a: (a * 1j).imag.copy("K"),
    lambda a: a.swapaxes(0, -1), lambda a: np.where(a > 0, a, 1), lambda a: a.T + a.T,
    lambda a: np.broadcast_to(a, (2, *a.shape)), lambda a: a > 0, lambda a: 0 + a,
    lambda a: np.sort(a, axis=0), lambda a: np.argsort(a), lambda a: np.tile(a, 2),
    lambda a: np.pad(a, 1), lambda a: np.array(a, "f4", order="A"),
    lambda a: np.atleast_2d((a + 1j).imag).reshape(1, -1),
]
SHAPES = [(4, 6), (1, 6), (4, 1), (1, 1), (0, 6), (4, 0), (3,), (1,), (0,), (1, 2, 3), (2, 1, 3),
          (2, 3, 1), (0, 2, 3), (1, 0, 3)]


@pytest.mark.parametrize("function", UNITS)
def test_strides_that_address_nothing(function: Callable[..., Any]) -> None:
    """Along axes of length 1, and of empty arrays."""
    compiled = jit(function)
    base = np.arange(192.0).reshape(4, 6, 8)
    for shape in SHAPES:
        part = base[(0,) * (3 - len(shape)) + tuple(map(slice, shape))]
        for a in (part.copy(), np.asfortranarray(part), part, part.T, part[::-1],
                  np.ones((*shape, 2))[..., 0]):
            got, want = compiled(a), function(a)
            assert (got.shape, got.strides) == (want.shape, want.strides), (shape, a.strides)


def test_strides_of_axes_of_length_1_of_arguments() -> None:
    """C-contiguous arrays may have any strides there, which show in what is made like a view."""
    def like(a, n):
        view = a[:, :n, ::2]
        return np.zeros_like(view), view.astype("f4"), view

    def held(a, n):
        view = a.swapaxes(0, 1)
        a.real = n  # left to Python, which gets the view
        return view

    def drawn(a, rng):
        return np.zeros_like(a[:, :, ::2]), rng.integers(3)

    assert jit(drawn)(np.ones((2, 1, 6)), np.random.default_rng(0))[0].shape == (2, 1, 3)
    for function in (like, held):
        compiled = jit(function)
        for a in (np.ones((7, 1, 6)), np.asfortranarray(np.ones((7, 1, 1))),
                  np.ones((7, 6))[:, None], np.ones((1, 4, 6)),
                  np.ones((4, 6))[None], np.ones((3, 9, 6))[:, 4:5]):
            got, want = compiled(a, 1), function(a, 1)
            pairs = zip(got, want) if isinstance(want, tuple) else [(got, want)]
            assert all(g.strides == w.strides for g, w in pairs)


def test_parts_of_complex_numbers_are_not_contiguous() -> None:
    def flattened(z):
        part = z.real.ravel()
        part[0] = 5.0
        whole = np.ascontiguousarray(z.imag)
        whole[...] = 7.0
        return part, whole, z.real.strides, z.real.reshape(-1)

    for z in (np.ones(4) * 1j, np.ones((3, 4)) * 1j, np.asfortranarray(np.ones((3, 4)) * 1j)):
        mine, theirs = z.copy("K"), z.copy("K")
        got, want = jit(flattened)(mine), flattened(theirs)
        assert np.array_equal(mine, theirs)
        assert got[2] == want[2]
        assert all(g.strides == w.strides for g, w in zip(got, want) if isinstance(g, np.ndarray))


def test_strides_of_axes_of_length_1_that_library_functions_make() -> None:
    """Views of their results show whether these lie in order C or F."""
    def diagonal(a, b):
        return np.diagonal(np.add(a, b, order="F")), np.sort(a, axis=0)[[0, -1]]

    for shape in ((1, 2, 1), (5, 2, 1), (1, 1, 2, 3)):
        compiled = jit(diagonal)
        for a in (np.ones(shape), np.asfortranarray(np.ones((*shape[:-1], 3)))[..., :1],
                  np.asfortranarray(np.ones((2, *shape[1:])))[:1]):
            got, want = (f(a, np.ones((1, 1))) for f in (compiled, diagonal))
            assert [x.strides for x in got] == [x.strides for x in want]


def test_an_empty_array_that_is_repeated_is_a_view() -> None:
    a = np.empty((0, 3))
    assert jit(lambda a: np.tile(a, 2))(a).base is a


def test_running_sums_of_what_is_known_to_be_empty() -> None:
    def summed(a):
        a.reshape(-1)[::2] = 3
        return np.cumsum(a, axis=0)

    for shape in ((5, 0), (0, 5), (5, 3)):
        got, want = jit(summed)(np.ones(shape)), summed(np.ones(shape))
        assert got.shape == want.shape
        assert np.array_equal(got, want)
