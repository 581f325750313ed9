"""Iteration: one row per kind of iterator; positions are numbers, items are computed when asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from npcompile.core.records import record, replace
from npcompile.ops import indexing
from npcompile.ops.operands import ArrayRef
from npcompile.python import dictionary
from npcompile.python.registry import view
from npcompile.python.values import (
    HeapObject,
    Iterator,
    Sequence,
    Static,
    Unreachable,
    Value,
    is_tensor,
)
from npcompile.tracing import texts

if TYPE_CHECKING:
    from npcompile.tracing.tracer import Tracer


@record
class IteratorKind:
    """``length`` of the whole (None: only the run knows), and the item at a position."""

    length: Callable[[Tracer, Iterator], int | None]
    item: Callable[[Tracer, Iterator, int], Value]


def begin(t: Tracer, value: Value) -> Iterator:
    """``iter(value)``."""
    found = view(t, value).iterate()
    if found.token is not None:
        if found.token in t.consumed:
            raise t.refuse("iterator", "is run a second time")
        if t.homes[found.token] is not t.scope:
            raise t.refuse("iterator", "is older than the loop whose iterations go on with it")
        t.consumed.add(found.token)
    if found.kind in VIEWS:  # its dictionary must not grow or shrink from now on
        found = replace(found, over=(found.over[0], Static(len(_keys(t, found)))))
    if found.kind == "grown":
        obj = found.over[0]
        assert isinstance(obj, HeapObject)
        found = replace(found, over=(obj, t.heap[obj].length))
    return replace(found, nodes=len(t.builder.region.nodes), itself=False, begun=True)


def _items_of(t: Tracer, obj: HeapObject) -> tuple[Value, ...]:
    from npcompile.tracing import containers

    return containers.items_of(t, obj)


def length(t: Tracer, iterator: Iterator) -> int | None:
    """How many items remain, or None."""
    whole = KINDS[iterator.kind].length(t, iterator)
    return None if whole is None else max(whole - iterator.position, 0)


def item(t: Tracer, iterator: Iterator, position: int) -> Value:
    return KINDS[iterator.kind].item(t, iterator, iterator.position + position)


def advance(t: Tracer, iterator: Iterator) -> tuple[Value, Iterator] | None:
    """The next item and the iterator after it, or None at the end."""
    rest = length(t, iterator)
    if rest is None:
        raise t.refuse("loop", "has a length that depends on data, and runs in Python")
    if not rest:
        return None
    return item(t, iterator, 0), replace(iterator, position=iterator.position + 1)


def items(t: Tracer, value: Value, exactly: int = -1) -> tuple[Value, ...]:
    """All items of something; ``exactly``: how many the program wants (-1: all there are)."""
    if isinstance(value, Sequence) and not (is_tensor(value) or texts.is_text(value)):
        return value.items
    if isinstance(value, HeapObject) and value.kind is list:
        return _items_of(t, value)
    iterator = begin(t, value)
    count = length(t, iterator)
    if count is None and exactly >= 0 and isinstance(value, ArrayRef):
        count = exactly if t.facts.must("==", value.shape[0], exactly) else None
    if count is None:
        raise t.refuse("unpacking", "of as many items as only the run knows")
    return tuple(item(t, iterator, k) for k in range(count))


# ---------------------------------------------------------------------- kinds


def _array_length(t: Tracer, it: Iterator) -> int | None:
    ref = it.over[0]
    assert isinstance(ref, ArrayRef)
    size = t.facts.norm(ref.shape[0])
    return size if isinstance(size, int) else None


def _text_length(t: Tracer, it: Iterator) -> int | None:
    size = t.facts.norm(texts.array(it.over[0]).shape[0])
    return size if isinstance(size, int) else None


def _list_contents(t: Tracer, it: Iterator) -> tuple[Value, ...]:
    obj = it.over[0]
    assert isinstance(obj, HeapObject)
    return _items_of(t, obj)


def _list_item(t: Tracer, it: Iterator, k: int) -> Value:
    return _list_contents(t, it)[k]


def _row(t: Tracer, it: Iterator, k: int) -> Value:
    return t.operate(indexing.getitem, it.over[0], Static(k))


def _held(it: Iterator) -> Static:
    found = it.over[0]
    assert isinstance(found, Static)
    return found


def _held_item(t: Tracer, it: Iterator, k: int) -> Value:
    return Static(_held(it).value[k])


def _inner(it: Iterator) -> list[Iterator]:
    return [part for part in it.over if isinstance(part, Iterator)]


def calls(it: Iterator) -> bool:
    """Whether taking an item calls a function."""
    return it.kind == "map" or any(map(calls, _inner(it)))


def _shortest(t: Tracer, it: Iterator) -> int | None:
    lengths = [length(t, part) for part in _inner(it)]
    for k, part in enumerate(_inner(it)[:-1]):
        least = [0 if n is None else n for n in lengths[k + 1 :]]
        if calls(part) and (lengths[k] is None or min(least) < (lengths[k] or 0)):
            raise t.refuse(it.kind, "may call a function once more than it needs to")
    known = [n for n in lengths if n is not None]
    if 0 in known:
        return 0
    return min(known, default=0) if len(known) == len(lengths) else None


def _zipped(t: Tracer, it: Iterator, k: int) -> Value:
    return Sequence(tuple(item(t, part, k) for part in _inner(it)))


def _enumerated(t: Tracer, it: Iterator, k: int) -> Value:
    number = t.binary("+", it.over[1], Static(k)) if k else it.over[1]
    return Sequence((number, item(t, _inner(it)[0], k)))


def _reversed(t: Tracer, it: Iterator, k: int) -> Value:
    inner = _inner(it)[0]
    count = length(t, inner)
    assert count is not None
    return item(t, inner, count - 1 - k)


def _mapped(t: Tracer, it: Iterator, k: int) -> Value:
    args = tuple(item(t, part, k) for part in it.over[1:] if isinstance(part, Iterator))
    return t.call(it.over[0], args, {})


def _first_length(t: Tracer, it: Iterator) -> int | None:
    return length(t, _inner(it)[0])


def _unknown(t: Tracer, it: Iterator) -> int | None:
    return None


def _range_item(t: Tracer, it: Iterator, k: int) -> Value:
    raise t.refuse("range", "of a length that depends on data")


def _grid_length(t: Tracer, it: Iterator) -> int | None:
    from npcompile.tracing import trip_counts

    size = t.facts.norm(trip_counts.length(t, replace(it, position=0)))
    return size if isinstance(size, int) else None


def _grid_item(t: Tracer, it: Iterator, k: int) -> Value:
    from npcompile.tracing import trip_counts

    return trip_counts.item(t, replace(it, position=0), k)


#: what the views of a dictionary show of an item
VIEWS: dict[str, Callable[[Any, Value], Value]] = {
    "keys": lambda key, value: Static(key),
    "values": lambda key, value: value,
    "pairs": lambda key, value: Sequence((Static(key), value)),
}


def _keys(t: Tracer, it: Iterator) -> list[Any]:
    return dictionary.keys(t, it.over[0])


def _view_length(t: Tracer, it: Iterator) -> int:
    count = len(_keys(t, it))
    if len(it.over) > 1 and isinstance(it.over[1], Static) and it.over[1].value != count:
        raise Unreachable
    return count


def _view_item(t: Tracer, it: Iterator, k: int) -> Value:
    container, key = it.over[0], _keys(t, it)[k]
    if it.kind == "keys":
        return Static(key)
    held = dictionary.item(t, container, key) if isinstance(container, Static) else (
        dictionary.mapping(t, container)[key])
    return VIEWS[it.kind](key, held)


def of_dictionary(it: Iterator) -> bool:
    """Whether it runs over a dictionary from outside, which Python may change."""
    return it.kind in VIEWS and isinstance(it.over[0], Static)


def _item_outside(t: Tracer, it: Iterator, k: int) -> Value:
    """An item of a list from outside: what it was when the loop began, or is now."""
    found = t.effects.load(it.over[0], (k,))
    return it.over[k + 1] if found is None else found


KINDS: dict[str, IteratorKind] = {
    **dict.fromkeys(VIEWS, IteratorKind(_view_length, _view_item)),
    "static": IteratorKind(lambda t, it: len(_held(it).value), _held_item),
    "items": IteratorKind(lambda t, it: len(it.over), lambda t, it, k: it.over[k]),
    "outside": IteratorKind(lambda t, it: len(it.over) - 1, _item_outside),
    "list": IteratorKind(lambda t, it: len(_list_contents(t, it)), _list_item),
    "array": IteratorKind(_array_length, _row),
    "text": IteratorKind(_text_length, lambda t, it, k: texts.item(t, it.over[0], k)),
    "range": IteratorKind(_unknown, _range_item),
    "grown": IteratorKind(_unknown, _range_item),
    "zip": IteratorKind(_shortest, _zipped),
    "enumerate": IteratorKind(_first_length, _enumerated),
    "reversed": IteratorKind(_first_length, _reversed),
    "map": IteratorKind(_shortest, _mapped),
    "ndindex": IteratorKind(_grid_length, _grid_item),
    "ndenumerate": IteratorKind(_grid_length, _grid_item),
    "flat": IteratorKind(_unknown, _range_item),
    "lost": IteratorKind(_unknown, _range_item),  # nobody knows where it stands
}


def remaining(t: Tracer, iterator: Iterator) -> tuple[Value, ...] | None:
    """The items still to come, if they are there without computing anything."""
    match iterator.kind:
        case "items":
            return iterator.over[iterator.position :]
        case "keys" | "values" | "pairs" if of_dictionary(iterator):
            places = range(iterator.position, len(_keys(t, iterator)))
            return tuple([_view_item(t, iterator, k) for k in places])
        case "outside":
            places = range(iterator.position, len(iterator.over) - 1)
            return tuple([_item_outside(t, iterator, k) for k in places])
        case "static":
            return tuple(map(Static, _held(iterator).value[iterator.position :]))
        case "list":
            return _list_contents(t, iterator)[iterator.position :]
        case "reversed":
            inner = remaining(t, _inner(iterator)[0])
            return None if inner is None else inner[::-1][iterator.position :]
        case "zip" | "enumerate":
            return _remaining_tuples(t, iterator)
    return None


def _remaining_tuples(t: Tracer, iterator: Iterator) -> tuple[Value, ...] | None:
    columns: list[tuple[Value, ...]] = []
    for inner in _inner(iterator):
        rest = remaining(t, inner)
        if rest is None:
            return None
        columns.append(rest[iterator.position :])
    if iterator.kind == "enumerate":
        start = iterator.over[1]
        if not isinstance(start, Static):
            return None
        first = start.value + iterator.position
        columns.insert(0, tuple(map(Static, range(first, first + len(columns[0])))))
    return tuple(map(Sequence, zip(*columns)))
