"""Integers of which only low bits are used keep Python's numbers, however wide they were."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import npcompile
from npcompile.program.ir import SideExit, flat
from tests.support import oracle

SEEDS = (0, 1, -1, 12345, 2**31, 2**62, -(2**62), 2**63 - 1, -(2**63))


def congruential(seed: int, n: int) -> Any:
    out = np.empty(n)
    for i in range(n):
        seed = (1103515245 * seed + 12345) & 0x7FFFFFFF
        out[i] = seed / 2147483648.0
    return out, seed


def shifts(seed: int, n: int) -> Any:
    for _ in range(n):
        seed ^= (seed << 13) & 0x7FFFFFFF
        seed ^= seed >> 17
        seed ^= (seed << 5) & 0x7FFFFFFF
    return seed


def remainders(seed: int, n: int) -> Any:
    for i in range(n):
        seed = ((seed << 40) - (i ^ ~seed) * 31) % 2**32
    return seed


def several_times(seed: int, n: int) -> Any:
    """The product is seen whole, too."""
    for _ in range(n):
        wide = seed * 0x5DEECE66D
        seed = (wide & 0xFFFF) + (1 if wide > 2**65 else 0)
    return seed


def quotients(seed: int, n: int) -> Any:
    for _ in range(n):
        seed = (seed * 69069) // 3 & 0xFFFF
    return seed


def not_a_power(seed: int, n: int) -> Any:
    for _ in range(n):
        seed = (seed * 16807 + 2**62) % 2147483647
    return seed


def to_numpy(seed: int, n: int) -> Any:
    for _ in range(n):
        seed = int(np.int64(seed * 2**40) & 0xFF) + 2**30
    return seed


def negative_mask(seed: int, n: int) -> Any:
    for _ in range(n):
        seed = seed * 2**35 & -16
    return seed


def index_between(seed: int, n: int) -> Any:
    """Where the index is out of range Python goes on with the product on its stack."""
    table = np.arange(4)
    seen = np.zeros(2, dtype=np.int64)
    for i in range(n):
        seen[0] += 1
        try:
            seed = (seed * 2**61 + int(table[i])) & 0xFF
        except IndexError:
            seed = 77
    return seed, seen


def in_both_arms(seed: int, n: int) -> Any:
    table = np.arange(3)
    for i in range(n):
        if i % 2:
            seed = (seed * n + int(table[i % 3])) & 0xFF
        else:
            seed = (seed * n - i) & 0xFFFF
    return seed


FREE = (congruential, shifts, remainders)
OTHERS = (several_times, quotients, not_a_power, to_numpy, negative_mask, index_between,
          in_both_arms)


@pytest.mark.parametrize("function", FREE + OTHERS, ids=lambda f: f.__name__)
def test_python_s_numbers(function: Callable[..., Any]) -> None:
    compiled = npcompile.jit(function, cache=False)
    for seed in SEEDS:
        for n in (1, 6):
            oracle.check_calls(compiled, function, seed, n)


@pytest.mark.parametrize("function", FREE, ids=lambda f: f.__name__)
def test_nothing_is_checked(function: Callable[..., Any]) -> None:
    program = npcompile.jit(function, cache=False).lower(5, 10).executable.program
    assert not any(isinstance(statement, SideExit) for statement in flat(program.body))
