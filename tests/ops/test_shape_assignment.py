"""``a.shape = shape``: the object changes, under all of its names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import npcompile


def own(x, n):
    a = x * 2
    b = a
    a.shape = 2, n, -1
    b[0, 0] = 9.0
    return a, b, a is b, a.sum(0)


def views(x, n):
    a, b = x[2:], x[:, 0]
    a.shape = b.shape = -1, 2
    a[0] = 5.0
    return a, b


def by_path(x, n):
    y = x + 1
    if n > 1:
        y.shape = 3, 4
    return y


def points(x, n):
    """Grids flattened for a calculation in which they shrink."""
    i, j = np.mgrid[0:n, 0:n]
    z = (i - 1.5) * (1 + 0j) + j * 1j
    left = np.zeros(z.shape, dtype=np.int64)
    i.shape = j.shape = z.shape = n * n
    for turn in range(9):
        z = z * z * 0.5 + 0.25
        inside = abs(z) < 2
        left[i[~inside], j[~inside]] = turn
        z, i, j = z[inside], i[inside], j[inside]
    return left


def described(value: Any) -> object:
    if isinstance(value, tuple):
        return tuple(map(described, value))
    if isinstance(value, np.ndarray):
        base = None if value.base is None else value.base.shape
        return value.tolist(), value.dtype, value.strides, base, value.flags.owndata
    return value


@pytest.mark.parametrize("function", [own, views, by_path, points])
@pytest.mark.parametrize("n", [1, 3])
def test_whole_and_as_in_python(function, n):
    x, y = np.arange(12.0).reshape(4, 3), np.arange(12.0).reshape(4, 3)
    fast = npcompile.jit(function, fullgraph=True)
    assert described(fast(x, n)) == described(function(y, n))
    assert described(x) == described(y)


def of_an_argument(x):
    x.shape = -1
    return x.sum()


def with_a_view(x):
    y = x + 1
    z = y[1:]
    y.shape = 2, 2
    z[0] = 3
    return y


def in_a_list(x):
    y = x + 1
    held = [y]
    y.shape = 2, 2
    return held[0]


def flatten(y):
    y.shape = -1


def by_another_function(x):
    y = x + 1
    flatten(y.T)
    flatten(y)
    return y


def in_a_loop(x):
    a = np.zeros((2, 2))
    a.shape = 4
    for i in range(len(x)):
        a[i % 4] = x[i]
        a.shape = 2, 2
        a[1] += 1
        a.shape = 4
    return a


@pytest.mark.parametrize(
    "function", [of_an_argument, with_a_view, in_a_list, by_another_function, in_a_loop]
)
@pytest.mark.parametrize("count", [4, 100])
def test_what_others_see_is_right(function, count):
    if count > 4 and function is not in_a_loop:
        count = 4
    x, y = np.arange(float(count)), np.arange(float(count))
    assert described(npcompile.jit(function)(x)) == described(function(y))
    assert described(x) == described(y)
    if function is of_an_argument:
        assert x.shape == y.shape


def test_errors_are_numpys():
    def strided(x):
        y = x.T
        y.shape = -1
        return y

    def too_many(x):
        y = x + 1
        y.shape = 5, 5
        return y

    for function in (strided, too_many):
        with pytest.raises((AttributeError, ValueError)) as plain:
            function(np.ones((2, 3)))
        with pytest.raises(plain.type) as ours:
            npcompile.jit(function)(np.ones((2, 3)))
        assert str(ours.value) == str(plain.value)


def test_the_same_shape_is_the_same_layout() -> None:
    def f(x: Any, n: Any) -> Any:
        y = x + 1
        y.shape = n, n
        y[0, 1] = 9.0
        return y

    x = np.asfortranarray(np.arange(25.0).reshape(5, 5))
    got, want = npcompile.jit(f, fullgraph=True)(x, 5), f(x, 5)
    assert got.strides == want.strides
    np.testing.assert_array_equal(got, want)
