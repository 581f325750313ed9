"""Dictionaries at a key that only the run knows: one of those that are there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from npcompile.core.errors import Refused
from npcompile.core.paths import defer
from npcompile.core.records import record
from npcompile.graph.ir import Node
from npcompile.graph.types import BOOL, PY_INT
from npcompile.python import characters
from npcompile.python.values import (
    FALSE,
    Sequence,
    Static,
    Unreachable,
    Value,
    boolean,
    described,
)

if TYPE_CHECKING:
    from npcompile.python.values import HeapObject
    from npcompile.tracing import escapes, item_types, texts, traced_containers, vectors
    from npcompile.tracing.polyfills import consumers
    from npcompile.tracing.services import Tracer
else:
    defer(
        globals(), "npcompile.tracing", "escapes", "item_types", "texts", "traced_containers",
        "vectors",
    )
    defer(globals(), "npcompile.tracing.polyfills", "consumers")

MOST = 64  #: keys of a dictionary that a key of the run's is compared with


@record(eq=False)
class KeyPosition:
    """Where a key is among ``keys``, those of a dictionary that it may be equal to, whose numbers
    ``numbers`` are; ``number`` is its own."""

    keys: list[Any]
    numbers: list[int]
    number: Node

    def found(self, t: Tracer) -> Value:
        """Whether it is there."""
        return texts.is_among(t, self.number, self.numbers)

    def require(self, t: Tracer) -> None:
        """Leaves for Python where it is not."""
        found = self.found(t)
        if not isinstance(found, Node):
            raise Unreachable
        t.builder.check(found, "a key that is not there")

    def equals(self, t: Tracer, k: int) -> Node:
        """Whether it is a key."""
        return t.builder.map("eq", (self.number, t.builder.const(self.numbers[k])), BOOL)

    def index(self, t: Tracer, otherwise: int) -> Node:
        """Which of the keys it is."""
        at = t.builder.const(otherwise)
        for k in reversed(range(len(self.keys))):
            pair = self.equals(t, k), t.builder.const(k), at
            at = t.builder.map("where", pair, PY_INT.dtype, origin="py")
        return at


def place(t: Tracer, keys: list[Any], key: Value) -> KeyPosition:
    """Where a key is that only the run knows; refuses what is no character or integer, or may be
    equal to other keys than such."""
    if not all(type(k) in (str, bytes, int, type(None)) for k in keys) or len(keys) > MOST:
        raise t.refuse("dictionary", "a key that only the run knows, and many or unusual keys")
    if characters.is_character(key):
        number = escapes.as_number(t, characters.code(key))
        numbers: dict[Any, int] = {k: ord(k) for k in keys if type(k) is str and len(k) == 1}
    elif isinstance(key, Node) and key.dtype.kind in "iu" and key.dtype.char not in "QL":
        number = key if key.type == PY_INT else t.builder.emit("cast", (key,), None, PY_INT)
        numbers = {k: k for k in keys if type(k) is int and -(2**63) <= k < 2**63}
    else:
        raise t.refuse("dictionary", f"{described(key)} as a key, which only the run knows")
    assert number is not None
    return KeyPosition(list(numbers), list(numbers.values()), number)


def get(t: Tracer, held: dict[Any, Value], key: Value, default: Value | None = None) -> Value:
    """``held[key]``, or ``held.get(key, default)``."""
    if not held and item_types.is_key(item_types.item_type(t, key)):
        if default is None:
            raise Unreachable
        return default
    at = place(t, list(held), key)
    items = [held[k] for k in at.keys]
    if default is None:
        at.require(t)
        return _choose(t, items, at.index(t, len(items) - 1))
    return _choose(t, [*items, default], at.index(t, len(items)))


def _choose(t: Tracer, items: list[Value], index: Node) -> Value:
    """The item at an index that is in range."""
    letters = [texts.as_character(item) for item in items]
    if all(map(characters.is_character, letters)):
        return characters.character(vectors.chosen(t, tuple(map(characters.code, letters)), index))
    return vectors.chosen(t, tuple(items), index)


def replaced(
    t: Tracer, held: dict[Any, Value], key: Value, value: Value
) -> dict[Any, Value]:
    """A dictionary with another number for a key that is there."""
    at = place(t, list(held), key)
    at.require(t)
    made, number = dict(held), escapes.as_number(t, value)
    for k, name in enumerate(at.keys):
        old = escapes.as_number(t, held[name])
        if number is None or old is None or old.type != number.type:
            raise t.refuse("dictionary", "gets a value of another type, for one of several keys")
        pair = at.equals(t, k), number, old
        made[name] = t.builder.map("where", pair, number.dtype, origin=number.scalar.origin)
    return made


class KeyLookups:
    """The searches of one trace for keys and items that only the run knows."""

    def __init__(self, t: Tracer) -> None:
        self.t = t

    def item(self, held: dict[Any, Value], key: Value, default: Value | None = None) -> Value:
        """``held[key]``, or ``held.get(key, default)``."""
        return get(self.t, held, key, default)

    def replaced(self, held: dict[Any, Value], key: Value, value: Value) -> dict[Any, Value]:
        """A dictionary with another number for a key that is there."""
        return replaced(self.t, held, key, value)

    def wants_table(self, obj: HeapObject, key: Value, value: Value) -> bool:
        """Whether a dictionary that gets such a key is asked for as a hash table."""
        return traced_containers.wanted(self.t, obj, key, value)

    def chosen(self, items: tuple[Value, ...], index: Node) -> Value:
        """The item at an index."""
        return vectors.choose(self.t, items, index)

    def among(self, keys: list[Any], key: Value) -> Value:
        """Whether a key is one of known objects."""
        if not keys and item_types.is_key(item_types.item_type(self.t, key)):
            return FALSE
        return place(self.t, keys, key).found(self.t)

    def equal_item(self, items: tuple[Value, ...], item: Value) -> Value:
        """Whether a value is equal to one of the items of a list or tuple."""
        try:
            return self._equal(items, item)
        except Refused:
            found = [self.t.known(x) for x in items]
            if not all(known for known, _ in found):
                raise
            return self.among([x for _, x in found], item)

    def _equal(self, items: tuple[Value, ...], item: Value) -> Value:
        t = self.t
        if all(isinstance(x, Static) or t.known(x)[0] for x in (item, *items)):
            return boolean(t.static(item, "in") in [t.static(x, "in") for x in items])
        if not all(isinstance(x, (Node, Static)) for x in (item, *items)):
            raise t.refuse("in", "depends on data that only the run knows")
        return consumers.follow(t, consumers.held, Sequence(items), item)
