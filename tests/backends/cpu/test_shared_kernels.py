"""Kernels that programs share: filled, copied and reduced contiguous memory, by name."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from npcompile.backends import cpu
from npcompile.backends.cpu.kernels import kernel_functions, precompiled

Function = Callable[..., Any]


def names(function: Function, *args: Any) -> list[str]:
    """The kernels in stock that a program calls, without their widths."""
    text = jit(function, cache=False).lower(*args).llvm
    return re.findall(r"declare void @stock\.\d+\.([\w.]+)", text)


FILLS = ["0.0", "-0.0", "1.5", "np.nan", "-np.inf", "0", "-1", "2**63 - 1", "True", "False", "1j"]


@pytest.mark.parametrize("number", FILLS)
def test_fill(number: str) -> None:
    f = eval(f"lambda n: np.full(n, {number})")
    (name,) = names(f, 100)
    assert name.startswith("fill.")
    for n in (0, 1, 5, 100, 5000):
        got, want = jit(f)(n), f(n)
        assert got.dtype == want.dtype and got.tobytes() == want.tobytes()


@pytest.mark.parametrize("dtype", ["?", "b", "H", "i", "l", "f", "d", "F", "D"])
def test_copy(dtype: str) -> None:
    def f(x: Any) -> Any:
        y = x.copy()
        y[0] = x[1]
        return y

    for n in (2, 63, 64, 65, 3000):
        x = np.random.default_rng(n).integers(0, 2, 2 * n).astype(dtype)
        for part in (x[:n], x[1 : n + 1]):  # of any alignment
            assert jit(f)(part).tobytes() == f(part).tobytes()
    assert names(f, x)[0] == f"copy.{np.dtype(dtype).name}.result"


@pytest.mark.parametrize(("method", "dtype", "name"), [
    ("sum", "d", "sum.float64.none.float64.0000000000000000"),
    ("sum", "l", "sum.int64.none.int64.0000000000000000"),
    ("sum", "?", "sum.bool.int64.int64.0000000000000000"),
    ("min", "d", "min.float64.none.float64.none"),
    ("any", "?", "any.bool.none.bool.00"),
    ("all", "?", "all.bool.none.bool.01"),
])
def test_reductions(method: str, dtype: str, name: str) -> None:
    def f(x: Any) -> Any:
        return getattr(x, method)()

    compiled = jit(f)
    for n in (1, 7, 130, 40000, 300000):
        x = np.random.default_rng(n).normal(0.0, 9.0, n).astype(dtype)
        got, want = compiled(x), f(x)
        assert type(got) is type(want) and got.tobytes() == want.tobytes()
    assert names(f, x) == [name]


def test_names_say_all() -> None:
    """A kernel that is made from a name has that name, and reads the words in their order."""
    for name in ("fill.float64.000000000000f03f.temp", "copy.int16.result",
                 "sum.bool.int64.int64.0000000000000000", "max.float64.none.float64.none"):
        kernel, words = precompiled.kernel(f"64.{name}")
        assert precompiled.find(kernel, 64) == (f"stock.64.{name}", words)
        assert f"define void @stock.64.{name}(" in kernel_functions.stock_text(
            f"stock.64.{name}", cpu.target())


def test_what_is_not_in_stock() -> None:
    def strided(x: Any) -> Any:
        return x[::2].copy()

    def fixed(x: Any) -> Any:
        return np.zeros(5) + x.sum()

    def halves(x: Any) -> Any:
        return x.astype(np.float16).copy(), np.full(x.shape, 0.1, np.float32)

    x = np.ones((4, 6))
    for f in (strided, fixed, halves):
        assert not [n for n in names(f, x) if not n.startswith("sum.")]
        for a, b in zip(jit(f)(x), f(x)):
            assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def test_constants_fill_two_registers() -> None:
    """What stores nothing but constants has as many lanes as these need."""
    def fill(x: np.ndarray) -> None:
        x[1:, 1:] = 2.5

    x, want = np.zeros((5, 300)), np.zeros((5, 300))
    text = jit(fill, cache=False).lower(x).llvm
    assert "x double> splat" in text and "<128 x double>" not in text
    jit(fill)(x)
    fill(want)
    assert x.tobytes() == want.tobytes()
