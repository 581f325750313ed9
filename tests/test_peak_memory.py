"""``explain`` reports the most memory of arrays at once; it is never more than NumPy's."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from npcompile.runtime.pool import get_num_threads, set_num_threads


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
    assert f"{told.peak:,} bytes at once" in str(told)


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
