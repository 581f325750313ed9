"""Strings and bytes: known ones, and those whose characters only the run knows."""

from __future__ import annotations

from typing import Any

from npcompile.graph.texts import Character
from npcompile.guards.class_hooks import ask
from npcompile.python.constants import ConstantType
from npcompile.python.protocol import PythonType, Tracing
from npcompile.python.values import (
    Iterator,
    Sequence,
    Static,
    Unreachable,
    Value,
    boolean,
)


class TextType(PythonType):
    """A ``str`` or ``bytes``."""

    subclasses = True

    @classmethod
    def of(cls, t: Tracing, value: Value) -> PythonType:
        if isinstance(value, Sequence):
            return TracedText(t, value)
        return ConstantText(t, value) if isinstance(value, Static) else PythonType(t, value)


class ConstantText(TextType, ConstantType):
    """A known string."""

    @property
    def base(self) -> type:  # type: ignore[override]
        return str if isinstance(self.value.value, str) else bytes

    def chosen(self, held: Any, key: Value) -> Value | None:
        plain = type(held) in (str, bytes)
        return self.t.texts.item_of_constant(held, key) if plain else None

    def contains(self, item: Value) -> Value:
        found = self.t.texts.holds(self.value, item)
        if found is not None:
            return found
        ask(self.t, self.value.value, "in")
        try:
            return boolean(self.t.static(item, "in") in self.value.value)
        except (TypeError, ValueError):
            raise Unreachable from None


class TracedText(TextType):
    """A string as an array of code points, or one character as a number."""

    value: Sequence

    def getitem(self, key: Value) -> Value:
        return self.t.texts.item(self.value, key)

    def contains(self, item: Value) -> Value:
        found = self.t.texts.holds(self.value, item)
        assert found is not None
        return found

    def length(self) -> Value:
        return self.t.texts.length(self.value)

    def iterate(self) -> Iterator:
        if self.value.kind is Character:
            raise self.t.refuse("iteration", "over a single character is left to Python")
        return Iterator("text", (self.value,))
