"""Loops that run inside blocks of rows: the bits of loops around all rows."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from npcompile.program.interpret import interpret
from npcompile.program.verify import verify
from npcompile.runtime.threads.pool import get_num_threads, set_num_threads
from npcompile.schedule.fusion import interchange, row_blocks
from tests.schedule.test_loop_skewing import sweeps
from tests.support import oracle


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Blocks of few rows, so that small arrays have several."""
    monkeypatch.setattr(interchange, "LEAST", 3)
    monkeypatch.setattr(row_blocks, "BLOCK", 300)
    before = get_num_threads()
    yield
    set_num_threads(before)


def columns(a: Any, b: Any, c: Any, n: int) -> None:
    for j in range(1, a.shape[1] - 1):
        a[1:-1, j] = b[1:-1, j] / (a[1:-1, j - 1] + 2.5)
        c[1:-1, j] = a[1:-1, j] * c[1:-1, j - 1] - b[:-2, j + 1]


def backwards(a: Any, b: Any, c: Any, n: int) -> None:
    for j in range(a.shape[0] - 2, -1, -1):
        a[j] = b[j] * a[j + 1] + c[j]


def scaled(a: Any, b: Any, c: Any, n: int) -> None:
    for j in range(a.shape[1]):
        half = c[0, j] * 0.5
        a[:, 0] += half * b[:, j]


def twice(a: Any, b: Any, c: Any, n: int) -> None:
    for _ in range(n):
        for j in range(1, a.shape[1]):
            part = np.sqrt(np.abs(b[:, j])) + a[:, j - 1]
            a[:, j] = part - part * part
            c[:, j] = part


def crossing(a: Any, b: Any, c: Any, n: int) -> None:
    for j in range(1, a.shape[1] - 1):
        a[1:, j] = a[:-1, j - 1] + b[1:, j]


def triangles(a: Any, b: Any, c: Any, n: int) -> None:
    for i in range(min(a.shape)):
        for k in range(a.shape[1]):
            c[i, :i] += 0.5 * a[i, k] * a[:i, k]


def squares(a: Any, b: Any, c: Any, n: int) -> None:
    for j in range(1, min(a.shape)):
        a[:, j] = a[:, j - 1] + b[j, :][: 1]
        b[j, :] = b[j - 1, :] * 0.5


def arrays(shape: tuple[int, int]) -> list[np.ndarray]:
    return list(np.random.default_rng(shape[0]).uniform(-1.0, 1.0, (3, *shape)))


def interchanged(function: Callable[..., Any], shape: tuple[int, int]) -> int:
    """The bits of the function, of the compiled one on 1 to 3 threads, and of the interpreter;
    how many loops run inside."""
    expected, compiled = arrays(shape), jit(function)
    function(*expected, 2)
    program = compiled.lower(*arrays(shape), 2).executable.program
    verify(program)
    for threads in (1, 2, 3):
        set_num_threads(threads)
        found = arrays(shape)
        compiled(*found, 2)
        oracle.check(found, expected, oracle.EXACT)
    found = arrays(shape)
    interpret(program, [found[p.index] if p.kind == "param" else 2 for p in program.params])
    oracle.check(found, expected, oracle.EXACT)
    return sweeps(program)


@pytest.mark.parametrize(("function", "inside"), [
    (columns, 1), (backwards, 1), (scaled, 1), (twice, 1), (triangles, 1), (crossing, 0),
    (squares, 0),
])
@pytest.mark.parametrize("shape", [(5, 4), (37, 11), (11, 40)])
def test_loops(function: Callable[..., Any], inside: int, shape: tuple[int, int]) -> None:
    assert bool(interchanged(function, shape)) == inside


def statement(rng: random.Random) -> str:
    """One statement on rows or columns ``j`` and their neighbours."""
    name, by_rows = rng.choice("abc"), rng.random() < 0.5
    if rng.random() < 0.1:
        return f"{name}[{rng.choice(['j', '0'])}, {rng.choice(['j', '1'])}] = {rng.random()}"

    def window(name: str, ends: str) -> str:
        at = rng.choice(["j", "j", "j - 1", "j + 1", "0"])
        if rng.random() < 0.06:
            return window_of(name, at, ends, not by_rows) + ".T"
        return window_of(name, at, ends, by_rows)

    ends = rng.choice([":", "1:", ":-1", "1:-1", ":j", "j:"])
    value = " + ".join(
        f"{rng.choice(['0.5 * ', '', 'np.abs'])}({window(rng.choice('abc'), ends)})"
        for _ in range(rng.randint(1, 3))
    )
    if rng.random() < 0.2:
        value += f" * {rng.choice('abc')}[0, {rng.choice(['j', '1'])}]"
    how = rng.choice(["=", "=", "+="])
    return f"{window_of(name, rng.choice(['j', 'j', '0']), ends, by_rows)} {how} {value}"


def window_of(name: str, at: str, ends: str, by_rows: bool) -> str:
    return f"{name}[{at}, {ends}]" if by_rows else f"{name}[{ends}, {at}]"


def program_text(rng: random.Random) -> str:
    body = [statement(rng) for _ in range(rng.randint(1, 4))]
    loop = rng.choice(["range(1, n + 4)", "range(n + 3, 0, -1)", "range(1, a.shape[0] - 1)"])
    return "\n".join(["def f(a, b, c, n):", "    for k in range(n):", f"        for j in {loop}:",
                      *(f"            {line}" for line in body)])


def check(seed: int) -> int:
    rng = random.Random(seed)
    text, scope = program_text(rng), dict[str, Any](np=np)
    exec(compile(text, f"<{seed}>", "exec"), scope)
    shape = rng.choice([(7, 7), (23, 23)])
    with np.errstate(all="ignore"):
        try:
            return interchanged(scope["f"], shape)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, {shape}\n{text}") from error


def test_random_loops() -> None:
    assert sum(check(seed) for seed in range(25)) > 3


if __name__ == "__main__":
    import sys

    interchange.LEAST, row_blocks.BLOCK = 3, 300
    first, count = map(int, sys.argv[1:])
    print(count, "programs,", sum(check(seed) for seed in range(first, first + count)), "inside")
