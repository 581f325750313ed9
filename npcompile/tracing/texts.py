"""Strings and bytes as data.

A string from outside is static at first, and guarded by its value.  Where a loop goes through it,
or an index that only the run knows looks into it, the function is traced anew, and the string is
an array of code points (:class:`~npcompile.python.values.TextValue`).  A character of it is its
code point (:class:`~npcompile.python.values.CharacterValue`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from npcompile.graph.ir import Node
from npcompile.graph.types import BOOL, PY_BOOL
from npcompile.ops import arguments, slices
from npcompile.python import characters
from npcompile.python.characters import array, character, code, is_character, is_text, item
from npcompile.python.slices import Slice
from npcompile.python.values import Static, Unreachable, Value, boolean, python_class
from npcompile.tracing import vectors
from npcompile.tracing.escapes import as_number
from npcompile.tracing.polyfills import consumers

if TYPE_CHECKING:
    from npcompile.tracing.services import Tracer

MOST = 64  #: characters of a constant that what only the run knows is looked up in


def among(values: Iterable[Any]) -> bool:
    """Whether there is such a value among them."""
    return any(map(is_text, values))


def as_character(value: Value) -> Value:
    """A constant string of one character as a character; any other value as it is."""
    if isinstance(value, Static) and type(value.value) is str and len(value.value) == 1:
        return character(Static(ord(value.value)))
    return value


# ---------------------------------------------------------------------- items


def length(t: Tracer, value: Value) -> Value:
    """``len(value)``"""
    return Static(1) if is_character(value) else t.builder.size(array(value).shape[0])


def getitem(t: Tracer, value: Value, key: Value) -> Value:
    """``value[key]``"""
    if is_character(value):
        raise t.refuse("subscript", "of a single character is left to Python")
    held = array(value)
    n, stride = held.shape[0], held.strides[0]
    if isinstance(key, Slice):
        start, count, step = slices.bounds(t, t.operand(key), n)
        part = arguments.view(held, (count,), (stride * step,), stride * start)
        return characters.part(value, part)
    if python_class(key) is bool or not isinstance(key, (Node, Static)):
        raise t.refuse("subscript", "of a string, by what is no integer")
    operand = t.operand(key)
    at = arguments.integer(t, operand, "index")
    if t.facts.prove("<", at, -n) or t.facts.prove("<", at, n) is False:
        raise Unreachable
    return item(t, value, slices.position(t, operand, n))


def of_constant(t: Tracer, held: str | bytes, index: Value) -> Value | None:
    """``held[index]`` of a constant, where only the run knows the index; None: left to others."""
    if not isinstance(index, Node) or not 0 < len(held) <= MOST:
        return None
    points = map(ord, held) if isinstance(held, str) else held
    found = vectors.choose(t, tuple(map(Static, points)), index)
    return character(found) if isinstance(held, str) else found


def flipped(t: Tracer, value: Value) -> Value:
    """What ``reversed`` goes through."""
    return getitem(t, value, Slice(Static(None), Static(None), Static(-1)))


# ---------------------------------------------------------------------- comparisons


def compare(t: Tracer, symbol: str, left: Value, right: Value) -> Value:
    """``left symbol right``, one of which is text."""
    left, right = as_character(left), as_character(right)
    if is_character(left) and is_character(right):
        return t.compare(symbol, code(left), code(right))
    classes = [python_class(left), python_class(right)]
    if symbol not in ("==", "!=") or set(classes) == {str, bytes}:
        raise t.refuse(symbol, "of strings is left to Python")
    if classes[0] is not classes[1]:
        other = right if is_text(left) else left
        plain = (int, float, bool, complex, type(None), tuple, list)
        if python_class(other) not in plain:
            raise t.refuse(symbol, "of a string and something else is left to Python")
        return boolean(symbol == "!=")
    equal = _equal(t, left, right)
    return equal if symbol == "==" else t.negated(equal)


def _equal(t: Tracer, left: Value, right: Value) -> Value:
    """Whether two strings are equal that are not both characters."""
    pair = []
    for value in (left, right):
        held = value.value if isinstance(value, Static) else None
        other = right if value is left else left
        if is_character(value):
            if isinstance(other, Static):  # of another length
                return boolean(False)
            single = consumers.follow(t, consumers.only_code, array(other), code(value))
            return t.truth(single)
        if is_text(other):
            t.inputs.wants_text(value)
        if held is not None and not held:
            return t.compare("==", _length(t, other), Static(0))
        if held is not None and (type(held) not in (str, bytes) or len(held) > MOST):
            raise t.refuse("==", "of a string and a long constant, or one of a class of its own")
        if held is not None:
            points = [*map(ord, held)] if isinstance(held, str) else [*held]
            pair.append(arguments.as_array(t, points))
        else:
            pair.append(array(value))
    return t.truth(consumers.follow(t, consumers.equal_codes, *pair))


def _length(t: Tracer, value: Value) -> Value:
    return Static(len(value.value)) if isinstance(value, Static) else length(t, value)


# ---------------------------------------------------------------------- membership


def is_among(t: Tracer, value: Node, numbers: Iterable[int]) -> Value:
    """Whether an integer is one of some constants: tests of runs."""
    found: Node | None = None
    for low, high in _runs(numbers):
        test = _between(t, value, low, high)
        found = test if found is None else t.builder.emit("bit_or", (found, test), None, PY_BOOL)
    return boolean(False) if found is None else found


def _between(t: Tracer, value: Node, low: int, high: int) -> Node:
    ends = t.builder.const(low), t.builder.const(high)
    if low == high:
        return t.builder.map("eq", (value, ends[0]), BOOL, origin="py")
    above = t.builder.map("le", (ends[0], value), BOOL, origin="py")
    below = t.builder.map("le", (value, ends[1]), BOOL, origin="py")
    return t.builder.emit("bit_and", (above, below), None, PY_BOOL)


def _runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if found and found[-1][1] == number - 1:
            found[-1] = found[-1][0], number
        else:
            found.append((number, number))
    return found


def contained(t: Tracer, container: Value, item: Value) -> Value | None:
    """``item in container`` of strings; None: left to others."""
    held = container.value if isinstance(container, Static) else None
    if is_text(container):
        if is_character(container):
            if not is_character(as_character(item)):
                raise t.refuse("in", "of a string in a character is left to Python")
            return compare(t, "==", container, item)
        wanted = as_character(item)
        number = as_number(t, code(wanted) if is_character(wanted) else wanted)
        byte = python_class(container) is bytes
        kind = int if byte else str
        if number is None or python_class(wanted) is not kind:
            raise t.refuse("in", "of a string in a string is left to Python")
        if byte:
            size = arguments.integer(t, number, "in")
            arguments.require(t, "<=", 0, size, "no byte")
            arguments.require(t, "<", size, 256, "no byte")
        return t.truth(consumers.follow(t, consumers.held, array(container), number))
    if is_character(item) and type(held) is str:
        number = as_number(t, code(item))
        assert number is not None and isinstance(held, str)
        return is_among(t, number, map(ord, held))
    return None



class TracedTexts:
    """The strings of one trace whose characters only the run knows."""

    def __init__(self, t: Tracer) -> None:
        self.t = t

    def item(self, text: Value, key: Value) -> Value:
        """``text[key]``"""
        return getitem(self.t, text, key)

    def item_of_constant(self, held: str | bytes, key: Value) -> Value | None:
        """``held[key]`` of a constant; None: it is left to Python."""
        return of_constant(self.t, held, key)

    def length(self, text: Value) -> Value:
        """``len(text)``"""
        return length(self.t, text)

    def holds(self, text: Value, item: Value) -> Value | None:
        """``item in text``; None: both are known."""
        return contained(self.t, text, item)
