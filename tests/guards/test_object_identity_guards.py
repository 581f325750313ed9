"""What is found in two places and is one object at one call may be two at the next."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from tests.support import oracle


class Thing:
    def __init__(self, v: int) -> None:
        self.v = v
        self.array = np.arange(3.0) + v
        self.list = [v, v + 1.0]
        self.tuple = (v, 2.0)
        self.dict = {"k": v}
        self.next: Any = None

    def get(self) -> int:
        return self.v

    def contents(self) -> Any:
        return self.v, self.array.tolist(), list(self.list), self.tuple, dict(self.dict)


def ring(n: int) -> Thing:
    things = [Thing(k) for k in range(n)]
    for one, other in zip(things, things[1:] + things[:1]):
        one.next = other
    return things[0]


def walked(p: Any, q: Any, n: int) -> Any:
    at = p
    for _ in range(n):
        at = at.next
    return at.v


def counted_down(p: Any, q: Any, n: int) -> Any:
    at = p
    while n > 0:
        at = at.next
        n -= 1
    return at.v


def rebound(p: Any, q: Any, n: int) -> Any:
    a = p
    for _ in range(n):
        a = q
    return a.v, a is p, a is q


def chosen(p: Any, q: Any, n: int) -> Any:
    a = p if n > 1 else q
    a.v += 1
    return a.v, p.v, q.v


def arrays(p: Any, q: Any, n: int) -> Any:
    a = p.array
    for _ in range(n):
        a = q.array
    return a.sum(), a is p.array


def lists(p: Any, q: Any, n: int) -> Any:
    a = p.list
    for i in range(n):
        a = q.list if i % 2 else p.list
        a[0] = a[0] + 1
    return p.list, q.list


def appended(p: Any, q: Any, n: int) -> Any:
    a = p.list if n > 1 else q.list
    a.append(n)
    return a


def dicts(p: Any, q: Any, n: int) -> Any:
    a = p.dict if n > 1 else q.dict
    a["k"] += 1
    return a["k"], a is p.dict


def tuples(p: Any, q: Any, n: int) -> Any:
    a = p.tuple if n > 1 else q.tuple
    return a[0], a is q.tuple


def methods(p: Any, q: Any, n: int) -> Any:
    f = p.get
    for _ in range(n):
        f = q.get
    return f()


def best(p: Any, q: Any, n: int) -> Any:
    found = p
    for i in range(n):
        if q.v + i > found.v:
            found = q
    return found.v


def stored(p: Any, q: Any, n: int) -> Any:
    p.v = 5 + n
    p.list[0] = 7
    return q.v, q.list[0], p.list is q.list


PAIRS: list[Callable[[], tuple[Thing, Thing]]] = [
    lambda: (ring(1),) * 2,
    lambda: (ring(2), ring(3)),
    lambda: (one := ring(2), one.next),
    lambda: (one := ring(3), one.next.next),
]


@pytest.mark.parametrize("function", [
    walked, counted_down, rebound, chosen, arrays, lists, appended, dicts, tuples, methods, best,
    stored,
])
def test_objects_in_two_places(function: Any) -> None:
    for order in itertools.permutations(range(len(PAIRS)), 3):
        compiled = jit(function)
        for n, kind in itertools.product((2, 0, 1, 3), order):
            got, want = (oracle.observe(call, *PAIRS[kind](), n) for call in (compiled, function))
            oracle.check(got, want)


def scaled(factor: int) -> Callable[[int], int]:
    return lambda x: x * factor


def test_functions_of_equal_code() -> None:
    @jit
    def last(f: Any, g: Any, n: int) -> Any:
        h = f
        for _ in range(n):
            h = g
        return h(2)

    same = scaled(3)
    assert last(same, same, 2) == 6
    assert last(scaled(3), scaled(5), 2) == 10
    assert last(scaled(3), scaled(5), 0) == 6


class Pair:
    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y


def compared(p: Pair, q: Pair, n: int) -> Any:
    first, last = p.x, q.y
    found = []
    for _ in range(n):
        q.y = p.y  # which Python does where p is q
        found.append((first, q.x is last))
    p.x = q.x
    return first, last, found


def test_numbers_are_one_object_after_a_graph_break() -> None:
    for value in (2.5, 1 << 40, np.float64(1.5), 3):
        compiled = jit(compared)
        for n in (2, 3, 0, 2):
            one, other = Pair(value, value), Pair(value, value)
            assert compiled(one, one, n) == compared(other, other, n)
            assert compiled(one, other, n) == compared(other, one, n)
