"""The kinds of iterators over items that are known, over lists and over arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from npcompile.core.records import replace
from npcompile.core.sizes import Size
from npcompile.graph.ir import ARRAY_ITERATOR, Node
from npcompile.ops import arguments, indexing
from npcompile.ops.operands import ArrayRef
from npcompile.python.iterator import Iterator
from npcompile.python.range_bounds import Bounds
from npcompile.python.values import HeapObject, Static, Value, Vector

if TYPE_CHECKING:
    from npcompile.python.protocol import Tracing


class ItemsIterator(Iterator):
    """Runs over values."""

    __slots__ = ()
    kind = "items"
    stored = True

    def count(self, t: Tracing) -> int:
        return len(self.over)

    def item(self, t: Tracing, k: int) -> Value:
        return self.over[k]

    def rest(self, t: Tracing) -> tuple[Value, ...]:
        return self.over[self.position :]

    def gives_computed(self) -> bool:
        return not all(isinstance(part, Static) for part in self.over)


class ConstantIterator(Iterator):
    """Runs over a known string, tuple or range."""

    __slots__ = ()
    kind = "static"

    def held(self) -> Static:
        """What it runs over."""
        (found,) = self.over
        assert isinstance(found, Static)
        return found

    def count(self, t: Tracing) -> int:
        return len(self.held().value)

    def item(self, t: Tracing, k: int) -> Value:
        return Static(self.held().value[k])

    def rest(self, t: Tracing) -> tuple[Value, ...]:
        return tuple(map(Static, self.held().value[self.position :]))

    def bounds(self, t: Tracing) -> Bounds | None:
        held = self.held().value
        if not isinstance(held, range):
            return None
        return held.start + self.position * held.step, held.stop, held.step


class ListIterator(Iterator):
    """Runs over a list that the program made and that is followed item by item."""

    __slots__ = ()
    kind = "list"
    stored = True

    def target(self) -> HeapObject:
        """The list."""
        (obj,) = self.over
        assert isinstance(obj, HeapObject)
        return obj

    def count(self, t: Tracing) -> int:
        return len(t.items(self.target()))

    def item(self, t: Tracing, k: int) -> Value:
        return t.items(self.target())[k]

    def rest(self, t: Tracing) -> tuple[Value, ...]:
        return t.items(self.target())[self.position :]


class ExternalListIterator(Iterator):
    """Runs over an external list: ``over`` are the list and its items when the loop began."""

    __slots__ = ()
    kind = "outside"
    stored = True

    def count(self, t: Tracing) -> int:
        return len(self.over) - 1

    def item(self, t: Tracing, k: int) -> Value:
        found = t.effects.load(self.over[0], (k,))
        return self.over[k + 1] if found is None else found

    def rest(self, t: Tracing) -> tuple[Value, ...]:
        return tuple([self.item(t, k) for k in range(self.position, len(self.over) - 1)])


class VectorIterator(Iterator):
    """Runs over a list of a length that only the run knows, which must not grow or shrink from the
    beginning of a loop over it on.  ``over`` are the list, its length when the loop began, and, of
    a rest, the whole list and the number of items that were taken from its front."""

    __slots__ = ()
    kind = "grown"
    result = ARRAY_ITERATOR

    def started(self, t: Tracing) -> Iterator:
        obj = self.over[0]
        assert isinstance(obj, HeapObject)
        return replace(self, over=(obj, t.heap[obj].length))

    def gives_computed(self) -> bool:
        return True

    def vector(self, t: Tracing) -> tuple[HeapObject, Vector]:
        """The list and its items."""
        obj = self.over[0]
        assert isinstance(obj, HeapObject)
        held = t.heap[obj]
        begun = self.over[1] if len(self.over) > 1 else None
        changed = isinstance(begun, Node) and not (
            isinstance(held, Vector) and t.vectors.same_length(held.length, begun)
        )
        if changed or not isinstance(held, Vector):
            raise t.refuse("loop", "over a list that it makes longer or shorter")
        return obj, held

    def _size(self, t: Tracing) -> Size:
        return t.vectors.size(self.vector(t)[1])

    def _item_at(self, t: Tracing, k: Size) -> Value:
        return t.vectors.load(*self.vector(t), k)

    def _after(self, t: Tracing, k: Size) -> Iterator:
        obj, held = self.vector(t)
        rest = t.vectors.rest(obj, held, k, t.vectors.size(held) - k, 1)
        whole, *taken = self.over[2:] or (self.over[0], t.builder.const(0))
        if taken:
            begun = arguments.integer(t, t.operand(taken[0]), "list")
            taken = [t.builder.size(begun + k)]
        return self._over_rest(t, rest, whole, *taken)

    def item_from_end(self, t: Tracing, k: Size) -> Value:
        obj, held = self.vector(t)
        return t.vectors.load(obj, held, t.vectors.size(held) - 1 - k)

    def before_end(self, t: Tracing, k: Size) -> Iterator:
        obj, held = self.vector(t)
        count = t.vectors.size(held) - k
        rest = t.vectors.rest(obj, held, count - 1, count, -1)
        return self._over_rest(t, rest, self.over[2] if len(self.over) > 2 else self.over[0])

    def _over_rest(self, t: Tracing, obj: HeapObject, *whole: Value) -> Iterator:
        """The iterator over the items of a list that this one has not given."""
        t.generators.goes_on(self.over[0], obj)
        return VectorIterator((obj, t.heap[obj].length, *whole))


class TableIterator(VectorIterator):
    """Runs over the keys or values of a dictionary that the run fills, which must not grow from
    the time on when the iterator is made."""

    __slots__ = ()
    kind = "table"

    def started(self, t: Tracing) -> Iterator:
        return self if len(self.over) > 1 else super().started(t)


class ArrayIterator(Iterator):
    """Runs over the first axis of an array."""

    __slots__ = ()
    kind = "array"
    result = ARRAY_ITERATOR
    merges = True

    def array(self) -> ArrayRef:
        """The array."""
        (ref,) = self.over
        assert isinstance(ref, ArrayRef)
        return ref

    def count(self, t: Tracing) -> int | None:
        size = self._size(t)
        return size if isinstance(size, int) else None

    def item(self, t: Tracing, k: int) -> Value:
        return t.operate(indexing.getitem, self.array(), Static(k))

    def _size(self, t: Tracing) -> Size:
        return t.facts.norm(self.array().shape[0])

    def _item_at(self, t: Tracing, k: Size) -> Value:
        return t.operate(indexing.getitem, self.array(), t.builder.size(k))

    def _after(self, t: Tracing, k: Size) -> Iterator:
        ref = self.array()
        n, stride = ref.shape[0], ref.strides[0]
        return ArrayIterator((arguments.view(ref, (n - k, *ref.shape[1:]), ref.strides,
                                             k * stride),))

    def _flipped(self) -> ArrayIterator:
        ref = self.array()
        n, stride = ref.shape[0], ref.strides[0]
        return ArrayIterator((
            arguments.view(ref, ref.shape, (-stride, *ref.strides[1:]), (n - 1) * stride),))

    def item_from_end(self, t: Tracing, k: Size) -> Value:
        return self._flipped().item_at(t, k)

    def before_end(self, t: Tracing, k: Size) -> Iterator:
        return self._flipped().after(t, k)


class FlatIterator(Iterator):
    """``array.flat``: ``over`` are a view of one axis, and the array."""

    __slots__ = ()
    kind = "flat"
    python_class = np.flatiter


class LostIterator(Iterator):
    """An iterator that a loop left on the stack when it ended early; its position is unknown."""

    __slots__ = ()
    kind = "lost"

    def gives_computed(self) -> bool:
        return True
