"""Lists from outside, which a function reads but does not change.

Their items are parameters, one by one.  Where an index depends on data, the function is traced
again, and an array of the items of an argument is made before anything else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from npcompile.core.records import replace
from npcompile.graph.ir import Node
from npcompile.graph.types import Scalar, contiguous
from npcompile.tracing import growing, item_types, wishes
from npcompile.tracing.inputs import LONGEST, label
from npcompile.tracing.sources import Arg, Item, Source
from npcompile.tracing.values import Growing, Static, Value

if TYPE_CHECKING:
    from npcompile.tracing.tracer import Tracer

MOST = 2 * LONGEST  # inputs of one function


def items(t: Tracer, held: list[Any], source: Source) -> tuple[Value, ...]:
    """All items of a list."""
    t.stores.looks(Static(held, source))
    if len(held) > LONGEST:
        raise t.refuse(label(source), f"is a list of more than {LONGEST} items",
                       "arrays may have any length")
    if len(t.inputs.leaves) > MOST:
        raise t.refuse(label(source), f"is a list, and lists have more than {MOST} items together",
                       "arrays may have any length")
    t.inputs.guard(source, "length", len(held))
    return tuple([t.inputs.lift(item, Item(source, k)) for k, item in enumerate(held)])


def item(t: Tracer, held: list[Any], source: Source, index: int) -> Value | None:
    """One item; None if there is none there."""
    t.stores.looks(Static(held, source))
    if not -len(held) <= index < len(held):
        return None
    t.inputs.guard(source, "length", len(held))
    place = index % len(held)
    return t.inputs.lift(held[place], Item(source, place))


def chosen(t: Tracer, held: list[Any], source: Source, index: Value) -> Value | None:
    """The item at an index that only the run knows; None if another attempt may find it."""
    t.stores.looks(Static(held, source))
    columns = t.outside.get(source)
    if columns is not None and isinstance(index, Node):
        return growing.getitem(t, None, columns, index)
    if columns is None and isinstance(source, Arg) and len(held) <= LONGEST:
        kinds = {item_types.item_type(t, found) for found in items(t, held, source)}
        kind = kinds.pop() if len(kinds) == 1 else None
        if isinstance(kind, Scalar):
            t.wishes[source,] = wishes.Wish(kind, False)
    return None


def begin(t: Tracer) -> None:
    """Makes the arrays that the attempts before this one have asked for."""
    for (source, *_), wish in t.columns.items():
        found = t.inputs.known(source) if isinstance(source, Arg) else None
        if isinstance(found, Static):
            made = growing.begin(t, items(t, found.value, source), wish)
            t.outside[source] = _finished(t, made)


def _finished(t: Tracer, made: Growing) -> Growing:
    """The same list in memory whose first version it is: nobody writes to it."""
    columns = []
    for column in made.columns:
        kind = contiguous(column.dtype, column.shape)
        copy = t.new(t.builder.emit("copy", (t.read(column),), None, kind))
        columns.append(replace(copy, writeable=False))
    return replace(made, columns=tuple(columns))
