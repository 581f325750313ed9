"""Columns that lists are wanted to have.

Where a list is made is a *place*: the instruction, and the calls around it.  What can't be followed
item by item (a loop or a branch changes the length, an index depends on data) asks for columns at
that place: if the function would be left to Python, it is traced again, and the list has columns
from the beginning (:mod:`.growing`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from npcompile.core.records import record
from npcompile.graph.items import Line, Row
from npcompile.graph.types import Scalar
from npcompile.ops.operands import ArrayRef
from npcompile.tracing.item_types import Cells, alike, common, is_plain, item_type
from npcompile.tracing.values import Box, Fetched, Growing, Item, Sequence, State, Value

if TYPE_CHECKING:
    from npcompile.tracing.tracer import Tracer

Place = tuple[Any, ...]


@record
class Wish:
    """A list with items of this type at some place; ``grows``: it is appended to; ``hashed``: a
    dictionary or set of keys of this type that the run makes, with values of type ``value``."""

    item: Item
    grows: bool
    hashed: bool = False
    value: Item | None = None



def for_columns(
    t: Tracer, box: Box, items: tuple[Value, ...], grows: bool, cells: Cells | None = None
) -> None:
    """Asks for columns where a list was made, should the function be left to Python."""
    if box.kind is not list or box.place is None or not items:
        return
    kinds = [item_type(t, item, cells) for item in items]
    old = t.wishes.get(box.place) or t.columns.get(box.place)
    kind = common(t, [*kinds, old.item] if old else kinds)
    if kind is not None:
        ask(t, box, Wish(kind, grows or (old is not None and old.grows)))


def for_hash(t: Tracer, box: Box, key: Value, value: Value | None = None) -> bool:
    """Asks for a hash table where a dictionary or set was made that gets a key of the run's; False:
    it can't be one."""
    found, held = item_type(t, key), None if value is None else item_type(t, value)
    if box.place is None or not is_key(found) or (value is not None and held is None):
        return False
    assert found is not None
    t.wishes[box.place] = Wish(found, True, True, held)
    return True


def is_key(item: Item | None) -> bool:
    """Whether it is an int, or a tuple of ints."""
    if isinstance(item, tuple):
        return all(map(is_key, item))
    return isinstance(item, Scalar) and item.dtype.kind in "iu" and item.dtype.char not in "QL"


def ask(t: Tracer, box: Box, made: Wish) -> None:
    if box.place is not None and not isinstance(made.item, Fetched):
        t.wishes[box.place] = made


def for_holders(t: Tracer, state: State, array: ArrayRef) -> None:
    """Asks for columns for the lists that hold an array."""
    for box, held in state.cells.items():
        if isinstance(box, Box) and isinstance(held, tuple) and any(
            item is array or (isinstance(item, Sequence) and array in item.items) for item in held
        ):
            for_columns(t, box, held, True)


def for_items_of(t: Tracer, box: Box, more: Growing | ArrayRef) -> None:
    """Asks for columns for a list that gets the items of a longer one, or of an array."""
    held = t.cells[box]
    item = Scalar(more.dtype, "np") if isinstance(more, ArrayRef) else more.item
    if isinstance(held, tuple) and all(alike(t, item_type(t, x), item) for x in held):
        ask(t, box, Wish(item, True))


def for_both(t: Tracer, boxes: tuple[Box, Box], held: tuple[Any, Any]) -> None:
    """Asks for columns for two lists that should become one."""
    items = tuple(item for contents in held if isinstance(contents, tuple) for item in contents)
    for box in boxes:
        for_columns(t, box, items, True)
        kinds = {contents.item for contents in held if isinstance(contents, Growing)}
        if not items and len(kinds) == 1 and box.place not in t.columns:
            (kind,) = kinds
            ask(t, box, Wish(kind, True))


def ask_for_items(t: Tracer, box: Box, g: Growing, item: Item) -> None:
    """Asks for columns of another type for a list, or for the one that holds it."""
    outer = t.cells.get(box.part_of) if box.part_of is not None else None
    ask(t, box, Wish(item, g.grows))
    if box.part_of is not None and isinstance(outer, Growing) and isinstance(outer.item, Line):
        ask_for_items(t, box.part_of, outer, Line(item, outer.item.size))


def for_line(t: Tracer, box: Box) -> None:
    """Asks for lists that a program may write into, in place of what it read from a list."""
    held = t.cells.get(box.part_of) if box.part_of is not None else None
    if box.part_of is None or not isinstance(held, Growing) or not isinstance(held.item, Row):
        return
    item = common(t, held.item.items)
    if item is not None and is_plain(item):
        ask_for_items(t, box.part_of, held, Line(item, len(held.item.items)))
