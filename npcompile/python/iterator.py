"""Iterators: positions in something.

A kind of iterator is a class, which stands beside the type that it runs over.  Where the number of
items is known while tracing, a loop takes them one by one: ``count``, ``item`` and ``rest``.  Where
only the run knows it, the loop is a region, and an item depends on its place: ``size``, ``item_at``
and ``after``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from npcompile.core.errors import Refused
from npcompile.core.paths import defer
from npcompile.core.records import record, replace
from npcompile.core.sizes import Size
from npcompile.graph.ir import RANGE_ITERATOR
from npcompile.python.composite import Composite, Read, Reader

if TYPE_CHECKING:
    from npcompile.ops import arguments
    from npcompile.python import range_bounds
    from npcompile.python.protocol import Tracing
    from npcompile.python.range_bounds import Bounds
    from npcompile.python.values import Value
else:
    defer(globals(), "npcompile.ops", "arguments")
    defer(globals(), "npcompile.python", "range_bounds")


@record(eq=False)
class Iterator(Composite):
    """A position in something: replaced, never changed, as the loop goes on.

    ``over`` is what it runs over; ``nodes`` is the size of the graph when the loop began.
    ``token`` is the identity of an iterator that the program can name: it runs once.
    ``unrolled``: its loop is followed iteration by iteration; ``nonempty``: it has a next item.
    ``itself``: no position in it at all, but the range or the view of a dictionary that a position
    begins in.  ``begun``: something takes its items, so that what a variable holds under the same
    token is out of date.
    """

    over: tuple[Value, ...]
    position: int = 0
    nodes: int = 0
    token: object = None
    unrolled: bool = False
    nonempty: bool = False
    itself: bool = False
    begun: bool = False

    #: the kind's name in messages
    kind: ClassVar[str] = ""
    #: what makes one of its parts where Python goes on with it; None: it is left to Python
    result: ClassVar[Any] = None
    #: whether two at their beginnings may become one that runs over either's parts
    merges: ClassVar[bool] = False
    #: whether its items are values that were there before: a loop over them is followed one by one
    stored: ClassVar[bool] = False

    def parts(self) -> tuple[Value, ...]:
        return self.over

    def rebuilt(self, parts: Iterable[Value]) -> Iterator:
        return replace(self, over=tuple(parts))

    def label(self) -> tuple[Any, ...]:
        return self.position, self.token, self.itself

    def read_by(self, reader: Reader[Read]) -> Read:
        return reader.read_iterator(self)

    def inner(self) -> list[Iterator]:
        """The iterators that it takes its items from."""
        return [part for part in self.over if isinstance(part, Iterator)]

    def started(self, t: Tracing) -> Iterator:
        """The iterator when a loop over it begins."""
        return self

    def calls(self) -> bool:
        """Whether taking an item calls a function."""
        return any(part.calls() for part in self.inner())

    def gives_computed(self) -> bool:
        """Whether its items were computed before it is run."""
        return False

    # ------------------------------------------------------------------ a known number of items

    def count(self, t: Tracing) -> int | None:
        """How many items there are from its beginning on; None: only the run knows."""
        return None

    def left(self, t: Tracing) -> int | None:
        """How many items are still to come; None: only the run knows."""
        whole = self.count(t)
        return None if whole is None else max(whole - self.position, 0)

    def item(self, t: Tracing, k: int) -> Value:
        """The item at a place from its beginning."""
        raise t.refuse("range", "of a length that depends on data")

    def rest(self, t: Tracing) -> tuple[Value, ...] | None:
        """The items still to come, if they are there without computing anything."""
        return None

    # ------------------------------------------------------------------ as many as the run finds

    def bounds(self, t: Tracing) -> Bounds | None:
        """Start, stop and step of the range that it runs over from its position on, if it is
        one."""
        return None

    def size(self, t: Tracing) -> Size:
        """How many items there are from its beginning on."""
        found = replace(self, position=0).bounds(t)
        return self._size(t) if found is None else range_bounds.count(t, found)

    def item_at(self, t: Tracing, k: Size) -> Value:
        """The item ``k`` places after its position."""
        found = self.bounds(t)
        if found is None:
            return self._item_at(t, k + self.position)
        start, stop, step = found
        if not range_bounds.small(t, start, stop):
            raise t.refuse("range", "of large numbers side by side with something else")
        return t.builder.size(start + k * step)

    def after(self, t: Tracing, k: Size) -> Iterator:
        """The iterator that begins ``k`` places after its position; the same to the program."""
        found = self.bounds(t)
        if found is None:
            return replace(self._after(t, k + self.position), token=self.token, begun=self.begun)
        start, stop, step = found
        rest = tuple([t.builder.size(n) for n in (start + k * step, stop, step)])
        return RangeIterator(rest, token=self.token, begun=self.begun)

    def _size(self, t: Tracing) -> Size:
        raise self._one_by_one(t)

    def _item_at(self, t: Tracing, k: Size) -> Value:
        """The item at a place from its beginning."""
        raise self._one_by_one(t)

    def _after(self, t: Tracing, k: Size) -> Iterator:
        """The iterator over the items from a place on, counted from its beginning."""
        raise self._one_by_one(t)

    def _one_by_one(self, t: Tracing) -> Refused:
        return t.refuse("loop", f"over {self.kind} is followed iteration by iteration")

    # ------------------------------------------------------------------ from the last item on

    def item_from_end(self, t: Tracing, k: Size) -> Value:
        """The item ``k`` places before the last."""
        raise t.refuse("loop", "over reversed is followed iteration by iteration")

    def before_end(self, t: Tracing, k: Size) -> Iterator:
        """The iterator that goes backwards from ``k`` places before the last item."""
        raise t.refuse("loop", "over reversed is followed iteration by iteration")


class RangeIterator(Iterator):
    """Runs over a range whose ends only the run knows: ``over`` are start, stop and step.  It
    stands for the range itself, too."""

    __slots__ = ()
    kind = "range"
    result = RANGE_ITERATOR
    merges = True

    def bounds(self, t: Tracing) -> Bounds:
        start, stop, step = [
            arguments.integer(t, t.operand(part), "range") for part in self.over]
        return start + self.position * step, stop, step
