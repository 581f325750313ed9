"""Frozen sets that are known.

A loop goes through a set in the order of its hash table (CPython: ``Objects/setobject.c``), which
depends on the table's size and on which items came first.  Where neither matters the order is
known: an int from 0 to the size of the smallest table of so many items is its own place.
"""

from __future__ import annotations

from npcompile.core.errors import Refused
from npcompile.guards.class_hooks import answer, ask
from npcompile.python.iterator import Iterator
from npcompile.python.iterators import ItemsIterator
from npcompile.python.protocol import PythonType, Tracing
from npcompile.python.values import Static, Unreachable, Value, boolean

SMALLEST = 8  #: places of an empty table


def _places(count: int) -> int:
    """The size of the smallest table that holds so many items: three fifths may be taken."""
    size = SMALLEST
    while count * 5 >= (size - 1) * 3:
        size *= 2
    return size


class SetType(PythonType):
    """A ``frozenset``."""

    value: Static

    @classmethod
    def of(cls, t: Tracing, value: Value) -> PythonType:
        return (cls if isinstance(value, Static) else PythonType)(t, value)

    def contains(self, item: Value) -> Value:
        t, held = self.t, self.value.value
        ask(t, held, "in")
        if answer(held):
            raise t.refuse("in", "a set of objects that answer by code of their classes")
        try:
            return boolean(t.static(item, "in") in held)
        except Refused:
            return t.lookups.among(list(held), item)
        except TypeError:
            raise Unreachable from None

    def iterate(self) -> Iterator:
        held, least = self.value.value, _places(len(self.value.value))
        places = all(type(item) is int and 0 <= item < least for item in held)
        if self.value.source is not None or not (places or len(held) == 1):
            raise self.t.refuse("iteration", "over a set, whose order is its table's")
        return ItemsIterator(tuple(map(Static, sorted(held) if places else held)))
