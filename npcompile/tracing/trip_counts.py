"""Loops whose trip counts only the run knows: what each iteration of an iterator gives.

A range is run over by its own index; everything else by a position ``k`` from the iterator's own
to its length, at which items are views and numbers that depend on ``k``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from npcompile.core.records import record
from npcompile.core.sizes import (
    Size,
    Unhinted,
)
from npcompile.graph.ir import Node
from npcompile.python import range_bounds
from npcompile.python.iterator import Iterator, RangeIterator
from npcompile.python.iterators import ConstantIterator
from npcompile.python.values import HeapObject, Value, Vector
from npcompile.tracing.escapes import as_number

if TYPE_CHECKING:
    from npcompile.tracing.services import Tracer

Bounds = tuple[Size, Size, Size]


@record
class Iterations:
    """``range(start, stop, step)`` of an index, and what the iteration with an index gives: the
    item, and the iterator after it.  ``low`` and ``high`` are the ends of the index, inclusive.
    ``standing`` gives the iterator before an item, should it be left to Python, and ``before`` the
    one before the iteration with an index."""

    start: Size
    stop: Size
    step: Size
    low: Size
    high: Size
    item: Callable[[Node, Size], tuple[Value, Iterator]]
    before: Callable[[Size], Iterator]
    standing: Callable[[Size, Value], Value] = lambda k, begun: begun


def iterations(t: Tracer, iterator: Iterator) -> Iterations:
    """Describes the iterations of a loop over the rest of an iterator; refuses iterators whose
    state must be known while tracing."""
    found = iterator.bounds(t)
    if found is None:
        count = iterator.size(t)
        first = iterator.position

        def place(index: Node, k: Size) -> tuple[Value, Iterator]:
            return iterator.item_at(t, k - first), iterator.after(t, k - first + 1)

        def standing(k: Size, begun: Value) -> Value:
            return iterator.after(t, k - first) if _checks(t, iterator) else begun

        def before(k: Size) -> Iterator:
            return iterator.after(t, k - first)

        return Iterations(first, count, 1, first, count - 1, place, before, standing)
    start, stop, step = found
    rising = range_bounds.is_positive(t, step)

    def number(index: Node, i: Size) -> tuple[Value, Iterator]:
        value = t.builder.size(i) if range_bounds.small(t, start, stop) else index
        return value, standing_at(i + step)

    def standing_at(i: Size) -> Iterator:
        rest = tuple(t.builder.size(n) for n in (i, stop, step))
        return RangeIterator(rest, token=iterator.token, begun=iterator.begun)

    ends = (start, stop - 1) if rising else (stop + 1, start)
    return Iterations(start, stop, step, *ends, number, standing_at)


def _checks(t: Tracer, it: Value) -> bool:
    """Whether an iterator's items are checked when they are taken."""
    held = t.heap.get(it) if isinstance(it, HeapObject) else None
    if isinstance(held, Vector):
        return held.home == "boxed"
    return isinstance(it, Iterator) and any(_checks(t, part) for part in it.over)


def has_iterations(t: Tracer, over: Iterations) -> bool:
    """Whether there is a first iteration, by a guard if need be."""
    ends = (over.low, over.high)
    try:
        return t.facts.ask("<=", *ends)
    except Unhinted:
        return t.facts.ensure("<=", *ends)


def first(t: Tracer, iterator: Iterator, over: Iterations) -> Node:
    """The index of the first iteration, as a number that may be large."""
    if not isinstance(iterator, RangeIterator) or range_bounds.small(t, over.start):
        return t.builder.size(over.start)
    number = t.call_record(int, (iterator.over[0],))
    for _ in range(iterator.position):
        number = t.binary("+", number, iterator.over[2])
    found = as_number(t, number)
    assert found is not None
    return found


def check(t: Tracer, it: Iterator) -> None:
    """Refuses a range that Python would refuse to make."""
    found = it.bounds(t)
    assert found is not None
    range_bounds.is_positive(t, found[2])


def standing(t: Tracer, value: Value) -> Value:
    """An iterator as one at its beginning, if that can be told; any other value as it is."""
    if not isinstance(value, Iterator) or value.itself:
        return value
    counted = isinstance(value, ConstantIterator) and value.bounds(t) is not None
    return value.after(t, 0) if counted or value.rest(t) is None else value


def alike(a: Iterator, b: Iterator) -> bool:
    """Whether iterators that stand at their beginnings differ in nothing but their parts."""
    return (
        type(a) is type(b) and a.merges and len(a.over) == len(b.over)
        and not a.position and not b.position and a.itself == b.itself
    )
