"""Iterators that take their items from others: ``zip``, ``enumerate``, ``reversed``, ``map``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npcompile.core.sizes import INDEX, Size, Unhinted, smallest
from npcompile.graph.ir import Node
from npcompile.python import range_bounds
from npcompile.python.iterator import Iterator
from npcompile.python.range_bounds import Bounds
from npcompile.python.values import Sequence, Static, Value

if TYPE_CHECKING:
    from npcompile.python.protocol import Tracing


class ParallelIterator(Iterator):
    """Takes an item of each of its iterators."""

    __slots__ = ()

    def count(self, t: Tracing) -> int | None:
        inner = self.inner()
        lengths = [part.left(t) for part in inner]
        for k, part in enumerate(inner[:-1]):
            least = [0 if n is None else n for n in lengths[k + 1 :]]
            if part.calls() and (lengths[k] is None or min(least) < (lengths[k] or 0)):
                raise t.refuse(self.kind, "may call a function once more than it needs to")
        known = [n for n in lengths if n is not None]
        if 0 in known:
            return 0
        return min(known, default=0) if len(known) == len(lengths) else None

    def items(self, t: Tracing, k: int) -> tuple[Value, ...]:
        """The items at a place from its beginning."""
        return tuple([part.item(t, part.position + k) for part in self.inner()])

    def items_at(self, t: Tracing, k: Size) -> tuple[Value, ...]:
        """The items at a place from its beginning."""
        return tuple([part.item_at(t, k) for part in self.inner()])

    def _size(self, t: Tracing) -> Size:
        inner = self.inner()
        if not inner:
            return super()._size(t)
        if any(part.calls() for part in inner[:-1]):
            raise t.refuse(self.kind, "may call a function once more than it needs to")
        counts = [part.size(t) - part.position for part in inner]
        shortest = counts[0]
        for count in counts[1:]:
            shortest = _smaller(t, shortest, count)
        return shortest


class ZipIterator(ParallelIterator):
    """``zip(...)``"""

    __slots__ = ()
    kind = "zip"
    result = zip
    merges = True

    def item(self, t: Tracing, k: int) -> Value:
        return Sequence(self.items(t, k))

    def rest(self, t: Tracing) -> tuple[Value, ...] | None:
        columns = _rests(t, self)
        return None if columns is None else tuple(map(Sequence, zip(*columns)))

    def _item_at(self, t: Tracing, k: Size) -> Value:
        return Sequence(self.items_at(t, k))

    def _after(self, t: Tracing, k: Size) -> Iterator:
        return ZipIterator(tuple([part.after(t, k) for part in self.inner()]))


class MapIterator(ParallelIterator):
    """``map(function, ...)``: ``over`` are the function and the iterators."""

    __slots__ = ()
    kind = "map"

    def calls(self) -> bool:
        return True

    def item(self, t: Tracing, k: int) -> Value:
        return t.call(self.over[0], self.items(t, k), {})

    def _item_at(self, t: Tracing, k: Size) -> Value:
        return t.call(self.over[0], self.items_at(t, k), {})

    def _after(self, t: Tracing, k: Size) -> Iterator:
        return MapIterator((self.over[0], *(part.after(t, k) for part in self.inner())))


class EnumerateIterator(Iterator):
    """``enumerate(items, start)``: ``over`` are an iterator and the first number."""

    __slots__ = ()
    kind = "enumerate"
    result = enumerate
    merges = True

    def count(self, t: Tracing) -> int | None:
        return self.inner()[0].left(t)

    def item(self, t: Tracing, k: int) -> Value:
        number = t.binary("+", self.over[1], Static(k)) if k else self.over[1]
        (part,) = self.inner()
        return Sequence((number, part.item(t, part.position + k)))

    def rest(self, t: Tracing) -> tuple[Value, ...] | None:
        columns, start = _rests(t, self), self.over[1]
        if columns is None or not isinstance(start, Static):
            return None
        first = start.value + self.position
        numbers = tuple(map(Static, range(first, first + len(columns[0]))))
        return tuple(map(Sequence, zip(numbers, *columns)))

    def _size(self, t: Tracing) -> Size:
        (part,) = self.inner()
        return part.size(t) - part.position

    def _item_at(self, t: Tracing, k: Size) -> Value:
        number = numbered(t, self.over[1], k)
        return Sequence((number, self.inner()[0].item_at(t, k)))

    def _after(self, t: Tracing, k: Size) -> Iterator:
        rest = self.inner()[0].after(t, k)
        return EnumerateIterator((rest, numbered(t, self.over[1], k)))


class ReversedIterator(Iterator):
    """``reversed(items)``: ``over`` is the iterator that it goes through from the end."""

    __slots__ = ()
    kind = "reversed"

    def count(self, t: Tracing) -> int | None:
        return self.inner()[0].left(t)

    def item(self, t: Tracing, k: int) -> Value:
        (part,) = self.inner()
        count = part.left(t)
        assert count is not None
        return part.item(t, part.position + count - 1 - k)

    def rest(self, t: Tracing) -> tuple[Value, ...] | None:
        inner = self.inner()[0].rest(t)
        return None if inner is None else inner[::-1][self.position :]

    def bounds(self, t: Tracing) -> Bounds | None:
        found = self.inner()[0].bounds(t)
        if found is None:
            return None
        start, stop, step = range_bounds.backwards(t, found)
        return start + self.position * step, stop, step

    def _size(self, t: Tracing) -> Size:
        (part,) = self.inner()
        return part.size(t) - part.position

    def _item_at(self, t: Tracing, k: Size) -> Value:
        return self._whole(t).item_from_end(t, k)

    def _after(self, t: Tracing, k: Size) -> Iterator:
        return self._whole(t).before_end(t, k)

    def _whole(self, t: Tracing) -> Iterator:
        """The iterator that it goes through, of which nothing was taken."""
        (part,) = self.inner()
        if part.position:
            raise self._one_by_one(t)
        return part


def _smaller(t: Tracing, a: Size, b: Size) -> Size:
    try:
        return a if t.facts.ask("<=", a, b) else b
    except Unhinted:
        return smallest(a, b)


def _rests(t: Tracing, iterator: Iterator) -> list[tuple[Value, ...]] | None:
    """The items still to come of each iterator inside; None if they are not there."""
    columns: list[tuple[Value, ...]] = []
    for inner in iterator.inner():
        rest = inner.rest(t)
        if rest is None:
            return None
        columns.append(rest[iterator.position :])
    return columns


def numbered(t: Tracing, start: Value, k: Size) -> Value:
    """``start + k``, of an integer."""
    if isinstance(k, int) and k == 0:
        return start
    if isinstance(start, Static) and type(start.value) is int and abs(start.value) <= INDEX:
        return t.builder.size(start.value + k)
    size = t.builder.known_size(start) if isinstance(start, Node) else None
    if size is not None and range_bounds.small(t, size):
        return t.builder.size(size + k)
    return t.binary("+", start, t.builder.size(k))
