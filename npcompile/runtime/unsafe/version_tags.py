"""Words of memory that show whether something that compiled code relies on is still the same.

Machine code compares a word with its expected value: one load instead of a look-up.  A word that
differs does not mean that anything relevant changed: the caller then tests its guards in Python
and, where they hold, asks for the words anew.

============== ===================================================================================
names          of a module: its table of keys and the version of that, and for each name that has
               to be the same object the pointer to it.  Other names may get other values freely.
               Where the keys have no version (while a debugger traces), that of the dictionary.
dictionary     its version tag (PEP 509, up to CPython 3.13): changes with every change
function       the pointers to its code object, its defaults and keyword defaults
closure cell   the pointer to its contents
class          its version tag: changes with every change of it or of a class it inherits from
filters        of warnings: the number that CPython counts up whenever they change; a module's
               ``__warningregistry__`` says under ``"version"`` to which number it belongs
============== ===================================================================================
"""

from __future__ import annotations

import ctypes
import struct
import sys
import warnings
from collections.abc import Iterable, Iterator
from types import CellType, CodeType, FunctionType
from typing import Any

from npcompile.core.records import record
from npcompile.runtime.unsafe.layout import STRING_KEYS, Layout, key_table, layout


@record(eq=False)
class VersionTag:
    """A word of memory and what it is now.

    ``keep`` holds the objects that make the value unique as long as it is watched: the address of
    an object that is gone may come back.
    """

    address: int
    expected: int
    keep: tuple[Any, ...] = ()


class Unwatchable(Exception):
    """This Python offers no word for it: test it in Python at each call."""


def _layout() -> Layout:
    found = layout()
    if found is None:
        raise Unwatchable("this Python's objects have an unknown layout")
    return found


def _read(address: int) -> int:
    return ctypes.c_uint64.from_address(address).value


def _word(address: int, *keep: Any) -> VersionTag:
    return VersionTag(address, _read(address), keep)


def of_dict(table: dict[Any, Any]) -> VersionTag:
    """Changes with every change of a dict."""
    offset = _layout().dict_version
    if offset is None:
        raise Unwatchable("dictionaries have no version")
    return _word(id(table) + offset, table)


def class_version(kind: type) -> ctypes.c_uint32 | None:
    """A number that is another one after each change of a class or of one that it inherits from,
    but for a time 0; None if there is none."""
    at = layout()
    if at is None or at.type_version is None:
        return None
    return ctypes.c_uint32.from_address(id(kind) + at.type_version)


def of_class(kind: type) -> VersionTag:
    """Changes when a class or one that it inherits from does."""
    version = class_version(kind)
    getattr(kind, "__init__")  # noqa: B009 -- a look-up makes CPython number the class
    if version is None or not version.value:
        raise Unwatchable("classes have no version")
    return _word(ctypes.addressof(version), kind)


def of_cell(cell: CellType) -> VersionTag:
    """Changes when a closure cell gets other contents."""
    try:
        return _word(cell_address(cell), cell, cell.cell_contents)
    except ValueError:  # empty
        return _word(cell_address(cell), cell)


def cell_address(cell: CellType) -> int:
    """Where the pointer to the contents of a closure cell is."""
    return id(cell) + _layout().cell_contents


def of_function(function: FunctionType) -> Iterator[VersionTag]:
    """Change when a function gets other code or other defaults."""
    at, base = _layout(), id(function)
    yield of_code(function, function.__code__)
    yield _word(base + at.func_defaults, function, function.__defaults__)
    yield _word(base + at.func_kwdefaults, function, function.__kwdefaults__)
    if function.__kwdefaults__ is not None:
        yield of_dict(function.__kwdefaults__)


def of_code(function: FunctionType, code: CodeType) -> VersionTag:
    """Changes when a function gets other code than this."""
    return VersionTag(id(function) + _layout().func_code, id(code), (function, code))


# ------------------------------------------------------------------ names of a module


def of_names(table: dict[str, Any], names: Iterable[str]) -> list[VersionTag]:
    """Change when one of the names gets another value, is deleted, or comes to be.

    The first two words stand for all names of the table; they must be compared first, because
    only while they hold do the others exist.
    """
    at = _layout()
    keys = _versioned_keys(table, at)
    present = [name for name in names if name in table]
    if keys is None:
        return [of_dict(table)] * (2 + len(present))  # always as many
    head, addresses = keys
    values = (_word(addresses[name], table[name]) for name in present)
    return [head, _word(head.expected + 8), *values]


def name_address(table: dict[str, Any], name: str) -> int | None:
    """Where the pointer to a name's value is, as long as the first two words of :func:`of_names`
    hold; None if there is no such place."""
    keys = _versioned_keys(table, _layout())
    return None if keys is None else keys[1].get(name)


def _versioned_keys(table: dict[str, Any], at: Layout) -> tuple[VersionTag, dict[str, int]] | None:
    """The word that points to a dict's keys, and the addresses of their values; None if the keys
    have no version."""
    if at.dict_keys is None or not table:
        return None
    keys = key_table(table, at.dict_keys)
    if keys.kind != STRING_KEYS or _read(id(table) + at.dict_keys + 8):
        return None
    if not keys.version:
        _ask_version(table)
        if not keys.version:
            return None
    where = keys.value_addresses()
    addresses = {name: where[id(name)] for name in table}
    return _word(id(table) + at.dict_keys, table), addresses


def _look() -> object:
    return ctypes  # or whatever global name replaces this one


def _ask_version(table: dict[str, Any]) -> None:
    """Makes CPython number the keys of a dict: it does so when a global name is looked up often
    enough that the look-up gets specialised."""
    code = _look.__code__.replace(co_names=(next(iter(table)),))
    ask = FunctionType(code, table)
    for _ in range(64):
        ask()


# ------------------------------------------------------------------ filters of warnings

_STATE_BYTES = 1 << 16  #: of the interpreter's state, which are searched
_no_number = ctypes.c_int64(-1)


def filters_address() -> int:
    """Where the number is; if that is not known, the address of a number that no registry has."""
    expected = _filters_version()
    if expected is None:
        return ctypes.addressof(_no_number)
    prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p)
    state = prototype(("PyInterpreterState_Get", ctypes.pythonapi))() or 0
    try:
        with open("/proc/self/mem", "rb", buffering=0) as memory:  # ends where nothing is mapped
            memory.seek(state)
            held = memory.read(_STATE_BYTES)
    except OSError:
        return ctypes.addressof(_no_number)
    found = _filters_offset(held, expected)
    return ctypes.addressof(_no_number) if found is None else state + found


def _filters_version() -> int | None:
    """The number as it is now: it is noted in a registry before CPython finds that a category is
    no class, which a first filter makes it look at."""
    registry: dict[object, object] = {}
    warn: Any = warnings.warn_explicit
    if warnings.filters:
        try:
            warn("", _category, "", 0, "", registry)
        except TypeError:
            found = registry.get("version")
            return found if type(found) is int else None
    return None


def _category(text: str) -> str:
    return text


def _filters_offset(held: bytes, expected: int) -> int | None:
    """The place in the interpreter's state; None if there is not exactly one."""
    import _warnings

    names = "_onceregistry", "_defaultaction"
    beside = struct.pack("PP", *(id(getattr(_warnings, name, None)) for name in names))
    first = held.find(beside)
    found = first + len(beside) + 8 * (sys.version_info >= (3, 13))  # a mutex lies between
    if first < 0 or held.find(beside, first + 1) >= 0 or found + 8 > len(held):
        return None
    return found if struct.unpack_from("q", held, found) == (expected,) else None
