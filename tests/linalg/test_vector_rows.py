"""Products of a matrix by vectors share a loop over blocks of its rows with the code between."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import npcompile
from npcompile import jit
from npcompile.program.interpret import interpret
from tests.linalg.test_product_rows import check_accuracy, numbers

SHAPES = [(1200, 901), (5003, 211), (70_000, 17)]


def gradient(a: Any, x: Any, b: Any) -> Any:
    return a.T @ (a @ x - b)


def arguments(m: int, n: int, dtype: str = "d") -> tuple[np.ndarray, ...]:
    return numbers(0, (m, n), dtype), numbers(1, (n,), dtype), numbers(2, (m,), dtype)


def fused(f: Any, *args: Any) -> int:
    """The products that run on blocks of rows."""
    text = str(f.lower(*args).program)
    return text.count(" vector_rows ") + text.count(" add_rows ")


@pytest.mark.parametrize("dtype", ["f", "d"])
def test_gradients(dtype: str) -> None:
    f = jit(fullgraph=True)(gradient)
    for m, n in SHAPES:
        args = arguments(m, n, dtype)
        assert fused(f, *args) == 2
        check_accuracy(f(*args), gradient, *args)
    assert f.cache_info().compiled <= 2


def test_meaning_in_numpy() -> None:
    args = arguments(3000, 401)
    program = jit(gradient).lower(*args).executable.program
    np.testing.assert_allclose(interpret(program, list(args))[1], gradient(*args), rtol=1e-10,
                               atol=1e-10)


def test_orders_and_parts() -> None:
    def other(a: Any, x: Any, b: Any) -> Any:
        return (np.tanh(x @ a) * b) @ a.T

    f, g = jit(fullgraph=True)(gradient), jit(fullgraph=True)(other)
    a, x, b = arguments(3001, 403)
    for matrix in (a, np.repeat(a, 2, axis=0)[::2], np.hstack([a, a])[:, 5:408], a[::-1]):
        check_accuracy(f(matrix, x, b), gradient, matrix, x, b)
    turned = np.asfortranarray(a.T)
    assert fused(g, turned, x, b) == 2
    check_accuracy(g(turned, x, b), other, turned, x, b)
    assert fused(f, np.asfortranarray(a), x, b) == 0


def test_any_number_of_threads() -> None:
    args = arguments(5003, 300)
    found, before = [], npcompile.get_num_threads()
    try:
        for threads in (1, 2, 3):
            npcompile.set_num_threads(threads)
            found.append(jit(fullgraph=True)(gradient)(*args))
    finally:
        npcompile.set_num_threads(before)
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[0], found[2])


def test_a_matrix_that_is_made_and_read_in_one_loop() -> None:
    def scaled(a: Any, x: Any, b: Any) -> Any:
        c = np.exp(-a * a)
        return c * (c @ x - b)[:, None]

    f = jit(fullgraph=True)(scaled)
    args = arguments(3000, 400)
    assert fused(f, *args) == 1
    check_accuracy(f(*args), scaled, *args)


def test_several_sums() -> None:
    def several(a: Any, x: Any, b: Any) -> Any:
        r = a @ x - b
        w = r * r
        return a.T @ r, a.T @ w, w.sum(), r

    f = jit(fullgraph=True)(several)
    args = arguments(3000, 400)
    for found, wanted in zip(f(*args), several(*args)):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


def test_sums_are_read_behind_the_loop() -> None:
    """Neither numbers nor arrays that are made of a sum over rows run before all rows did."""
    def steps(a: Any, x: Any, b: Any) -> Any:
        g = a.T @ (a @ x - b)
        first = g[0] * 2.0
        y = x - 0.1 * g
        s = a @ y - b * first
        return g, first, a.T @ s, s

    f = jit(fullgraph=True)(steps)
    args = arguments(3000, 400)
    for found, wanted in zip(f(*args), steps(*args)):
        np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-8)


def test_vectors_that_are_made_of_rows() -> None:
    """The vector of a product along rows is read whole for each row."""
    def square(a: Any, x: Any, b: Any) -> Any:
        u = a @ x - b
        return (a * 2.0) @ (u / 3.0)

    f = jit(fullgraph=True)(square)
    args = arguments(1100, 1100)
    np.testing.assert_allclose(f(*args), square(*args), rtol=1e-9, atol=1e-8)


def test_descent() -> None:
    def descent(a: Any, x: Any, b: Any) -> Any:
        for _ in range(5):
            x = x - 1e-4 * (a.T @ (a @ x - b))
        return x

    f = jit(fullgraph=True)(descent)
    args = arguments(3000, 400)
    np.testing.assert_allclose(f(*args), descent(*args), rtol=1e-10, atol=1e-10)
    assert fused(f, *args) >= 2


@pytest.mark.parametrize("mode", [True, "portable"])
def test_deterministic_modes_keep_their_own_order(mode: Any) -> None:
    f = jit(fullgraph=True, deterministic=mode)(gradient)
    a, x, b = arguments(3000, 400)
    assert fused(f, a, x, b) == 0
    alone = jit(deterministic=mode)(lambda a, x: a @ x)
    assert np.array_equal(f(a, x, b), alone(a.T, alone(a, x) - b))


def test_small_products_are_the_librarys() -> None:
    f = jit(fullgraph=True)(gradient)
    args = arguments(300, 200)
    assert fused(f, *args) == 0
    assert np.array_equal(f(*args), gradient(*args))
