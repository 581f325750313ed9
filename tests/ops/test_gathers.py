"""Functions that find elements, and read or write them by arrays of indices, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npcompile import jit
from tests.support.oracle import check_calls
from tests.tracing.test_run_time_sizes import as_python

RNG = np.random.default_rng(7)
SQUARES = [RNG.random((5, 5)), np.asfortranarray(RNG.random((5, 4))), RNG.random((6, 5))[:, ::-1]]


def finds(x: Any) -> Any:
    return (np.nonzero(x), np.flatnonzero(x), np.where(x), x.nonzero()[0], np.argwhere(x),
            np.argwhere(x > 5), np.count_nonzero(x))


@pytest.mark.parametrize("x", [
    RNG.integers(0, 3, 10), RNG.random(10) - 0.5, RNG.random(7) > 0.5, np.zeros(5), np.zeros(0),
    RNG.integers(0, 9, (4, 5)), np.asfortranarray(RNG.integers(0, 9, (4, 5))),
    RNG.integers(0, 9, (2, 3, 4)) > 4,
])
def test_finding(x: Any) -> None:
    as_python(finds, x)


def takes(x: Any, i: Any) -> Any:
    return (np.take(x, i), np.take(x, i, axis=0), np.take(x, i, axis=-1), x.take(i, mode="wrap"),
            np.take(x, i + 100, mode="clip"))


@pytest.mark.parametrize("x", SQUARES)
@pytest.mark.parametrize("shape", [(6,), (2, 3), (0,)])
def test_take(x: Any, shape: tuple[int, ...]) -> None:
    as_python(takes, x, RNG.integers(-4, 4, shape))


def test_out_of_range_leaves() -> None:
    as_python(takes, SQUARES[0], np.array([7]), whole=False)
    as_python(lambda x, i: x[i], np.arange(3.0), np.array([0, -4]), whole=False)


def test_nothing_is_written_before_an_index_error() -> None:
    def f(x: Any, i: Any) -> Any:
        x[0] = 9.0
        x[i] = -1.0
        return x

    as_python(f, np.arange(3.0), np.array([1, 5]), whole=False)


@pytest.mark.parametrize("x", SQUARES)
def test_along_an_axis(x: Any) -> None:
    def f(x: Any, i: Any) -> Any:
        y = np.zeros_like(x)
        np.put_along_axis(y, i[:, :1], 5.0, 1)
        return np.take_along_axis(x, i, 1), np.take_along_axis(x, i, axis=-1), y

    as_python(f, x, RNG.integers(-4, 4, (len(x), 3)))


@pytest.mark.parametrize("x", SQUARES)
def test_selecting(x: Any) -> None:
    def f(x: Any, c: Any) -> Any:
        return np.compress(c, x, axis=0), np.extract(x > 0.3, x), x.compress(c, 0)

    as_python(f, x, RNG.random(len(x)) > 0.5)


@pytest.mark.parametrize("counts", [[2, 0, 3, 1], [0, 0, 0, 0]])
def test_repeat(counts: list[int]) -> None:
    def f(x: Any, c: Any) -> Any:
        return np.repeat(x, c, axis=0), np.repeat(x[:, 0], c)

    as_python(f, RNG.random((4, 3)), np.array(counts))
    as_python(f, RNG.random((4, 3)), np.array([1, -1, 2, 0]), whole=False)


def test_put_and_choose() -> None:
    def f(x: Any, i: Any, v: Any) -> Any:
        np.put(x, i, v)
        return np.choose(i % 3, [v, v * 2, 7.0])

    as_python(f, RNG.random((3, 4)), RNG.integers(0, 5, 6), RNG.random(6))


@given(st.lists(st.integers(-4, 3), max_size=12), st.sampled_from("fdiB"), st.booleans())
@settings(max_examples=40)
def test_one_after_the_other(places: list[int], char: str, rows: bool) -> None:
    def f(x: Any, i: Any, v: Any) -> Any:
        np.add.at(x, i, v)
        np.subtract.at(x, i, 1)
        np.multiply.at(x, i, 2)
        x[i] = v
        x[i] += 1
        return x

    shape = (4, 3) if rows else (4,)
    x = np.arange(np.prod(shape)).reshape(shape).astype(char)
    i = np.array(places, int)
    values = np.arange(i.size * (3 if rows else 1)).reshape((-1, *shape[1:])).astype(char)
    as_python(f, x, i, values)


@pytest.mark.parametrize("kind", ["F", "D"])
def test_parts_of_complex_numbers_one_after_the_other(kind: str) -> None:
    def f(x: Any, i: Any, v: Any) -> Any:
        np.multiply.at(x.real, i, v)
        np.subtract.at(x.imag[::-1], i, v)
        return x

    x = (np.arange(6) - 2j * np.arange(6)).astype(kind)
    as_python(f, x, np.array([1, 1, 3, -1]), np.arange(4).astype(x.real.dtype))


def test_histogram_of_pairs() -> None:
    def f(c: Any, i: Any, j: Any, w: Any) -> Any:
        np.add.at(c, (i, j), w)
        return c / c.sum()

    i, j = RNG.integers(0, 4, (2, 300))
    as_python(f, np.zeros((4, 4)), i, j, RNG.random(300))


def test_bincount() -> None:
    def f(i: Any, w: Any) -> Any:
        return (np.bincount(i), np.bincount(i, minlength=10), np.bincount(i, weights=w),
                np.bincount(i, w, 8))

    i = RNG.integers(0, 6, 50)
    as_python(f, i, RNG.random(50))
    as_python(f, i.astype(np.uint8), RNG.integers(0, 3, 50))
    as_python(f, i[:0], RNG.random(0))
    as_python(f, i + 20, RNG.random(50), whole=False)
    as_python(f, i - 1, RNG.random(50), whole=False)


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "f2", "f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 100])
def test_packing_of_every_dtype(dtype: str, n: int) -> None:
    def f(x: Any, m: Any, i: Any) -> Any:
        y = x.copy()
        y[m] = x[m][::-1]
        return x[m], x[i], y, x[::-1][m]

    x = RNG.integers(0, 100, n).astype(dtype)
    as_python(f, x, RNG.random(n) > 0.4, RNG.integers(-n, n, 5 if n else 0))


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i1", "u2", "i4", "c8", "c16", "?"])
def test_packing(dtype: str) -> None:
    """Of all widths, some of which fill several registers; few, half and all elements."""
    def chosen(x: Any, mask: Any) -> Any:
        return x[mask], np.flatnonzero(mask)

    compiled, rng = jit(chosen), np.random.default_rng(0)
    for n in (1, 7, 16, 65, 1000):
        for share in (0.0, 0.01, 0.5, 1.0):
            x, mask = (100 * rng.random(n)).astype(dtype), rng.random(n) < share
            for found, expected in zip(compiled(x, mask), chosen(x, mask), strict=True):
                assert found.tobytes() == expected.tobytes()


# ------------------------------------------------------------------ indices of narrow dtypes


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i8", "?"])
@pytest.mark.parametrize("length", [2, 127, 128, 255, 256])
def test_indices_whose_dtype_bounds_them(dtype: str, length: int) -> None:
    """All numbers of a dtype, in an array whose length is known: as NumPy, errors included."""
    def picked(index: Any) -> Any:
        table = np.arange(length) * 0.5
        return table[index.astype(np.int64) if index.dtype == bool else index]

    def put(index: Any) -> Any:
        table = np.zeros(length)
        table[index.astype(np.int64) if index.dtype == bool else index] = 1.0
        return table

    least, most = (0, 1) if dtype == "?" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    ends: list[list[int]] = [[least], [most], [max(least, -length), min(most, length - 1)], []]
    for function in (picked, put):
        compiled = jit(function)
        for values in ends:
            check_calls(compiled, function, np.array(values, dtype))
        assert compiled.cache_info().compiled


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i8"])
@pytest.mark.parametrize("least", [0, 1, 128, 255, 256])
def test_counts_of_narrow_numbers(dtype: str, least: int) -> None:
    def counted(x: Any) -> Any:
        return np.bincount(x, minlength=least)

    compiled, most = jit(counted), np.iinfo(dtype).max
    for values in ([0, 1, 1, 100], [min(most, 255)], [min(most, 256), 3], []):
        check_calls(compiled, counted, np.array(values, dtype))
    check_calls(compiled, counted, np.array([-1, 2]).astype(dtype))
    assert compiled.cache_info().compiled
