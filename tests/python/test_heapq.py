"""``heapq`` on lists of numbers and of tuples: the same lists, item by item, as Python's own."""

import heapq
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from tests.support.oracle import as_python


def ordered(x):
    heap, found = [], []
    for v in x:
        heapq.heappush(heap, v)
    while heap:
        found.append(heapq.heappop(heap))
    return found


def heap_of_floats(x):
    heap = [float(v) for v in x]
    heapq.heapify(heap)
    return heap


def smallest(x):
    heap = [int(v * 100) for v in x]
    heapq.heapify(heap)
    total = 0
    for i in range(20):
        total += heapq.heappushpop(heap, i)
        total += heapq.heapreplace(heap, 3 * i)
    return total, heap


def ties(x):
    heap = []
    for i in range(len(x)):
        heapq.heappush(heap, (i % 3, float(x[i]), (-i, i + 1)))
    return heapq.heappop(heap), heap[0], len(heap)


def shortest(w):
    n = len(w)
    dist = np.full(n, np.inf)
    dist[0] = 0.0
    heap = [(0.0, 0)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > dist[u]:
            continue
        for v in range(n):
            if w[u, v] > 0:
                further = float(d + w[u, v])
                if further < dist[v]:
                    dist[v] = further
                    heapq.heappush(heap, (further, v))
    return dist


@pytest.mark.parametrize("function", [ordered, heap_of_floats, smallest, ties])
def test_the_same_lists(function: Callable[..., Any]) -> None:
    x = np.random.default_rng(0).random(25)
    as_python(function, x, compiled=True)
    as_python(function, np.repeat(x[:5], 3), compiled=True)


def test_shortest_paths() -> None:
    rng = np.random.default_rng(0)
    as_python(shortest, np.where(rng.random((9, 9)) < 0.4, rng.random((9, 9)), 0), compiled=True)


def test_an_empty_heap() -> None:
    def too_many(x):
        heap = []
        for v in x:
            heapq.heappush(heap, v)
        for _ in range(9):
            heapq.heappop(heap)

    for call in (jit(too_many), too_many):
        with pytest.raises(IndexError, match="index out of range"):
            call(np.arange(3.0))


def test_nan_in_tuples_is_compared_by_identity() -> None:
    def one_object(x):
        v, heap = float(x[0]), []
        for i in range(5):
            heapq.heappush(heap, (v, 5 - i))
        return heap

    as_python(one_object, np.array([np.nan]), compiled=True)
    as_python(ordered, np.array([2.0, np.nan, 1.0, 0.5]), compiled=True)


def test_heaps_from_outside_are_pythons() -> None:
    def push(heap, x):
        for v in x:
            heapq.heappush(heap, v)
        return heapq.heappop(heap)

    ours: list[float] = []
    theirs: list[float] = []
    x = np.array([3.0, 1.0, 2.0])
    assert (jit(push)(ours, x), ours) == (push(theirs, x), theirs)


def test_order_of_tuples() -> None:
    def orders(x):
        return ((x[0], 1) < (x[1], 2), (1, x[0]) <= (1, x[1]), (1, x[0]) >= (1, x[0]),
                (x[0],) < (x[0], 1), (x[0], x[1]) > (x[1],), (float(x[0]), 2) < (float(x[1]), 1))

    for x in ([1.0, 2.0], [2.0, 1.0], [1.0, 1.0]):
        as_python(orders, np.array(x), compiled=True)
    as_python(orders, np.array([np.nan, 1.0]), compiled=True)


def test_a_heap_that_only_an_exit_of_a_loop_hands_over() -> None:
    def f(a, n):
        heap = []
        for i in range(n):
            if a[i] > 0.5:
                break
        for i in range(n):
            heapq.heappushpop(heap, (a[i % 6], i))
            for i in range(n):  # noqa: B007
                pass

    as_python(f, np.array([0.1, 0.9, 0.3, 0.4, 0.5, 0.6]), 5)
