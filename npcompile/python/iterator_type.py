"""Positions in something; ranges of the run's, and the views of dictionaries that a position begins
in."""

from __future__ import annotations

from npcompile.python.dictionary import KeysIterator
from npcompile.python.iterator import Iterator
from npcompile.python.iterators import ConstantIterator
from npcompile.python.protocol import PythonType
from npcompile.python.registry import view
from npcompile.python.values import TRUE, Static, Value, boolean

_SIZED = (ConstantIterator, KeysIterator)


class IteratorType(PythonType):
    """An iterator, a ``range`` or a view of a dictionary."""

    subclasses = True
    value: Iterator

    def contains(self, item: Value) -> Value:
        """``item in view``; an iterator would be run to the item."""
        t, shown = self.t, self.value
        if shown.itself and type(shown) is KeysIterator:
            return view(t, shown.over[0]).contains(item)
        rest = shown.rest(t) if shown.itself else None
        if rest is None:
            raise t.refuse("in", "of an iterator is left to Python")
        wanted = t.static(item, "in")
        if not isinstance(wanted, (str, bytes, int, float, complex)):  # keys have a hash
            raise t.refuse("in", "of a view, for what is no number or string, is left to Python")
        return boolean(wanted in [t.static(x, "in") for x in rest])

    def length(self) -> Value | None:
        sized = isinstance(self.value, _SIZED) and self.value.token is None
        known = self.value.left(self.t) if sized else None
        return None if known is None else Static(known)

    def truth(self) -> Value:
        if self.value.itself:
            raise self.t.refuse("truth", "of a range or a view of a dictionary is left to Python")
        return TRUE

    def iterate(self) -> Iterator:
        return self.value
