"""Strings and bytes as arrays of code points, and characters as numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from npcompile.core.records import record
from npcompile.core.sizes import Size
from npcompile.graph import texts
from npcompile.graph.types import PY_INT
from npcompile.ops import arguments
from npcompile.ops.operands import ArrayRef, Context
from npcompile.python.composite import Composite, Read, Reader
from npcompile.python.values import Showing, Static, Value, shown


@record(eq=False)
class TextValue(Showing):
    """A string or bytes object as an array of code points; ``kind``: how Python gets a part."""

    codes: Value
    kind: type[texts.Text]

    @property
    def python_class(self) -> type:
        return texts.CLASSES[self.kind]

    def read_by(self, reader: Reader[Read]) -> Read:
        return reader.read_text(self)

    def parts(self) -> tuple[Value, ...]:
        return (self.codes,)

    def label(self) -> type:
        return self.kind


@record(eq=False)
class CharacterValue(Composite):
    """A string of one character and its code point."""

    code: Value

    joins = renewed = takes_after = True
    builds = texts.Character
    python_class = str

    def parts(self) -> tuple[Value, ...]:
        return (self.code,)

    def rebuilt(self, parts: Iterable[Value]) -> CharacterValue:
        return CharacterValue(*parts)

    def label(self) -> None:
        return None

    def read_by(self, reader: Reader[Read]) -> Read:
        return reader.read_character(self)

    def resembling(self, value: Value) -> Value:
        held = value.value if isinstance(value, Static) else None
        return CharacterValue(Static(ord(held))) if type(held) is str and len(held) == 1 else value


def is_text(value: Any) -> bool:
    """Whether a value is a string or bytes as data, or a character."""
    return isinstance(value, (TextValue, CharacterValue))


def is_character(value: Any) -> bool:
    """Whether a value is a character."""
    return isinstance(value, CharacterValue)


def array(value: Value) -> ArrayRef:
    """The code points of a string."""
    return shown(value)


def code(value: Value) -> Value:
    """The code point of a character."""
    assert isinstance(value, CharacterValue)
    return value.code


def part(value: Value, codes: ArrayRef) -> Value:
    """A part of a string, by its code points."""
    assert isinstance(value, TextValue)
    return value.rebuilt((codes,))


def character(code: Value) -> Value:
    """The character of a code point."""
    return CharacterValue(code)


def item(t: Context, value: Value, at: Size) -> Value:
    """The item at a place that is in range: of bytes a number."""
    held = array(value)
    element = arguments.element(t, arguments.view(held, (), (), held.strides[0] * at))
    number = t.builder.emit("cast", (element,), None, PY_INT)
    assert isinstance(value, TextValue)
    return number if value.kind is texts.Bytes else character(number)


def rest(value: Value, k: Size) -> Value:
    """The string from a place on that is in range."""
    held = array(value)
    (n,), (stride,) = held.shape, held.strides
    return part(value, arguments.view(held, (n - k,), (stride,), stride * k))
