"""Lists from outside, which a function reads but does not change.

Their items are parameters, one by one.  Where an index depends on data, the function is traced
again, and an array of the items of an argument is made before anything else; or, where they are
many or lists themselves, they are read where they are (:mod:`.unboxed_lists`).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from npcompile.core.records import replace
from npcompile.core.sizes import lone_symbol
from npcompile.graph.ir import Node, Param
from npcompile.graph.types import Scalar, contiguous
from npcompile.guards.own_attributes import MISSING, own
from npcompile.guards.sources import Arg, Attribute, Item, Source
from npcompile.ops.operands import Operand
from npcompile.python import dictionary
from npcompile.python.composite import Reader
from npcompile.python.values import LONGEST, Fetched, Static, Value, Vector, is_model
from npcompile.tracing import item_types, unboxed_lists, vectors
from npcompile.tracing.side_effects import is_plain

if TYPE_CHECKING:
    from npcompile.python.values import HeapObject, Sequence
    from npcompile.tracing.services import Tracer

MOST = 2 * LONGEST  # inputs of one function
PINNED = 16  #: numbers of a list that are told by their values
FEW = 32  #: items that are looked at one by one where a loop goes through them
#: likewise where there are no arrays, whose operations of several iterations would become one
#: kernel: each length is another version then, and each outcome of a comparison may be
FEWER = 4
_DATA = (int, float, complex, bool, str, bytes, type(None), range, list)


def operand(t: Tracer, held: Any, source: Source) -> Operand:
    """A list or dict, item by item, as operators take it."""
    if type(held) is list:
        return [t.operand(item) for item in items(t, held, source)]
    if type(held) is not dict:
        raise t.refuse(source.text(), f"a {type(held).__name__} is no operand")
    mapping = dictionary.mapping(t, Static(held, source))
    return {k: t.operand(value) for k, value in mapping.items()}


def items(t: Tracer, held: list[Any], source: Source) -> tuple[Value, ...]:
    """All items of a list."""
    t.effects.looks(Static(held, source))
    t.looked[source] = held
    if len(held) > LONGEST:
        raise t.refuse(source.text(), f"is a list of more than {LONGEST} items",
                       "arrays may have any length")
    if len(t.inputs.leaves) > MOST:
        raise t.refuse(source.text(), f"is a list, and lists have more than {MOST} items together",
                       "arrays may have any length")
    t.inputs.guard_length(source, held)
    return tuple([dictionary.item(t, Static(held, source), k) for k in range(len(held))])


def item(t: Tracer, held: list[Any], source: Source, index: int) -> Value | None:
    """One item; None if there is none there."""
    t.effects.looks(Static(held, source))
    t.looked[source] = held
    if not -len(held) <= index < len(held):
        return None
    t.inputs.guard_length(source, held)
    return dictionary.item(t, Static(held, source), index % len(held))


def iterations(t: Tracer, held: list[Any], source: Source) -> tuple[Value, ...]:
    """All items of a list that a loop goes through."""
    few = _few(t)
    if len(held) > few and ask(t, held, source):
        raise t.refuse(source.text(), f"a loop goes through more than {few} items")
    return items(t, held, source)


def _few(t: Tracer) -> int:
    """How many items of a list are looked at one by one."""
    names = [value for frame in t.frames for value in frame.state.locals]
    return FEWER if all(map(_Data().read, names)) else FEW


class _Data(Reader[bool]):
    """Whether a value is, or holds, no array that is known yet."""

    def refused(self, value: Any) -> bool:
        return True

    def read_constant(self, value: Static) -> bool:
        return type(value.value) in _DATA

    def read_tuple(self, value: Sequence) -> bool:
        return all(map(self.read, value.items))

    def read_instance(self, value: HeapObject) -> bool:
        return is_model(value)

    def read_array(self, value: Any) -> bool:
        return False

    read_object = read_tensor = read_text = read_method = read_partial = read_array


def ask(t: Tracer, held: list[Any], source: Source) -> bool:
    """Asks for a list that is read where it is; whether it can be."""
    if t.effects.changed(Static(held, source)):
        return False
    if not t.requests.reads_in_place or _home(source) is None:
        return False
    kind = unboxed_lists.kind_of(held)
    if kind is not None:
        t.requests.in_place(source, Fetched(kind))
    return kind is not None


def ask_for_all(t: Tracer) -> None:
    """Asks for all lists that were looked at to be read where they are."""
    for source, held in t.looked.items():
        if len(held) > 1:
            ask(t, held, source)


def ask_for_pinned(t: Tracer) -> None:
    """Asks for lists of which many numbers are told by their values, so that other numbers would
    need another version, to be read where they are."""
    told = {lone_symbol(p.left) for p in t.facts.guards if p.op == "==" and type(p.right) is int}
    pinned = Counter(
        _outermost(leaf.source) for leaf, param in zip(t.inputs.leaves, t.root.params)
        if isinstance(param.attrs, Param) and param.attrs.symbol in told - {None}
    )
    for source, held in t.looked.items():
        if pinned[source] > PINNED:
            ask(t, held, source)


def _outermost(source: Source) -> Source:
    """The list that a list in lists, or an item of these, is in."""
    while isinstance(source, Item) and _home(source) is None:
        source = source.base
    return source


def _home(source: Source) -> Arg | None:
    """The argument that a list is, or is an attribute of."""
    match source:
        case Arg():
            return source
        case Attribute(Arg() as base, _) | Item(Attribute(Arg() as base, "__dict__"), _):
            return base
    return None


def chosen(t: Tracer, held: list[Any], source: Source, index: Value) -> Value | None:
    """The item at an index that only the run knows; None if another attempt may find it."""
    t.effects.looks(Static(held, source))
    if t.effects.changed(Static(held, source)):
        raise t.refuse(source.text(), "has got items, and one that only the run knows is looked at")
    t.looked[source] = held
    columns = t.outside.get(source)
    if columns is not None and isinstance(index, Node):
        return vectors.getitem(t, None, columns, index)
    if columns is not None or (len(held) > _few(t) and ask(t, held, source)):
        return None
    if isinstance(source, Arg) and len(held) <= LONGEST:
        kinds = {item_types.item_type(t, found) for found in items(t, held, source)}
        kind = kinds.pop() if len(kinds) == 1 else None
        if isinstance(kind, Scalar):
            t.requests.array(source, kind)
    return None


def begin(t: Tracer) -> None:
    """Makes the arrays that the attempts before this one have asked for."""
    given = t.requests.given
    for source, item in given.in_place.items():
        _open(t, source, item)
    for source, request in given.arrays.items():
        found = t.inputs.known(source) if isinstance(source, Arg) else None
        if isinstance(found, Static):
            made = vectors.begin(t, items(t, found.value, source), request)
            t.outside[source] = _finished(t, made)


def _open(t: Tracer, source: Source, item: Fetched) -> None:
    """From here on a list is read where it is."""
    home = _home(source)
    found = t.inputs.known(home) if home is not None else None
    if home is None or not isinstance(found, Static):
        return
    held = found.value
    if home is not source:
        assert isinstance(source, (Attribute, Item))
        t.inputs.guard_class(home, type(held))
        held = _attribute(held, source.name if isinstance(source, Attribute) else source.key)
    if type(held) is not list:
        return
    made = unboxed_lists.opened(t, held, source, item)
    if source in t.requests.given.copies:
        unboxed_lists.copy(t, made, source)
    t.inputs.stand(source, made)
    variables = t.frames[-1].state.locals
    variables[:] = [made if value is found and home is source else value for value in variables]


def _attribute(held: Any, name: str) -> Any:
    """A plain attribute of an object; None if it is of another kind."""
    found = own(held, name) if is_plain(held, name) else MISSING
    return None if found is MISSING else found


def _finished(t: Tracer, made: Vector) -> Vector:
    """The same list in memory whose first version it is: nobody writes to it."""
    columns = []
    for column in made.columns:
        kind = contiguous(column.dtype, column.shape)
        copy = t.new(t.builder.emit("copy", (t.read(column),), None, kind))
        columns.append(replace(copy, writeable=False))
    return replace(made, columns=tuple(columns), home="copied")
