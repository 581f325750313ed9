"""Subscripts and methods of lists, dictionaries, tuples and arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.core.errors import Refused
from npcompile.graph.ir import Node
from npcompile.guards.class_hooks import answer, ask
from npcompile.ops import foreign, indexing, slices
from npcompile.ops.operands import ArrayRef, same_elements
from npcompile.python.values import (
    FALSE,
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
    is_model,
    python_class,
)
from npcompile.tracing import (
    device_arrays,
    dict_lookups,
    dicts,
    external,
    external_calls,
    flat_iterators,
    iteration,
    tensor_values,
    texts,
    traced_containers,
    vectors,
)
from npcompile.tracing.inputs import LONGEST
from npcompile.tracing.item_types import is_key, item_type
from npcompile.tracing.polyfills import consumers
from npcompile.tracing.references import once

if TYPE_CHECKING:
    from npcompile.tracing.tracer import Tracer


CHOSEN = 32  #: items of a tuple that an index of the run's chooses from

#: objects whose length and truth stay what they are
LASTING = (str, bytes, tuple, range, frozenset, bool, int, float, complex, np.generic, np.dtype)


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


def _is_tuple(key: Value) -> bool:
    return (isinstance(key, Sequence) and key.kind is tuple) or (
        isinstance(key, Static) and isinstance(key.value, tuple)
    )


def _in_tuple(
    t: Tracer, items: tuple[Value, ...], key: Value, kind: type = tuple
) -> Value:
    """An item, or a slice, of a tuple: chosen by the run where it finds the index."""
    try:
        index = t.static(key, "an index of a list or tuple")
    except Refused:
        if not isinstance(key, Node) or not 0 < len(items) <= CHOSEN:
            raise
        return vectors.choose(t, items, key)
    return _at(t, items, Static(index), tuple if hasattr(kind, "_fields") else kind)


def getitem(t: Tracer, container: Value, key: Value) -> Value:
    """``container[key]``."""
    match container:
        case ArrayRef():
            return t.operate(indexing.getitem, container, device_arrays.viewing(t, key))
        case Iterator("flat"):
            return flat_iterators.getitem(t, container, key)
        case Sequence() if tensor_values.is_tensor(container):
            return tensor_values.getitem(t, container, key)
        case Sequence() if texts.is_text(container):
            return texts.getitem(t, container, key)
        case Sequence(items, kind):
            return _in_tuple(t, items, key, kind)
        case HeapObject() if container.kind is list:
            return _in_list(t, container, key)
        case HeapObject() if container.kind is dict:
            return _in_dict(t, container, t.heap[container], key)
        case Static(held, source) if source is not None and type(held) is list:
            return _from_outside(t, container, key)
        case Static(held, source) if source is not None and type(held) is dict:
            return _in_dict(t, container, None, key)
        case Static(held) if type(held) is tuple:
            return _in_tuple(t, tuple(map(t.value, held)), key)
        case Static(held) if isinstance(held, (str, bytes, tuple, range)):
            return _in_constant(t, container, held, key)
        case Static(held) if isinstance(held, foreign.INDEX_TRICKS):
            made = external_calls.call(t, foreign.indexed, (container, key), {}, plain=True)
            assert made is not None
            return made
        case Static(held) if isinstance(held, type(np.s_)):
            return key if not held.maketuple or _is_tuple(key) else Sequence((key,))
    raise t.refuse("subscript", f"of {described(container)} is left to Python")


def _in_dict(t: Tracer, container: Value, held: Any, key: Value) -> Value:
    """An item of a dictionary."""
    try:
        name = t.static(key, "a dictionary's key")
    except Refused:
        return dict_lookups.get(t, dicts.mapping(t, container), key)
    if not (dicts.has(t, container, name) if isinstance(container, Static) else name in held):
        raise Unreachable
    found: Value = dicts.item(t, container, name) if isinstance(container, Static) else held[name]
    return found


def _in_constant(t: Tracer, container: Static, held: Any, key: Value) -> Value:
    """An item, or a slice, of a string or range."""
    ask(t, held, "subscript")
    if not t.known(key)[0]:
        t.inputs.wants_text(container)
    try:
        return t.value(held[t.static(key, "an index")])
    except (IndexError, TypeError):
        raise Unreachable from None
    except Refused:
        found = texts.of_constant(t, held, key) if type(held) in (str, bytes) else None
        if found is None:
            raise
        return found


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


def _holds(t: Tracer, container: Value, key: Value, value: ArrayRef) -> bool:
    """Whether a value is the very array that a list or dictionary from outside holds there."""
    if not isinstance(container, Static) or isinstance(key, (Slice, Node)):
        return False
    kind = type(container.value)
    there = kind is list or (kind is dict and dicts.has(t, container, t.static(key, "a key")))
    return there and getitem(t, container, key) is value


def setitem(t: Tracer, container: Value, key: Value, value: Value) -> None:
    """``container[key] = value``."""
    if is_model(container):
        traced_containers.special(t, container, "__setitem__", key, value)
        return
    if tensor_values.is_tensor(container):
        tensor_values.setitem(t, container, key, value)
        return
    if isinstance(container, ArrayRef):
        if not _onto_itself(t, container, key, value):
            t.operate(indexing.setitem, container, key, vectors.beside(t, value, container))
        return
    if isinstance(value, ArrayRef) and _holds(t, container, key, value):
        return  # what ``container[key] += b`` assigns in the end
    if isinstance(container, Iterator) and container.kind == "flat":
        flat_iterators.setitem(t, container, key, value)
        return
    held = t.heap.get(container) if isinstance(container, HeapObject) else None
    if isinstance(container, HeapObject) and container.borrowed and not isinstance(key, Slice):
        t.requests.writable_line(container)
        if isinstance(held, Vector):
            vectors.setitem(t, container, held, key, value)
            return
    if _put_outside(t, container, key, value):
        return
    obj = own(t, container)
    if obj.kind is dict:
        try:
            name = t.static(key, "a dictionary's key")
        except Refused:
            if traced_containers.wanted(t, obj, key, value):
                raise
            t.heap[obj] = dict_lookups.replaced(t, t.heap[obj], key, value)
            return
        t.heap[obj] = {**t.heap[obj], name: value}
        return
    held = t.heap[obj]
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


def _put_outside(t: Tracer, container: Value, key: Value, value: Value) -> bool:
    """``container[key] = value``, if it is a list or dictionary from outside."""
    if not isinstance(container, Static) or type(container.value) not in (list, dict):
        return False
    return t.effects.put(container, t.static(key, "a key"), value)


def delitem(t: Tracer, container: Value, key: Value) -> None:
    """``del container[key]``."""
    if is_model(container):
        traced_containers.special(t, container, "__delitem__", key)
        return
    obj = own(t, container)
    if isinstance(t.heap[obj], Vector):
        _pop(t, obj, key)
        return
    contents = dict(t.heap[obj]) if obj.kind is dict else list(t.heap[obj])
    try:
        del contents[t.static(key, "a key")]
    except (IndexError, KeyError, TypeError):
        raise Unreachable from None
    t.heap[obj] = contents if obj.kind is dict else tuple(contents)


def own(t: Tracer, value: Value) -> HeapObject:
    """A list or dictionary that the program made and may change."""
    if isinstance(value, HeapObject) and value.kind in (list, dict):
        if value.borrowed:
            raise t.refuse("list", "in a list of a length that only the run knows is changed")
        t.generators.changes(value)
        return value
    if isinstance(value, Static) and type(value.value) in (list, dict):
        name = type(value.value).__name__
        raise t.refuse(name, "comes from outside and would be changed")
    raise t.refuse("change", f"of {described(value)} is left to Python")


def contains(t: Tracer, container: Value, item: Value) -> Value:
    """``item in container``: TRUE, FALSE or a traced bool."""
    if is_model(container):
        return traced_containers.special(t, container, "__contains__", item)
    if isinstance(container, HeapObject) and isinstance(t.heap[container], Vector):
        return consumers.follow(t, consumers.held, container, item)
    found = texts.contained(t, container, item)
    if found is not None:
        return found
    try:
        return _held(t, container, item)
    except Refused:
        keys = _constants(t, container)
        if keys is None:
            raise
        if not keys and is_key(item_type(t, item)):
            return FALSE
        return dict_lookups.place(t, keys, item).found(t)


def _constants(t: Tracer, container: Value) -> list[Any] | None:
    """The items of a container, or the keys of a dictionary, if all are known while tracing."""
    held = container.value if isinstance(container, Static) else None
    if type(held) is frozenset:
        return list(held)
    if python_class(container) is dict:
        return dicts.keys(t, container)
    if python_class(container) in (tuple, list) and not tensor_values.is_tensor(container):
        found = [t.known(item) for item in iteration.items(t, container)]
        return [item for _, item in found] if all(known for known, _ in found) else None
    return None


def _held(t: Tracer, container: Value, item: Value) -> Value:
    """``item in container``, where it is no string."""
    if python_class(container) not in (tuple, list) or tensor_values.is_tensor(container):
        return boolean(_contains(t, container, item))
    items = iteration.items(t, container)
    if all(isinstance(x, Static) or t.known(x)[0] for x in (item, *items)):
        return boolean(t.static(item, "in") in [t.static(x, "in") for x in items])
    if not all(isinstance(x, (Node, Static)) for x in (item, *items)):
        raise t.refuse("in", "depends on data that only the run knows")
    return consumers.follow(t, consumers.held, Sequence(items), item)


def _contains(t: Tracer, container: Value, item: Value) -> bool:
    """``item in container`` of anything but tuples and lists."""
    if isinstance(container, Static) and type(container.value) is dict:
        return t.static(item, "in") in dicts.keys(t, container)
    if isinstance(container, HeapObject) and container.kind is dict:
        return t.static(item, "in") in t.heap[container]
    if isinstance(container, (ArrayRef, Node)) or tensor_values.is_tensor(container):
        raise t.refuse("in", "of an array is left to Python")
    if isinstance(container, Static) and isinstance(container.value, (str, bytes, frozenset)):
        ask(t, container.value, "in")
        if isinstance(container.value, frozenset) and answer(container.value):
            raise t.refuse("in", "a set of objects that answer by code of their classes")
        try:
            return t.static(item, "in") in container.value
        except (TypeError, ValueError):
            raise Unreachable from None
    if isinstance(container, Iterator):
        return _in_view(t, container, item)
    return t.static(item, "in") in [
        t.static(x, "in") for x in iteration.items(t, container)
    ]


def _in_view(t: Tracer, view: Iterator, item: Value) -> bool:
    """``item in view`` of a dictionary; an iterator would be run to the item."""
    if view.itself and view.kind == "keys":
        return _contains(t, view.over[0], item)
    shown = iteration.remaining(t, view) if view.itself else None
    if shown is None:
        raise t.refuse("in", "of an iterator is left to Python")
    wanted = t.static(item, "in")
    if not isinstance(wanted, (str, bytes, int, float, complex)):  # keys have a hash
        raise t.refuse("in", "of a view, for what is no number or string, is left to Python")
    return wanted in [t.static(x, "in") for x in shown]


def count(t: Tracer, value: Value) -> Value | None:
    """``len(value)`` of anything but an array; None if it is none of ours."""
    match value:
        case Sequence() if tensor_values.is_tensor(value):
            return count(t, tensor_values.array(value))
        case Sequence() if texts.is_text(value):
            return texts.length(t, value)
        case Sequence(items):
            return Static(len(items))
        case HeapObject() if isinstance(t.heap[value], Vector):
            length: Node = t.heap[value].length
            return length
        case HeapObject() if value.kind in (list, dict):
            return Static(len(t.heap[value]))
        case Static(held, source) if source is not None and type(held) in (list, dict):
            return Static(dicts.size(t, value))
        case Static(held, source) if hasattr(held, "__len__"):
            ask(t, held, "len")
            if source is not None and not isinstance(held, LASTING):
                raise t.refuse("len", f"of a {type(held).__name__} that may change")
            return Static(len(held))
        case Iterator(kind) if kind in ("static", *iteration.VIEWS) and value.token is None:
            known = iteration.length(t, value)
            return None if known is None else Static(known)
        case ArrayRef() if value.ndim:
            return t.builder.size(value.shape[0])
    return None


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
    if target.kind is dict:
        name = t.static(index[0], "a dictionary's key")
        if name not in contents and len(index) == 2:
            return index[1]
        if name not in contents:
            raise Unreachable
        t.heap[target] = {k: v for k, v in contents.items() if k != name}
        found: Value = contents[name]
        return found
    if isinstance(contents, Vector):
        found, t.heap[target] = vectors.pop(t, target, contents, *index)
        return found
    items = list(contents)
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
    t.heap[target] = {} if target.kind is dict else ()
    return NONE


def _copy(t: Tracer, container: Value) -> Value:
    if (isinstance(container, Static) and type(container.value) is list) or (
        isinstance(container, HeapObject) and container.kind is list
    ):
        held = t.heap[container] if isinstance(container, HeapObject) else ()
        if isinstance(held, Vector):
            assert isinstance(container, HeapObject)
            return vectors.copied(t, container, held, 0, vectors.size(t, held))
        return t.allocate(list, iteration.items(t, container))
    return t.allocate(dict, dict(dicts.mapping(t, container)))


def _get(t: Tracer, container: Value, key: Value, default: Value = NONE) -> Value:
    try:
        name = t.static(key, "a dictionary's key")
    except Refused:
        return dict_lookups.get(t, dicts.mapping(t, container), key, default)
    return getitem(t, container, key) if name in dicts.keys(t, container) else default


def _view(kind: str) -> Callable[[Tracer, Value], Value]:
    """``keys``, ``values`` or ``items``."""

    def view(t: Tracer, container: Value) -> Value:
        if isinstance(container, Static) and container.source is not None:
            t.inputs.guard_keys(container.source, container.value)
        return Iterator(kind, (container,), itself=True)

    return view


def _update(t: Tracer, obj: Value, *other: Value, **named: Value) -> Value:
    more = dicts.mapping(t, other[0]) if other else {}
    if isinstance(obj, Static):
        for key, value in {**more, **named}.items():
            setitem(t, obj, Static(key), value)
        return NONE
    target = own(t, obj)
    t.heap[target] = {**t.heap[target], **more, **named}
    return NONE


def _setdefault(t: Tracer, obj: Value, key: Value, default: Value = NONE) -> Value:
    if isinstance(obj, Static):
        if not dicts.has(t, obj, t.static(key, "a dictionary's key")):
            setitem(t, obj, key, default)
        return getitem(t, obj, key)
    target = own(t, obj)
    try:
        name = t.static(key, "a dictionary's key")
    except Refused:
        traced_containers.wanted(t, target, key, default)
        raise
    if name not in t.heap[target]:
        t.heap[target] = {**t.heap[target], name: default}
    found: Value = t.heap[target][name]
    return found


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
    dict.pop: _pop,
    dict.clear: _clear,
    dict.copy: _copy,
    dict.get: _get,
    dict.keys: _view("keys"),
    dict.values: _view("values"),
    dict.items: _view("pairs"),
    dict.update: _update,
    dict.setdefault: _setdefault,
}
