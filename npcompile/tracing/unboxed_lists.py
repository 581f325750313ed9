"""Lists from outside that are read where they are: of any length, of numbers, of tuples of such,
of lists of such.

Such a list is looked at as one whose length only the run knows (:mod:`.vectors`), whose only
column are the addresses of its items: it is *boxed*.  What an item is, is checked where it is read.
Nobody may write to it: so long as machine code runs, no Python code does, which could.

Short lists of numbers, or of tuples of numbers, that a loop in a loop reads are *copied* to arrays
before anything else, which are columns like those of the program's own lists.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from npcompile.core.records import replace
from npcompile.core.sizes import Size, symbol
from npcompile.graph.ir import Node
from npcompile.graph.types import BOOL, FLOAT, INT, PY_BOOL, PY_INT, PYTHON, Scalar, contiguous
from npcompile.guards.kinds import LongestGuard
from npcompile.guards.sources import Arg, Source
from npcompile.guards.sources import Item as ItemSource
from npcompile.ops import arguments
from npcompile.ops.elementwise import py_scalar
from npcompile.ops.operands import ArrayRef
from npcompile.python.values import (
    Fetched,
    HeapObject,
    Item,
    Kind,
    Sequence,
    Static,
    TaggedUnion,
    Value,
    Vector,
)
from npcompile.runtime.unsafe import object_memory
from npcompile.tracing.polyfills import consumers

if TYPE_CHECKING:
    from npcompile.tracing.services import Tracer

Path = tuple[Value, ...] | None  # a list from outside, and the indices that lead to another one
WIDEST = 8  #: items of a tuple in a list
PACKED = 1024  #: items of a list that are copied where a loop in a loop reads them
_NUMBERS = {**PYTHON, np.float64: Scalar(FLOAT, "np"), np.int64: Scalar(INT, "np")}


def kind_of(held: Iterable[Any]) -> Kind | None:
    """The kind of a list's items; None if machine code cannot read them in place."""
    classes = set(map(type, held))
    if classes == {int, float}:
        return frozenset((_NUMBERS[int], _NUMBERS[float]))
    if len(classes) != 1:
        return None
    (found,) = classes
    if found is list:
        inner = kind_of(list(chain.from_iterable(held)))
        return None if inner is None else Fetched(inner)
    if found is tuple:
        return _tuple(list(held))
    return _NUMBERS[found] if found in object_memory.CLASSES else None


def _tuple(held: list[tuple[Any, ...]]) -> Kind | None:
    sizes = set(map(len, held))
    if len(sizes) > 1 or not 0 < max(sizes) <= WIDEST:
        return None
    kinds = [kind_of(column) for column in zip(*held)]
    known = tuple([kind for kind in kinds if kind is not None])
    return known if len(known) == len(kinds) else None


def opened(t: Tracer, held: list[Any], source: Source, item: Fetched) -> HeapObject:
    """Makes the traced list that reads an external list in place, with its guards."""
    t.inputs.guard_class(source, list)
    _guard(t, held, source, item)
    if not isinstance(source, Arg):
        t.inputs.whole(held, source)  # which keeps it
    whole = Static(held, source)
    t.opened.append((whole, item))
    return _list(t, t.inputs.address(source), item, (whole,))


def _guard(t: Tracer, held: Any, source: Source, item: Kind) -> None:
    """Guards the classes of the first items: lists of others get versions of their own."""
    if isinstance(item, frozenset):
        return
    if not isinstance(item, (Fetched, tuple)):
        t.inputs.guard_class(source, type(held))
        return
    inner = (item.kind,) if isinstance(item, Fetched) else item
    t.inputs.guard_class(source, list if isinstance(item, Fetched) else tuple)
    for k, (kind, value) in enumerate(zip(inner, held)):
        _guard(t, value, ItemSource(source, k), kind)


def load(t: Tracer, obj: HeapObject | None, g: Vector, at: Node) -> Value:
    """The item of a boxed list at a place that is in range."""
    (addresses,), kind = g.columns, boxed_kind(g)
    shown = arguments.view(addresses, (), (), addresses.strides[0] * t.builder.size_of(at))
    path = t.fetched.get(obj) if obj is not None else None
    if path is not None and len(path) == 1:
        _ask_to_copy(t, path[0], kind)
    return _value(t, arguments.element(t, shown), kind, path and (*path, at))


def boxed_kind(g: Vector) -> Kind:
    """The kind of the items of a boxed list."""
    assert g.home == "boxed"
    return cast("Kind", g.item)


# ---------------------------------------------------------------------- lists that are copied

def _ask_to_copy(t: Tracer, whole: Value, kind: Kind) -> None:
    """Asks for copies, made at each call, of what a list holds that a loop in a loop reads: only of
    a few items, so that copying takes no time to speak of, should the loops have few iterations."""
    assert isinstance(whole, Static) and whole.source is not None
    nested = t.scope is not None and t.scope.outer is not None
    if nested and _parts(kind) and len(whole.value) <= PACKED:
        t.requests.copy(whole.source)


def _parts(kind: Kind) -> list[Scalar]:
    """The numbers that an item consists of; none: it is no number and no tuple of numbers."""
    found = kind if isinstance(kind, tuple) else (kind,)
    numbers = [part for part in found if isinstance(part, Scalar)]
    return numbers if len(numbers) == len(found) else []


def copy(t: Tracer, obj: HeapObject, source: Source) -> None:
    """Copies what a list holds to arrays, from which it is read from here on."""
    t.inputs.guard(LongestGuard(source, PACKED))
    g: Vector = t.heap[obj]
    kind = boxed_kind(g)
    n, parts = t.builder.size_of(g.length, 0), _parts(kind)
    kinds = [contiguous(part.dtype, (n,)) for part in parts]
    made = [t.new(t.builder.emit("empty", (), None, kind)) for kind in kinds]
    if isinstance(kind, tuple):
        consumers.follow(t, consumers.filled_columns, Sequence(tuple(made)), obj)
    else:
        consumers.follow(t, consumers.filled, made[0], obj)
    copies = [t.builder.emit("copy", (t.read(a),), None, form) for a, form in zip(made, kinds)]
    columns = tuple([replace(t.new(copy), writeable=False) for copy in copies])
    t.facts.limit(n, PACKED)
    t.heap[obj] = Vector(t.builder.size(n), columns, cast("Item", kind), False, "copied")


# ---------------------------------------------------------------------- objects

def _list(t: Tracer, address: Node, item: Fetched, path: Path) -> HeapObject:
    """A list at an address; it has been checked that it is one."""
    length = t.builder.emit("cast", (_word(t, address, object_memory.LENGTH),), None, PY_INT)
    n = _measure(t, length, path)
    first = _place(t, _word(t, address, object_memory.ITEMS))
    column = arguments.view(t.inputs.words("heap"), (n,), (1,), first)
    made = t.register(HeapObject(list, borrowed=True))
    t.heap[made] = Vector(length, (column,), cast("Item", item.kind), False, "boxed")
    if path is not None:
        t.fetched[made] = path
    return made


def _measure(t: Tracer, length: Node, path: Path) -> Size:
    """A length as a size; it has a name if other attempts find it too."""
    known = [t.known(index) for index in path[1:]] if path else []
    if not path or t.builder.region is not t.root or not all(found for found, _ in known):
        return t.builder.size_of(length, 0)
    (whole, *_), indices = path, "".join(f"[{index}]" for _, index in known)
    assert isinstance(whole, Static) and whole.source is not None
    name = f"len({whole.source.text()}{indices})"
    if name not in t.sizes and t.builder.known_size(length) is None:
        t.sizes[name] = t.builder.bind(symbol(name, low=0), length)
    return t.builder.size_of(length, 0)


def _place(t: Tracer, address: Node) -> Any:
    """Where the words at an address begin."""
    place = t.builder.map("shr", (address, t.builder.const(np.int64(3))), INT, origin="py")
    return t.builder.size_of(place) - 1


def _word(t: Tracer, address: Node, k: int, dtype: np.dtype[Any] = INT) -> Node:
    """A word of the object at an address."""
    heap = t.inputs.words("heap")
    shown = arguments.view(heap, (), (), _place(t, address) + k)
    return arguments.element(t, ArrayRef(heap.storage, shown.geometry, dtype, False))


def _class(t: Tracer, k: int) -> Node:
    return arguments.element(t, arguments.view(t.inputs.words("classes"), (), (), k))


def _is(t: Tracer, address: Node, *classes: type) -> list[Node]:
    """Whether the object at an address is of each of these classes."""
    found = _word(t, address, object_memory.CLASS)
    known = [_class(t, object_memory.CLASSES.index(kind)) for kind in classes]
    return [t.builder.map("eq", (found, one), BOOL) for one in known]


def _value(t: Tracer, address: Node, kind: Kind, path: Path) -> Value:
    """The object at an address, which is checked to be of a kind."""
    b = t.builder
    if isinstance(kind, Fetched):
        b.check(_is(t, address, list)[0], "an item of a list is no list")
        return _list(t, address, kind, path)
    if isinstance(kind, tuple):
        b.check(_is(t, address, tuple)[0], "an item of a list is no tuple")
        count = b.map(
            "eq", (_word(t, address, object_memory.LENGTH), b.const(np.int64(len(kind)))), BOOL
        )
        b.check(count, "a tuple in a list is of another length")
        found = [_value(t, _word(t, address, object_memory.ITEMS + k), inner, None)
                 for k, inner in enumerate(kind)]
        return Sequence(tuple(found))
    reason = "an item of a list is of another type, or large"
    if isinstance(kind, frozenset):
        whole, real = _is(t, address, int, float)
        number, fits = _int(t, address)
        fits = b.map("bit_or", (b.map("bit_not", (whole,), BOOL), fits), BOOL)
        b.check(b.map("bit_and", (b.map("bit_or", (whole, real), BOOL), fits), BOOL), reason)
        t.sees_union()
        options = (
            number,
            py_scalar(t, _word(t, address, object_memory.VALUE, FLOAT), _NUMBERS[float]),
        )
        return TaggedUnion(b.emit("cast", (real,), None, PY_INT), (0, 1), options)
    known = kind.dtype.type if kind.origin == "np" else kind.python_type
    (holds,) = _is(t, address, known)
    if known is int:
        number, fits = _int(t, address)
        b.check(b.map("bit_and", (holds, fits), BOOL), reason)
        return number
    b.check(holds, reason)
    if known is bool:
        true = b.map("eq", (address, _class(t, object_memory.TRUE)), BOOL)
        return b.emit("cast", (true,), None, PY_BOOL)
    return py_scalar(t, _word(t, address, object_memory.VALUE, kind.dtype), kind)


def _int(t: Tracer, address: Node) -> tuple[Node, Node]:
    """An int, and whether it has no more than two digits, without which it is another."""
    b = t.builder

    def made(op: str, *args: Node | int) -> Node:
        nodes = [b.const(np.int64(arg)) if isinstance(arg, int) else arg for arg in args]
        return b.map(op, nodes, BOOL if op in ("eq", "le") else INT)

    tag, digits = (_word(t, address, k) for k in (object_memory.VALUE, object_memory.DIGITS))
    if object_memory.TAGGED:
        count, sign = made("shr", tag, 3), made("sub", 1, made("bit_and", tag, 3))
    else:
        count, sign = made("abs", tag), made("minimum", made("maximum", tag, -1), 1)
    mask = 2**object_memory.DIGIT_BITS - 1
    high = made("shl", made("bit_and", made("shr", digits, 32), mask), object_memory.DIGIT_BITS)
    more = b.map("where", (made("eq", count, 2), high, b.const(np.int64(0))), INT)
    number = made("mul", sign, made("add", made("bit_and", digits, mask), more))
    return b.emit("cast", (number,), None, PY_INT), made("le", count, 2)
