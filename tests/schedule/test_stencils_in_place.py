"""Steps in place keep a few rows of what they overwrite: the bits of whole temporaries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from tests.fuzz import stencils
from tests.fuzz.framework import checked
from tests.fuzz.stencils import small_parts
from tests.support import oracle

ROWS = 640
SOME = ROWS * 8000 // 4  # bytes: a quarter of an array


def plate(u: Any, v: Any, n: int) -> None:
    for _ in range(n):
        u[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
                                - 4 * u[1:-1, 1:-1])


def copied(u: Any, v: Any, n: int) -> None:
    for _ in range(n):
        old = u.copy()
        u[1:-1] = 0.5 * (old[:-2] + old[2:]) - v[1:-1]


def uneven(u: Any, v: Any, n: int) -> None:
    """Three rows before and one behind."""
    for _ in range(n):
        u[3:-1] = u[:-4] - u[4:] * v[3:-1]


def two_fields(u: Any, v: Any, n: int) -> None:
    for _ in range(n):
        old, other = u.copy(), v.copy()
        u[1:-1] = np.where(old[1:-1] > 0, other[:-2], old[2:] / other[1:-1])
        v[1:-1] = old[:-2] - other[2:]


def periodic(u: Any, v: Any, n: int) -> None:
    for _ in range(n):
        around = np.roll(u, 1, 0) + np.roll(u, -1, 0)
        u[...] = around * 0.5 - v


@pytest.mark.parametrize("function", [plate, copied, uneven, two_fields, periodic])
def test_few_rows(function: Callable[..., Any]) -> None:
    """The peak, for arrays of several parts, and the bits at the seams of the smallest parts."""
    with small_parts():
        compiled = jit(function, cache=False)
        for shape in [(61, 8), (5, 6), (2, 3), (0, 4)]:
            args = np.random.default_rng(3).uniform(-1.0, 1.0, (2, *shape))
            oracle.check_calls(compiled, function, *args, 3)
    u, v = np.ones((2, ROWS, 1000))
    assert jit(function).explain(u, v, 3).peak < SOME


def test_far_rows_that_are_new() -> None:
    """The last row reads what the first one has become."""
    def wrapped(u: Any, v: Any, n: int) -> None:
        for _ in range(n):
            u[1:-1] = u[:-2] - u[2:]
            u[-1] = u[0]
            u[0] = u[-2]

    with small_parts():
        compiled = jit(wrapped, cache=False)
        for rows in (40, 3, 1):
            args = np.random.default_rng(rows).uniform(-1.0, 1.0, (2, rows, 9))
            oracle.check_calls(compiled, wrapped, *args, 2)


@pytest.mark.parametrize("seed", range(8))
def test_random_steps(seed: int) -> None:
    few = replace(stencils.GRAMMAR, write=lambda seed: stencils.program(seed, most=4))
    checked(few, [seed])
