"""``np.ndindex`` and ``np.ndenumerate``: iterators over the indices of an array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from npcompile.core.records import replace
from npcompile.core.sizes import Size, floordiv, mod, product
from npcompile.ops import arguments, indexing
from npcompile.ops.operands import ArrayRef
from npcompile.python.iterator import Iterator
from npcompile.python.values import Sequence, Value

if TYPE_CHECKING:
    from npcompile.python.protocol import Tracing


class IndexIterator(Iterator):
    """``np.ndindex``: ``over`` are the number of the first item and the lengths of the axes."""

    __slots__ = ()
    kind = "ndindex"
    result: ClassVar[Any] = np.ndindex

    def count(self, t: Tracing) -> int | None:
        size = t.facts.norm(replace(self, position=0).size(t))
        return size if isinstance(size, int) else None

    def item(self, t: Tracing, k: int) -> Value:
        return replace(self, position=0).item_at(t, k)

    def _grid(self, t: Tracing) -> tuple[Size, tuple[Size, ...]]:
        """Where it begins, in row-major order, and the lengths of the axes."""
        first = arguments.integer(t, t.operand(self.over[0]), "ndindex")
        held = self.over[1]
        if isinstance(held, ArrayRef):
            return first, held.shape
        assert isinstance(held, Sequence)
        return first, tuple(arguments.integer(t, t.operand(n), "ndindex") for n in held.items)

    def _size(self, t: Tracing) -> Size:
        first, dims = self._grid(t)
        return product(dims) - first

    def _item_at(self, t: Tracing, k: Size) -> Value:
        """The indices of an element."""
        first, dims = self._grid(t)
        rest, found = first + k, list[Size]()
        for n in reversed(dims[1:]):
            found.append(mod(rest, n))
            rest = floordiv(rest, n)
        found += [rest] if dims else []
        return Sequence(tuple(map(t.builder.size, reversed(found))))

    def _after(self, t: Tracing, k: Size) -> Iterator:
        first, _ = self._grid(t)
        return type(self)((t.builder.size(first + k), *self.over[1:]))


class IndexedIterator(IndexIterator):
    """``np.ndenumerate``: ``over`` are the number of the first item and the array."""

    __slots__ = ()
    kind = "ndenumerate"
    result: ClassVar[Any] = np.ndenumerate

    def _item_at(self, t: Tracing, k: Size) -> Value:
        indices = super()._item_at(t, k)
        return Sequence((indices, t.operate(indexing.getitem, self.over[1], indices)))
