"""Arrays of few elements in loops: their kernels are written element by element."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import npcompile


def lorenz(y: Any, steps: int, dt: float) -> Any:
    path = np.empty((steps, 3))
    for i in range(steps):
        rise = np.array([y[1] - y[0], y[0] * (2.8 - y[2]) - y[1], y[0] * y[1] - y[2]])
        y = y + dt * rise
        path[i] = y
    return path


def rotate(v: Any, n: int) -> Any:
    out = np.zeros((n, 2, 2), v.dtype)
    turn = np.array([1, 0])
    for i in range(n):
        v = v[:2][turn] + v[:2] * i
        out[i] = v
        out[i, 0] -= out[i, 1].real
    return out


def shift(a: Any) -> Any:
    """Reads and writes overlap."""
    for i in range(len(a)):
        a[i, 1:4] = a[i, 0:3]
        a[i, :2] = np.where(a[i, :2] > 1, a[i, 2:4], -a[i, :2])
        a[i, ::2] += np.arange(3).astype(a.dtype)
    return a


@pytest.mark.parametrize("dtype", list("hlefdFD"))
def test_same_bits(dtype: str) -> None:
    rng = np.random.default_rng(3)
    made = rng.integers(-3, 4, (7, 6)).astype(dtype)
    for function, args in (
        (rotate, (made[0, :2].copy(), 5)),
        (shift, (made.real.astype(made.real.dtype).copy(),)),
    ):
        copies = [tuple(a.copy() if isinstance(a, np.ndarray) else a for a in args) for _ in "ab"]
        got, want = npcompile.jit(function)(*copies[0]), function(*copies[1])
        np.testing.assert_array_equal(got, want, strict=True)
        np.testing.assert_array_equal(copies[0][0], copies[1][0], strict=True)


def test_three_numbers_stay_in_registers() -> None:
    y = np.array([1.0, 2.0, 0.5])
    compiled = npcompile.jit(lorenz)
    np.testing.assert_array_equal(compiled(y, 50, 0.01), lorenz(y, 50, 0.01), strict=True)
    program = compiled.lower(y, 50, 0.01).program
    loop = program[program.index("for i"):]
    assert " over " not in loop


def test_a_length_that_the_loop_makes_known() -> None:
    def doubled(y: Any, n: int) -> Any:
        for _ in range(n):
            y = y + np.array([1.0, 2.0])
        return y

    compiled = npcompile.jit(doubled)
    for y in (np.arange(2.0), np.arange(1.0), np.ones((3, 2))):
        np.testing.assert_array_equal(compiled(y, 4), doubled(y, 4), strict=True)
    with pytest.raises(ValueError, match="broadcast"):
        compiled(np.arange(3.0), 4)
