"""Dictionaries: those that the program made, and external ones; and what they hold.

An external dictionary holds its items of the call's beginning, and what the trace has stored there
since, which are pending side effects.
"""

from __future__ import annotations

from typing import Any, ClassVar

from npcompile.core.errors import Refused
from npcompile.core.records import replace
from npcompile.guards.sources import Item
from npcompile.ops.operands import ArrayRef
from npcompile.python.iterator import Iterator
from npcompile.python.protocol import PythonType, Tracing
from npcompile.python.values import (
    NONE,
    NULL,
    HeapObject,
    Sequence,
    Static,
    Unreachable,
    Value,
    boolean,
    described,
    python_class,
)

_KEY = "a dictionary's key"


def keys(t: Tracing, value: Value) -> list[Any]:
    """The keys of a dictionary, in their order."""
    if isinstance(value, Static) and type(value.value) is dict:
        if value.source is None:
            return list(value.value)
        t.effects.looks(value)
        t.inputs.guard_keys(value.source, value.value)
        gone = t.effects.removed(value)
        return [*(key for key in value.value if key not in gone), *t.effects.added(value)]
    return list(mapping(t, value))


def mapping(t: Tracing, value: Value) -> dict[Any, Value]:
    """The items of a dictionary."""
    if isinstance(value, HeapObject) and value.kind is dict:
        contents: dict[Any, Value] = t.heap[value]
        return contents
    if isinstance(value, Static) and type(value.value) is dict:
        return {key: item(t, value, key) for key in keys(t, value)}
    if isinstance(value, Sequence):  # keyword defaults of a function: names and values in turn
        names = [t.static(name, "a name") for name in value.items[::2]]
        return dict(zip(names, value.items[1::2]))
    raise t.refuse("**", f"of {described(value)} is left to Python")


def has(t: Tracing, target: Static, key: Any) -> bool:
    """Whether a dictionary has an item, which :func:`item` then reads."""
    if key in target.value:
        return target.source is None or key not in t.effects.removed(target)
    return t.effects.load(target, (key,)) is not None


def item(t: Tracing, target: Static, key: Any) -> Value:
    """The item at a key of a dictionary from outside, or at a place of a list from outside."""
    held, source = target.value, target.source
    if source is None:
        return t.value(held[key])
    found = t.effects.load(target, (key,))
    return t.inputs.lift(held[key], Item(source, key)) if found is None else found


def size(t: Tracing, target: Static) -> int:
    """How many items a list or dictionary from outside has, which is guarded."""
    held, source = target.value, target.source
    assert source is not None
    t.effects.looks(target)
    t.inputs.guard_length(source, held)
    return len(held) + len(t.effects.added(target)) - len(t.effects.removed(target))


class KeysIterator(Iterator):
    """Runs over the keys of a dictionary: ``over`` are the dictionary and, when a loop has begun,
    the number of its items, which must stay.  It stands for the view itself, too."""

    __slots__ = ()
    kind = "keys"

    @property
    def stored(self) -> bool:  # type: ignore[override]
        """Whether the dictionary is external: Python may change it."""
        return isinstance(self.over[0], Static)

    def keys(self, t: Tracing) -> list[Any]:
        """The keys now."""
        return keys(t, self.over[0])

    def started(self, t: Tracing) -> Iterator:
        if len(self.over) > 1:  # the size when the iterator was made counts
            return self
        return replace(self, over=(self.over[0], Static(len(self.keys(t)))))

    def count(self, t: Tracing) -> int:
        count = len(self.keys(t))
        if len(self.over) > 1 and isinstance(self.over[1], Static) and self.over[1].value != count:
            raise Unreachable
        return count

    def item(self, t: Tracing, k: int) -> Value:
        return self.shown(t, self.keys(t)[k])

    def shown(self, t: Tracing, key: Any) -> Value:
        """The item that stands for a key."""
        return Static(key)

    def rest(self, t: Tracing) -> tuple[Value, ...] | None:
        if not self.stored:
            return None
        return tuple([self.shown(t, key) for key in self.keys(t)[self.position :]])


class ValuesIterator(KeysIterator):
    """Runs over the values of a dictionary."""

    __slots__ = ()
    kind = "values"

    def shown(self, t: Tracing, key: Any) -> Value:
        container = self.over[0]
        if isinstance(container, Static):
            return item(t, container, key)
        return mapping(t, container)[key]

    def gives_computed(self) -> bool:
        return self.stored


class PairsIterator(ValuesIterator):
    """Runs over the items of a dictionary."""

    __slots__ = ()
    kind = "pairs"

    def shown(self, t: Tracing, key: Any) -> Value:
        return Sequence((Static(key), super().shown(t, key)))


def of_external(iterator: Value) -> bool:
    """Whether an iterator runs over an external dictionary, which Python may change."""
    return isinstance(iterator, KeysIterator) and iterator.stored


class DictType(PythonType):
    """A ``dict``."""

    @classmethod
    def of(cls, t: Tracing, value: Value) -> PythonType:
        return (MadeDict if isinstance(value, HeapObject) else ExternalDict)(t, value)

    def has(self, key: Any) -> bool:
        """Whether there is an item at a known key; of an external dictionary only this is
        guarded."""
        raise NotImplementedError

    def item(self, key: Any) -> Value:
        """The item at a known key that is there."""
        raise NotImplementedError

    def name(self, key: Value) -> Any:
        """A key that is known now."""
        name = self.t.static(key, _KEY)
        try:
            hash(name)
        except TypeError:
            raise Unreachable from None
        return name

    def missing(self, default: Value) -> Value:
        """What Python gives in place of an item that is not there, if anything."""
        if default is NULL:
            raise Unreachable
        return default

    def getitem(self, key: Value) -> Value:
        try:
            name = self.name(key)
        except Refused:
            return self.t.lookups.item(mapping(self.t, self.value), key)
        if not self.has(name):
            raise Unreachable
        return self.item(name)

    def contains(self, item: Value) -> Value:
        try:
            return boolean(self.t.static(item, "in") in keys(self.t, self.value))
        except Refused:
            return self.t.lookups.among(keys(self.t, self.value), item)

    def iterate(self) -> Iterator:
        return KeysIterator((self.value,))

    # ------------------------------------------------------------------ methods

    def copy(self) -> Value:
        return self.t.allocate(dict, dict(mapping(self.t, self.value)))

    def get(self, key: Value, default: Value = NONE, /) -> Value:
        try:
            name = self.name(key)
        except Refused:
            return self.t.lookups.item(mapping(self.t, self.value), key, default)
        return self.getitem(key) if name in keys(self.t, self.value) else default

    def keys(self) -> Value:
        return self._shown(KeysIterator)

    def values(self) -> Value:
        return self._shown(ValuesIterator)

    def items(self) -> Value:
        return self._shown(PairsIterator)

    def _shown(self, kind: type[KeysIterator]) -> Value:
        """A view, in Python's sense."""
        if isinstance(self.value, Static) and self.value.source is not None:
            self.t.inputs.guard_keys(self.value.source, self.value.value)
        return kind((self.value,), itself=True)

    def update(self, /, *other: Value, **named: Value) -> Value:
        raise NotImplementedError

    def setdefault(self, key: Value, default: Value = NONE, /) -> Value:
        raise NotImplementedError

    def pop(self, key: Value, default: Value = NULL, /) -> Value:
        raise NotImplementedError

    def popitem(self) -> Value:
        if not (found := keys(self.t, self.value)):
            raise Unreachable
        key = Static(found[-1])
        return Sequence((key, self.pop(key)))

    def clear(self) -> Value:
        raise NotImplementedError

    # ------------------------------------------------------------------ operators

    def __or__(self, other: Value, /) -> Value:
        return self.t.allocate(dict, {**mapping(self.t, self.value), **self._beside(other)})

    def __ior__(self, other: Value, /) -> Value:
        self._beside(other)
        self.update(other)
        itself: Value = self.value
        return itself

    def _beside(self, other: Value) -> dict[Any, Value]:
        """The items of another dictionary."""
        if python_class(other) is not dict:
            raise self.t.refuse("|", f"of a dict and {described(other)} is left to Python")
        return mapping(self.t, other)

    METHODS: ClassVar[tuple[Any, ...]] = (
        dict.__or__, dict.__ior__, dict.pop, dict.popitem, dict.clear, dict.copy, dict.get,
        dict.keys, dict.values, dict.items, dict.update, dict.setdefault,
    )


class MadeDict(DictType):
    """A dictionary that the program made: its contents are replaced when they change."""

    value: HeapObject

    def own(self) -> dict[Any, Value]:
        """The contents, which are about to change."""
        if self.value.borrowed:
            raise self.t.refuse(
                "list", "in a list of a length that only the run knows is changed")
        self.t.generators.changes(self.value)
        held: dict[Any, Value] = self.t.heap[self.value]
        return held

    def has(self, key: Any) -> bool:
        return key in self.t.heap[self.value]

    def item(self, key: Any) -> Value:
        found: Value = self.t.heap[self.value][key]
        return found

    def setitem(self, key: Value, value: Value) -> None:
        held = self.own()
        try:
            name = self.name(key)
        except Refused:
            if self.t.lookups.wants_table(self.value, key, value):
                raise
            self.t.heap[self.value] = self.t.lookups.replaced(held, key, value)
            return
        self.t.heap[self.value] = {**held, name: value}

    def delitem(self, key: Value) -> None:
        self.pop(key)

    def length(self) -> Value:
        return Static(len(self.t.heap[self.value]))

    def pop(self, key: Value, default: Value = NULL, /) -> Value:
        held = self.own()
        try:
            name = self.name(key)
        except Refused:
            if held:
                raise
            return self.t.lookups.item(held, key, None if default is NULL else default)
        if name not in held:
            return self.missing(default)
        self.t.heap[self.value] = {k: v for k, v in held.items() if k != name}
        return held[name]

    def clear(self) -> Value:
        self.own()
        self.t.heap[self.value] = {}
        return NONE

    def update(self, /, *other: Value, **named: Value) -> Value:
        more = mapping(self.t, other[0]) if other else {}
        self.t.heap[self.value] = {**self.own(), **more, **named}
        return NONE

    def setdefault(self, key: Value, default: Value = NONE, /) -> Value:
        held = self.own()
        try:
            name = self.name(key)
        except Refused:
            self.t.lookups.wants_table(self.value, key, default)
            raise
        if name not in held:
            held = self.t.heap[self.value] = {**held, name: default}
        return held[name]


class ExternalDict(DictType):
    """A dictionary that was passed in or is global, or a constant one."""

    value: Static

    def has(self, key: Any) -> bool:
        return has(self.t, self.value, key)

    def item(self, key: Any) -> Value:
        return item(self.t, self.value, key)

    def setitem(self, key: Value, value: Value) -> None:
        name = self.name(key)
        if isinstance(value, ArrayRef) and self.has(name) and self.item(name) is value:
            return  # what ``d[key] += b`` assigns in the end
        if not self.t.effects.put(self.value, name, value):
            raise self._changed()

    def delitem(self, key: Value) -> None:
        self._remove(self.name(key))

    def _remove(self, *names: Any) -> None:
        """Removes items when the call ends."""
        left = keys(self.t, self.value)
        if not all(name in left for name in names):
            raise Unreachable
        if not self.t.effects.remove(self.value, names):
            raise self._changed()

    def _changed(self) -> Refused:
        return self.t.refuse("dict", "is passed in or global, and would be changed")

    def length(self) -> Value | None:
        if self.value.source is None:
            return Static(len(self.value.value))
        return Static(size(self.t, self.value))

    def pop(self, key: Value, default: Value = NULL, /) -> Value:
        name = self.name(key)
        if name not in keys(self.t, self.value):
            return self.missing(default)
        found = self.item(name)
        self._remove(name)
        return found

    def clear(self) -> Value:
        self._remove(*keys(self.t, self.value))
        return NONE

    def update(self, /, *other: Value, **named: Value) -> Value:
        for key, value in {**(mapping(self.t, other[0]) if other else {}), **named}.items():
            self.setitem(Static(key), value)
        return NONE

    def setdefault(self, key: Value, default: Value = NONE, /) -> Value:
        if not self.has(self.name(key)):
            self.setitem(key, default)
        return self.getitem(key)
