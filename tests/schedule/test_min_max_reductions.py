"""Loops that look for extremes in parts, and carried numbers of which nobody hears."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import npcompile
from npcompile.program.ir import If
from tests.fuzz import min_max_loops
from tests.fuzz.framework import checked
from tests.support import oracle


def columns(t):  # the number is Python's at first: whose it is, nobody asks
    t = t.copy()
    for i in range(t.shape[0]):
        best = 0
        for k in range(i):
            best = max(best, t[i, k] + t[k, i])
        t[i, i] = best
    return t


def downwards(t):
    t = t.copy()
    for i in range(t.shape[0]):
        least = t[i, 0]
        for k in range(t.shape[0] - 1, i, -1):
            if t[k, i] - 3 < least:
                least = t[k, i] - 3
        t[i, 0] = least
    return t


def both(t):
    t = t.copy()
    for i in range(t.shape[0]):
        low = high = t[i, 0]
        total = 0
        for k in range(1, t.shape[1]):
            low, high = min(low, t[i, k]), max(high, t[i, k])
            total += t[i, k] * k
        t[i, 0] = (high - low) + total
    return t


def where_it_is(t):
    t = t.copy()
    for i in range(t.shape[0]):
        best, place = t[i, 0], 0
        for k in range(1, t.shape[1]):
            if t[i, k] > best:
                best, place = t[i, k], k
        t[i, 0] = place
    return t


def on_the_way(t):
    t = t.copy()
    for i in range(t.shape[0]):
        best = t[i, 0]
        for k in range(1, t.shape[1]):
            best = max(best, t[i, k])
            t[i, k] = best
    return t


def replaced(t):  # what is negative gives way to anything: no minimum
    t = t.copy()
    for i in range(t.shape[0]):
        least = -1
        for k in range(t.shape[1]):
            if least < 0 or t[i, k] < least:
                least = t[i, k]
        t[i, 0] = least
    return t


def parts(function: Callable[..., Any], *args: Any) -> tuple[Any, bool]:
    """The compiled function, and whether turns of a loop take several numbers."""
    made = npcompile.jit(function, cache=False, fullgraph=True)
    program = made.lower(*args).executable.program
    return made, any(min_max_loops.PART in buffer.name for buffer in program.buffers)


def matrix(rows: int, columns: int) -> Any:
    return np.random.default_rng(rows + columns).integers(-50, 50, (rows, columns))


@pytest.mark.parametrize("function", [columns, downwards, both])
def test_parts(function: Callable[..., Any]) -> None:
    made, parted = parts(function, matrix(20, 20))
    assert parted
    for size in (0, 1, 2, 3, 4, 5, 6, 21):
        shape = (size, max(size, 1))
        if function is columns or shape[0] > 0:
            oracle.check_calls(made, function, matrix(*shape), policy=oracle.EXACT)


@pytest.mark.parametrize("function", [where_it_is, on_the_way, replaced])
def test_one_number(function: Callable[..., Any]) -> None:
    made, parted = parts(function, matrix(20, 20))
    assert not parted
    for size in (1, 2, 7, 20):
        oracle.check_calls(made, function, matrix(size, size), policy=oracle.EXACT)


@pytest.mark.parametrize("row", [1, 2, 7, 18, 19])
def test_overflows_in_either_part(row: int) -> None:
    made, parted = parts(columns, matrix(20, 20))
    assert parted
    for column in range(row):
        t = matrix(20, 20)
        t[row, column] = t[column, row] = 2**62 + 5
        oracle.check_calls(made, columns, t, policy=oracle.EXACT)


def unheard(a):
    last = place = 0
    for k in range(len(a)):
        last = place
        place = k ^ (last & 3)
        a[k] = k * 2.0
    return a


def test_unheard_numbers_are_not_carried() -> None:
    made = npcompile.jit(unheard, cache=False, fullgraph=True)
    for n in (0, 1, 2, 30):
        oracle.check_calls(made, unheard, np.ones(n), policy=oracle.EXACT)
    program = made.lower(np.ones(30)).executable.program
    assert [s.name for s in program.body if isinstance(s, If) for s in s.then] == ["lanes"]


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5, 6])
def test_random_loops(seed: int) -> None:
    checked(min_max_loops.GRAMMAR, [seed])
