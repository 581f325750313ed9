"""``itertools.repeat`` and ``itertools.count``."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from npcompile.core.sizes import Size
from npcompile.ops import arguments
from npcompile.python.iterator import Iterator
from npcompile.python.iterator_adapters import numbered
from npcompile.python.protocol import PythonType
from npcompile.python.values import NULL, Static, Value, python_class

if TYPE_CHECKING:
    from npcompile.python.protocol import Tracing

ENDLESS = 2**60  #: items of an iterator without an end: more than a loop takes in a lifetime


class RepeatIterator(Iterator):
    """One value again and again: ``over`` are the value and, if there is an end, how often."""

    __slots__ = ()
    kind = "repeat"
    result = itertools.repeat

    def count(self, t: Tracing) -> int | None:
        size = self._size(t)
        return size if isinstance(size, int) else None

    def item(self, t: Tracing, k: int) -> Value:
        return self.over[0]

    def gives_computed(self) -> bool:
        return not isinstance(self.over[0], Static)

    def _size(self, t: Tracing) -> Size:
        if len(self.over) == 1:
            return ENDLESS
        return arguments.integer(t, t.operand(self.over[1]), self.kind)

    def _item_at(self, t: Tracing, k: Size) -> Value:
        return self.over[0]

    def _after(self, t: Tracing, k: Size) -> Iterator:
        if len(self.over) == 1:
            return self
        return RepeatIterator((self.over[0], t.builder.size(self._size(t) - k)))


class CountIterator(Iterator):
    """All integers from the one on that ``over`` is."""

    __slots__ = ()
    kind = "count"
    result = itertools.count

    def count(self, t: Tracing) -> int:
        return ENDLESS

    def item(self, t: Tracing, k: int) -> Value:
        return t.binary("+", self.over[0], Static(k)) if k else self.over[0]

    def _size(self, t: Tracing) -> Size:
        return ENDLESS

    def _item_at(self, t: Tracing, k: Size) -> Value:
        return numbered(t, self.over[0], k)

    def _after(self, t: Tracing, k: Size) -> Iterator:
        return CountIterator((numbered(t, self.over[0], k),))


class RepeatType(PythonType):
    """The class ``itertools.repeat``."""

    @classmethod
    def construct(cls, t: Tracing, *args: Value, **kwargs: Value) -> Value:
        if kwargs or not 1 <= len(args) <= 2:
            return NULL
        times = t.static(args[1], "repeat") if len(args) > 1 else 0
        if type(times) is not int or times > ENDLESS:
            return NULL
        return RepeatIterator((args[0], *(Static(max(times, 0)) for _ in args[1:])),
                              token=t.token())


class CountType(PythonType):
    """The class ``itertools.count``; steps and floats are left to Python, which adds them up."""

    @classmethod
    def construct(cls, t: Tracing, *args: Value, **kwargs: Value) -> Value:
        start = args[0] if args else Static(0)
        if kwargs or len(args) > 1 or python_class(start) is not int:
            return NULL
        return CountIterator((start,), token=t.token())
