"""Functions that the program has made live on where Python goes on, and share its variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import npcompile
from npcompile import jit


def heap(a: Any, n: int) -> Any:
    def sift(start: int, end: int) -> None:
        root = start
        while 2 * root + 1 < end:
            child = 2 * root + 1
            if child + 1 < end and a[child] < a[child + 1]:
                child += 1
            if a[root] >= a[child]:
                break
            a[root], a[child] = a[child], a[root]
            root = child

    for start in range(n // 2 - 1, -1, -1):
        sift(start, n)
    for end in range(n - 1, 0, -1):
        a[0], a[end] = a[end], a[0]
        sift(0, end)
    return a


def counted(a: Any, n: int) -> Any:
    """Writes a variable of the frame around it."""
    calls, last = 0, -1

    def step(k: int, by: float = 2.0, *, more: int = 1) -> float:
        nonlocal calls, last
        calls += 1
        a[k] += by
        last = k
        return a[k + more] * calls

    for k in range(n):
        a[k] *= step(k)
    return calls, last, step(0), calls


def two(a: Any, n: int) -> Any:
    """One calls the other, and a variable is changed between."""
    scale = 1.0

    def first(k: int) -> float:
        return a[k] * scale

    def second(k: int) -> float:
        a[k] = first(k) + 1
        return first(k + 1)

    total = 0.0
    for k in range(n):
        total += second(k)
        scale = scale / 2
    return total, scale, first(0)


def later(a: Any, n: int) -> Any:
    """A variable that is not there yet."""
    def get(k: int) -> float:
        return a[k] + offset

    for k in range(n):
        a[k] += 1
    offset = 5.0
    return get(n)


def deep(a: Any, n: int) -> Any:
    def outer(k: int) -> float:
        part = a[k]

        def inner(j: int) -> float:
            nonlocal part
            part += 1
            a[j] = part
            return a[j + 1]

        return inner(k) + part

    total = 0.0
    for k in range(n):
        total += outer(k)
    return total


def returned(a: Any, n: int) -> Any:
    """A list of them, which stays Python's."""
    def get(k: int) -> float:
        return a[k] + 1

    for k in range(n):
        a[k] = get(k)
    return [get(0), a[n]]


FUNCTIONS = [heap, counted, two, later, deep, returned]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 12])
def test_same_in_and_out_of_range(function: Callable[..., Any], n: int) -> None:
    made = np.random.default_rng(n).normal(size=8)
    outcomes = []
    for called in (jit(function), function):
        a = made.copy()
        try:
            found: Any = called(a, n)
        except Exception as error:  # the plain function's is what is expected
            found = type(error), str(error), error.__traceback__ and _lines(error)
        outcomes.append((found, a))
    (got, left), (want, right) = outcomes
    np.testing.assert_array_equal(left, right)
    if isinstance(want, np.ndarray):
        np.testing.assert_array_equal(got, want)
    else:
        assert got == want


def _lines(error: Exception) -> list[tuple[str, int]]:
    """Names and lines of the functions that it went through, here."""
    found, at = [], error.__traceback__
    while at is not None:
        frame = at.tb_frame
        if frame.f_code.co_filename == __file__ and frame.f_code.co_name != _test:
            found.append((frame.f_code.co_name, at.tb_lineno))
        at = at.tb_next
    return found


_test = test_same_in_and_out_of_range.__name__


@pytest.mark.parametrize("function", FUNCTIONS[:5])
def test_captured(function: Callable[..., Any]) -> None:
    npcompile.jit(function, fullgraph=True)(np.arange(9.0), 8)
