"""Functions that apply a function of the program."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import pytest

from npcompile import CompileError, jit
from tests.support.oracle import alike

X = np.linspace(-2.0, 3.0, 12)
M = X.reshape(3, 4)


def clamp(a, low=-1.0, high=1.0):
    return low if a < low else high if a > high else a


def whole_then_half(a):
    return 0 if a < 0 else 0.5 + a


clamped = np.vectorize(clamp)
typed = np.vectorize(clamp, otypes=[np.float32])


@np.vectorize
def magnitude(x):
    if x < 0:
        return -x
    return x


class TestVectorize:
    def test_at_module_level(self) -> None:
        alike(lambda x: clamped(x) + clamped(x, -2.0, 2.0), (X,), (M,))
        alike(lambda x: magnitude(x).sum(), (X,), (X.astype(np.float32),))
        alike(lambda x: typed(x), (X,), (X[:0],))

    def test_inside(self) -> None:
        def f(x, y):
            return np.vectorize(lambda a, b: a * b if a > 0 else math.sin(b))(x, y)

        alike(f, (X, X[::-1]), (X, 2.0), (M, M[0]), (3, X))

    def test_the_first_result_tells_the_dtype(self) -> None:
        def f(x):
            return np.vectorize(whole_then_half)(x)

        alike(f, (X,), (X[::-1],))
        alike(lambda x: np.vectorize(lambda a: a > 0)(x), (X,))
        alike(lambda x: np.vectorize(lambda a: a.real)(x), (X,))

    def test_elements_are_numbers_of_python(self) -> None:
        alike(lambda x: np.vectorize(lambda a: isinstance(a, np.generic))(x), (X,))
        alike(lambda x: np.vectorize(lambda a: 7 // a)(x), (np.arange(1, 9),), (np.arange(3),))

    def test_no_elements(self) -> None:
        alike(lambda x: clamped(x), (X[:0],), captured=False)

    def test_number(self) -> None:
        alike(lambda x: clamped(x), (0.5,), (np.float64(7),))

    def test_other_orders_are_left_to_python(self) -> None:
        alike(lambda x: clamped(x), (M.T,), captured=False)
        with pytest.raises(CompileError):
            jit(lambda x: clamped(x), fullgraph=True)(M.T)


class TestAlongAxis:
    @pytest.mark.parametrize("axis", [0, 1, -1])
    def test_functions(self, axis: int) -> None:
        def spread(row, factor=1.0):
            return factor * (row.max() - row.min())

        alike(lambda a: np.apply_along_axis(spread, axis, a), (M,), (M.T,))
        alike(lambda a: np.apply_along_axis(spread, axis, a, factor=3.0), (M,))
        alike(lambda a: np.apply_along_axis(np.cumsum, axis, a), (M,))
        alike(lambda a: np.apply_along_axis(lambda r: r[::2] * 2, axis, a), (M,))
        alike(lambda a: np.apply_along_axis(np.sort, axis, a), (-M,))

    def test_rows_are_views(self) -> None:
        def scale(row):
            row *= 2
            return row.sum()

        alike(lambda a: (np.apply_along_axis(scale, 1, a), a), (M,), captured=False)


class TestPiecewise:
    def test_functions_and_numbers(self) -> None:
        alike(lambda x: np.piecewise(x, [x < 0, x >= 0], [lambda t: -t, lambda t: t ** 2]), (X,))
        alike(lambda x: np.piecewise(x, [x < -1, x > 1], [-1, 1, lambda t: t]), (X,), (M,))
        alike(lambda x: np.piecewise(x, [x < 99], [5]), (X,), (np.arange(4),))

    def test_arguments(self) -> None:
        def f(x):
            return np.piecewise(x, [x < 0], [lambda t, k: t * k, lambda t, k: t + k], 3)

        alike(f, (X,), (np.arange(-3, 3),))


class TestFromFunction:
    def test_shapes(self) -> None:
        alike(lambda n, k: np.fromfunction(lambda i, j: i * k + j, (n, k)), (5, 6), (2, 3))
        alike(lambda n: np.fromfunction(lambda i, j: np.abs(i - j), (n, n), dtype=int), (5,))

    def test_iterators(self) -> None:
        alike(lambda n: np.fromiter((i * i for i in range(n)), dtype=float), (10,), (0,))
        alike(lambda x: np.fromiter((a * 2 for a in x), np.int64), (X,), (np.arange(5),))


class TestReduce:
    def test_over_arrays(self) -> None:
        alike(lambda x: functools.reduce(lambda a, b: a * 0.5 + b, x), (X,))
        alike(lambda x: functools.reduce(lambda a, b: a * 0.5 + b, x, 1.0), (X,), (X[:0],))
        alike(lambda x: functools.reduce(np.maximum, [x, -x, x * 0]), (X,))

    def test_nothing(self) -> None:
        alike(lambda x: functools.reduce(lambda a, b: a + b, x), (X[:0],), captured=False)


class TestOrders:
    def test_keys(self) -> None:
        alike(lambda x: max(x, key=lambda t: -t * t), (X,))
        alike(lambda x: min(range(len(x)), key=lambda k: x[k] ** 2), (X,))
        alike(lambda x: max(enumerate(x), key=lambda t: t[1]), (X,), (X[::-1],))

    def test_sorted(self) -> None:
        twice = np.array([3.0, 1.0, 3.0, -0.0, 0.0, 1.0])
        alike(lambda x: sorted(x), (X[::-1],), (twice,), (np.arange(5)[::-1],))
        alike(lambda x: sorted(x, reverse=True), (X,), (twice,))
        alike(lambda x: sorted(range(len(x)), key=lambda k: x[k]), (twice,), (X,))
        alike(lambda x: sorted(range(len(x)), key=lambda k: x[k], reverse=True), (twice,))

    def test_nan_has_no_place(self) -> None:
        alike(lambda x: sorted(x), (np.array([1.0, np.nan, 0.5]),), captured=False)

    def test_filter(self) -> None:
        alike(lambda x: list(filter(lambda t: t > 0, x)), (X,), (-X,))


class TestItertools:
    def test_pairs(self) -> None:
        def f(n):
            found = 0
            for a, b in itertools.combinations(range(n), 2):
                found += a * b
            return found

        alike(f, (6,), (1,), (0,))

    def test_products(self) -> None:
        def f(n, k):
            return [i * j for i, j in itertools.product(range(n), range(k))]

        alike(f, (3, 4), (2, 0))
        alike(lambda: [i * j for i, j in itertools.product((1, 2), repeat=2)], ())

    def test_sums(self) -> None:
        alike(lambda x: list(itertools.accumulate(x)), (X,), (np.arange(5),))


def test_open_mesh() -> None:
    keep = np.array([True, False, True])
    alike(lambda a, i, j: a[np.ix_(i, j)], (M, np.array([0, 2]), np.array([1, 3, 3])))
    alike(lambda a, i: (np.ix_(i, i), a[np.ix_(i, [0, 1])]), (M, keep), (M, np.array([1, 2])))


def test_records_that_refuse_are_called_as_they_are() -> None:
    alike(lambda a: np.average(a, axis=0, weights=a[:, 0] + 9, returned=True), (M,))
    alike(lambda a: np.nanmax(a, initial=-1.0, where=a > 0), (M,))
    alike(lambda a: np.einsum("ij,jk,kl->il", a, a.T.copy(), a), (M,), captured=False)
    alike(lambda a: np.gradient(a, np.arange(4.0) ** 2, axis=1), (M,))


def test_integers() -> None:
    alike(lambda n, k: (math.comb(n, k), math.perm(n, k)), (10, 3), (3, 5), (0, 0), (61, 30))
    alike(lambda n: math.comb(n, -1), (3,), captured=False)
    alike(lambda z: (z.conjugate(), (z * 2).conjugate()), (3 + 4j,))


def test_lists_of_arrays() -> None:
    alike(lambda x: (x - x.mean()).tolist(), (X,), (X[:0] + 1,), captured=False)
    for x in (X, X > 0, np.arange(5), X.astype(np.float32), X + 1j):
        alike(lambda x: x.tolist(), (x,), (x[::2],))
