"""Lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from npcompile.core.errors import Refused
from npcompile.graph.ir import Node
from npcompile.ops import slices
from npcompile.ops.operands import ArrayRef
from npcompile.python import dictionary
from npcompile.python.iterators import ExternalListIterator, ListIterator, VectorIterator
from npcompile.python.protocol import PythonType, Tracing
from npcompile.python.slices import Slice
from npcompile.python.values import (
    FALSE,
    LONGEST,
    NONE,
    HeapObject,
    Sequence,
    Static,
    Unreachable,
    Value,
    Vector,
    python_class,
)
from npcompile.tracing import (
    external,
    iteration,
    vectors,
)
from npcompile.tracing.polyfills import consumers
from npcompile.tracing.references import once

if TYPE_CHECKING:
    from npcompile.python.iterator import Iterator
    from npcompile.tracing.services import Tracer


def append(t: Tracer, obj: HeapObject, value: Value) -> None:
    """``box.append(value)``"""
    held, writes = t.heap[obj], t.writes
    grown = isinstance(held, Vector)
    t.heap[obj] = vectors.append(t, obj, held, value) if grown else (*held, value)
    own = obj.place is not None and obj.place[-1][0] is t.frame.code.code
    if t.frame.transparent and own:
        t.hides_writes(writes)  # nobody else sees the list: it is made anew


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


def backwards(t: Tracer, value: Value) -> bool:
    """What ``reverse=`` says, which is an int."""
    held = t.static(value, "reverse")
    if not isinstance(held, int):
        raise t.refuse("sort", "reverse= is no int of Python's")
    return bool(held)


class ListType(PythonType):
    """A ``list``."""

    METHODS = (
        list.append, list.extend, list.insert, list.pop, list.reverse, list.sort, list.index,
        list.count, list.remove, list.clear, list.copy,
    )
    t: Tracer

    @classmethod
    def of(cls, t: Tracing, value: Value) -> PythonType:
        return (MadeList if isinstance(value, HeapObject) else ExternalList)(t, value)

    def own(self) -> HeapObject:
        """The list, which the program made and may change."""
        raise NotImplementedError

    def grown(self) -> HeapObject:
        """The list that gets what is appended."""
        return self.own()

    def contains(self, item: Value) -> Value:
        return self.t.lookups.equal_item(iteration.items(self.t, self.value), item)

    # ------------------------------------------------------------------ methods

    def append(self, value: Value, /) -> Value:
        append(self.t, self.grown(), value)
        return NONE

    def extend(self, more: Value, /) -> Value:
        t, target = self.t, self.grown()
        more = (
            vectors.owned(t, more) if isinstance(more, HeapObject) and more.kind is list else more)
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

    def insert(self, index: Value, value: Value, /) -> Value:
        t, target = self.t, self.own()
        held = t.heap[target]
        if isinstance(held, Vector):
            t.heap[target] = vectors.insert(t, target, held, index, value)
            return NONE
        items = list(held)
        items.insert(t.static(index, "an index of a list"), value)
        t.heap[target] = tuple(items)
        return NONE

    def pop(self, *index: Value) -> Value:
        t, target = self.t, self.own()
        held = t.heap[target]
        if isinstance(held, Vector):
            found, t.heap[target] = vectors.pop(t, target, held, *index)
            return found
        items = list[Value](held)
        try:
            found = items.pop(*(t.static(k, "an index of a list") for k in index))
        except IndexError:
            raise Unreachable from None
        t.heap[target] = tuple(items)
        return found

    def reverse(self) -> Value:
        t, target = self.t, self.own()
        held = t.heap[target]
        if isinstance(held, Vector):
            vectors.reverse_items(t, target, held)
            return NONE
        t.heap[target] = tuple(reversed(held))
        return NONE

    def sort(self, *, key: Value = NONE, reverse: Value = FALSE) -> Value:
        t, target = self.t, self.own()
        held = t.heap[target]
        falling = backwards(t, reverse)
        if key != NONE:
            raise t.refuse("sort", "by a key")
        if not isinstance(held, Vector):
            known = [t.static(v, "sort") for v in held]
            t.heap[target] = tuple(map(Static, sorted(known, reverse=falling)))
            return NONE
        vectors.sort(t, held, falling)
        return NONE

    def index(self, wanted: Value, /) -> Value:
        return consumers.follow(self.t, consumers.place, self.value, wanted)

    def count(self, wanted: Value, /) -> Value:
        return consumers.follow(self.t, consumers.occurrences, self.value, wanted)

    def remove(self, wanted: Value, /) -> Value:
        self.own()
        self.pop(self.index(wanted))
        return NONE

    def clear(self) -> Value:
        t, target = self.t, self.own()
        held = t.heap[target]
        t.heap[target] = vectors.emptied(t, target, held) if isinstance(held, Vector) else ()
        return NONE

    def copy(self) -> Value:
        return self.t.allocate(list, iteration.items(self.t, self.value))


class MadeList(ListType):
    """A list that the program made."""

    value: HeapObject

    def own(self) -> HeapObject:
        if self.value.borrowed:
            raise self.t.refuse(
                "list", "in a list of a length that only the run knows is changed")
        self.t.generators.changes(self.value)
        return self.value

    def getitem(self, key: Value) -> Value:
        return _in_list(self.t, self.value, key)

    def setitem(self, key: Value, value: Value) -> None:
        t, held = self.t, self.t.heap[self.value]
        if self.value.borrowed and not isinstance(key, Slice):
            t.requests.writable_line(self.value)
            if isinstance(held, Vector):
                vectors.setitem(t, self.value, held, key, value)
                return
        obj = self.own()
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

    def delitem(self, key: Value) -> None:
        obj = self.own()
        held = self.t.heap[obj]
        if isinstance(held, Vector):
            self.pop(key)
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

    def unpacked(self, exactly: int = -1) -> tuple[Value, ...]:
        t, obj = self.t, self.value
        found = t.heap[obj]
        if isinstance(found, Vector):
            known, count = t.known(found.length)
            if not known or count > LONGEST:
                hint = "make an array of it: np.array(...)"
                raise t.refuse("list", "of a length that only the run knows", hint)
            return tuple([vectors.load(t, obj, found, k) for k in range(count)])
        items: tuple[Value, ...] = found
        return items

    def iterate(self) -> Iterator:
        grown = isinstance(self.t.heap[self.value], Vector)
        return (VectorIterator if grown else ListIterator)((self.value,))

    def copy(self) -> Value:
        held = self.t.heap[self.value]
        if isinstance(held, Vector):
            return vectors.copied(self.t, self.value, held, 0, vectors.size(self.t, held))
        return super().copy()


class ExternalList(ListType):
    """A list that was passed in or is global, or a constant one."""

    value: Static

    def own(self) -> HeapObject:
        raise self.t.refuse("list", "is passed in or global, and would be changed")

    def grown(self) -> HeapObject:
        return self.t.effects.more(self.value) or self.own()

    def getitem(self, key: Value) -> Value:
        if self.value.source is None:
            return super().getitem(key)
        return _from_outside(self.t, self.value, key)

    def setitem(self, key: Value, value: Value) -> None:
        if isinstance(value, ArrayRef) and not isinstance(key, (Slice, Node)) and (
            self.getitem(key) is value
        ):
            return  # what ``container[key] += b`` assigns in the end
        if not self.t.effects.put(self.value, self.t.static(key, "a key"), value):
            self.own()

    def delitem(self, key: Value) -> None:
        self.own()

    def length(self) -> Value | None:
        if self.value.source is None:
            return super().length()
        return Static(dictionary.size(self.t, self.value))

    def iterate(self) -> Iterator:
        held, source = self.value.value, self.value.source
        if source is None:
            return super().iterate()
        return ExternalListIterator((self.value, *self.t.iterations_outside(held, source)))


# ------------------------------------------------------------------ + and * of sequences


def combined(t: Tracer, symbol: str, left: Value, right: Value) -> Value | None:
    """``+`` and ``*`` of tuples and lists."""
    kinds = [python_class(v) for v in (left, right)]
    plain = symbol.rstrip("=")
    grown = [isinstance(v, HeapObject) and isinstance(t.heap[v], Vector) for v in (left, right)]
    if plain == "+" and kinds[0] is kinds[1] is list and any(grown):
        made = left if symbol != plain else t.call(Static(list.copy), (left,), {})
        t.call(Static(list.extend), (made, right), {})
        return made
    if plain == "+" and kinds[0] is kinds[1] and kinds[0] in (tuple, list):
        joined = (*iteration.items(t, left), *iteration.items(t, right))
    elif plain == "*" and kinds[0] in (tuple, list) and not isinstance(right, ArrayRef):
        return _repeated(t, symbol, left, right)
    elif plain == "*" and kinds[1] in (tuple, list) and not isinstance(left, ArrayRef):
        return _repeated(t, symbol, right, left)
    else:
        return None
    return _joined(t, symbol, left, joined)


def _joined(t: Tracer, symbol: str, left: Value, items: tuple[Value, ...]) -> Value:
    """The result of ``+`` or ``*``."""
    if len(items) > 4096:
        raise t.refuse("sequence", "is too long to follow item by item")
    if symbol.endswith("=") and python_class(left) is list:
        changed = ListType.of(t, left)
        assert isinstance(changed, ListType)
        t.heap[changed.own()] = items
        return left
    return Sequence(items) if python_class(left) is tuple else t.allocate(list, items)


def _repeated(t: Tracer, symbol: str, sequence: Value, times: Value) -> Value:
    """``sequence * times``"""
    items = iteration.items(t, sequence)
    if python_class(sequence) is list and isinstance(times, Node) and not symbol.endswith("="):
        obj = t.register(HeapObject(list, place=t.place()))
        wanted = t.requests.vector(obj.place)
        if wanted is not None:
            t.heap[obj] = vectors.repeated(t, items, times, wanted)
            return obj
        t.requests.columns_of(obj, items, False)
    return _joined(t, symbol, sequence, items * _repetitions(t, times))


def _repetitions(t: Tracer, value: Value) -> int:
    """How often a sequence is repeated."""
    held = t.static(value, "a repetition")
    if type(held) not in (int, bool):
        raise t.refuse("*", f"a repetition by a {type(held).__name__} is left to Python")
    return int(held)
