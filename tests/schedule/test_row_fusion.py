"""Kernels that run together over blocks of rows: the bits of kernels that run one by one."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from npcompile.core.errors import VerifyError
from npcompile.core.records import replace
from npcompile.program.interpret import interpret
from npcompile.program.ir import Alloc, For
from npcompile.program.verify import verify
from npcompile.runtime.threads.pool import get_num_threads, set_num_threads
from npcompile.schedule.fusion import row_blocks
from tests.support import oracle


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = get_num_threads()
    yield
    set_num_threads(before)


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def normalise(x: Any) -> Any:
    return (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)


def variance1(x: Any) -> Any:
    return x.var(axis=1)


def variance0(x: Any) -> Any:
    return x.var(axis=0)


def nearest(x: Any) -> Any:
    return ((x[:, None, :] - x[None, :3]) ** 2).sum(axis=2).argmin(axis=1)


def scaled(x: Any) -> Any:
    e = np.sqrt(x * x + 1.0)  # one long run, summed by rows
    return e / e.sum(axis=1, keepdims=True), e


def middle(x: Any) -> Any:
    y = x[:, 1:-1] * 2.0 / 3.0
    return y - y.max(axis=1, keepdims=True), y.sum(axis=1)


def shifted(x: Any) -> Any:
    y = np.sqrt(np.abs(x)) / 3.0
    s = y.sum(axis=1)
    return y[1:] - s[:-1, None], y


def in_place(x: Any) -> Any:
    x -= x.mean(axis=1, keepdims=True)
    x /= np.abs(x).max(axis=1, keepdims=True)
    return x.sum(axis=1)


def cube(x: Any) -> Any:
    z = x[:, :, None] * x[:, None, :2]
    return (z - z.sum(axis=2, keepdims=True)).max(axis=(1, 2))


EXACT = [normalise, variance1, variance0, nearest, scaled, middle, shifted, in_place, cube]
SHAPES = [(100, 32), (5, 7), (129, 3), (64, 1), (1, 40), (300, 130), (17, 1000)]


def data(shape: tuple[int, ...], dtype: Any = np.float64) -> Any:
    return np.random.default_rng(shape[0]).normal(size=shape).astype(dtype)


def loops(function: Callable[..., Any], *args: Any) -> list[For]:
    program = jit(function).lower(*args).executable.program
    return [s for s in program.body if isinstance(s, For) and s.parallel]


@pytest.mark.parametrize("function", EXACT, ids=lambda f: f.__name__)
@pytest.mark.parametrize("block", [1, 2000, row_blocks.BLOCK])
def test_bits(function: Any, block: int, monkeypatch: Any) -> None:
    monkeypatch.setattr(row_blocks, "BLOCK", block)
    compiled = jit(function)
    for shape in SHAPES:
        for dtype in (np.float64, np.float32):
            if shape[1] < 3 and function is not variance1:
                continue
            x = data(shape, dtype)
            wanted, after = function(x), x.copy()
            x = data(shape, dtype)
            oracle.check(compiled(x), wanted, oracle.EXACT)
            oracle.check(x, after, oracle.EXACT)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads(threads: int, monkeypatch: Any) -> None:
    set_num_threads(threads)
    x = data((3001, 40))
    together, apart = jit(softmax), jit(softmax)
    got = together(x)
    monkeypatch.setattr(row_blocks, "ROW", 0)
    monkeypatch.setattr(row_blocks, "LONG", 0)
    oracle.check(got, apart(x), oracle.EXACT)
    assert np.allclose(got, softmax(x), rtol=1e-14)
    oracle.check(jit(normalise)(x), normalise(x), oracle.EXACT)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", [*EXACT, softmax], ids=lambda f: f.__name__)
def test_no_rows(function: Any) -> None:
    for shape in [(0, 5), (0, 0)]:
        x = np.empty(shape)
        try:
            wanted = function(x)
        except (ValueError, IndexError):
            continue
        with np.errstate(all="ignore"):
            oracle.check(jit(function)(x), wanted, oracle.EXACT)


def test_temporaries_are_blocks() -> None:
    (loop,) = loops(softmax, data((50, 60)))
    assert [type(s) for s in loop.body].count(Alloc) == 3
    (loop,) = loops(normalise, data((50, 60)))
    assert not loops(shifted, data((50, 60))) or len(loops(shifted, data((50, 60)))[0].body) < 6


def test_long_rows_stay_apart() -> None:
    compiled = jit(variance1)
    for shape in [(4, 70_000), (70, 40), (20, 70_000)]:
        oracle.check(compiled(data(shape)), variance1(data(shape)), oracle.EXACT)
    assert loops(variance1, data((20, 70_000)))
    lowered = jit(variance1).lower(data((4, 70_000)))
    assert "too large for the cache" in lowered.program
    assert "parallel for" not in lowered.program


def test_interpreter() -> None:
    x = data((70, 40))
    program = jit(normalise).lower(x).executable.program
    oracle.check(interpret(program, [x])[1], normalise(x), oracle.EXACT)


STEPS = [
    "{v} = {a} - {b}", "{v} = {a} * {b} + 1.5", "{v} = np.sqrt(np.abs({a})) / 3.0",
    "{v} = {a} - {a}.sum(axis={k}, keepdims=True)", "{v} = {a} / (1 + {a}.max(axis={k})[{i}])",
    "{v} = np.where({a} > {a}.mean(axis={k})[{i}], {b}, {a})", "{v} = {a}[::-1] - {b}",
    "{v} = np.roll({a}, 1, axis={k})", "{v} = {a} + {b}[:1]", "{v} = {a} * {b}[:, :1]",
    "{v} = {a}.copy(); {v}[1:] = {b}[:-1]", "{v} = {a} + 0; {v}[:, 1:] -= {b}[:, :-1]",
    "x[:] = {a}; {v} = {b}", "x[1:] += {a}[:-1]; {v} = x + 0", "{v} = x - {a}.min(axis={k})[{i}]",
    "{v} = {a} + {a}.argmax(axis={k})[{i}] / {b}.std(axis={k})[{i}]",
]


def write(seed: int) -> str:
    """A function of some steps over a square or oblong array."""
    rng = random.Random(seed)
    lines, known = ["def f(x):"], ["x"]
    for number in range(rng.randint(2, 6)):
        k = rng.randint(0, 1)
        step = rng.choice(STEPS).format(
            v=f"v{number}", a=rng.choice(known), b=rng.choice(known), k=k,
            i=":, None" if k else "None, :")
        lines += ["    " + part for part in step.split("; ")]
        known.append(f"v{number}")
    results = [known[-1], *rng.sample(known, rng.randint(0, 1)),
               f"{known[-1]}.sum(axis={rng.randint(0, 1)})"]
    return "\n".join([*lines, f"    return {', '.join(results)}"])


@pytest.mark.parametrize("seed", range(60))
def test_random(seed: int, monkeypatch: Any) -> None:
    source = write(seed)
    monkeypatch.setattr(row_blocks, "BLOCK", 1000)
    monkeypatch.setattr(row_blocks, "COLUMNS", 32)
    scope: dict[str, Any] = {"np": np}
    exec(source, scope)
    compiled = jit(scope["f"])
    set_num_threads(1 + seed % 2)
    for shape in [(37, 9), (9, 9), (150, 200)]:
        x, y = data(shape), data(shape)
        with np.errstate(all="ignore"):
            wanted, got = scope["f"](x), compiled(y)
        oracle.check(y, x, oracle.EXACT)
        assert oracle.same(got, wanted, oracle.EXACT), source


def test_only_kernels_turn_in_parallel() -> None:
    program = jit(variance1).lower(data((50, 60))).executable.program
    (loop,) = [s for s in program.body if isinstance(s, For)]
    verify(program)
    program.body = tuple(replace(s, body=(loop,)) if s is loop else s for s in program.body)
    with pytest.raises(VerifyError, match="calls nothing"):
        verify(program)


def test_rows_that_are_computed_ahead(monkeypatch: Any) -> None:
    """What they read is needed by more than the sweep, and stays whole."""
    def f(x):
        y = x + x.argmax(axis=0)[None, :] / x.std(axis=0)[None, :]
        x[1:] += x[:-1]
        return y + x, (x * x)[:, :1] * (x * x)[:1]

    monkeypatch.setattr(row_blocks, "BLOCK", 1000)
    monkeypatch.setattr(row_blocks, "COLUMNS", 32)
    for shape in [(37, 9), (150, 200)]:
        x, y = data(shape), data(shape)
        for got, want in zip(jit(f)(x), f(y), strict=True):
            assert got.tobytes() == want.tobytes()
        assert x.tobytes() == y.tobytes()
