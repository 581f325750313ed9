"""Python's objects as memory: numbers in lists are read where they lie.

``heap`` is an array of all words of memory, so that programs read objects as they read arrays.
``classes`` has the addresses of :data:`CLASSES`, and of True: an address is one process's, and no
constant of a program's.

Nothing here is taken on trust: :func:`readable` looks for known contents at the places that are
said here.
"""

from __future__ import annotations

import ctypes
import functools
import operator
import sys
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

#: where objects have their class, lists and tuples their length, and numbers their value
CLASS, LENGTH, VALUE = 1, 2, 2
#: where a list has the address of its items, and a tuple its items
ITEMS = 3
#: where an int has its digits, after a word of their number and sign
DIGITS = 3
DIGIT_BITS = 30
#: whether an int has its sign in the lowest bits, and not as that of the number of digits
TAGGED = sys.version_info >= (3, 12)
CLASSES = (int, float, bool, list, tuple, np.float64, np.int64)
TRUE = len(CLASSES)  #: the place of the address of True

_FIRST = 8  # the address of the first word that ``heap`` has
_SIZE = 2**47 - _FIRST  # addresses of programs end there


def word_of(address: Any) -> Any:
    """Where the words of an object begin in ``heap``."""
    return (address >> 3) - 1


@cache
def words(name: str) -> np.ndarray[Any, Any]:
    """``heap`` or ``classes``."""
    if name == "classes":
        return np.array([id(thing) for thing in (*CLASSES, True)], np.int64)
    memory: Any = (ctypes.c_char * _SIZE).from_address(_FIRST)
    found: np.ndarray[Any, Any] = np.frombuffer(memory, np.int64)
    found.setflags(write=False)
    return found


@cache
def readable() -> bool:
    """Whether this interpreter's objects look as is said here."""
    if sys.implementation.name != "cpython" or sys.byteorder != "little" or (
        "free-threading" in sys.version or ctypes.sizeof(ctypes.c_void_p) != 8
        or sys.int_info.bits_per_digit != DIGIT_BITS or sys.maxsize != 2**63 - 1
    ):
        return False
    return all(map(_lists, range(4))) and all(map(_holds, _SAMPLES))


_SAMPLES = [*(s * n for n in (0, 1, 7, 2**30 - 1, 2**30, 2**45 + 9, 2**60 - 1) for s in (1, -1)),
            1.25, -7e300, np.float64(2.5), np.int64(-77)]


def _lists(count: int) -> bool:
    """Whether a list and a tuple have their items where they should."""
    held = [object() for _ in range(count)]
    rows = held, tuple(held)
    heap, listed, tupled = words("heap"), word_of(id(rows[0])), word_of(id(rows[1]))
    first = word_of(int(heap[listed + ITEMS])) if count else 0
    return (
        [heap[at + CLASS] for at in (listed, tupled)] == [id(list), id(tuple)]
        and [heap[at + LENGTH] for at in (listed, tupled)] == [count, count]
        and [heap[first + k] for k in range(count)] == [*map(id, held)]
        and [heap[tupled + ITEMS + k] for k in range(count)] == [*map(id, held)]
    )


def _holds(number: Any) -> bool:
    """Whether a number's value is where it should be."""
    heap, at = words("heap"), word_of(id(number))
    if heap[at + CLASS] != id(type(number)):
        return False
    if type(number) is not int:
        return bool(heap[at + VALUE : at + VALUE + 1].view(type(number))[0] == number)
    tag, digits = int(heap[at + VALUE]), int(heap[at + DIGITS])
    count, sign = (tag >> 3, 1 - (tag & 3)) if TAGGED else (abs(tag), (tag > 0) - (tag < 0))
    mask = 2**DIGIT_BITS - 1
    high = (digits >> 32 & mask) << DIGIT_BITS if count > 1 else 0
    return count <= 2 and sign * ((digits & mask) + high) == number


class ExternalItem:
    """As the kind of a result: what a list from outside holds, by the indices that lead there."""

    __slots__ = ()

    @classmethod
    def _make(cls, items: Iterable[Any]) -> Any:
        return functools.reduce(operator.getitem, items)


# ------------------------------------------------------------------ attributes of instances

_MANAGED = 1 << 4  # Py_TPFLAGS_MANAGED_DICT
#: where an instance of a class with that flag says that its attributes have no dictionary yet, in
#: words from its address: a pointer to them there, or a set lowest bit
_INLINE = -4 if sys.version_info < (3, 12) else -3


def has_inline_attributes(held: object) -> bool:
    """Whether an instance keeps its attributes in an array, and reads of them would be slower for
    as long as it lives if anybody asked for its dictionary: on CPython before 3.13."""
    return bool(type(held).__flags__ & _MANAGED) and _inline_is_known() and _inline(held)


def _inline(held: object) -> bool:
    word = ctypes.c_int64.from_address(id(held) + 8 * _INLINE).value
    return bool(word) if sys.version_info < (3, 12) else bool(word & 1)


class _Instance:
    def __init__(self) -> None:
        self.number = 1


@cache
def _inline_is_known() -> bool:
    """Whether this interpreter says so where it is looked for."""
    if sys.version_info >= (3, 13) or not readable():
        return False
    found = []
    for _ in range(3):
        held = _Instance()
        before = _inline(held)
        vars(held)
        found += [before, not _inline(held)]
    return all(found)
