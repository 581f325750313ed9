"""``itertools.starmap``."""

from __future__ import annotations

from npcompile.core.sizes import Size
from npcompile.python.iterator import Iterator
from npcompile.python.protocol import PythonType, Tracing
from npcompile.python.values import NULL, Value


class StarmapIterator(Iterator):
    """A function's results, item by item: ``over`` are the function and an iterator over tuples of
    its arguments."""

    __slots__ = ()
    kind = "starmap"

    def calls(self) -> bool:
        return True

    def count(self, t: Tracing) -> int | None:
        return self.inner()[-1].left(t)

    def item(self, t: Tracing, k: int) -> Value:
        part = self.inner()[-1]
        return t.call(self.over[0], t.items(part.item(t, part.position + k)), {})

    def _size(self, t: Tracing) -> Size:
        part = self.inner()[-1]
        return part.size(t) - part.position

    def _item_at(self, t: Tracing, k: Size) -> Value:
        return t.call(self.over[0], t.items(self.inner()[-1].item_at(t, k)), {})

    def _after(self, t: Tracing, k: Size) -> Iterator:
        return StarmapIterator((self.over[0], self.inner()[-1].after(t, k)))


class StarmapType(PythonType):
    """The class ``itertools.starmap``."""

    @classmethod
    def construct(cls, t: Tracing, /, *args: Value, **kwargs: Value) -> Value:
        if kwargs or len(args) != 2:
            return NULL
        return StarmapIterator((args[0], t.begin(args[1])), token=t.token())
