"""Nests of scalar loops whose rows run in pairs: the same elements, in a legal order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import npcompile
from tests.fuzz import wavefronts
from tests.fuzz.framework import checked
from tests.support import oracle

NOTE = "run at a time"


def five_points(a):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            a[i, j] = (a[i - 1, j] + a[i, j - 1] + a[i, j] + a[i, j + 1] + a[i + 1, j]) / 5.0


def upwards(a):
    for i in range(a.shape[0] - 2, -1, -1):
        for j in range(1, a.shape[1] - 2):
            a[i, j] = max(a[i + 1, j + 2], a[i, j - 1] * 0.5) + 1.0


def with_sums(a):
    for i in range(1, a.shape[0]):
        total = a[i - 1, 0]
        for j in range(a.shape[1] - 1):
            total = total * 0.5 + a[i - 1, j + 1]
            a[i, j] = total


def by_columns(a):
    for j in range(1, a.shape[1]):
        for i in range(1, a.shape[0]):
            a[i, j] = a[i - 1, j] * 0.25 + a[i, j - 1]


def backwards(a):  # needs all of the row before
    for i in range(1, a.shape[0]):
        for j in range(1, a.shape[1]):
            a[i, j] = a[i - 1, a.shape[1] - 1 - j] + a[i, j - 1]


def last_first(a):  # needs the last element of the row before
    for i in range(1, a.shape[0]):
        for j in range(1, a.shape[1]):
            a[i, j] = a[i - 1, a.shape[1] - 1] * 0.5 + a[i, j - 1]


def far(a):
    for i in range(1, a.shape[0]):
        for j in range(1, a.shape[1] - 4):
            a[i, j] = a[i - 1, j + 4] * 0.5 + a[i, j - 1]


def carried(a):
    total = 1.0
    for i in range(1, a.shape[0]):
        for j in range(1, a.shape[1]):
            total = total * 0.5 + a[i, j]
            a[i, j] = total


def next_first(a):  # writes what the next row begins with, from its last column
    for i in range(a.shape[0] - 1):
        for j in range(1, a.shape[1]):
            a[i, j] = a[i, j - 1] * 0.5 + a[i, j]
            a[i + 1, 0] = a[i, j]


def nothing(a):  # nothing is left to do in the inner loop
    for i in range(1, a.shape[0]):
        a[i, 0] += 1.0
        for _ in range(a.shape[1]):
            w = np.zeros(6)
            w[:] = a[0, 0]


def compiled(function: Callable[..., Any], *args: Any) -> tuple[Any, bool]:
    """The compiled function, and whether rows run in pairs."""
    made = npcompile.jit(function, cache=False, fullgraph=True)
    program = made.lower(*args).executable.program
    return made, any(NOTE in note for note in program.notes)


def matrix(*shape: int) -> Any:
    return np.random.default_rng(1).standard_normal(shape)


@pytest.mark.parametrize("function", [five_points, upwards, with_sums, by_columns])
def test_pairs(function: Callable[..., Any]) -> None:
    made, pairs = compiled(function, matrix(30, 30))
    assert pairs
    for rows in (2, 3, 4, 5, 6, 31):
        for columns in (3, 4, 5, 6, 7, 20):
            oracle.check_calls(made, function, matrix(rows, columns), policy=oracle.EXACT)


@pytest.mark.parametrize("function", [backwards, last_first, far, carried, next_first, nothing])
def test_one_by_one(function: Callable[..., Any]) -> None:
    made, pairs = compiled(function, matrix(30, 30))
    assert not pairs
    for shape in ((7, 9), (30, 30)):
        oracle.check_calls(made, function, matrix(*shape), policy=oracle.EXACT)


def warped(x, y):
    cost = np.full((len(x) + 1, len(y) + 1), 3, np.int32)
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            cost[i, j] = (x[i - 1] - y[j - 1]) + min(cost[i - 1, j], cost[i, j - 1])
    return cost


def test_checks_in_either_row() -> None:
    x, y = np.zeros(20, np.int32), np.zeros(20, np.int32)
    made, pairs = compiled(warped, x, y)
    assert pairs
    for row in (0, 6, 7, 19):
        for column in (0, 1, 9, 18, 19):
            x[:], y[:] = 0, 0
            x[row], y[column] = 2**31 - 2, -5
            oracle.check_calls(made, warped, x, y, policy=oracle.EXACT)


def quotients(a):
    for i in range(1, a.shape[0]):
        for j in range(1, a.shape[1]):
            a[i, j] = a[i, j] / a[i - 1, j] - a[i, j - 1]


def test_warnings_of_either_row() -> None:
    made, pairs = compiled(quotients, matrix(20, 20))
    assert pairs
    for row in (3, 4, 18):
        for value in (0.0, 1e308, np.nan):
            a = matrix(20, 20)
            a[row, 17] = value
            oracle.check_calls(made, quotients, a, policy=oracle.EXACT)


@pytest.mark.parametrize("seed", [3, 4, 11, 21])
def test_random_nests(seed: int) -> None:
    checked(wavefronts.GRAMMAR, [seed])
