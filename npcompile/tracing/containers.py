"""Subscripts and methods of lists, dictionaries, tuples and arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.core.errors import Refused
from npcompile.core.records import replace
from npcompile.graph.ir import Node
from npcompile.ops import foreign, indexing, slices
from npcompile.ops.operands import ArrayRef, Tensor, same_elements
from npcompile.python import dictionary
from npcompile.python.polyfills.containers import Model
from npcompile.python.protocol import PythonType, Tracing
from npcompile.python.registry import register, view
from npcompile.python.values import (
    NONE,
    HeapObject,
    Iterator,
    Sequence,
    Slice,
    Static,
    Unreachable,
    Value,
    Vector,
    boolean,
    described,
)
from npcompile.tracing import (
    device_arrays,
    external,
    external_calls,
    flat_iterators,
    iteration,
    tensor_values,
    traced_containers,
    vectors,
)
from npcompile.tracing.heap import once
from npcompile.tracing.inputs import LONGEST
from npcompile.tracing.polyfills import consumers

if TYPE_CHECKING:
    from npcompile.tracing.tracer import Tracer



def items_of(t: Tracer, obj: HeapObject) -> tuple[Value, ...]:
    """The items of a list that is followed item by item."""
    found = t.heap[obj]
    if isinstance(found, Vector):
        known, count = t.known(found.length)
        if not known or count > LONGEST:
            raise t.refuse("list", "of a length that only the run knows")
        return tuple([vectors.load(t, obj, found, k) for k in range(count)])
    items: tuple[Value, ...] = found
    return items


def append(t: Tracer, obj: HeapObject, value: Value) -> None:
    """``box.append(value)``"""
    held, writes = t.heap[obj], t.writes
    grown = isinstance(held, Vector)
    t.heap[obj] = vectors.append(t, obj, held, value) if grown else (*held, value)
    own = obj.place is not None and obj.place[-1][0] is t.frame.code.code
    if t.frame.transparent and own:
        t.writes = writes  # nobody else sees the list: it is made anew


def extend(t: Tracer, obj: HeapObject, items: tuple[Value, ...]) -> None:
    """``obj.extend(items)``; a list display is an empty list that is extended."""
    held = t.heap[obj]
    anew = isinstance(held, Vector) and t.known(held.length) == (True, 0)
    if anew and (wanted := t.requests.vector(obj.place)) is not None:
        t.heap[obj] = vectors.begin(t, items, wanted)
        return
    if isinstance(held, Vector):
        once(t, items)
    for item in items:
        append(t, obj, item)


def _static(t: Tracer, obj: HeapObject, key: Value, what: str) -> Any:
    """An index into a list that is followed item by item."""
    try:
        return t.static(key, what)
    except Refused:
        t.requests.columns_of(obj, t.heap[obj], False)
        t.requests.writable_line(obj)
        raise


def _at(t: Tracer, items: tuple[Value, ...], key: Value, kind: type) -> Value:
    """An item, or a slice, of a tuple or list."""
    index = t.static(key, "an index of a list or tuple")
    try:
        if isinstance(index, slice):
            part = items[index]
            return t.allocate(list, part) if kind is list else Sequence(part, kind)
        found: Value = items[index]
        return found
    except (IndexError, TypeError):
        raise Unreachable from None


def getitem(t: Tracer, container: Value, key: Value) -> Value:
    """``container[key]``."""
    return view(t, container).getitem(key)


def _from_outside(t: Tracer, container: Static, key: Value) -> Value:
    """An item, or a slice, of a list from outside."""
    held, source = container.value, container.source
    assert source is not None
    if isinstance(key, Node) and len(held) > external.FEW and external.ask(t, held, source):
        raise t.refuse(source.text(), "is read at an index that only the call knows")
    try:
        index = t.static(key, "an index of a list or tuple")
    except Refused:
        found = external.chosen(t, held, source, key)
        if found is None:
            raise
        return found
    if isinstance(index, int):
        found = external.item(t, held, source, index)
        if found is None:
            raise Unreachable
        return found
    return _at(t, t.items_outside(held, source), key, list)


def _in_list(t: Tracer, obj: HeapObject, key: Value) -> Value:
    """An item, or a slice, of a list that the program made."""
    held = t.heap[obj]
    if not isinstance(held, Vector):
        index = _static(t, obj, key, "an index of a list or tuple")
        return _at(t, held, Static(index), list)
    if not isinstance(key, Slice):
        return vectors.getitem(t, obj, held, key)
    operand = t.operand(key)
    start, count, step = slices.bounds(t, operand, vectors.size(t, held))
    return vectors.copied(t, obj, held, start, count, step)


def _onto_itself(t: Tracer, container: ArrayRef, key: Value, value: Value) -> bool:
    """``a[k] = a[k]``: the end of every ``a[k] += b``.  It is a write like others, which Python
    may refuse, unless the array was written before."""
    if not isinstance(value, ArrayRef) or value.storage is not container.storage:
        return False
    storage = container.storage
    if not container.writeable or (storage.param >= 0 and t.version(storage) is t.first(storage)):
        return False
    mark = t.builder.mark()
    target = t.operate(indexing.getitem, container, key)
    t.builder.rollback(mark)
    return isinstance(target, ArrayRef) and same_elements(target, value)


def setitem(t: Tracer, container: Value, key: Value, value: Value) -> None:
    """``container[key] = value``."""
    view(t, container).setitem(key, value)


def _set_in_list(t: Tracer, container: HeapObject, key: Value, value: Value) -> None:
    """``container[key] = value`` of a list that the program made."""
    held = t.heap[container]
    if container.borrowed and not isinstance(key, Slice):
        t.requests.writable_line(container)
        if isinstance(held, Vector):
            vectors.setitem(t, container, held, key, value)
            return
    obj = own(t, container)
    if isinstance(held, Vector):
        if isinstance(key, Slice):
            t.heap[obj] = vectors.replaced(t, obj, held, t.operand(key), value)
        else:
            vectors.setitem(t, obj, held, key, value)
        return
    index = _static(t, obj, key, "an index of a list")
    items = list(held)
    try:
        items[index] = iteration.items(t, value) if isinstance(index, slice) else value
    except (IndexError, ValueError, TypeError):
        raise Unreachable from None
    t.heap[obj] = tuple(items)


def _set_outside(t: Tracer, container: Static, key: Value, value: Value) -> None:
    """``container[key] = value`` of a list from outside."""
    if isinstance(value, ArrayRef) and not isinstance(key, (Slice, Node)) and (
        getitem(t, container, key) is value
    ):
        return  # what ``container[key] += b`` assigns in the end
    if not t.effects.put(container, t.static(key, "a key"), value):
        own(t, container)


def delitem(t: Tracer, container: Value, key: Value) -> None:
    """``del container[key]``."""
    view(t, container).delitem(key)


def contains(t: Tracer, container: Value, item: Value) -> Value:
    """``item in container``: TRUE, FALSE or a traced bool."""
    return view(t, container).contains(item)


def count(t: Tracer, value: Value) -> Value | None:
    """``len(value)``; None if it is none of ours."""
    return view(t, value).length()


def own(t: Tracer, value: Value) -> HeapObject:
    """A list that the program made and may change."""
    if isinstance(value, HeapObject) and value.kind is list:
        if value.borrowed:
            raise t.refuse("list", "in a list of a length that only the run knows is changed")
        t.generators.changes(value)
        return value
    if isinstance(value, Static) and type(value.value) is list:
        raise t.refuse("list", "comes from outside and would be changed")
    raise t.refuse("change", f"of {described(value)} is left to Python")


def in_view(t: Tracer, shown: Iterator, item: Value) -> Value:
    """``item in shown``, a view of a dictionary; an iterator would be run to the item."""
    if shown.itself and shown.kind == "keys":
        return contains(t, shown.over[0], item)
    rest = iteration.remaining(t, shown) if shown.itself else None
    if rest is None:
        raise t.refuse("in", "of an iterator is left to Python")
    wanted = t.static(item, "in")
    if not isinstance(wanted, (str, bytes, int, float, complex)):  # keys have a hash
        raise t.refuse("in", "of a view, for what is no number or string, is left to Python")
    return boolean(wanted in [t.static(x, "in") for x in rest])


# ---------------------------------------------------------------------- methods

ListMethod = Callable[..., Value]


def _append(t: Tracer, obj: Value, value: Value) -> Value:
    append(t, t.effects.more(obj) or own(t, obj), value)
    return NONE


def _extend(t: Tracer, obj: Value, more: Value) -> Value:
    target = t.effects.more(obj) or own(t, obj)
    more = vectors.owned(t, more) if isinstance(more, HeapObject) and more.kind is list else more
    held = t.heap[target]
    other = t.heap[more] if isinstance(more, HeapObject) and more.kind is list else more
    if isinstance(held, Vector) and isinstance(other, (Vector, ArrayRef)):
        assert isinstance(more, (HeapObject, ArrayRef))
        t.heap[target] = vectors.extend(t, target, held, more)
        return NONE
    if isinstance(other, (Vector, ArrayRef)):
        t.requests.columns_like(target, other)
    extend(t, target, iteration.items(t, more))
    return NONE


def _insert(t: Tracer, obj: Value, index: Value, value: Value) -> Value:
    target = own(t, obj)
    held = t.heap[target]
    if isinstance(held, Vector):
        t.heap[target] = vectors.insert(t, target, held, index, value)
        return NONE
    items = list(held)
    items.insert(t.static(index, "an index of a list"), value)
    t.heap[target] = tuple(items)
    return NONE


def _pop(t: Tracer, obj: Value, *index: Value) -> Value:
    target = own(t, obj)
    contents = t.heap[target]
    if isinstance(contents, Vector):
        found, t.heap[target] = vectors.pop(t, target, contents, *index)
        return found
    items = list[Value](contents)
    try:
        found = items.pop(*(t.static(k, "an index of a list") for k in index))
    except IndexError:
        raise Unreachable from None
    t.heap[target] = tuple(items)
    return found


def _reverse(t: Tracer, obj: Value) -> Value:
    target = own(t, obj)
    held = t.heap[target]
    if isinstance(held, Vector):
        vectors.reverse_items(t, target, held)
        return NONE
    t.heap[target] = tuple(reversed(held))
    return NONE


def backwards(t: Tracer, value: Value) -> bool:
    """What ``reverse=`` says, which is an int."""
    held = t.static(value, "reverse")
    if not isinstance(held, int):
        raise t.refuse("sort", "reverse= is no int of Python's")
    return bool(held)


def _sort(t: Tracer, obj: Value, **options: Value) -> Value:
    target = own(t, obj)
    held = t.heap[target]
    reverse = backwards(t, options.pop("reverse", Static(False)))
    if options:
        raise t.refuse("sort", "by a key")
    if not isinstance(held, Vector):
        known = [t.static(v, "sort") for v in held]
        t.heap[target] = tuple(map(Static, sorted(known, reverse=reverse)))
        return NONE
    vectors.sort(t, held, reverse)
    return NONE


def _search(consumer: Any) -> ListMethod:
    """``index`` and ``count``."""

    def search(t: Tracer, obj: Value, wanted: Value) -> Value:
        return consumers.follow(t, consumer, obj, wanted)

    return search


def _clear(t: Tracer, obj: Value) -> Value:
    target = own(t, obj)
    held = t.heap[target]
    if isinstance(held, Vector):
        t.heap[target] = vectors.emptied(t, target, held)
        return NONE
    t.heap[target] = ()
    return NONE


def _copy(t: Tracer, container: Value) -> Value:
    held = t.heap[container] if isinstance(container, HeapObject) else ()
    if isinstance(held, Vector):
        assert isinstance(container, HeapObject)
        return vectors.copied(t, container, held, 0, vectors.size(t, held))
    return t.allocate(list, iteration.items(t, container))


#: methods by identity of the descriptor on the type
METHODS: dict[Any, ListMethod] = {
    list.append: _append,
    list.extend: _extend,
    list.insert: _insert,
    list.pop: _pop,
    list.reverse: _reverse,
    list.sort: _sort,
    list.index: _search(consumers.place),
    list.count: _search(consumers.occurrences),
    list.clear: _clear,
    list.copy: _copy,
}


# ---------------------------------------------------------------------- types whose rules are here


@register(list)
class ListType(PythonType):
    """A ``list``."""

    t: Tracer

    @classmethod
    def of(cls, t: Tracing, value: Value) -> PythonType:
        return (MadeList if isinstance(value, HeapObject) else ExternalList)(t, value)

    def delitem(self, key: Value) -> None:
        _pop(self.t, self.value, key)

    def contains(self, item: Value) -> Value:
        return self.t.lookups.equal_item(iteration.items(self.t, self.value), item)


class MadeList(ListType):
    """A list that the program made."""

    value: HeapObject

    def getitem(self, key: Value) -> Value:
        return _in_list(self.t, self.value, key)

    def setitem(self, key: Value, value: Value) -> None:
        _set_in_list(self.t, self.value, key, value)

    def delitem(self, key: Value) -> None:
        obj = own(self.t, self.value)
        held = self.t.heap[obj]
        if isinstance(held, Vector):
            _pop(self.t, obj, key)
            return
        items = list(held)
        try:
            del items[self.t.static(key, "a key")]
        except (IndexError, TypeError):
            raise Unreachable from None
        self.t.heap[obj] = tuple(items)

    def contains(self, item: Value) -> Value:
        if isinstance(self.t.heap[self.value], Vector):
            return consumers.follow(self.t, consumers.held, self.value, item)
        return super().contains(item)

    def length(self) -> Value:
        held = self.t.heap[self.value]
        return held.length if isinstance(held, Vector) else Static(len(held))

    def iterate(self) -> Iterator:
        grown = isinstance(self.t.heap[self.value], Vector)
        return Iterator("grown" if grown else "list", (self.value,))


class ExternalList(ListType):
    """A list that was passed in or is global."""

    value: Static

    def getitem(self, key: Value) -> Value:
        if self.value.source is None:
            return super().getitem(key)
        return _from_outside(self.t, self.value, key)

    def setitem(self, key: Value, value: Value) -> None:
        _set_outside(self.t, self.value, key, value)

    def delitem(self, key: Value) -> None:
        own(self.t, self.value)

    def length(self) -> Value | None:
        if self.value.source is None:
            return super().length()
        return Static(dictionary.size(self.t, self.value))

    def iterate(self) -> Iterator:
        held, source = self.value.value, self.value.source
        if source is None:
            return super().iterate()
        return Iterator("outside", (self.value, *self.t.iterations_outside(held, source)))


@register(np.ndarray)
class ArrayType(PythonType):
    """An array."""

    t: Tracer
    value: ArrayRef

    @classmethod
    def of(cls, t: Tracing, value: Value) -> PythonType:
        return (cls if isinstance(value, ArrayRef) else PythonType)(t, value)

    def getitem(self, key: Value) -> Value:
        return self.t.operate(indexing.getitem, self.value, device_arrays.viewing(self.t, key))

    def setitem(self, key: Value, value: Value) -> None:
        if not _onto_itself(self.t, self.value, key, value):
            beside = vectors.beside(self.t, value, self.value)
            self.t.operate(indexing.setitem, self.value, key, beside)

    def contains(self, item: Value) -> Value:
        raise self.t.refuse("in", "of an array is left to Python")

    def length(self) -> Value | None:
        return self.t.builder.size(self.value.shape[0]) if self.value.ndim else None

    def iterate(self) -> Iterator:
        if not self.value.ndim:
            return super().iterate()
        device_arrays.check_iteration(self.t, self.value)
        return Iterator("array", (self.value,))


@register(Tensor)
class TensorType(PythonType):
    """A torch tensor."""

    t: Tracer
    value: Sequence

    def getitem(self, key: Value) -> Value:
        return tensor_values.getitem(self.t, self.value, key)

    def setitem(self, key: Value, value: Value) -> None:
        tensor_values.setitem(self.t, self.value, key, value)

    def contains(self, item: Value) -> Value:
        raise self.t.refuse("in", "of an array is left to Python")

    def length(self) -> Value | None:
        return count(self.t, tensor_values.array(self.value))

    def iterate(self) -> Iterator:
        raise self.t.refuse("iteration", "over a tensor is left to Python")


@register(np.flatiter)
class FlatType(PythonType):
    """``array.flat``"""

    t: Tracer
    value: Iterator

    @classmethod
    def of(cls, t: Tracing, value: Value) -> PythonType:
        return (cls if isinstance(value, Iterator) else PythonType)(t, value)

    def getitem(self, key: Value) -> Value:
        return flat_iterators.getitem(self.t, self.value, key)

    def setitem(self, key: Value, value: Value) -> None:
        flat_iterators.setitem(self.t, self.value, key, value)

    def contains(self, item: Value) -> Value:
        return in_view(self.t, self.value, item)

    def iterate(self) -> Iterator:
        return replace(self.value, kind="array", over=self.value.over[:1])


@register(Iterator)
class IteratorType(PythonType):
    """A position in something, or a range or view of a dictionary."""

    t: Tracer
    value: Iterator

    def contains(self, item: Value) -> Value:
        return in_view(self.t, self.value, item)

    def length(self) -> Value | None:
        sized = self.value.kind in ("static", *iteration.VIEWS) and self.value.token is None
        known = iteration.length(self.t, self.value) if sized else None
        return None if known is None else Static(known)

    def iterate(self) -> Iterator:
        return self.value


@register(Model)
class ModelType(PythonType):
    """A container whose methods are followed as Python code."""

    t: Tracer

    def setitem(self, key: Value, value: Value) -> None:
        traced_containers.special(self.t, self.value, "__setitem__", key, value)

    def delitem(self, key: Value) -> None:
        traced_containers.special(self.t, self.value, "__delitem__", key)

    def contains(self, item: Value) -> Value:
        return traced_containers.special(self.t, self.value, "__contains__", item)

    def iterate(self) -> Iterator:
        found = traced_containers.special(self.t, self.value, "__iter__")
        assert isinstance(found, Iterator)
        return found


@register(*foreign.INDEX_TRICKS)
class IndexTrickType(PythonType):
    """``np.r_`` and its like."""

    t: Tracer

    def getitem(self, key: Value) -> Value:
        args = (self.value, key)
        made = external_calls.call(self.t, foreign.indexed, args, {}, plain=True)
        assert made is not None
        return made


@register(type(np.s_))
class IndexExpressionType(PythonType):
    """``np.s_`` and ``np.index_exp``."""

    value: Static

    def getitem(self, key: Value) -> Value:
        single = (isinstance(key, Sequence) and key.kind is tuple) or (
            isinstance(key, Static) and isinstance(key.value, tuple))
        return key if not self.value.value.maketuple or single else Sequence((key,))
