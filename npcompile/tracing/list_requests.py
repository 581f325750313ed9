"""Requests for columns of lists, and for hash tables.

A list or dictionary is known by its *place*: the instruction that makes it, and the calls around
it.  A loop or branch that changes the length of a list, or an index that depends on data, asks for
columns at that place: if the function would be left to Python, it is traced again, and the list
has columns from the beginning (:mod:`.vectors`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from npcompile.core.paths import defer
from npcompile.graph.items import Line, Row
from npcompile.graph.types import Scalar
from npcompile.ops.operands import ArrayRef
from npcompile.python.composite import Composite
from npcompile.python.values import HeapObject, Item, State, Value, Vector
from npcompile.tracing.requests import AsHashTable, AsVector, Requests, Specialization

if TYPE_CHECKING:
    from npcompile.tracing import item_types
    from npcompile.tracing.services import Tracer
else:
    defer(globals(), "npcompile.tracing", "item_types")


class ListRequests(Specialization):
    """The requests of an attempt, among them those that items of traced lists decide on."""

    def __init__(self, given: Requests, t: Tracer) -> None:
        super().__init__(given, t.config)
        self.t = t

    def columns_of(
        self, obj: HeapObject, items: tuple[Value, ...], grows: bool,
        heap: item_types.Heap | None = None,
    ) -> None:
        """Asks for columns that hold some items."""
        if obj.kind is not list or obj.place is None or not items:
            return
        kinds = [item_types.item_type(self.t, item, heap) for item in items]
        old = self.lists.get(obj.place) or self.given.lists.get(obj.place)
        kind = item_types.common(self.t, [*kinds, old.item] if old else kinds)
        if kind is not None:
            self.columns(obj, AsVector(kind, grows or (isinstance(old, AsVector) and old.grows)))

    def hashed(self, obj: HeapObject, key: Value, value: Value | None = None) -> bool:
        """Asks for a hash table where a dictionary or set was made that gets a key of the run's;
        False: it can't be one."""
        found = item_types.item_type(self.t, key)
        held = None if value is None else item_types.item_type(self.t, value)
        if obj.place is None or not item_types.is_key(found) or (
                value is not None and held is None):
            return False
        assert found is not None
        self.lists[obj.place] = AsHashTable(found, held)
        return True

    def columns_of_holders(self, state: State, array: ArrayRef) -> None:
        """Asks for columns for the lists that hold an array."""
        for obj, held in state.heap.items():
            if isinstance(obj, HeapObject) and isinstance(held, tuple) and any(
                item is array
                or (isinstance(item, Composite) and item.joins and array in item.parts())
                for item in held
            ):
                self.columns_of(obj, held, True)

    def columns_like(self, obj: HeapObject, more: Vector | ArrayRef) -> None:
        """Asks for columns for a list that gets the items of a longer one, or of an array."""
        t, held = self.t, self.t.heap[obj]
        item = Scalar(more.dtype, "np") if isinstance(more, ArrayRef) else more.item
        if isinstance(held, tuple) and all(
                item_types.alike(t, item_types.item_type(t, x), item) for x in held):
            self.columns(obj, AsVector(item, True))

    def columns_of_both(
        self, objects: tuple[HeapObject, HeapObject], held: tuple[Any, Any]
    ) -> None:
        """Asks for columns for two lists that should become one."""
        items = tuple(item for contents in held if isinstance(contents, tuple) for item in contents)
        for obj in objects:
            self.columns_of(obj, items, True)
            kinds = {g.item for g in held if isinstance(g, Vector) and not g.external}
            if not items and len(kinds) == 1 and obj.place not in self.given.lists:
                (kind,) = kinds
                self.columns(obj, AsVector(kind, True))

    def other_columns(self, obj: HeapObject, g: Vector, item: Item) -> None:
        """Asks for columns of another type for a list, or for the one that holds it."""
        heap = self.t.heap
        outer = heap.get(obj.part_of) if obj.part_of is not None else None
        self.columns(obj, AsVector(item, g.grows))
        if obj.part_of is not None and isinstance(outer, Vector) and isinstance(outer.item, Line):
            self.other_columns(obj.part_of, outer, Line(item, outer.item.size))

    def writable_line(self, obj: HeapObject) -> None:
        """Asks for lists that a program may write into, in place of those that it read from a
        list."""
        held = self.t.heap.get(obj.part_of) if obj.part_of is not None else None
        if obj.part_of is None or not isinstance(held, Vector) or not isinstance(held.item, Row):
            return
        item = item_types.common(self.t, held.item.items)
        if item is not None and item_types.is_plain(item):
            self.other_columns(obj.part_of, held, Line(item, len(held.item.items)))
