"""Kernels that sweep over rows together: the bits of kernels that run one after the other."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from npcompile.program.interpret import interpret
from npcompile.program.ir import For
from npcompile.program.verify import verify
from npcompile.runtime.threads.pool import get_num_threads, set_num_threads
from npcompile.schedule.fusion import array_cuts, ring_buffers
from tests.support import oracle


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Blocks of few rows, so that small arrays are cut into parts."""
    monkeypatch.setattr(array_cuts, "BLOCK", 300)
    monkeypatch.setattr(ring_buffers, "NEAR", 300)
    monkeypatch.setattr(ring_buffers, "PART", 300)
    before = get_num_threads()
    yield
    set_num_threads(before)


def jacobi(a: Any, b: Any, c: Any, n: int) -> None:
    for _ in range(n):
        b[1:-1, 1:-1] = a[1:-1, 1:-1] + a[1:-1, :-2] - a[2:, 1:-1] * a[:-2, 1:-1]
        a[1:-1, 1:-1] = b[1:-1, 1:-1] - b[1:-1, 2:] + b[2:, 1:-1] * b[:-2, 1:-1]


def copies(a: Any, b: Any, c: Any, n: int) -> None:
    for _ in range(n):
        old = a.copy()
        a[1:-1, 1:-1] = old[2:, 1:-1] - old[:-2, 1:-1] + old[1:-1, 2:] * c[1:-1, 1:-1]
        a[:, -1] = a[:, -2]
        a[0, :] = a[1, :]
        a[-1, :] = 0.5


def fields(a: Any, b: Any, c: Any, n: int) -> None:
    for k in range(n):
        b[0, :] = k
        b[1:, :] -= 0.5 * (c[1:, :] - c[:-1, :])
        a[:, 1:] -= 0.5 * (c[:, 1:] - c[:, :-1])
        c[:-1, :-1] -= 0.7 * (a[:-1, 1:] - a[:-1, :-1] + b[1:, :-1] - b[:-1, :-1])


def lines(a: Any, b: Any, c: Any, n: int) -> None:
    x, y = a[0], b[0]
    for _ in range(n):
        y[1:-1] = x[:-2] + x[1:-1] - x[2:]
        x[2:-2] = y[:-4] - y[4:]


def elements(a: Any, b: Any, c: Any, n: int) -> None:
    for _ in range(n):
        b[1:-1, 1:-1] = a[:-2, 1:-1] + a[2:, 1:-1]
        b[2, 1] = 7.0
        c[0, 0] += b[1, 1]
        a[1:-1, 1:-1] = b[:-2, 1:-1] - b[2:, 1:-1] * c[0, 0]


def arrays(rows: int, columns: int) -> list[np.ndarray]:
    return list(np.random.default_rng(rows).uniform(-1.0, 1.0, (3, rows, columns)))


def sweeps(program: Any) -> int:
    """Parallel loops of loops in a program."""

    def count(body: Any) -> int:
        return sum(
            (s.parallel and any(isinstance(inner, For) for inner in s.body)) or count(s.body)
            for s in body if isinstance(s, For)
        )

    return count(program.body)


def swept(function: Callable[..., Any], shape: tuple[int, int]) -> int:
    """The bits of the function, of the compiled one on 1 to 3 threads, and of the interpreter,
    which takes parallel turns backwards; how many loops are sweeps."""
    expected, compiled = arrays(*shape), jit(function)
    function(*expected, 3)
    program = compiled.lower(*arrays(*shape), 3).executable.program
    verify(program)
    for threads in (1, 2, 3):
        set_num_threads(threads)
        found = arrays(*shape)
        compiled(*found, 3)
        oracle.check(found, expected, oracle.EXACT)
    found = arrays(*shape)
    interpret(program, [3 if p.kind == "scalar" else found[p.index] for p in program.params])
    oracle.check(found, expected, oracle.EXACT)
    return sweeps(program)


@pytest.mark.parametrize("function", [jacobi, copies, fields, lines])
@pytest.mark.parametrize("shape", [(4, 5), (37, 11), (150, 6), (3, 400)])
def test_sweeps(function: Callable[..., Any], shape: tuple[int, int]) -> None:
    assert swept(function, shape)


def statement(rng: random.Random) -> str:
    """One array statement on windows of three arrays."""
    target = rng.choice("abc")
    how = rng.random()
    if how < 0.15:
        where = rng.choice(["[0, :]", "[-1, :]", "[:, 0]", "[:, -1]", "[1, 1:-1]", "[1:-1, -2]"])
        source = rng.choice([f"{rng.choice('abc')}{where}", str(rng.random())])
        return f"{target}{where} = {source}"
    if how < 0.2:
        row, column = rng.choice(["0", "1", "-1"]), rng.choice(["0", "2"])
        return f"{target}[{row}, {column}] = {rng.random()}"
    if how < 0.25:
        return f"{target}[...] = {rng.choice('abc')}"
    if how < 0.35:
        return f"old = {target}.copy()"
    top, left = rng.randint(0, 2), rng.randint(0, 2)

    def window(name: str) -> str:
        rows, columns = rng.randint(0, 2), rng.randint(0, 2)
        ends = [f"{k}:{k - 2}" if k < 2 else "2:" for k in (rows, columns)]
        return f"{name}[{', '.join(ends)}]"

    ends = [f"{k}:{k - 2}" if k < 2 else "2:" for k in (top, left)]
    sources = [window(rng.choice(["a", "b", "c", "old"])) for _ in range(rng.randint(1, 3))]
    value = sources[0]
    for source in sources[1:]:
        value = f"{value} {rng.choice('+-*')} {source}"
    return f"{target}[{', '.join(ends)}] {rng.choice(['=', '=', '-='])} {value}"


def program_text(rng: random.Random) -> str:
    body = [statement(rng) for _ in range(rng.randint(2, 6))]
    return "\n".join(["def f(a, b, c, n):", "    old = c.copy()", "    for k in range(n):",
                      *(f"        {line}" for line in body)])


def check(seed: int) -> int:
    rng = random.Random(seed)
    text, scope = program_text(rng), dict[str, Any]()
    exec(compile(text, f"<{seed}>", "exec"), scope)
    shape = rng.choice([(5, 4), (23, 7), (60, 5)])
    with np.errstate(all="ignore"):
        try:
            return swept(scope["f"], shape)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, {shape}\n{text}") from error


@pytest.mark.parametrize("shape", [(4, 5), (37, 11), (150, 6)])
def test_elements(shape: tuple[int, int]) -> None:
    swept(elements, shape)


def test_random_stencils() -> None:
    assert sum(check(seed) for seed in range(25)) > 5


if __name__ == "__main__":
    import sys

    array_cuts.BLOCK = ring_buffers.NEAR = ring_buffers.PART = 300
    first, count = map(int, sys.argv[1:])
    print(count, "programs,", sum(check(seed) for seed in range(first, first + count)), "sweeps")
