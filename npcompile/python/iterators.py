"""Positions in something; ranges of the run's, and the views of dictionaries that a position begins
in."""

from __future__ import annotations

from npcompile.python.protocol import PythonType
from npcompile.python.registry import view
from npcompile.python.values import Iterator, Static, Value, boolean

_SIZED = ("static", "keys", "values", "pairs")


class IteratorType(PythonType):
    """An iterator, a ``range`` or a view of a dictionary."""

    value: Iterator

    def contains(self, item: Value) -> Value:
        """``item in view``; an iterator would be run to the item."""
        t, shown = self.t, self.value
        if shown.itself and shown.kind == "keys":
            return view(t, shown.over[0]).contains(item)
        rest = t.remaining(shown) if shown.itself else None
        if rest is None:
            raise t.refuse("in", "of an iterator is left to Python")
        wanted = t.static(item, "in")
        if not isinstance(wanted, (str, bytes, int, float, complex)):  # keys have a hash
            raise t.refuse("in", "of a view, for what is no number or string, is left to Python")
        return boolean(wanted in [t.static(x, "in") for x in rest])

    def length(self) -> Value | None:
        sized = self.value.kind in _SIZED and self.value.token is None
        known = self.t.count_of(self.value) if sized else None
        return None if known is None else Static(known)

    def iterate(self) -> Iterator:
        return self.value
