"""First calls of long functions: work and code grow as the function does, counted, not timed."""

from __future__ import annotations

import re
import sys
from types import FrameType
from typing import Any

import numpy as np
import pytest

import npcompile
from benchmarks.growth import arguments, function
from npcompile.backends.cpu.llvm.text import LLVMModule
from npcompile.runtime.entry.function_writer import METADATA, combine

#: twice the size takes at most so many times the work
GROWTH = 2.3
COUNTED = [
    ("arrays", 64), ("arrays and numbers", 64), ("variables", 64), ("slices", 64),
    ("elements", 96), ("library calls", 64), ("branches of numbers", 32),
    ("array of constants", 512), ("array of numbers", 1100), ("dictionary", 512),
]


def work(kind: str, n: int) -> tuple[int, int]:
    """Calls of functions while a function is compiled, but for LLVM's part; lines for LLVM."""
    calls = 0

    def count(frame: FrameType, event: str, arg: Any) -> None:
        nonlocal calls
        calls += event == "call"

    compiled = npcompile.jit(function(kind, n), cache=False, fullgraph=True)
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        text = compiled.lower(*arguments()).llvm
    finally:
        sys.setprofile(before)
    return calls, text.count("\n")


@pytest.mark.parametrize(("kind", "n"), COUNTED, ids=[kind for kind, _ in COUNTED])
def test_work_grows_as_functions_do(kind: str, n: int) -> None:
    work(kind, 8)  # imports, and what is made once
    few, many = work(kind, n), work(kind, 2 * n)
    assert many[0] <= GROWTH * few[0], "calls"
    assert many[1] <= GROWTH * few[1], "lines"


def both(plain: Any, *args: Any) -> Any:
    """A compiled function, after its first call; whose results are NumPy's."""
    compiled = npcompile.jit(plain, cache=False, fullgraph=True)
    copies = [np.copy(arg) if isinstance(arg, np.ndarray) else arg for arg in args]
    wanted, found = plain(*copies), compiled(*args)
    assert wanted.dtype == found.dtype and wanted.shape == found.shape
    assert wanted.strides == found.strides and wanted.tobytes() == found.tobytes()
    return compiled


def test_large_expressions_are_cut() -> None:
    text = "def f(a, b):\n" + "".join(
        f"    a = a * 0.5 + b / {k + 3} - b * {k}\n    b = b * 0.75 + a[0]\n" for k in range(100)
    ) + "    return a - b\n"
    scope: dict[str, Any] = {}
    exec(text, scope)
    for n in (1, 7, 40, 5000):
        both(scope["f"], np.linspace(-3, 5, n), np.linspace(2, 9, n) ** 3)
    program = npcompile.jit(scope["f"], cache=False).lower(np.ones(9), np.ones(9)).program
    assert program.count("kernel k") > 2


def test_cuts_in_shared_expressions() -> None:
    text = "def f(a, b):\n" + "".join(
        f"    a = a * a * 0.25 + b\n    b = b * a - {k}.5 * a\n" for k in range(200)
    ) + "    return (a + b).sum() + a\n"
    scope: dict[str, Any] = {}
    exec(text, scope)
    with np.errstate(all="ignore"):
        for shape in ((6,), (300, 4), (2, 1, 3)):
            both(scope["f"], np.full(shape, 0.125), np.linspace(-0.1, 0.1, np.prod(shape))
                 .reshape(shape))


ITEMS = [
    [k / 7 for k in range(40)], [k % 3 == 0 for k in range(40)], list(range(-20, 20)),
    [2**63 - 1 - k for k in range(40)], [2**64 - 1 - k for k in range(40)],
    [complex(k / 3, -k) for k in range(40)], [-0.0, 1e-310, *range(70), 2.5],
    [[k, -0.0] for k in range(40)], [[[k] * 3, [k + 0.5] * 3] for k in range(12)],
]


@pytest.mark.parametrize("items", ITEMS, ids=range(len(ITEMS)))
def test_arrays_of_constants(items: list[Any]) -> None:
    scope: dict[str, Any] = {"np": np}
    exec(f"def f(x):\n    return np.array({items})", scope)
    compiled = both(scope["f"], 1.5)
    first = compiled(1.5)
    first[...] = 0
    assert compiled(1.5).tobytes() == scope["f"](1.5).tobytes()  # each call makes another


@pytest.mark.parametrize("dtype", ["f4", "f2", "c8", "i1", "u2", "f8", "?"])
def test_arrays_of_constants_of_a_dtype(dtype: str) -> None:
    scope: dict[str, Any] = {"np": np}
    exec(f"def f(x):\n    return np.array({list(range(90))}, {dtype!r})", scope)
    both(scope["f"], 1.5)


def test_constants_between_numbers() -> None:
    items = ", ".join(f"x + {k}" if k % 5 == 2 else f"{k}.5" for k in range(99))
    scope: dict[str, Any] = {"np": np}
    exec(f"def f(a, x):\n    a[1:] = [{items}]\n    return np.array([{items}]) + a[1:]", scope)
    both(scope["f"], np.zeros(100), 1.5)


def test_numbers_of_metadata_are_given_once() -> None:
    module = LLVMModule()
    for k in range(2000):
        module.rolled()
        module.memory(k)
    text = combine(module.text(), METADATA)
    numbers = re.findall(r"^(!\d+) =", text, re.MULTILINE)
    assert len(numbers) == len(set(numbers))
    assert len(text) < 400_000  # no list of all memories for each of them
