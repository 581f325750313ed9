"""Far rows of what a sweep makes are computed before it: the same bits, in less memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from tests.fuzz.stencils import small_parts
from tests.support import oracle


def products(u: Any, v: Any, n: int) -> Any:
    for _ in range(n):
        w = np.roll(u * v + 1.0, 1, 0) - np.roll(u / v, -1, 0)
        u, v = 0.5 * u + w, v - 0.25 * w
    return u, v


def in_place(u: Any, v: Any, n: int) -> None:
    """What the row is computed from is overwritten by the same sweep."""
    for _ in range(n):
        w = u * v + 1.0
        u[1:-1] += 0.1 * (np.roll(w, 1, 0) - np.roll(w, -1, 0))[1:-1]
        v[...] = np.roll(w, 1, 0) * 0.5


def through_others(u: Any, v: Any, n: int) -> Any:
    """A row that is computed from rows that the sweep makes, too."""
    for _ in range(n):
        slope = 1.0 / (u * u + 1.5) + np.sqrt(v)
        flux = slope * slope * u + slope
        u = u + 0.1 * (np.roll(flux, 1, 0) - np.roll(flux, 1, 1)) + slope
        v = np.roll(slope, -1, 0)
    return u, v


def far_in_neighbours(u: Any, v: Any, n: int) -> Any:
    """The far row needs neighbouring rows of what the sweep makes."""
    for _ in range(n):
        w = np.roll(u * v, 1, 0)
        u = u + np.roll(w * w + v, 1, 0) - np.roll(w, -2, 0)
    return u


def half_of_it(u: Any, v: Any, n: int) -> Any:
    """Nobody writes all of the row."""
    for _ in range(n):
        w = u.copy()
        w[:, 1:] = u[:, :-1] * v[:, 1:]
        u = u + np.roll(w, 1, 0)
    return u


def without_edges(u: Any, v: Any, n: int) -> Any:
    """The row is one that the sweep leaves as it is."""
    for _ in range(n):
        u[1:-1] = u[:-2] - u[2:] * v[1:-1]
        u[-1] = u[0]
        u[0] = u[-2] + v[0]
    return u


def flags(u: Any, v: Any, n: int) -> Any:
    for _ in range(n):
        u = np.roll(u / (v - v[0, 0]), 1, 0) + np.roll(v, 1, 0)
    return u


def rows_of_two(u: Any, v: Any, n: int) -> Any:
    """Both rows are there from the begin on, in memory of their own."""
    sums, gaps = u * v, u - v
    far, other = np.empty_like(u), np.empty_like(u)
    far[:1] = sums[-1:] + 1.0
    far[1:] = sums[:-1] * 0.5
    other[:1] = gaps[-1:] - 1.0
    other[1:] = gaps[:-1] * 0.25 + far[1:]
    return sums, gaps, far, other


FUNCTIONS = [products, in_place, through_others, far_in_neighbours, half_of_it, without_edges,
             flags, rows_of_two]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_same_bits(function: Callable[..., Any]) -> None:
    with small_parts():
        compiled = jit(function, cache=False)
        for shape in [(61, 8), (5, 6), (3, 3), (2, 3), (1, 4), (0, 4), (4, 0)]:
            args = np.random.default_rng(3).uniform(0.1, 1.0, (2, *shape))
            oracle.check_calls(compiled, function, *args, 3)


@pytest.mark.parametrize("function", [products, in_place, through_others],
                         ids=lambda f: f.__name__)
def test_few_rows(function: Callable[..., Any]) -> None:
    """Temporaries are windows: no more than the results, and the rows of a block."""
    u, v = np.ones((2, 640, 1000))
    compiled = jit(function, cache=False)
    told = compiled.explain(u.copy(), v.copy(), 3)
    assert told.peak is not None and told.peak < 3.5 * u.nbytes


def test_rows_ahead() -> None:
    u, v = np.ones((2, 64, 100))

    def rows(function: Callable[..., Any]) -> int:
        program = jit(function, cache=False).lower(u.copy(), v.copy(), 3).program
        return program.count("kernel ahead")

    assert rows(products) and rows(through_others)
    assert not rows(half_of_it) and not rows(without_edges)
