"""Known objects that never change, and how they are indexed and gone through."""

from __future__ import annotations

from typing import Any

from npcompile.core.errors import Refused
from npcompile.guards.class_hooks import ask
from npcompile.python.iterator import Iterator
from npcompile.python.iterators import ConstantIterator
from npcompile.python.protocol import PythonType
from npcompile.python.values import Static, Unreachable, Value

_ITERATION = ("__iter__", "__len__", "__getitem__")


class ConstantType(PythonType):
    """A known string, range or tuple, or one of a class that inherits from these."""

    value: Static
    base: type

    def getitem(self, key: Value) -> Value:
        t, held = self.t, self.value.value
        ask(t, held, "subscript")
        if not t.known(key)[0]:
            t.inputs.wants_text(self.value)
        try:
            return t.value(held[t.static(key, "an index")])
        except (IndexError, TypeError):
            raise Unreachable from None
        except Refused:
            found = self.chosen(held, key)
            if found is None:
                raise
            return found

    def chosen(self, held: Any, key: Value) -> Value | None:
        """The item at an index that only the run knows; None if it is left to Python."""
        return None

    def iterate(self) -> Iterator:
        kind = type(self.value.value)  # a user's may say otherwise
        if any(getattr(kind, name) is not getattr(self.base, name) for name in _ITERATION):
            return super().iterate()
        self.t.inputs.wants_text(self.value)
        return ConstantIterator((self.value,))
