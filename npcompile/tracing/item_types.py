"""The types of what a list of unknown length holds: numbers, arrays, tuples and lists of these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from npcompile.core.sizes import Poly, Size, Symbol, Unhinted, substitute, symbols
from npcompile.graph import layout
from npcompile.graph.ir import Param
from npcompile.graph.items import AnyOrigin, Line, Row
from npcompile.graph.types import BOOL, Array, Scalar, c_strides, contiguous
from npcompile.ops.operands import ArrayRef
from npcompile.python.values import (
    Fetched,
    HeapObject,
    Item,
    Sequence,
    Static,
    Value,
    Vector,
)
from npcompile.tracing.escapes import as_number, options_of

if TYPE_CHECKING:
    from npcompile.tracing.services import Tracer

Heap = Mapping[Any, Any]


def item_type(t: Tracer, value: Value, heap: Heap | None = None) -> Item | None:
    """The item type by which columns hold a value, or None if they cannot; ``heap``: the contents
    of lists."""
    held = (t.heap if heap is None else heap).get(value) if isinstance(value, HeapObject) else None
    if isinstance(held, Vector):
        size = t.lengths.get(held.length)
        count = t.builder.size_of(held.length, 0) if size is None else size
        return Line(held.item, count) if is_plain(held.item) and not held.external else None
    inner = held_parts(t, value, heap)
    if inner is not None:
        found = [item_type(t, part, heap) for part in inner]
        items = tuple([item for item in found if item is not None])
        if not items or len(items) != len(found):
            return None
        if any(isinstance(item, Line) for item in items):
            same = isinstance(value, HeapObject) and all(alike(t, item, items[0]) for item in items)
            return Line(items[0], len(items)) if same else None
        return Row(items) if isinstance(value, HeapObject) else items
    if isinstance(value, ArrayRef):
        return contiguous(value.dtype, value.shape) if value.ndim and _ordered(t, value) else None
    if options := options_of(value):
        both = common(t, [item_type(t, option, heap) for option in options])
        return both if isinstance(both, AnyOrigin) else None
    number = as_number(t, value)
    return number.type if number is not None and isinstance(number.type, Scalar) else None


def _ordered(t: Tracer, value: ArrayRef) -> bool:
    """Whether what NumPy makes of an array has C order, as columns have."""
    made = layout.like_strides(t.facts, value.shape, value.steps)
    return made == c_strides(value.shape)


def held_parts(t: Tracer, value: Value, heap: Heap | None = None) -> tuple[Value, ...] | None:
    """The items of a plain tuple, or of a list that is followed item by item."""
    if isinstance(value, HeapObject) and value.kind is list:
        held = (t.heap if heap is None else heap).get(value)
        return held if isinstance(held, tuple) else None
    if isinstance(value, Sequence) and value.kind is tuple:
        return value.items
    if isinstance(value, Static) and type(value.value) is tuple:
        return tuple(map(Static, value.value))
    return None


def is_key(item: Item | None) -> bool:
    """Whether it is an int, or a tuple of ints."""
    if isinstance(item, tuple):
        return all(map(is_key, item))
    return isinstance(item, Scalar) and item.dtype.kind in "iu" and item.dtype.char not in "QL"


def is_plain(item: Item) -> bool:
    """Whether it is a number, or a line of such."""
    return is_plain(item.item) if isinstance(item, Line) else isinstance(item, (Scalar, AnyOrigin))


def is_numpys(item: Item) -> bool:
    """Whether numbers are NumPy's."""
    if isinstance(item, Line):
        return is_numpys(item.item)
    return isinstance(item, Scalar) and item.origin == "np"


def parts(item: Item | None) -> tuple[Item, ...] | None:
    """The types of the items of an item that is a tuple or list."""
    return item.items if isinstance(item, Row) else item if isinstance(item, tuple) else None


def undecided_lines(item: Item) -> bool:
    """Whether it has equally long lists of numbers each of which is Python's or NumPy's."""
    if isinstance(item, Line):
        return isinstance(item.item, AnyOrigin) or undecided_lines(item.item)
    return any(map(undecided_lines, parts(item) or ()))


def holds_objects(item: Item) -> bool:
    """Whether it is, or holds, an array or list."""
    inner = parts(item)
    objects = isinstance(item, (Array, Row, Line))
    return objects or (inner is not None and any(map(holds_objects, inner)))


def alike(t: Tracer, kind: Item | None, item: Item | None) -> bool:
    """Whether an item of a type may be one of a list's, where sizes that are equal now always have
    to be."""
    some, others = parts(kind), parts(item)
    if isinstance(item, Line) and isinstance(kind, Line):
        return alike(t, kind.item, item.item) and _equal(t, kind.size, item.size)
    if isinstance(item, Line) and isinstance(kind, Row):
        same = all(alike(t, part, item.item) for part in kind.items)
        return same and _equal(t, len(kind.items), item.size)
    if some is not None and others is not None:
        same = type(kind) is type(item) and len(some) == len(others)
        return same and all(alike(t, a, b) for a, b in zip(some, others))
    if isinstance(kind, Scalar) and isinstance(item, AnyOrigin):
        return bool(kind.dtype == item.dtype)
    if isinstance(kind, Array) and isinstance(item, Array) and kind != item:
        comparable = (kind.dtype, kind.ndim) == (item.dtype, item.ndim)
        return comparable and all(_equal(t, a, b) for a, b in zip(kind.shape, item.shape))
    return kind == item


def _equal(t: Tracer, a: Size, b: Size) -> bool:
    try:
        return t.facts.ask("==", a, b)
    except Unhinted:
        return False


def common(t: Tracer, kinds: Iterable[Item | None]) -> Item | None:
    """The type of items of several; None if there is none."""
    kinds = list(dict.fromkeys(kinds))
    for kind in kinds:
        if all(alike(t, other, kind) for other in kinds):
            return kind
    if any(isinstance(kind, Line) for kind in kinds):
        return _line(t, kinds)
    rows = [inner for inner in map(parts, kinds) if inner is not None]
    if len(rows) == len(kinds):
        if len({(type(k), len(row)) for k, row in zip(kinds, rows)}) > 1:
            return None
        found = [common(t, column) for column in zip(*rows)]
        items = tuple([item for item in found if item is not None])
        made = Row(items) if isinstance(kind, Row) else items
        return made if len(items) == len(found) else None
    numbers = [kind for kind in kinds if isinstance(kind, (Scalar, AnyOrigin))]
    dtypes = {number.dtype for number in numbers}
    return AnyOrigin(*dtypes) if len(numbers) == len(kinds) and len(dtypes) == 1 else None


def _line(t: Tracer, kinds: list[Item | None]) -> Item | None:
    """The type of lists whose numbers are Python's in some, and NumPy's in others."""
    lines = [kind for kind in kinds if isinstance(kind, Line)]
    first = lines[0]
    inner = [part for kind in kinds if isinstance(kind, Row) for part in kind.items]
    item = common(t, [*(kind.item for kind in lines), *inner])
    made = None if item is None else Line(item, first.size)
    return made if made is not None and all(alike(t, kind, made) for kind in kinds) else None


def leaves(item: Item) -> tuple[Scalar | Array, ...]:
    """The types of the numbers and arrays in an item."""
    if isinstance(item, Line):
        return tuple(contiguous(kind.dtype, (item.size, *kind.shape)) for kind in leaves(item.item))
    if isinstance(item, Row):
        return leaves(item.items)
    if isinstance(item, tuple):
        return tuple(kind for part in item for kind in leaves(part))
    if isinstance(item, AnyOrigin):
        return Scalar(item.dtype, "np"), Scalar(BOOL, "np")
    assert not isinstance(item, (Fetched, frozenset))
    return (item,)


def here(t: Tracer, item: Item) -> Item:
    """The type of an item that another attempt to trace has found: sizes of arguments are found
    again by their names."""
    if isinstance(item, Row):
        return Row(tuple(here(t, part) for part in item.items))
    if isinstance(item, tuple):
        return tuple(here(t, part) for part in item)
    if isinstance(item, (Scalar, AnyOrigin, Fetched, frozenset)):
        return item
    if isinstance(item, Line):
        return Line(here(t, item.item), *_sizes_here(t, (item.size,)))
    return contiguous(item.dtype, _sizes_here(t, item.shape))


def _sizes_here(t: Tracer, sizes: tuple[Size, ...]) -> tuple[Size, ...]:
    known = {name.name: Poly((((name,), 1),)) for name in _names(t)}
    there = {name for n in sizes for name in symbols(n)}
    if any(name.name not in known for name in there):
        raise t.refuse("list", "of arrays or lists whose sizes are known later than it")
    named = {name: known[name.name] for name in there}
    return tuple(t.facts.norm(substitute(n, named)) for n in sizes)


def _names(t: Tracer) -> Iterator[Symbol]:
    """The sizes of arguments, and of lists from outside."""
    yield from t.sizes.values()
    for node in t.root.params:
        if isinstance(node.type, Array):
            yield from (name for n in node.type.shape for name in symbols(n))
        elif isinstance(node.attrs, Param) and node.attrs.symbol is not None:
            yield node.attrs.symbol
