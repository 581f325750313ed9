"""``heapq``: its functions in Python, which compare the same items in the same order as its own in
C, and are followed like the user's.

What a heap holds is NaN nowhere: Python's comparisons of tuples ask first whether two NaN are one
object.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

from npcompile.python.values import NULL, HeapObject, Value, Vector
from npcompile.tracing.builtin_functions import Args, Keywords, Rule, rule
from npcompile.tracing.polyfills.consumers import follow

if TYPE_CHECKING:
    from npcompile.tracing.services import Tracer


def _rise(heap: list[Any], first: int, at: int) -> None:
    """Moves an item towards the front, no further than to a place."""
    item = heap[at]
    while at > first:
        above = (at - 1) >> 1
        parent = heap[above]
        if not item < parent:
            break
        heap[at] = parent
        at = above
    heap[at] = item


def _sink(heap: list[Any], first: int) -> None:
    """Moves an item down to a leaf, and up again to where it belongs."""
    size, at, item = len(heap), first, heap[first]
    below = 2 * at + 1
    while below < size:
        right = below + 1
        if right < size and not heap[below] < heap[right]:
            below = right
        heap[at] = heap[below]
        at = below
        below = 2 * at + 1
    heap[at] = item
    _rise(heap, first, at)


def _push(heap: list[Any], item: Any) -> None:
    heap.append(item)
    _rise(heap, 0, len(heap) - 1)


def _pop(heap: list[Any]) -> Any:
    last = heap.pop()
    if not heap:
        return last
    found = heap[0]
    heap[0] = last
    _sink(heap, 0)
    return found


def _replace(heap: list[Any], item: Any) -> Any:
    found = heap[0]
    heap[0] = item
    _sink(heap, 0)
    return found


def _push_and_pop(heap: list[Any], item: Any) -> Any:
    if heap and heap[0] < item:
        found = heap[0]
        heap[0] = item
        _sink(heap, 0)
        return found
    return item


def _heapify(heap: list[Any]) -> None:
    for at in range(len(heap) // 2 - 1, -1, -1):
        _sink(heap, at)


# ---------------------------------------------------------------------- their calls


def _of_heap(function: Any, count: int) -> Rule:
    """A function of a list; one that is followed item by item is wanted in columns."""

    def called(t: Tracer, args: Args, kwargs: Keywords) -> Value:
        obj, *item = args or (NULL,)
        fits = len(args) == count and not kwargs
        if not fits or not isinstance(obj, HeapObject) or obj.kind is not list:
            return NULL
        held = t.heap[obj]
        if not isinstance(held, Vector):
            t.requests.columns_of(obj, (*held, *item), True)
            raise t.refuse(f"heapq.{function.__name__.strip('_')}", "of a list of objects")
        return follow(t, function, *args)

    return called


for _function, _meaning, _count in (
    (heapq.heappush, _push, 2), (heapq.heappop, _pop, 1), (heapq.heapreplace, _replace, 2),
    (heapq.heappushpop, _push_and_pop, 2), (heapq.heapify, _heapify, 1),
):
    rule(_function)(_of_heap(_meaning, _count))


@rule(_rise, _sink)
def _moves(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    return follow(t, _rise if len(args) == 3 else _sink, *args)
