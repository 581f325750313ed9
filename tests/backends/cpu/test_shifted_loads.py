"""Vectors put together from others in their row: the same bits, and nothing else is read."""

from __future__ import annotations

import ctypes
import mmap
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import npcompile
from npcompile.backends.cpu.loader.compile import target
from npcompile.backends.target import Target

PAGE = mmap.PAGESIZE
PROT_NONE, PROT_READ_WRITE = 0, 3


def made(text: str) -> Callable[..., Any]:
    """A function of that text, jitted."""
    scope: dict[str, Any] = {"np": np}
    exec(f"def f(u, v):\n    return {text}\n", scope)
    function: Callable[..., Any] = scope["f"]
    return function


def term(rng: random.Random, axis: int, most: int) -> str:
    name, first, row = rng.choice("uuv"), rng.randint(0, most), rng.randint(0, 1)
    window = f"{first}:{first - most or None}"
    return f"{name}[{window}]" if axis == 0 else f"{name}[{row}:{row + 2}, {window}]"


@pytest.mark.parametrize("seed", range(8))
def test_sums_of_neighbours(seed: int) -> None:
    rng, dtypes = random.Random(seed), ["f8", "f4", "i8", "i4"]
    axis, most = seed % 2, rng.choice([1, 2, 5, 9, 17])
    text = rng.choice([" + ", " - "]).join(
        f"{rng.randint(1, 9)} * {term(rng, axis, most)}" for _ in range(rng.randint(3, 5)))
    plain = made(text)
    fast = npcompile.jit(plain, fullgraph=True)
    kinds = [dtypes[seed // 2], rng.choice(dtypes)]
    for n in (most + 1, most + 7, 23, 33, 64, 100, 131):
        shape = (n,) if axis == 0 else (3, n)
        numbers = np.random.default_rng(n)
        u, v = (numbers.uniform(-99, 99, shape).astype(kind) for kind in kinds)
        assert fast(u, v).tobytes() == plain(u, v).tobytes(), (text, n)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_rows_aligned_to_what_is_loaded(dtype: str) -> None:
    """Whether rows around one begin lines together or not, wherever the arrays begin."""
    def stencil(u: Any, out: Any) -> None:
        out[...] = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]

    fast, numbers = npcompile.jit(stencil, fullgraph=True), np.random.default_rng(0)
    for width in (128, 132, 200, 301):
        for first in (0, 3):
            u = numbers.random(first + 5 * width).astype(dtype)[first:].reshape(5, width)
            outs = [np.full(3 * (width - 2) + 9, 7, dtype) for _ in range(2)]
            for function, out in zip((stencil, fast), outs, strict=True):
                function(u, out[5:-4].reshape(3, width - 2))
            assert outs[0].tobytes() == outs[1].tobytes(), (width, first)


def test_nothing_is_read_beside_the_array() -> None:
    """An array that ends with the last page, and one that begins with the first."""
    memory = mmap.mmap(-1, 3 * PAGE)
    whole = np.frombuffer(memory, np.float64)
    start = whole.ctypes.data
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    inside = whole[PAGE // 8:2 * PAGE // 8]
    plain = made("u[2:] + 3 * u[1:-1] - u[:-2] + v[2:]")
    fast = npcompile.jit(plain, fullgraph=True)
    ends = [start, start + 2 * PAGE]
    assert [protect(end, PAGE, PROT_NONE) for end in ends] == [0, 0]
    try:
        inside[:] = np.arange(inside.size)
        for n in (3, 17, 18, 19, 34, 35, 100, 101):
            for u in (inside[:n], inside[-n:]):
                assert fast(u, u).tobytes() == plain(u, u).tobytes()
    finally:
        for end in ends:
            protect(end, PAGE, PROT_READ_WRITE)


@pytest.mark.skipif(not target().masks, reason="two instructions for each would be no gain")
@pytest.mark.parametrize("foresees", [True, False])
@pytest.mark.parametrize("dynamic", [True, False])
def test_fewer_loads(dynamic: bool, foresees: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """In known sizes the rows of one array differ in a constant too."""
    monkeypatch.setattr(Target, "foresees", foresees)
    plain = made("u[:-1, 2:] + 3 * u[:-1, 1:-1] - u[:-1, :-2] + u[1:, 1:-1]")
    fast = npcompile.jit(plain, dynamic=dynamic, cache=False)
    u = np.random.default_rng(0).uniform(-1, 1, (5, 100))
    assert fast(u, u).tobytes() == plain(u, u).tobytes()
    text = fast.lower(u, u).llvm
    (row,) = [part for part in text.split("define ") if "load <16 x double>" in part]
    masked = row.count("call <16 x double> @llvm.masked.load")
    bodies = row.count("fsub <16 x double>") - masked // 4  # of whole vectors
    loads = row.count("= load <16 x double>")
    # the first and the last of a row, and one of the next; on Zen all four past the cache, but in
    # columns
    assert loads == (3 + 4 * (bodies - 1) if foresees and not dynamic else 3 * bodies)
