"""Results whose lengths only a branch or a loop knows own their memory, as NumPy's do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import npcompile


def line(start: Any, end: Any) -> Any:
    """Points of a line: one of two lengths, by the numbers."""
    wide, high = end[0] - start[0], end[1] - start[1]
    if abs(wide) >= abs(high):
        x = np.arange(start[0], end[0] + 1)
        y = np.round(x * (high / wide))
    else:
        y = np.arange(start[1], end[1] + 1)
        x = np.round(y * (wide / high))
    return x.astype(int), y.astype(int)


def either(a: Any, b: Any) -> Any:
    x = a if a[0] > 0 else b * 2
    y = x.astype(float)
    return y, y[1:], y, y.reshape(-1, 1)


def masked(a: Any, b: Any) -> Any:
    x = a[a > 2] if a[0] > 0 else b * 3
    return [x, x[::2], {"x": x}]


def shorter(a: Any, n: Any) -> Any:
    x = a * 1
    while len(x) > n:
        x = x[x > x.mean()]
    return x


def parts(a: Any) -> Any:
    if a[0] > 1:
        x = a[a > 1]
        y = x[1:]
    else:
        x = a * 2
        y = x[2:]
    return x, y


def arrays(thing: Any) -> list[Any]:
    if isinstance(thing, np.ndarray):
        return [thing]
    things = thing.values() if isinstance(thing, dict) else thing
    return [x for y in things for x in arrays(y)]


def looks(result: Any) -> list[Any]:
    """Numbers, owners and identities."""
    found = arrays(result)
    return [
        (x.tolist(), x.strides, x.flags.owndata, x.base is None,
         [x is y for y in found], [x.base is y for y in found])
        for x in found
    ]


A, B = np.arange(4.0), np.arange(5.0)


@pytest.mark.parametrize(("function", "calls"), [
    (line, [((-10, -10), (20, 10)), ((1, 2), (3, 14)), ((0, 0), (5, 5))]),
    (either, [(A, B), (A + 1, B), (A, B[:2])]),
    (masked, [(A, B), (A + 1, B), (A + 9, B)]),
    (shorter, [(A, 2), (A, 5), (A, 1)]),
    (parts, [(A,), (A + 2,), (A * 0,)]),
])
def test_own_their_memory(function: Any, calls: list[Any]) -> None:
    compiled = npcompile.jit(function)
    for args in calls * 2:
        assert looks(compiled(*args)) == looks(function(*args))
