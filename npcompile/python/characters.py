"""Strings and bytes as arrays of code points, and characters as numbers."""

from __future__ import annotations

from typing import Any

from npcompile.core.sizes import Size
from npcompile.graph.texts import CLASSES, Bytes, Character
from npcompile.graph.types import PY_INT
from npcompile.ops import arguments
from npcompile.ops.operands import ArrayRef, Context
from npcompile.python.values import Sequence, Value


def is_text(value: Any) -> bool:
    """Whether a value is a string or bytes as data, or a character."""
    return isinstance(value, Sequence) and value.kind in CLASSES


def is_character(value: Any) -> bool:
    """Whether a value is a character."""
    return isinstance(value, Sequence) and value.kind is Character


def array(value: Value) -> ArrayRef:
    """The code points of a string."""
    assert isinstance(value, Sequence) and isinstance(value.items[0], ArrayRef)
    return value.items[0]


def code(value: Value) -> Value:
    """The code point of a character."""
    assert is_character(value) and isinstance(value, Sequence)
    return value.items[0]


def character(value: Value) -> Sequence:
    """The character of a code point."""
    return Sequence((value,), Character)


def item(t: Context, value: Value, at: Size) -> Value:
    """The item at a place that is in range: of bytes a number."""
    held = array(value)
    element = arguments.element(t, arguments.view(held, (), (), held.strides[0] * at))
    number = t.builder.emit("cast", (element,), None, PY_INT)
    return number if isinstance(value, Sequence) and value.kind is Bytes else character(number)


def rest(value: Value, k: Size) -> Value:
    """The string from a place on that is in range."""
    assert isinstance(value, Sequence)
    held = array(value)
    (n,), (stride,) = held.shape, held.strides
    return Sequence((arguments.view(held, (n - k,), (stride,), stride * k),), value.kind)
