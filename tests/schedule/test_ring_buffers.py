"""Sweeps whose temporaries hold a few rows only: the bits of whole ones."""

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
from npcompile.schedule.fusion import ring_buffers
from tests.support import oracle


@pytest.fixture(autouse=True)
def few_rows(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Few rows at a time and small parts, so that small arrays take many steps."""
    monkeypatch.setattr(ring_buffers, "NEAR", 300)
    monkeypatch.setattr(ring_buffers, "PART", 300)
    monkeypatch.setattr(ring_buffers, "SHARE", 2)
    before = get_num_threads()
    yield
    set_num_threads(before)


def diffusion(a: Any, b: Any) -> Any:
    around = 4.0 * a[1:-1, 1:-1] - (a[2:, 1:-1] + a[:-2, 1:-1] + a[1:-1, 2:] + a[1:-1, :-2])
    step = around[1:, 1:-1] - around[:-1, 1:-1]
    x = np.where(step * (a[2:-1, 2:-2] - a[1:-2, 2:-2]) > 0, 0, step)
    step = around[1:-1, 1:] - around[1:-1, :-1]
    y = np.where(step * (a[2:-2, 2:-1] - a[2:-2, 1:-2]) > 0, 0, step)
    return a[2:-2, 2:-2] - 0.1 * (x[1:] - x[:-1] + y[:, 1:] - y[:, :-1])


def levels(a: Any, b: Any) -> Any:
    """The same in three dimensions."""
    return diffusion(a.reshape(a.shape[0], -1, 2), b)


def filled(a: Any, b: Any) -> Any:
    """Temporaries that are written in pieces, and in place."""
    inner = np.zeros_like(a)
    inner[1:-1, 1:-1] = a[2:, 1:-1] * b[:-2, 1:-1]
    inner[0] = a[-1]
    inner[-1] = a[0]
    inner[:, 0] += b[:, 1]
    out = np.empty_like(a)
    out[1:-1] = inner[2:] - inner[:-2]
    out[0] = inner[1]
    out[-1] = inner[-2]
    return out


def periodic(a: Any, b: Any) -> Any:
    slope = np.roll(a, 1, 0) - np.roll(a, -1, 0) + np.roll(b, 2, 1)
    return slope[2:] * slope[:-2] + slope[1:-1]


def integers(a: Any, b: Any) -> Any:
    cells = a > 0.0
    count = cells[2:].astype(np.int8) + cells[1:-1] + cells[:-2]
    return (count[1:] == 2) | (count[:-1] == 1) & cells[2:-1]


def arrays(rows: int, columns: int) -> list[np.ndarray]:
    return list(np.random.default_rng(rows).uniform(-1.0, 1.0, (2, rows, columns)))


def rolled(function: Callable[..., Any], shape: tuple[int, int]) -> int:
    """The bits of the function, of the compiled one on 1 to 3 threads, and of the interpreter,
    which takes parallel turns backwards; in how many sweeps temporaries hold some rows."""
    expected, compiled = function(*arrays(*shape)), jit(function)
    program = compiled.lower(*arrays(*shape)).executable.program
    verify(program)
    for threads in (1, 2, 3):
        set_num_threads(threads)
        found = compiled(*arrays(*shape))
        oracle.check(found, expected, oracle.EXACT)
    given = arrays(*shape)
    _, result = interpret(program, [given[p.index] for p in program.params])
    oracle.check(result, expected, oracle.EXACT)
    return sum("some rows at a time" in note for note in program.notes)


@pytest.mark.parametrize("function", [diffusion, levels, filled, periodic, integers])
@pytest.mark.parametrize("shape", [(6, 12), (37, 18), (150, 12)])
def test_rolling(function: Callable[..., Any], shape: tuple[int, int]) -> None:
    assert rolled(function, shape)


def window(rng: random.Random, name: str, cut: dict[str, tuple[int, int]],
           to: tuple[int, int]) -> str:
    """A window of an array that lacks some rows and columns, so that it lacks more."""
    ends = []
    for have, want in zip(cut[name], to):
        first = rng.randint(0, want - have)
        last = want - have - first
        ends.append(f"{first or ''}:{-last if last else ''}")
    return f"{name}[{', '.join(ends)}]"


def statement(rng: random.Random, name: str, cut: dict[str, tuple[int, int]]) -> str:
    """A new array made from windows of others, whole or in pieces."""
    sources = rng.sample(list(cut), min(len(cut), rng.randint(1, 3)))
    most = [max(cut[source][axis] for source in sources) for axis in (0, 1)]
    rows, columns = (min(m + rng.choice([0, 1, 1, 2]), 9) for m in most)
    terms = [window(rng, source, cut, (rows, columns)) for source in [*sources, sources[0]]]
    value = terms[0]
    for term in terms[1:]:
        value = f"({value} {rng.choice('+-*')} {term})"
    if rng.random() < 0.2:
        value = f"np.where({terms[-1]} > {value}, {terms[0]}, 0)"
    cut[name] = rows, columns
    how = rng.random()
    if how < 0.6:
        return f"{name} = {value}"
    if how < 0.75:
        return f"{name} = np.roll({value}, {rng.choice([-1, 1, 2])}, {rng.randint(0, 1)})"
    whole = f"{name} = np.zeros_like({value})"
    where = rng.choice(["[0]", "[-1]", "[1:-1]", "[:, 0]", "[1:-1, 1:]", "[2:]", "[:-1]"])
    how = rng.choice(["=", "+="])
    return f"{whole}; {name}{where} {how} ({value}){where}"


def program_text(rng: random.Random) -> str:
    cut = {"a": (0, 0), "b": (0, 0)}
    body = [statement(rng, f"t{k}", cut) for k in range(rng.randint(3, 8))]
    rows, columns = (max(ends) for ends in zip(*cut.values()))
    last = [window(rng, name, cut, (rows, columns)) for name in cut]
    return "\n".join(["def f(a, b):", *(f"    {line}" for line in body),
                      f"    return {' - '.join(last)}"])


def check(seed: int) -> int:
    rng = random.Random(seed)
    text, scope = program_text(rng), {"np": np}
    exec(compile(text, f"<{seed}>", "exec"), scope)
    shape = rng.choice([(12, 13), (23, 12), (60, 11)])
    with np.errstate(all="ignore"):
        try:
            return rolled(scope["f"], shape)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, {shape}\n{text}") from error


def grid(n: int) -> Any:
    x = np.linspace(-1.0, 1.0, n).reshape((n, 1))
    return x + 1j * np.linspace(-1.0, 1.0, n).reshape((1, n))


def test_a_first_call_without_rows() -> None:
    compiled = jit(grid, cache=False)
    for n in (0, 3, 0):
        assert np.array_equal(compiled(n), grid(n))


def test_random_chains() -> None:
    assert sum(check(seed) for seed in range(16)) > 3


if __name__ == "__main__":
    import sys

    ring_buffers.NEAR, ring_buffers.PART, ring_buffers.SHARE = 300, 300, 2
    first, count = map(int, sys.argv[1:])
    print(count, "programs,", sum(check(seed) for seed in range(first, first + count)), "sweeps")
