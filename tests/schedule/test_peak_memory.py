"""``explain`` reports the most memory of arrays at once; it is never more than NumPy's."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from benchmarks.programs import PROGRAMS
from npcompile import jit
from npcompile.runtime.threads.pool import get_num_threads, set_num_threads


def expression(a: Any, b: Any) -> Any:
    return np.sqrt(a * a + b * b) / (a + 1.5) - b


def rows(a: Any, b: Any) -> Any:
    return (a - a.mean(axis=1, keepdims=True)) / a.std(axis=1, keepdims=True)


def windows(a: Any, b: Any) -> Any:
    c = a * b + 1.0
    return c[1:] - c[:-1]


def in_place(a: Any, b: Any) -> None:
    for _ in range(3):
        a[1:-1, 1:-1] = a[2:, 1:-1] + a[:-2, 1:-1] - b[1:-1, 2:]


def copies(a: Any, b: Any) -> None:
    for _ in range(3):
        old, other = a.copy(), b.copy()
        a[1:-1] = old[2:] * other[:-2]
        b[1:-1] = other[2:] - old[:-2]


def divided(a: Any, b: Any, d: float = 0.5) -> None:
    for _ in range(3):
        old = a.copy()
        a[1:-1] = old[1:-1] + 1.0 / d**2 * (old[2:] - 2 * old[1:-1] + old[:-2])
        b += a / (2 * d)


def columns(a: Any, b: Any) -> Any:
    c = np.zeros_like(a)
    for j in range(1, a.shape[1]):
        c[:, j] = a[:, j] * c[:, j - 1] + b[:, j]
    return c


def several(a: Any, b: Any) -> Any:
    x = np.exp(a)
    y = x / x.sum(axis=1, keepdims=True)
    return y, (y * b).sum(axis=0)


def plain_peak(function: Callable[..., Any], *args: Any) -> int:
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept = function(*args)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    del kept
    return most - before


FUNCTIONS = [expression, rows, windows, in_place, copies, divided, columns, several]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_never_more_than_numpy(function: Callable[..., Any]) -> None:
    a, b = np.random.default_rng(1).uniform(1.0, 2.0, (2, 600, 500))
    told = jit(function).explain(a.copy(), b.copy())
    assert told.peak is not None and told.captured
    assert told.peak <= plain_peak(function, a.copy(), b.copy())
    assert f"{told.peak:,} bytes at the peak" in str(told)


def chain(a: Any, b: Any) -> Any:
    c = a[1:] * b[:-1]
    d = c[1:] - c[:-1]
    return d[1:] * d[:-1]


def test_a_single_part_is_on_one_thread() -> None:
    """What a parallel loop of one turn allocates is there once."""
    a, b = np.random.default_rng(1).uniform(1.0, 2.0, (2, 20, 30))
    before = get_num_threads()
    try:
        set_num_threads(1)
        alone = jit(chain).explain(a, b).peak
        set_num_threads(2)
        assert jit(chain).explain(a, b).peak == alone
    finally:
        set_num_threads(before)


def test_counts() -> None:
    a = np.ones((100, 10))
    assert jit(lambda x: x + 1.0).explain(a).peak == 8000
    assert jit(lambda x: (x + 1.0).sum()).explain(a).peak == 0
    assert jit(windows).explain(a, a).peak <= 8000 + 7920


def numbers_drawn(a: Any, rng: Any) -> Any:
    """A called function makes an array."""
    return rng.standard_cauchy(a.shape) > a


def test_arrays_of_called_functions_count() -> None:
    told = jit(numbers_drawn).explain(np.ones((100, 10)), np.random.default_rng(1))
    assert told.peak == 8000 + 1000


def branches(a: Any, b: Any, more: bool) -> Any:
    """What is needed after a branch is not there before its arms need it."""
    c = np.cumsum(a, axis=0)
    if a[0, 0] > b[0, 0]:
        d = np.cumsum(c, axis=1)
        e = np.cumsum(d, axis=0)
        c = np.cumsum(e, axis=1)
    else:
        c = np.cumsum(c, axis=1)
    return np.cumsum(c, axis=0)


def shared(a: Any, b: Any) -> None:
    """What a turn makes one after the other."""
    for _ in range(3):
        c = np.cumsum(a, axis=0)
        d = np.cumsum(c, axis=1)
        e = np.cumsum(d, axis=0)
        a += np.cumsum(e, axis=1) * b


def test_temporaries_share_memory() -> None:
    a, b = np.ones((2, 100, 100))
    assert jit(shared).explain(a, b).peak == 2 * a.nbytes


def test_memory_in_branches() -> None:
    a, b = np.ones((2, 100, 100))
    for greater in (0.0, 2.0):
        a[0, 0] = greater
        assert np.array_equal(jit(branches)(a, b, True), branches(a, b, True))
    assert jit(branches).explain(a, b, True).peak <= 3 * a.nbytes


def looked_up(a: Any, table: Any) -> Any:
    """An index is kept as the byte that it is."""
    code = 4 * a + 2 * a[::-1] + a // 3
    return table[code]


def kept_on_the_way(a: Any, b: Any) -> Any:
    """What a call leaves of several temporaries is one array."""
    around = np.roll(a, 1, 0) + np.roll(a, -1, 0) + np.roll(a, 1, 1)
    return np.array(np.sort(b, axis=None)[0] * around)


def test_narrow_values_are_stored() -> None:
    a, table = np.arange(4000, dtype=np.uint8) % 16, np.arange(200.0).astype(np.float32)
    assert np.array_equal(jit(looked_up)(a, table), looked_up(a, table))
    assert jit(looked_up).explain(a, table).peak <= 5 * a.nbytes  # 4 of the result


def test_values_are_put_together_before_calls() -> None:
    a, b = np.random.default_rng(1).uniform(1.0, 2.0, (2, 600, 500))
    assert np.array_equal(jit(kept_on_the_way)(a, b), kept_on_the_way(a, b))
    assert jit(kept_on_the_way).explain(a, b).peak <= plain_peak(kept_on_the_way, a, b)


#: bytes of windows and blocks that each thread may have beside what NumPy needs
WINDOWS = 1 << 18


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_corpus(name: str) -> None:
    """At the sizes of the benchmarks; loops over elements, which take Python long, at small
    ones."""
    program = PROGRAMS[name]
    size = program.small if program.scalar else program.bench
    told = jit(program.function).explain(*program.arguments(size))
    if told.peak is not None:
        with np.errstate(all="ignore"):
            most = plain_peak(program.function, *program.arguments(size))
        assert told.peak <= most + WINDOWS * get_num_threads()
