"""``itertools.islice``."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from npcompile.core.records import replace
from npcompile.core.sizes import Size, Unhinted, smallest
from npcompile.ops import arguments
from npcompile.python.iterator import Iterator
from npcompile.python.protocol import PythonType
from npcompile.python.values import NULL, Static, Value

if TYPE_CHECKING:
    from npcompile.python.protocol import Tracing


class SliceIterator(Iterator):
    """The first items of an iterator: ``over`` are the iterator and the most items."""

    __slots__ = ()
    kind = "islice"
    result = itertools.islice

    def most(self, t: Tracing) -> Size:
        """The number of items that it gives at most."""
        return arguments.integer(t, t.operand(self.over[1]), "islice")

    def count(self, t: Tracing) -> int | None:
        left, most = self.inner()[0].left(t), self.most(t)
        return min(left, most) if left is not None and isinstance(most, int) else None

    def item(self, t: Tracing, k: int) -> Value:
        (part,) = self.inner()
        return part.item(t, part.position + k)

    def rest(self, t: Tracing) -> tuple[Value, ...] | None:
        rest, count = self.inner()[0].rest(t), self.count(t)
        return None if rest is None or count is None else rest[self.position : count]

    def _size(self, t: Tracing) -> Size:
        (part,) = self.inner()
        return _least(t, part.size(t) - part.position, self.most(t))

    def _item_at(self, t: Tracing, k: Size) -> Value:
        return self.inner()[0].item_at(t, k)

    def _after(self, t: Tracing, k: Size) -> Iterator:
        return SliceIterator((self.inner()[0].after(t, k), t.builder.size(self.most(t) - k)))


class IsliceType(PythonType):
    """The class ``itertools.islice``."""

    @classmethod
    def construct(cls, t: Tracing, *args: Value, **kwargs: Value) -> Value:
        if kwargs or not 2 <= len(args) <= 4:
            return NULL
        bounds = slice(*(t.static(v, "islice") for v in args[1:]))
        start = 0 if bounds.start is None else bounds.start
        known = (start, bounds.stop, 1 if bounds.step is None else bounds.step)
        if any(type(n) is not int for n in known) or min(known) < 0 or known[2] != 1:
            return NULL
        part = t.begin(args[0])
        left = part.left(t)
        if start and (part.calls() or left is None):
            raise t.refuse("islice", "from a later item on, of what only the run knows")
        part = replace(part, position=part.position + min(start, left or 0))
        return SliceIterator((part, Static(max(known[1] - start, 0))), token=t.token())


def _least(t: Tracing, a: Size, b: Size) -> Size:
    try:
        return a if t.facts.ask("<=", a, b) else b
    except Unhinted:
        return smallest(a, b)
