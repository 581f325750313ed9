"""Loops over dictionaries from outside that Python changes in their turns."""

from __future__ import annotations

from typing import Any

import pytest

from npcompile import jit
from tests.support import oracle


def grown(c: dict[int, int], n: int) -> Any:
    for _ in c:
        c[n] = 2
    return len(c)


def grown_items(c: dict[int, int], n: int) -> Any:
    total = 0
    for k, (u, v) in enumerate(c.items()):
        total += k * u + v
        c[n] = 2
    return total


def changed_values(c: dict[int, int], n: int) -> Any:
    total = 0
    for k, v in zip(c, c.values()):
        total += k * v
        c[2] = n
    return total


def shrunk(c: dict[int, int], n: int) -> Any:
    for k in c:
        if k == n:
            c.pop(k)
    return c


def named(c: dict[int, int], n: int) -> Any:
    keys = iter(c)
    first = next(keys)
    c[n] = 1
    return first, next(keys)


def reversed_keys(c: dict[int, int], n: int) -> Any:
    total = 0
    for k in reversed(c):
        total = total * n + k
        c[k] = total
    return total


@pytest.mark.parametrize(
    "function", [grown, grown_items, changed_values, shrunk, named, reversed_keys]
)
def test_python_sees_what_happens_to_them(function: Any) -> None:
    compiled = jit(function)
    for keys in ([1, 2, 7], [0], [], [3, 2]):
        for n in (1, 2, 5, 7):
            oracle.check_calls(compiled, function, dict.fromkeys(keys, 3), n)
