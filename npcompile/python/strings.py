"""Strings and bytes: known ones, and those whose characters only the run knows."""

from __future__ import annotations

from typing import Any

from npcompile.core.sizes import Size
from npcompile.graph.texts import TextIterator
from npcompile.guards.class_hooks import ask
from npcompile.python import characters
from npcompile.python.characters import CharacterValue, TextValue
from npcompile.python.constants import ConstantType
from npcompile.python.iterator import Iterator
from npcompile.python.protocol import PythonType, Tracing
from npcompile.python.values import Static, Unreachable, Value, boolean


class StringIterator(Iterator):
    """Runs over a string as data."""

    __slots__ = ()
    kind = "text"
    result = TextIterator

    def count(self, t: Tracing) -> int | None:
        size = self._size(t)
        return size if isinstance(size, int) else None

    def item(self, t: Tracing, k: int) -> Value:
        return characters.item(t, self.over[0], k)

    def _size(self, t: Tracing) -> Size:
        return t.facts.norm(characters.array(self.over[0]).shape[0])

    def _item_at(self, t: Tracing, k: Size) -> Value:
        return characters.item(t, self.over[0], k)

    def _after(self, t: Tracing, k: Size) -> Iterator:
        return StringIterator((characters.rest(self.over[0], k),))


class TextType(PythonType):
    """A ``str`` or ``bytes``."""

    subclasses = True

    @classmethod
    def of(cls, t: Tracing, value: Value) -> PythonType:
        if isinstance(value, (TextValue, CharacterValue)):
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

    value: TextValue | CharacterValue

    def getitem(self, key: Value) -> Value:
        return self.t.texts.item(self.value, key)

    def contains(self, item: Value) -> Value:
        found = self.t.texts.holds(self.value, item)
        assert found is not None
        return found

    def length(self) -> Value:
        return self.t.texts.length(self.value)

    def truth(self) -> Value:
        return self.t.compare("!=", self.length(), Static(0))

    def iterate(self) -> Iterator:
        if isinstance(self.value, CharacterValue):
            raise self.t.refuse("iteration", "over a single character is left to Python")
        return StringIterator((self.value,))
