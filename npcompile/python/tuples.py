"""Tuples and named tuples."""

from __future__ import annotations

from typing import Any

from npcompile.core.errors import Refused, refuse
from npcompile.core.tuples import REPLACE, reads_as_tuple, replaces
from npcompile.graph.ir import Node
from npcompile.guards.sources import Item, Source
from npcompile.python.constants import ConstantType
from npcompile.python.iterator import Iterator
from npcompile.python.iterators import ItemsIterator
from npcompile.python.protocol import Guarding, PythonType, Tracing
from npcompile.python.values import LONGEST, Sequence, Static, Unreachable, Value, boolean

CHOSEN = 32  #: items of a tuple that an index of the run's chooses from


def field_names(kind: type) -> tuple[str, ...]:
    """The names of a named tuple's items, and of a tuple's that C code names."""
    own = getattr(kind, "__match_args__", ()) if issubclass(kind, tuple) else ()
    found: tuple[str, ...] = getattr(kind, "_fields", own)
    return found


class TupleType(PythonType):
    """A ``tuple``, or one of a class that inherits from it."""

    subclasses = True

    @classmethod
    def of(cls, t: Tracing, value: Value) -> PythonType:
        if isinstance(value, Sequence):
            return MadeTuple(t, value)
        if isinstance(value, Static):
            return (ConstantTuple if type(value.value) is tuple else ConstantSubclass)(t, value)
        return PythonType(t, value)

    @classmethod
    def external(cls, inputs: Guarding, held: Any, source: Source) -> Sequence:
        inputs.guard_class(source, type(held))
        plain = type(held) is tuple or reads_as_tuple(type(held))
        if not plain or len(held) > LONGEST:
            raise refuse(source.text(), "a tuple that is too long or of a class of its own")
        inputs.guard_length(source, held)
        items = tuple(inputs.lift(item, Item(source, k)) for k, item in enumerate(held))
        return Sequence(items, type(held), Static(held, source))

    def contents(self) -> tuple[Value, ...]:
        """The items."""
        raise NotImplementedError

    def kind(self) -> Any:
        """The class of a slice."""
        return tuple

    def getitem(self, key: Value) -> Value:
        items = self.contents()
        try:
            index = self.t.static(key, "an index of a list or tuple")
        except Refused:
            if not isinstance(key, Node) or not 0 < len(items) <= CHOSEN:
                raise
            return self.t.lookups.chosen(items, key)
        try:
            if isinstance(index, slice):
                return Sequence(items[index], self.kind())
            found: Value = items[index]
            return found
        except (IndexError, TypeError):
            raise Unreachable from None

    def contains(self, item: Value) -> Value:
        return self.t.lookups.equal_item(self.contents(), item)


class MadeTuple(TupleType):
    """A tuple whose items are values."""

    value: Sequence

    def contains(self, item: Value) -> Value:
        plain = self.value.kind is tuple
        return super().contains(item) if plain else PythonType.contains(self, item)

    def contents(self) -> tuple[Value, ...]:
        return self.value.items

    def kind(self) -> Any:
        return tuple if hasattr(self.value.kind, "_fields") else self.value.kind

    def unpacked(self, exactly: int = -1) -> tuple[Value, ...]:
        return self.value.items

    def length(self) -> Value:
        return Static(len(self.value.items))

    def truth(self) -> Value:
        return boolean(bool(self.value.items))

    def attribute(self, name: str, plain: bool = False) -> Value | None:
        names = field_names(self.value.kind)
        return self.value.items[names.index(name)] if name in names else None

    def method(self, name: str) -> Value | None:
        return Static(REPLACE) if name == "_replace" and replaces(self.value.kind) else None

    def iterate(self) -> Iterator:
        return ItemsIterator(self.value.items)


class ConstantTuple(TupleType, ConstantType):
    """A known tuple."""

    base = tuple

    def contents(self) -> tuple[Value, ...]:
        return tuple(map(self.t.value, self.value.value))


class ConstantSubclass(ConstantType):
    """A known tuple of a class of its own."""

    base = tuple
