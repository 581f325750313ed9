"""Lists whose length only the run knows: numbers, equal-shaped arrays, or tuples of these, in
arrays that are used as far as the list is long.

An array moves into a list: it has no other name when it does.  What is read from a list is a copy
that nobody may write into.

A list in a list that is as long as all others there is a view of the columns instead, which a
program may write into.

Lists are followed item by item at first; what can't be followed so asks for columns where the list
was made (:mod:`.requests`).

The columns of a list that grows have a large fixed capacity.  It is address space, not memory: the
system gives pages as they are first written.  A list that would be longer leaves for Python.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.core.records import replace
from npcompile.core.sizes import Size, floordiv, largest, product
from npcompile.graph.ir import Node
from npcompile.graph.items import AnyOrigin, Line, Row
from npcompile.graph.types import (
    BOOL,
    FLOAT,
    INT,
    PY_FLOAT,
    PY_INT,
    Array,
    Scalar,
    contiguous,
)
from npcompile.ops import arguments, elementwise, library, slices
from npcompile.ops.elementwise import py_scalar
from npcompile.ops.operands import ArrayRef
from npcompile.python.values import (
    HeapObject,
    Item,
    Sequence,
    TaggedUnion,
    Unreachable,
    Value,
    Vector,
)
from npcompile.tracing import unboxed_lists
from npcompile.tracing.escapes import as_number, retyped
from npcompile.tracing.item_types import (
    alike,
    common,
    held_parts,
    here,
    holds_objects,
    is_numpys,
    item_type,
    leaves,
    parts,
)
from npcompile.tracing.polyfills import consumers
from npcompile.tracing.references import once, sole, unseen
from npcompile.tracing.requests import AsVector

if TYPE_CHECKING:
    from npcompile.tracing.services import Tracer

CAPACITY = 2**23  #: items of a list that grows


def same_length(t: Tracer, a: Node, b: Node) -> bool:
    return a is b or t.builder.size_of(a, 0) == t.builder.size_of(b, 0)


def begin(t: Tracer, items: tuple[Value, ...], made: AsVector) -> Vector:
    """A list at a place where columns are wanted."""
    once(t, items)
    item = here(t, made.item)
    capacity = room(item) if made.grows else len(items)
    columns = tuple(_column(t, kind, capacity) for kind in leaves(item))
    found = Vector(t.builder.const(len(items)), columns, item, made.grows)
    for k, value in enumerate(items):
        _store(t, found, k, value)
    return found


def repeated(t: Tracer, items: tuple[Value, ...], times: Node, made: AsVector) -> Vector:
    """``[item] * times``."""
    if len(items) != 1:
        raise t.refuse("*", "of a list of several items, as often as only the run knows")
    count = largest(arguments.integer(t, times, "*"), 0)
    if holds_objects(made.item):
        raise t.refuse("*", "of a list of arrays or lists, which would be one object")
    columns = []
    for number in _flat(t, items[0], made.item):
        full = t.builder.full((count,), _plain(t, number))
        columns.append(_roomy(t, full, made.item) if made.grows else t.new(full))
    return Vector(t.builder.size(count), tuple(columns), made.item, made.grows)


_FULL = "a list gets more items than there is room for"


def room(item: Item) -> Size:
    """How many items a list has room for."""
    size: Size = 0
    for kind in leaves(item):
        size = size + product(kind.shape)
    return floordiv(CAPACITY, size if isinstance(size, int) and size else largest(size, 1))


def _column(t: Tracer, kind: Scalar | Array, capacity: Size) -> ArrayRef:
    shape = (capacity, *kind.shape)
    return t.new(t.builder.emit("empty", (), None, contiguous(kind.dtype, shape)))


def _items(column: ArrayRef, start: Size, count: Size, step: Size = 1) -> ArrayRef:
    """Some items of a column."""
    size, *strides = column.strides
    shape = (count, *column.shape[1:])
    return arguments.view(column, shape, (size * step, *strides), size * start)


def _item(column: ArrayRef, at: Size) -> ArrayRef:
    size, *strides = column.strides
    return arguments.view(column, column.shape[1:], strides, size * at)


def _flat(t: Tracer, value: Value, item: Item) -> list[Node]:
    """The numbers and arrays of an item, which must be of the list's type."""
    kind, inner = item_type(t, value), parts(item)
    if not alike(t, kind, item):
        raise t.refuse("list", "gets items of several types, or arrays that have other names")
    if isinstance(value, HeapObject) and (value.borrowed or not sole(t, value)):
        raise t.refuse("list", "gets a list that has another name")
    if isinstance(item, Line):
        return _lined(t, value, item)
    if inner is not None:
        pairs = zip(held_parts(t, value) or (), inner)
        return [n for v, kind in pairs for n in _flat(t, v, kind)]
    if isinstance(value, ArrayRef):
        t.aliases.copied(value)
        return [t.read(value)]
    if isinstance(value, TaggedUnion):
        return _chosen_number(t, value)
    number = as_number(t, value)
    assert number is not None
    if isinstance(item, AnyOrigin):
        assert isinstance(kind, Scalar)
        return [number, t.builder.const(np.bool_(kind.origin == "np"))]
    return [number]


def _chosen_number(t: Tracer, union: TaggedUnion) -> list[Node]:
    """The number that a union is, and whether it is NumPy's."""
    *others, last = [as_number(t, option) for option in union.options]
    assert last is not None and isinstance(last.type, Scalar)
    found, numpys = _plain(t, last), t.builder.const(np.bool_(last.type.origin == "np"))
    for code, option in zip(union.codes, others):
        assert option is not None and isinstance(option.type, Scalar)
        chosen = t.builder.map("eq", (union.tag, t.builder.const(code)), BOOL)
        flag = t.builder.const(np.bool_(option.type.origin == "np"))
        found = t.builder.map("where", (chosen, _plain(t, option), found), last.dtype)
        numpys = t.builder.map("where", (chosen, flag, numpys), BOOL)
    return [found, numpys]


def _lined(t: Tracer, value: Value, line: Line) -> list[Node]:
    """The numbers of a list that becomes one of a list's equally long ones: an array of each."""
    held = t.heap[value] if isinstance(value, HeapObject) else ()
    if not isinstance(held, Vector):
        held = begin(t, held, AsVector(line.item, False))
    found = [t.read(_items(column, 0, line.size)) for column in held.columns]
    if len(found) < len(leaves(line.item)):
        flag = t.builder.const(np.bool_(is_numpys(held.item)))
        found.append(t.builder.full(found[0].shape, flag))
    return found


def _plain(t: Tracer, number: Node) -> Node:
    """A number as arrays hold it."""
    if isinstance(number.type, Array):
        return number
    return py_scalar(t, number, Scalar(number.dtype, "np"))


def _fits(t: Tracer, obj: HeapObject, g: Vector, value: Value) -> None:
    """Asks for another kind of columns if a list gets a number that is Python's and not NumPy's,
    or the other way round."""
    kind = item_type(t, value)
    both = common(t, (g.item, kind))
    if both is not None and both != g.item:
        t.requests.other_columns(obj, g, both)
        raise t.refuse("list", "gets numbers of Python's and of NumPy's")


def _stays(t: Tracer, obj: HeapObject, g: Vector) -> None:
    """Refuses that a list's equally long lists change places where somebody sees one."""
    frame = t.frame
    after = frame.instruction.following if frame.instruction else 0
    live = frame.code.live_at(frame.block, after)
    if shows(g) and not unseen(t, frame, frame.state, live, obj):
        raise t.refuse("list", "of lists that change places while one of them has a name")


def shows(g: Vector) -> bool:
    """Whether what is read from a list shows its columns."""
    return isinstance(g.item, Line)


def _store(t: Tracer, g: Vector, at: Size, value: Value) -> None:
    once(t, (value,))
    for column, number in zip(g.columns, _flat(t, value, g.item)):
        t.write(_item(column, at), _plain(t, number))


def load(t: Tracer, obj: HeapObject | None, g: Vector, at: Size) -> Value:
    """The item of a list at a place that is in range; a list of a list's equally long ones is a
    view of the columns."""
    if g.home == "boxed":
        return unboxed_lists.load(t, obj, g, t.builder.size(at))
    if isinstance(g.item, Line):
        columns = tuple(_item(column, at) for column in g.columns)
        made = t.register(HeapObject(list, borrowed=True, part_of=obj))
        t.heap[made] = Vector(t.builder.size(g.item.size), columns, g.item.item, False, "shown")
        return made
    found = [_loaded(t, _item(c, at), kind) for c, kind in zip(g.columns, leaves(g.item))]
    return _built(t, g.item, iter(found), obj)


def _loaded(t: Tracer, place: ArrayRef, kind: Scalar | Array) -> Value:
    """A number, or a copy of an array: who would write into it would mean the list's own."""
    if isinstance(kind, Scalar):
        return py_scalar(t, arguments.element(t, place), kind)
    t.aliases.reads_item()
    copy = t.new(t.builder.emit("copy", (t.read(place),), None, kind))
    found = replace(copy, writeable=False)
    t.trees.own(found)
    return found


def size(t: Tracer, g: Vector) -> Size:
    """The length."""
    return t.builder.size_of(g.length, 0)


# ---------------------------------------------------------------------- what programs do


def append(t: Tracer, obj: HeapObject, g: Vector, value: Value) -> Vector:
    """The list with one more item."""
    n = size(t, g)
    _roomy_for(t, obj, g, n + 1)
    _fits(t, obj, g, value)
    _store(t, g, n, value)
    return replace(g, length=_moved(t, g, 1))


def _moved(t: Tracer, g: Vector, by: int) -> Node:
    """The length and a number; it can't overflow."""
    n = size(t, g)
    made = t.builder.map("add", (g.length, t.builder.const(by)), INT, origin="py")
    t.builder.known.setdefault(made, n + by)
    return made


def pop(t: Tracer, obj: HeapObject, g: Vector, index: Value | None = None) -> tuple[Value, Vector]:
    """An item, by default the last, and the list without it."""
    _stays(t, obj, g)
    n = size(t, g)
    if index is None:
        if t.facts.prove("<", 0, n) is False:
            raise Unreachable
        arguments.require(t, "<", 0, n, "pop from an empty list")
        return _alone(t, load(t, obj, g, n - 1)), replace(g, length=_moved(t, g, -1))
    at = position(t, g, index)
    found = _alone(t, load(t, obj, g, at))
    _put(t, g, at, n - 1 - at, part(t, g, at + 1, n - 1 - at))
    return found, replace(g, length=_moved(t, g, -1))


def _alone(t: Tracer, value: Value) -> Value:
    """An item that its list holds no more."""
    held = t.heap.get(value) if isinstance(value, HeapObject) else None
    if not isinstance(held, Vector):
        return value
    made = t.register(HeapObject(list))
    nodes = part(t, held, 0, size(t, held))
    t.heap[made] = Vector(held.length, tuple(map(t.new, nodes)), held.item, False)
    return made


def _put(t: Tracer, g: Vector, at: Size, count: Size, nodes: tuple[Node, ...]) -> None:
    """Writes items from a place on."""
    for column, node in zip(g.columns, nodes):
        t.write(_items(column, at, count), node)


def insert(t: Tracer, obj: HeapObject, g: Vector, index: Value, value: Value) -> Vector:
    """The list with one more item, before a place; Python cuts the place off at the ends."""
    _stays(t, obj, g)
    n = size(t, g)
    at = arguments.integer(t, t.operand(index), "insert")
    if not t.facts.prove("<=", 0, at):
        raise t.refuse("insert", "at a place that is counted from the end")
    if t.facts.prove("<=", at, n) is None:
        at = t.builder.size_of(t.builder.map(
            "minimum", (t.builder.size(at), g.length), INT, origin="py"), 0)
    made = append(t, obj, g, value)
    _put(t, g, at + 1, n - at, part(t, g, at, n - at))
    _store(t, g, at, value)
    return made


def extend(t: Tracer, obj: HeapObject, g: Vector, value: HeapObject | ArrayRef) -> Vector:
    """The list with the items of another one, or of an array."""
    if isinstance(value, ArrayRef):
        if Scalar(value.dtype, "np") != g.item or value.ndim != 1:
            raise t.refuse("list", "gets items of several types")
        more = Vector(t.builder.size(value.shape[0]), (t.new(t.read(value)),), g.item, False)
    else:
        more = t.heap[value]
    if more.item != g.item:
        raise t.refuse("list", "gets items of several types")
    _given(t, g, value)
    _stays(t, obj, g)
    if holds_objects(g.item):
        t.aliases.shares()
    n, count = size(t, g), size(t, more)
    _roomy_for(t, obj, g, n + count)
    _put(t, g, n, count, part(t, more, 0, count))
    return replace(g, length=t.builder.size(n + count))


def _given(t: Tracer, g: Vector, value: Value) -> None:
    """Refuses that a list gets another one's equally long lists, which somebody still sees there:
    it would have copies."""
    if (
        shows(g)
        and isinstance(value, HeapObject)
        and (value.part_of is not None or not sole(t, value))
    ):
        raise t.refuse("list", "gets the lists of a list that has a name")


def replaced(t: Tracer, obj: HeapObject, g: Vector, key: Any, value: Value) -> Vector:
    """The list with other items in place of a slice, of step 1."""
    _stays(t, obj, g)
    n = size(t, g)
    start, gone, step = slices.bounds(t, key, n)
    held = t.heap.get(value) if isinstance(value, HeapObject) else None
    if isinstance(held, tuple):
        held = begin(t, held, AsVector(g.item, False))
    same = isinstance(held, Vector) and not held.external and (
        alike(t, held.item, g.item) and alike(t, g.item, held.item)
    )
    if step != 1 or not isinstance(held, Vector) or not same:
        raise t.refuse("list", "assignment to a slice of something that is no such list")
    _given(t, g, value)
    if holds_objects(g.item):
        t.aliases.shares()
    count, rest = size(t, held), n - start - gone
    new, tail = part(t, held, 0, count), part(t, g, start + gone, rest)
    if not t.facts.prove("==", count, gone):
        _roomy_for(t, obj, g, n - gone + count)
        _put(t, g, start + count, rest, tail)
    _put(t, g, start, count, new)
    return replace(g, length=t.builder.size(n - gone + count))


def _roomy_for(t: Tracer, obj: HeapObject, g: Vector, count: Size) -> None:
    if not g.grows:
        t.requests.columns(obj, AsVector(g.item, True))
        raise t.refuse("list", "grows, and was made for a fixed number of items")
    arguments.require(t, "<=", count, room(g.item), _FULL)


def reverse_items(t: Tracer, obj: HeapObject, g: Vector) -> None:
    """Reverses the list in place."""
    _stays(t, obj, g)
    n = size(t, g)
    _put(t, g, 0, n, part(t, g, n - 1, n, -1))


def sort(t: Tracer, g: Vector, reverse: bool) -> None:
    """Sorts numbers in place; NaN sorts as Python's comparisons happen to go."""
    if not isinstance(g.item, Scalar) or g.item.dtype.kind not in "iufb":
        raise t.refuse("sort", "of tuples or complex numbers")
    if g.item.dtype.kind == "f" and reverse:
        raise t.refuse("sort", "in reverse, of floats")
    n, (node,) = size(t, g), part(t, g, 0, size(t, g))
    if g.item.dtype.kind == "f":
        numbers = t.new(node)
        unequal = elementwise.run(t, "not_equal", numbers, numbers)
        odd = elementwise.run(t, "logical_or.reduce", unequal)
        assert isinstance(odd, Node)
        t.builder.check(t.builder.map("bit_not", (odd,), BOOL), "NaN among what is sorted")
    ordered = library.sort(t, t.new(node), -1, "stable")
    assert isinstance(ordered, ArrayRef)
    if reverse:
        ordered = arguments.view(ordered, (n,), (-1,), n - 1)
    t.write(arguments.view(g.columns[0], (n,), (1,)), t.read(ordered))


def position(t: Tracer, g: Vector, index: Value) -> Size:
    """An index, counted from the front."""
    operand, n = t.operand(index), size(t, g)
    at = arguments.integer(t, operand, "index")
    if t.facts.prove("<", at, -n) or t.facts.prove("<", at, n) is False:
        raise Unreachable
    return slices.position(t, operand, n)


def getitem(t: Tracer, obj: HeapObject | None, g: Vector, index: Value) -> Value:
    return load(t, obj, g, position(t, g, index))


def setitem(t: Tracer, obj: HeapObject, g: Vector, index: Value, value: Value) -> None:
    if g.external:
        raise t.refuse("list", "is passed in or global, and would be changed")
    _stays(t, obj, g)
    outer = t.heap.get(obj.part_of) if obj.part_of is not None else None
    if obj.borrowed and shows(g) and not (
        isinstance(outer, Vector) and isinstance(outer.item, Line) and outer.item.item == g.item
    ):
        raise t.refuse("list", "gets a list in a part of it, which is a list of its own")
    _fits(t, obj, g, value)
    _store(t, g, position(t, g, index), value)


def choose(t: Tracer, items: tuple[Value, ...], index: Node) -> Value:
    """``items[index]`` of a tuple whose items are of one type."""
    return chosen(t, items, t.builder.size(slices.position(t, index, len(items))))


def chosen(t: Tracer, items: tuple[Value, ...], at: Node) -> Value:
    """The item at an index that is in range, of items of one type."""
    kinds = {item_type(t, item) for item in items}
    (kind, *others) = kinds
    if kind is None or others:
        raise t.refuse("tuple", "an index that only the run knows, into items of several types")
    if len(items) == 1:
        return items[0]
    if _changes(kind):
        raise t.refuse("tuple", "an index that only the run knows, into arrays or lists")
    rows = [_flat(t, item, kind) for item in items]
    numbers = []
    for column in zip(*rows):
        found = column[-1]
        for k, number in reversed(list(enumerate(column[:-1]))):
            chosen = t.builder.map("eq", (at, t.builder.const(k)), BOOL)
            assert isinstance(number.type, Scalar)
            pair = (chosen, number, found)
            found = t.builder.map("where", pair, number.dtype, origin=number.type.origin)
        numbers.append(found)
    return _built(t, kind, iter(numbers))


def _changes(item: Any) -> bool:
    """Whether an item is, or holds, something that may be written to."""
    changing = (Array, Row, Line)
    return any(map(_changes, item)) if isinstance(item, tuple) else isinstance(item, changing)


def _built(
    t: Tracer, item: Item, numbers: Iterator[Value], whole: HeapObject | None = None
) -> Value:
    """An item of its numbers, which is read from a list, ``whole``."""
    if isinstance(item, Row):
        made = t.register(HeapObject(list, borrowed=True, part_of=whole))
        t.heap[made] = tuple(_built(t, part, numbers) for part in item.items)
        return made
    if isinstance(item, tuple):
        return Sequence(tuple(_built(t, part, numbers) for part in item))
    found = next(numbers)
    if not isinstance(item, AnyOrigin):
        return found
    flag = next(numbers)
    assert isinstance(found, Node) and isinstance(flag, Node)
    tag = t.builder.emit("cast", (flag,), None, PY_INT)
    t.sees_union()
    return TaggedUnion(tag, (0, 1), (retyped(t, found, Scalar(item.dtype, "py")), found))


def part(
    t: Tracer, g: Vector, start: Size, count: Size, step: Size = 1
) -> tuple[Node, ...]:
    """Copies the columns from a place on."""
    if g.home == "boxed":
        raise t.refuse("list", "is passed in or global, and is read item by item")
    found = []
    for column in g.columns:
        shown = _items(column, start, count, step)
        kind = contiguous(column.dtype, shown.shape)
        found.append(t.builder.emit("copy", (t.read(shown),), None, kind))
    return tuple(found)


def truth(t: Tracer, g: Vector) -> Node:
    """Whether there are items."""
    return t.builder.map("ne", (g.length, t.builder.const(0)), BOOL, origin="py")


def contents(t: Tracer, g: Vector) -> list[ArrayRef]:
    """Fresh arrays of the items: one for each column."""
    return [t.new(node) for node in part(t, g, 0, size(t, g))]


def shown(t: Tracer, g: Vector) -> list[ArrayRef]:
    """Views of the items, for who looks at them before they change: one of each column."""
    return [_items(column, 0, size(t, g)) for column in g.columns]


def as_array(t: Tracer, g: Vector) -> ArrayRef:
    """Makes the array that ``np.asarray`` makes; of an empty list an empty array of float64."""
    if g.home == "boxed":
        shown = t.register(HeapObject(list, borrowed=True))
        t.heap[shown] = g
        made = owned(t, shown)
        g = t.heap[made]  # which are others now
        if not isinstance(g, Vector):
            raise t.refuse("list", "an array of a list that is passed in or global")
    if g.item != Scalar(FLOAT, "np") and g.item != PY_FLOAT:
        arguments.require(t, "<", 0, size(t, g), "an array of an empty list")
    inner, line = parts(g.item), g.item
    while isinstance(line, Line):
        arguments.require(t, "<", 0, line.size, "an array of empty lists")
        line = line.item
    if inner is None:
        return contents(t, g)[0]
    kinds = [kind for kind in inner if isinstance(kind, Scalar)]
    if len(kinds) < len(inner):
        raise t.refuse("list", "an array of a list of tuples of tuples")
    n, k = size(t, g), len(kinds)
    dtype = np.result_type(*(kind.dtype for kind in kinds))
    out = t.new(t.builder.emit("empty", (), None, contiguous(dtype, (n, k))))
    for place, node in enumerate(part(t, g, 0, n)):
        t.write(arguments.view(out, (n,), (k,), place), t.builder.cast(node, dtype))
    return out


def beside(t: Tracer, value: Value, other: Value) -> Value:
    """Converts a list operand beside an array to an array."""
    held = t.heap.get(value) if isinstance(value, HeapObject) else None
    if isinstance(held, Vector) and isinstance(other, ArrayRef):
        return as_array(t, held)
    return value


def copied(
    t: Tracer,
    obj: HeapObject,
    g: Vector,
    start: Size,
    count: Size,
    step: Size = 1,
    rest: bool = False,
) -> HeapObject:
    """A list of some of the items; ``rest``: only to go on in Python with.  Of equally long lists
    it shows the columns."""
    if holds_objects(g.item) and not rest:
        t.aliases.shares()
    if g.external:
        views = tuple(_items(column, start, count, step) for column in g.columns)
        part_of_it = t.register(HeapObject(list, borrowed=True))
        t.heap[part_of_it] = replace(g, length=t.builder.size(count), columns=views)
        return part_of_it if rest else owned(t, part_of_it)
    if shows(g):
        views = tuple(_items(column, start, count, step) for column in g.columns)
        shown = t.register(HeapObject(list, borrowed=True, part_of=obj))
        t.heap[shown] = Vector(t.builder.size(count), views, g.item, False, "shown")
        return shown
    made = t.register(HeapObject(list, place=t.place()))
    wanted = None if rest else t.requests.vector(made.place)
    columns = tuple(
        _roomy(t, node, g.item) if wanted is not None and wanted.grows else t.new(node)
        for node in part(t, g, start, count, step)
    )
    grows = wanted is not None and wanted.grows
    t.heap[made] = Vector(t.builder.size(count), columns, g.item, grows)
    return made


def owned(t: Tracer, obj: HeapObject) -> HeapObject:
    """A list from outside as one of the program's own, of the same items; others as they are."""
    held = t.heap[obj]
    if not isinstance(held, Vector) or not held.external:
        return obj
    made = consumers.follow(t, consumers.listed, obj)
    assert isinstance(made, HeapObject)
    return made


def _roomy(t: Tracer, node: Node, item: Item) -> ArrayRef:
    """A column that holds an array, and has room behind it."""
    count = node.shape[0]
    arguments.require(t, "<=", count, room(item), _FULL)
    column = _column(t, contiguous(node.dtype, node.shape[1:]), room(item))
    t.write(_items(column, 0, count), node)
    return column


def emptied(t: Tracer, obj: HeapObject, g: Vector) -> Vector:
    _stays(t, obj, g)
    return replace(g, length=t.builder.const(0))


def move(t: Tracer, moves: list[tuple[Vector, Vector]], stays: Node | None) -> None:
    """Copies lists, all at once, to where the next iteration of a loop finds them, if it comes."""
    counts = [_moving(t, held, stays) for _, held in moves]
    found = [part(t, held, 0, count) for (_, held), count in zip(moves, counts)]
    for (to, _), nodes, count in zip(moves, found, counts):
        arguments.require(t, "<=", count, to.columns[0].shape[0], _FULL)
        _put(t, to, 0, count, nodes)


def _moving(t: Tracer, g: Vector, stays: Node | None) -> Size:
    """How many items the next iteration gets; None where the loop is left: others may see the
    list."""
    count = size(t, g)
    if stays is None:
        return count
    chosen = t.builder.map("where", (stays, g.length, t.builder.const(0)), INT, origin="py")
    found = t.builder.size_of(chosen, 0)
    t.facts.limit(found, count)
    return found


class TracedVectors:
    """The lists of one trace whose length only the run knows."""

    def __init__(self, t: Tracer) -> None:
        self.t = t

    def same_length(self, a: Node, b: Node) -> bool:
        """Whether two lengths are one."""
        return same_length(self.t, a, b)

    def size(self, held: Vector) -> Size:
        """The number of items."""
        return size(self.t, held)

    def load(self, obj: HeapObject, held: Vector, at: Size) -> Value:
        """The item at a place."""
        return load(self.t, obj, held, at)

    def rest(
        self, obj: HeapObject, held: Vector, start: Size, count: Size, step: int
    ) -> HeapObject:
        """A list of some of the items, to go on in Python with."""
        return copied(self.t, obj, held, start, count, step, rest=True)
