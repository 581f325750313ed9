"""An array that two lists get is one object, and a write through one is seen in the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from npcompile import jit


def made_in_the_loop(n: int, b: Any) -> Any:
    p, q = [], []
    for i in range(n):
        a = b * i
        p.append(a)
        q.append(a)
    return p, q


def carried(n: int, b: Any) -> Any:
    p, q, a = [], [], b + 1.0
    for i in range(n):
        a = a + b
        p.append(a)
        if i % 2:
            q.append(a)
    return p, q, a


def an_argument(n: int, b: Any) -> Any:
    p, q = [], []
    for _ in range(n):
        p.append(b)
        q.append(b)
    return p, q, b


def from_the_other_list(n: int, b: Any) -> Any:
    p, q, same = [], [], 0
    for i in range(n):
        p.append(b + i)
        q.append(p[-1])
        same += p[0] is q[0]
    return p, q, same


def a_view(n: int, b: Any) -> Any:
    p, q = [], []
    for i in range(n):
        a = b - i
        p.append(a)
        q.append(a[1:])
    return p, q


def written_after(n: int, b: Any) -> Any:
    p, q = [], []
    for i in range(n):
        a = b * i
        p.append(a)
        q.append(a)
        a[0] = 7.0
    q[0][1] = 9.0
    return p, q, p[0] is q[0]


def seen(values: Any) -> Any:
    """What a caller sees: numbers and which objects are one, before and after writes."""
    arrays = [x for v in values if isinstance(v, list) for x in v]
    arrays += [v for v in values if isinstance(v, np.ndarray)]
    found = [[x is y for y in arrays] for x in arrays], [x.tolist() for x in arrays], values[2:]
    before = repr(found)
    for k, x in enumerate(arrays):
        x[-1] += 100.0 * (k + 1)
    return before, [x.tolist() for x in arrays]


@pytest.mark.parametrize("f", [
    made_in_the_loop, carried, an_argument, from_the_other_list, a_view, written_after,
])
def test_one_array_in_two_lists(f: Callable[..., Any]) -> None:
    fast = jit(f)
    for n in (3, 4, 3, 1, 2, 5):
        assert seen(fast(n, np.arange(3.0))) == seen(f(n, np.arange(3.0)))
