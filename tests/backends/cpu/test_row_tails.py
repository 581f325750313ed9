"""Rows of much work, whose rest is computed in rooms on the stack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import npcompile
from tests.support.oracle import alike

SIZES = (0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 40, 63, 65, 130)


def step(x: Any, y: Any, k: float) -> Any:
    return np.where(y > x, y * 0.5 - x, y + k) * x


def much(x: Any) -> Any:
    """Some fifty exact operations."""
    y = step(x, step(x, step(x, step(x, x, 1.0), 2.0), 3.0), 4.0)
    return step(x, step(x, step(x, step(x, y, 5.0), 6.0), 7.0), 8.0)


def test_it_is_written_once() -> None:
    text = npcompile.jit(much).lower(np.ones(9)).llvm
    lines = [line for line in text.splitlines() if "fmul <8 x double>" in line]
    assert len(lines) < 20


def numbers(size: int, dtype: str, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    made = rng.standard_normal(size)
    if dtype in "FD":
        made = made + 1j * rng.standard_normal(size)
    return made.astype(dtype)


@pytest.mark.parametrize("dtype", ["d", "f", "e", "D", "F"])
def test_sizes(dtype: str) -> None:
    if dtype in "FD":
        def f(x: Any) -> Any:
            return much(x.real) + 1j * much(x.imag)
    else:
        f = much
    compiled = npcompile.jit(f)
    for size in SIZES:
        x = numbers(size, dtype)
        assert compiled(x).tobytes() == f(x).tobytes()


def into(x: Any, out: Any) -> Any:
    out[...] = much(x)
    return out


def in_place(x: Any) -> Any:
    x[...] = much(x)
    return x


@pytest.mark.parametrize("size", SIZES)
def test_nothing_else_is_written(size: int) -> None:
    compiled, own = npcompile.jit(into), npcompile.jit(in_place)
    for before in range(9):
        room = np.full(size + 100, 7.0)
        out, x = room[before : before + size], numbers(size, "d")
        assert compiled(x, out).tobytes() == much(x).tobytes()
        assert own(x) is x
        assert x.tobytes() == out.tobytes()
        assert (room[:before] == 7.0).all() and (room[before + size :] == 7.0).all()


def test_several_arrays_and_types() -> None:
    def f(x: Any, y: Any, k: Any) -> Any:
        z = much(x * y)
        return z, z > 0.5, much(y).astype(np.float32), (z * k).astype(np.int64)

    for size in SIZES:
        k = np.arange(size, dtype=np.int32) % 5
        alike(f, (numbers(size, "d"), numbers(size, "f", 1), k), captured=False)


def test_rows() -> None:
    def f(a: Any, v: Any) -> Any:
        return much(a + v), much(a * v[:, :1])

    for size in (1, 5, 8, 11, 16, 19):
        a = numbers(6 * size, "d").reshape(6, size)
        alike(f, (a, numbers(size, "d")[None]), (a[::2], a[:3]), captured=False)


def test_shifted_in_place() -> None:
    def f(a: Any) -> Any:
        a[1:] = much(a[:-1])
        a[:-2] = much(a[2:])
        return a

    compiled = npcompile.jit(f)
    for size in (3, 8, 9, 17, 18, 40):
        a = numbers(size, "d")
        b = a.copy()
        assert compiled(a).tobytes() == f(b).tobytes()


@pytest.mark.parametrize("function", [np.exp, np.log, np.tanh, np.power], ids=str)
def test_flags_of_the_rest(function: Callable[..., Any]) -> None:
    """Lanes behind the end raise nothing that the row does not."""
    compiled = npcompile.jit(lambda *args: function(*args))
    for size in (1, 5, 9, 17):
        x = np.linspace(0.5, 1.5, size)
        with np.errstate(all="raise"):
            compiled(*[x] * function.nin)


def test_results_do_not_depend_on_the_place() -> None:
    compiled = npcompile.jit(lambda x: (np.exp(x), np.log(x), np.sin(x)))
    x = np.random.default_rng(3).uniform(0.1, 5.0, 37)
    whole = compiled(x)
    for k in range(37):
        for found, one in zip(whole, compiled(x[k : k + 1]), strict=True):
            assert found[k : k + 1].tobytes() == one.tobytes()
