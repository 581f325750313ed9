"""Loops whose first or last turns take other branches run in regions of turns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import npcompile
from npcompile.program.ir import For, If, flat
from npcompile.schedule.loops import vector_loops
from tests.support import oracle


def thomas(x: Any) -> Any:
    """Columns of which each needs the one before, with others at both ends."""
    n = x.shape[1]
    c = np.zeros_like(x)
    for k in range(n):
        below = 0.25 * x[:, k - 1] if k > 0 else np.zeros(x.shape[0])
        above = 0.5 * x[:, k + 1] if k < n - 1 else np.ones(x.shape[0])
        if k == 0:
            c[:, k] = above - x[:, k]
        else:
            c[:, k] = above / (below - c[:, k - 1])
    return c


def backwards(x: Any) -> Any:
    c = x.copy()
    for k in range(x.shape[1] - 1, -1, -1):
        if k == x.shape[1] - 1:
            c[:, k] = x[:, k] * 0.5
        elif k >= 2:
            c[:, k] = c[:, k + 1] + x[:, k]
        else:
            c[:, k] = c[:, k + 1] - x[:, k]
    return c


def stencil(x: Any) -> Any:
    """Elements, with others all around."""
    n, m = x.shape
    out = np.empty_like(x)
    for i in range(n):
        for j in range(m):
            if i == 0 or j == 0 or i == n - 1 or j == m - 1:
                out[i, j] = x[i, j]
            else:
                out[i, j] = (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]) * 0.25
    return out


def but_one(x: Any) -> Any:
    v = x[0].copy()
    w = np.empty_like(v)
    for j in range(len(v)):
        if j != 3:
            w[j] = v[j] * 2.0
        else:
            w[j] = v[j] - v[0]
    return w


def short_of_the_end(x: Any) -> Any:
    v = x[0]
    w = np.zeros(len(v))
    for j in range(1, len(v)):
        if j <= len(v) - 3:
            w[j] = v[j + 2]
        else:
            w[j] = v[j] + v[j - 1]
    return w


FUNCTIONS = (thomas, backwards, stencil, but_one, short_of_the_end)


def branches(function: Callable[..., Any], *args: Any) -> int:
    """How many statements of a compiled function choose, but between lanes and a loop."""
    body = npcompile.jit(function, cache=False).lower(*args).executable.program.body
    return sum(isinstance(s, If) and not vector_loops.is_choice(s) for s in flat(body))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("first", [(5, 7), (2, 2)], ids=str)
def test_regions_are_what_the_loop_was(
    function: Callable[..., Any], first: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_loops, "MANY", 2)
    compiled = npcompile.jit(function, cache=False)
    with np.errstate(all="ignore"):
        for shape in (first, (4, 9), (3, 1), (1, 3), (3, 2), (1, 1), (20, 30), (3, 0)):
            x = np.arange(1.0, 1 + shape[0] * shape[1]).reshape(shape) % 7
            oracle.check_calls(compiled, function, x)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_no_branch_is_left(function: Callable[..., Any]) -> None:
    assert branches(function, np.ones((20, 30))) == 0


def test_most_of_a_loop_is_not_written_again_for_few_branches() -> None:
    def steps(x: Any) -> Any:
        for t in range(20):
            x = x * 0.5 + np.roll(x, 1)
            x = x - x.mean() * np.sqrt(np.abs(x))
            if t == 10:
                x = x + 1.0
        return x

    body = npcompile.jit(steps, cache=False).lower(np.ones(50)).executable.program.body
    assert sum(isinstance(s, For) and s.symbol.name.startswith("i") for s in flat(body)) == 1


def test_a_check_in_a_region_hands_over_what_it_needs() -> None:
    def f(x: Any, at: Any) -> Any:
        for k in range(x.shape[1]):
            if k > 0:
                x[:, k] = x[:, k - 1] * 0.5 + x[0, at[k]]
                x[1] += 1.0
            else:
                x[:, k] = np.ones(len(x)) - x[0, at[k]]
        return x

    assert branches(f, np.ones((3, 5)), np.arange(5)) == 0
    for at in ([0, 1, 2, 3, 4], [0, 1, 9, 3, 4], [9, 1, 2, 3, 4], [0, 1, 2, 3, 9], [0, 9, 9, 3, 4]):
        outcomes = []
        for function in (npcompile.jit(f), f):
            x = np.arange(15.0).reshape(3, 5)
            try:
                outcomes.append((str(function(x, np.array(at))), x.tolist()))
            except IndexError as error:
                outcomes.append((str(error), x.tolist()))
        assert outcomes[0] == outcomes[1]
