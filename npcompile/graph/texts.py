"""Strings and bytes as data: arrays of code points, and what Python gets of them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

_UTF32 = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"


def codes(text: Any) -> np.ndarray[Any, Any]:
    """The code points of a string, or the numbers in a bytes object, as an array.

    Raises
    ------
    ValueError
        If it is neither, or of a class of its own.
    """
    if type(text) is bytes:
        return np.frombuffer(text, np.uint8)
    if type(text) is not str:
        raise ValueError("it is no string")
    return np.frombuffer(text.encode(_UTF32, "surrogatepass"), np.uint32)


class Character:
    """As the kind of a result: the string of one code point."""

    __slots__ = ()

    def __new__(cls, code: int) -> Any:
        return chr(code)

    @classmethod
    def _make(cls, items: Iterable[Any]) -> Any:
        return chr(*items)


class Text:
    """As the kind of a result: ``count`` characters of a string from ``start`` on, each ``step``
    behind the one before."""

    __slots__ = ()

    @classmethod
    def _make(cls, items: Iterable[Any]) -> Any:
        text, start, count, step = items
        stop = start + count * step
        if step > 0 or not count:
            return text[start:stop:step] if count else text[:0]
        return text[start : stop if stop >= 0 else None : step]


class Bytes(Text):
    """The same of a bytes object."""

    __slots__ = ()


class TextIterator:
    """As the kind of a result: an iterator over a string."""

    __slots__ = ()

    @classmethod
    def _make(cls, items: Iterable[Any]) -> Any:
        (text,) = items
        return iter(text)


#: the classes that these stand for
CLASSES: dict[type, type] = {Character: str, Text: str, Bytes: bytes}
