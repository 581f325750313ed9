"""Lists of numbers each of which is Python's or NumPy's: what an item is shows in its type."""

# ruff: noqa: PERF401
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import npcompile
from tests.support import oracle

Function = Callable[..., Any]


def queue(arrivals, service, counters):
    free = [0.0] * counters
    waits = []
    for i in range(len(arrivals)):
        first = 0
        for k in range(1, counters):
            if free[k] < free[first]:
                first = k
        start = max(arrivals[i], free[first])
        waits.append(start - arrivals[i])
        free[first] = start + service[i]
    return np.array(waits), max(free), min(free)


def last_item(x, at, n):
    held = [1.5] * n
    for i in range(len(x)):
        if x[i] > 0.5:
            held[at[i]] = x[i]
        else:
            held[at[i]] = 2.5
    return held[0], held[n - 1], held[at[0]]


def divided(x, at, n):
    held = [0.0] * n
    for i in range(len(x)):
        held[at[i]] = x[i]
    return 1.0 / held[0] + held[1] / held[n - 1]


def counted(x, at, n):
    held = [0] * n
    for i in range(len(at)):
        held[at[i]] += at[i]
    return held[0] * 2**40, held[n - 1] // 3, held[1]


def appended(x, at, n):
    held = [0.5]
    for i in range(len(x)):
        held.append(x[i])
        held.append(float(x[i]) * 2.0)
        if len(held) > 5:
            held.pop()
    total = 0.0
    for item in held:
        total = total + item
    return total, held[-1], held[1], len(held)


def returned(x, at, n):
    held = [0.0] * n
    for i in range(len(x)):
        held[at[i]] = x[i]
    return held


def kinds(x, at, n):
    held = [0.0] * n
    for i in range(len(x)):
        held[at[i]] = x[i]
    return np.array(held), sum(held), sorted(held)


def running(x, at, n):
    """Sums that are Python's until the first number is added."""
    total, sums = 0.0, []
    for i in range(len(x)):
        for k in range(i - n, i):
            total += x[k]
        sums.append(total)
    return sums, total


def clipped(x, at, n):
    small = [0.0]
    pairs = []
    for i in range(len(x)):
        small.append(x[i] if x[i] > 0.5 else -0.0)
        pairs.append((i, at[i] if x[i] > 0.5 else 7))
        small[i] = small[i] if i % 3 else 1.0
    return small, pairs, small[-1]


def rows(x, at, n):
    found = []
    for i in range(len(x)):
        found.append([i, x[i] if x[i] > 0.5 else 0.5])
    return found, [found[0][1], 1.0]


MIXED = [last_item, divided, counted, appended, returned, kinds, running, clipped, rows]


@pytest.mark.parametrize("function", MIXED)
@pytest.mark.parametrize("n", [2, 3, 6])
def test_items(function: Function, n: int) -> None:
    rng = np.random.default_rng(n)
    compiled = npcompile.jit(function)
    for x in (rng.random(4), rng.random(9), np.array([0.7, np.nan, 0.0, -0.0]), np.zeros(5)):
        args = x, rng.integers(0, n, len(x)), n
        oracle.check_calls(compiled, function, *args, nans=True, warnings="all")


def test_a_queue() -> None:
    rng = np.random.default_rng(3)
    compiled = npcompile.jit(queue)
    for counters in (3, 1, 5, 0):
        args = np.cumsum(rng.random(60)), 3.0 * rng.random(60), counters
        oracle.check_calls(compiled, queue, *args, nans=True, warnings="all")
    few = np.array([0.5]), np.array([1.0]), 3  # what nobody used is Python's
    oracle.check_calls(compiled, queue, *few, nans=True, warnings="all")
    assert compiled.explain(*few).refusal is None


@pytest.mark.parametrize("function", [returned, running, clipped, rows])
def test_lists_of_them_are_results(function: Function) -> None:
    """Machine code makes them, and each number is of the type that Python gives it."""
    args = np.array([0.7, 0.2, 0.9, 0.1]), np.array([1, 0, 1, 1]), 2
    oracle.alike(function, args, times=2)
