"""Lists that a function returns, which machine code makes."""

# ruff: noqa: PERF401
from __future__ import annotations

import gc
import sys
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from tests.support.oracle import alike

A = np.array([0.5, 2.0, 1.0, -0.0, np.nan])


def of_numbers(x, y, n):
    return [x, y, x * y, n, n > 2, complex(x, y)]


def derivatives(state, t):
    x, y, z = state[0], state[1], state[2]
    return [10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z, t]


def squares(n):
    return [k * k for k in range(n)]


def halves(n):
    return [k * 0.5 for k in range(n)]


def truths(n):
    return [k % 3 == 0 for k in range(n)]


def powers(n):
    return [(0.5 + 0.5j) * k for k in range(n)]


def of_an_array(a):
    return a.tolist(), list(a), [v for v in a]  # noqa: C416


def found(n):
    out = []
    for k in range(n):
        if k % 3 == 1:
            out.append(k)
    return out


def pairs(n, x):
    out = []
    for k in range(n):
        out.append((k, (x * k, k > 3)))
    return out


def rows(n, x):
    out = []
    for k in range(n):
        out.append([k, x * k])
    return out


def table(n, m):
    return [[i * j for j in range(m)] for i in range(n)]


def cube(n, m):
    return [[[i * 0.5 + j * k for k in range(m + 1)] for j in range(m)] for i in range(n)]


def nested(n, x):
    history, times = [x], [0]
    for k in range(n):
        history.append(history[-1] * 0.5 + k)
        times.append(k)
    both = (times, history)
    return [both, history, {"last": 7}["last"], both]


CALLS = [
    (of_numbers, [(1.5, 2.5, 3), (float("nan"), -0.0, 2)]),
    (derivatives, [(A, 0.0)]),
    *((f, [(0,), (1,), (7,), (300,)]) for f in (squares, halves, truths, powers, found)),
    (of_an_array, [(A,), (A[:0],), (A[::-2],), (np.arange(5),), (A > 1,), (A * 1j,)]),
    (of_an_array, [(np.arange(5, dtype=np.float32),), (np.arange(5, dtype=np.uint8),)]),
    (pairs, [(0, 1.5), (9, 1.5)]),
    (rows, [(0, 1.5), (9, 1.5)]),
    (table, [(4, 3), (1, 0), (0, 3)]),
    (cube, [(3, 2), (1, 4)]),
    (nested, [(0, 1.5), (9, 1.5)]),
]


@pytest.mark.parametrize(("function", "calls"), CALLS, ids=lambda x: getattr(x, "__name__", ""))
def test_lists(function: Any, calls: list[tuple[Any, ...]]) -> None:
    alike(function, *calls, times=2)


@pytest.mark.parametrize("call", [
    (of_numbers, 1.5, 2.5, 3), (halves, 9), (found, 40), (pairs, 9, 1.5), (rows, 9, 1.5),
    (table, 4, 3), (nested, 9, 1.5),
], ids=lambda call: call[0].__name__)
def test_python_makes_none_of_it(call: Any) -> None:
    """Calls stay in machine code, and keep nothing of what they made."""
    function, *args = call
    compiled = jit(function, fullgraph=True)
    for _ in range(3):
        compiled(*args)
    (version,) = compiled._dispatcher.table.found
    assert version.bare
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(50):
        compiled(*args)
    gc.collect()
    assert abs(sys.getallocatedblocks() - before) < 40


def test_small_integers_are_the_interpreters() -> None:
    compiled = jit(squares)
    for _ in range(3):
        got = compiled(20)
    assert all(a is b for a, b in zip(got[:16], (k * k for k in range(16))))


def waves(n, step):
    out = []
    for k in range(n):
        out.append([step * k, (k, step)])
    return out


def test_the_collector_runs_while_lists_are_made() -> None:
    """Thousands of lists and tuples: the collector comes in between, and sees unfinished ones."""
    class Loop:
        def __init__(self) -> None:
            self.me, self.big = self, [0] * 10

    compiled = jit(waves, fullgraph=True)
    compiled(3, 0.5)
    threshold = gc.get_threshold()
    try:
        gc.set_threshold(5, 2, 2)
        for _ in range(20):
            Loop()
            assert compiled(500, 0.25) == waves(500, 0.25)
    finally:
        gc.set_threshold(*threshold)
