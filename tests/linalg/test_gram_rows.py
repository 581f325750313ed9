"""The transpose of a computed matrix times the matrix: tiles from the diagonal on, on blocks of
rows that the code in front has just made."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import npcompile
from npcompile import jit
from npcompile.program.interpret import interpret
from tests.linalg.test_product_rows import check_accuracy, numbers

SHAPES = [(16_400, 8), (4003, 17), (1009, 100), (3001, 203)]


def covariance(x: Any) -> Any:
    d = x - x.mean(axis=0)
    return d.T @ d / (len(x) - 1)


def in_one_line(x: Any) -> Any:
    return (x - x.mean(0)).T @ (x - x.mean(0)) / (x.shape[0] - 1)


def of_scores(x: Any) -> Any:
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    return np.dot(z.T, z) / len(x)


def of_rows(x: Any) -> Any:
    d = x.T - x.mean(axis=0)[:, None]
    return np.einsum("ik,jk->ij", d, d)


def fused(f: Any, *args: Any) -> int:
    """The products that run on blocks of rows."""
    return str(f.lower(*args).program).count("= gram_rows ")


@pytest.mark.parametrize("dtype", ["f", "d"])
@pytest.mark.parametrize("function", [covariance, in_one_line, of_scores, of_rows])
def test_products_of_computed_matrices(function: Any, dtype: str) -> None:
    f = jit(fullgraph=True)(function)
    for m, n in SHAPES:
        x = numbers(0, (m, n), dtype) + numbers(1, (n,), dtype)
        assert fused(f, x) == 1
        found = f(x)
        check_accuracy(found, function, x)
        assert np.array_equal(found, found.T)
    assert f.cache_info().compiled <= 2


@pytest.mark.parametrize("rowvar", [True, False])
def test_covariances_and_correlations(rowvar: bool) -> None:
    for m, n in SHAPES:
        x = numbers(0, (m, n)) + numbers(1, (n,))
        x = np.ascontiguousarray(x.T) if rowvar else x
        for plain in (lambda x: np.cov(x, rowvar=rowvar), lambda x: np.corrcoef(x, rowvar=rowvar)):
            f = jit(fullgraph=True)(plain)
            assert fused(f, x) == 1
            wanted = plain(x)
            unit = 16 * np.finfo(float).eps * np.abs(wanted).max()
            np.testing.assert_allclose(f(x), wanted, rtol=0, atol=unit)


def test_meaning_in_numpy() -> None:
    x = numbers(0, (2000, 40))
    program = jit(covariance).lower(x).executable.program
    assert "gram_rows" in str(program) and "gram_sum" in str(program)
    np.testing.assert_allclose(interpret(program, [x])[1], covariance(x), rtol=1e-10, atol=1e-13)


def test_layouts() -> None:
    f = jit(fullgraph=True)(covariance)
    x = numbers(0, (2003, 50))
    for given in (x, np.asfortranarray(x), x[::-1], np.repeat(x, 2, axis=1)[:, ::2], x[:, ::-1]):
        assert fused(f, given) == 1
        check_accuracy(f(given), covariance, given)


def test_any_number_of_threads() -> None:
    x, found, before = numbers(0, (5003, 90)), [], npcompile.get_num_threads()
    try:
        for threads in (1, 2, 3):
            npcompile.set_num_threads(threads)
            found.append(jit(fullgraph=True)(covariance)(x))
    finally:
        npcompile.set_num_threads(before)
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[0], found[2])


def test_the_matrix_may_be_needed_elsewhere() -> None:
    def whitened(x: Any) -> Any:
        d = np.tanh(x - x.mean(axis=0))
        c = d.T @ d
        return d, c, d * 2.0, c.trace()

    f = jit(fullgraph=True)(whitened)
    x = numbers(0, (3001, 30))
    assert fused(f, x) == 1
    for found, wanted in zip(f(x), whitened(x)):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def test_two_products() -> None:
    def both(x: Any, y: Any) -> Any:
        u, v = np.exp(-x), np.cos(x)
        return u.T @ u, v.T @ v, u.T @ v, u.T @ y

    f = jit(fullgraph=True)(both)
    x, y = numbers(0, (3001, 30)), numbers(1, (3001,))
    assert fused(f, x, y) == 2
    for found, wanted in zip(f(x, y), both(x, y)):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


def test_operands_that_only_look_equal() -> None:
    """The second one is computed after what it reads has changed."""
    def changed(x: Any) -> Any:
        a = x * 2.0
        x[:5] = 1.0
        b = x * 2.0
        return a.T @ b, (x * 2.0).T @ (x * 3.0)

    f = jit(fullgraph=True)(changed)
    x = numbers(0, (3001, 30))
    other = x.copy()
    assert fused(f, x) == 0
    found, wanted = f(x), changed(other)
    assert np.array_equal(x, other)
    for ours, theirs in zip(found, wanted):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


def test_inside_loops() -> None:
    def steps(x: Any) -> Any:
        total = np.zeros((x.shape[1], x.shape[1]))
        for k in range(3):
            d = x * (k + 1.0)
            total += d.T @ d
            x = d - 0.5
        return total

    f = jit(fullgraph=True)(steps)
    x = numbers(0, (2001, 40))
    np.testing.assert_allclose(f(x), steps(x), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("mode", [True, "portable"])
def test_deterministic_modes_keep_their_own_order(mode: Any) -> None:
    f = jit(fullgraph=True, deterministic=mode)(lambda x: (x * 0.5).T @ (x * 0.5))
    alone = jit(fullgraph=True, deterministic=mode)(lambda a: a.T @ a)
    x = numbers(0, (3001, 30))
    assert fused(f, x) == 0
    assert np.array_equal(f(x), alone(x * 0.5))


def test_what_is_the_librarys() -> None:
    """A matrix that is passed in, and few or short rows."""
    f, g = jit(fullgraph=True)(lambda x: x.T @ x), jit(fullgraph=True)(covariance)
    x = numbers(0, (3001, 30))
    assert fused(f, x) == 0
    assert np.array_equal(f(x), x.T @ x)
    for shape in ((300, 20), (600, 500), (90_000, 3)):
        assert fused(g, numbers(0, shape)) == 0


@pytest.mark.parametrize("dtype", ["f", "d"])
def test_warnings(dtype: str) -> None:
    """What fills strips of columns raises no flags."""
    f = jit(fullgraph=True)(lambda x: (x * 1).T @ (x * 1))
    x = numbers(0, (3001, 33), dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f(x)
    x[7] = np.inf
    x[7, 20:] = -1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isinf(f(x)).sum() == 33 * 33 - 13 * 13
    x[7, 3] = 0
    with pytest.warns(RuntimeWarning, match="invalid"):
        found = f(x)
    with np.errstate(invalid="ignore"):
        assert np.array_equal(np.isnan(found), np.isnan((x * 1).T @ (x * 1)))
