"""Two products of one matrix by vectors, which read it once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from npcompile import get_num_threads, jit, set_num_threads

Function = Callable[..., Any]


def normal(a: Any, x: Any, y: Any) -> Any:
    return a.T @ (a @ x)


def dots(a: Any, x: Any, y: Any) -> Any:
    return np.dot(np.dot(a, x), a)


def both(a: Any, x: Any, y: Any) -> Any:
    return a @ x, y @ a


def both_turned(a: Any, x: Any, y: Any) -> Any:
    return a.T @ y, a.dot(x)


def iterated(a: Any, x: Any, y: Any) -> Any:
    for _ in range(3):
        x = a.T @ (a @ x)
        x = x / (1 + np.abs(x).max(initial=0))
    return x


FUNCTIONS = [normal, dots, both, both_turned, iterated]
SHAPES = [(1, 1), (3, 5), (0, 4), (4, 0), (7, 8), (256, 33), (601, 17)]


def arguments(rows: int, columns: int, char: str) -> list[Any]:
    numbers = np.random.default_rng(rows + columns)
    shapes: list[Any] = [(rows, columns), columns, rows]
    return [(numbers.random(shape) - 0.5).astype(char) for shape in shapes]


def reads_once(function: Function, *args: Any) -> bool:
    return "read a once" in str(jit(function).lower(*args).program)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("char", "df")
def test_values(function: Function, char: str) -> None:
    compiled, error = jit(function), 1e-3 if char == "f" else 1e-11
    assert reads_once(function, *arguments(7, 8, char))
    for shape in SHAPES:
        a, x, y = arguments(*shape, char)
        room = np.zeros((shape[0], 2 * shape[1] + 1), char)
        room[:, : shape[1]] = a
        for matrix in (a, room[:, : shape[1]]):
            found, wanted = compiled(matrix, x, y), function(matrix, x, y)
            pairs = zip(found, wanted) if isinstance(found, tuple) else [(found, wanted)]
            for made, expected in pairs:
                assert made.dtype == expected.dtype
                np.testing.assert_allclose(made, expected, rtol=error, atol=error)


def test_errors_are_not_above_those_of_blas() -> None:
    a, x, y = arguments(5000, 64, "d")
    exact = np.longdouble(a).T @ (np.longdouble(a) @ np.longdouble(x))
    ours, theirs = (np.abs(made - exact).max() for made in (jit(normal)(a, x, y), normal(a, x, y)))
    assert ours <= 1.5 * theirs


def test_bits_on_any_number_of_threads() -> None:
    a, x, y = arguments(3000, 300, "d")
    before, compiled = get_num_threads(), jit(both)
    found = []
    for threads in (1, 2, 3):
        set_num_threads(threads)
        found.append(b"".join(made.tobytes() for made in compiled(a, x, y)))
    set_num_threads(before)
    assert len(set(found)) == 1


@pytest.mark.parametrize("mode", [True, "portable"])
def test_deterministic_products_stay_apart(mode: Any) -> None:
    a, x, y = arguments(300, 40, "d")

    def apart(a: Any, x: Any) -> Any:
        return a @ x

    def turned(a: Any, t: Any) -> Any:
        return a.T @ t

    t = jit(apart, deterministic=mode)(a, x)
    expected = jit(turned, deterministic=mode)(a, t)
    assert jit(normal, deterministic=mode)(a, x, y).tobytes() == expected.tobytes()


def test_products_that_need_each_other_stay_apart() -> None:
    def other(a: Any, x: Any, y: Any) -> Any:
        return a @ (a.T @ y)

    def fortran(a: Any, x: Any, y: Any) -> Any:
        return a.T @ (a @ x)

    a, x, y = arguments(30, 20, "d")
    assert not reads_once(other, a, x, y)
    assert not reads_once(fortran, np.asfortranarray(a), x, y)
    np.testing.assert_allclose(jit(other)(a, x, y), other(a, x, y))


def test_floating_point_errors() -> None:
    a, x, y = arguments(9, 5, "d")
    compiled = jit(normal)
    compiled(a, x, y)
    with np.errstate(all="raise"):
        compiled(a, x, y)
    a[4, 3] = np.nan
    assert np.isnan(compiled(a, x, y)).all()
    a[4, 3] = 1e200
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        compiled(a, x * 1e200, y)
