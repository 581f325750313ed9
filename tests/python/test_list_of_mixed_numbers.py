"""Lists of numbers each of which is Python's or NumPy's: what an item is shows in its type."""

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


@pytest.mark.parametrize("function", [last_item, divided, counted, appended, returned, kinds])
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
