"""Columns that lists are wanted to have.

Where a list is made is a *place*: the instruction, and the calls around it.  What can't be followed
item by item (a loop or a branch changes the length, an index depends on data) asks for columns at
that place: if the function would be left to Python, it is traced again, and the list has columns
from the beginning (:mod:`.vectors`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from npcompile.core.records import record
from npcompile.graph.items import Line, Row
from npcompile.graph.types import Scalar
from npcompile.ops.operands import ArrayRef
from npcompile.python.values import Fetched, HeapObject, Item, Sequence, State, Value, Vector
from npcompile.tracing.item_types import Heap, alike, common, is_plain, item_type

if TYPE_CHECKING:
    from npcompile.tracing.tracer import Tracer

Place = tuple[Any, ...]


@record
class Request:
    """A list with items of this type at some place; ``grows``: it is appended to; ``hashed``: a
    dictionary or set of keys of this type that the run makes, with values of type ``value``."""

    item: Item
    grows: bool
    hashed: bool = False
    value: Item | None = None



def for_columns(
    t: Tracer, obj: HeapObject, items: tuple[Value, ...], grows: bool, heap: Heap | None = None
) -> None:
    """Asks for columns where a list was made, should the function be left to Python."""
    if obj.kind is not list or obj.place is None or not items:
        return
    kinds = [item_type(t, item, heap) for item in items]
    old = t.requests.get(obj.place) or t.columns.get(obj.place)
    kind = common(t, [*kinds, old.item] if old else kinds)
    if kind is not None:
        ask(t, obj, Request(kind, grows or (old is not None and old.grows)))


def for_hash(t: Tracer, obj: HeapObject, key: Value, value: Value | None = None) -> bool:
    """Asks for a hash table where a dictionary or set was made that gets a key of the run's; False:
    it can't be one."""
    found, held = item_type(t, key), None if value is None else item_type(t, value)
    if obj.place is None or not is_key(found) or (value is not None and held is None):
        return False
    assert found is not None
    t.requests[obj.place] = Request(found, True, True, held)
    return True


def is_key(item: Item | None) -> bool:
    """Whether it is an int, or a tuple of ints."""
    if isinstance(item, tuple):
        return all(map(is_key, item))
    return isinstance(item, Scalar) and item.dtype.kind in "iu" and item.dtype.char not in "QL"


def ask(t: Tracer, obj: HeapObject, made: Request) -> None:
    if obj.place is not None and not isinstance(made.item, Fetched):
        t.requests[obj.place] = made


def for_holders(t: Tracer, state: State, array: ArrayRef) -> None:
    """Asks for columns for the lists that hold an array."""
    for obj, held in state.heap.items():
        if isinstance(obj, HeapObject) and isinstance(held, tuple) and any(
            item is array or (isinstance(item, Sequence) and array in item.items) for item in held
        ):
            for_columns(t, obj, held, True)


def for_items_of(t: Tracer, obj: HeapObject, more: Vector | ArrayRef) -> None:
    """Asks for columns for a list that gets the items of a longer one, or of an array."""
    held = t.heap[obj]
    item = Scalar(more.dtype, "np") if isinstance(more, ArrayRef) else more.item
    if isinstance(held, tuple) and all(alike(t, item_type(t, x), item) for x in held):
        ask(t, obj, Request(item, True))


def for_both(t: Tracer, objects: tuple[HeapObject, HeapObject], held: tuple[Any, Any]) -> None:
    """Asks for columns for two lists that should become one."""
    items = tuple(item for contents in held if isinstance(contents, tuple) for item in contents)
    for obj in objects:
        for_columns(t, obj, items, True)
        kinds = {contents.item for contents in held if isinstance(contents, Vector)}
        if not items and len(kinds) == 1 and obj.place not in t.columns:
            (kind,) = kinds
            ask(t, obj, Request(kind, True))


def ask_for_items(t: Tracer, obj: HeapObject, g: Vector, item: Item) -> None:
    """Asks for columns of another type for a list, or for the one that holds it."""
    outer = t.heap.get(obj.part_of) if obj.part_of is not None else None
    ask(t, obj, Request(item, g.grows))
    if obj.part_of is not None and isinstance(outer, Vector) and isinstance(outer.item, Line):
        ask_for_items(t, obj.part_of, outer, Line(item, outer.item.size))


def for_line(t: Tracer, obj: HeapObject) -> None:
    """Asks for lists that a program may write into, in place of what it read from a list."""
    held = t.heap.get(obj.part_of) if obj.part_of is not None else None
    if obj.part_of is None or not isinstance(held, Vector) or not isinstance(held.item, Row):
        return
    item = common(t, held.item.items)
    if item is not None and is_plain(item):
        ask_for_items(t, obj.part_of, held, Line(item, len(held.item.items)))
