"""The number that CPython counts up whenever the filters of warnings change.

A module's ``__warningregistry__`` says under ``"version"`` to which number its entries belong.
The number itself is a field of the interpreter's state, beside the registry of ``"once"`` and the
default action, by whose addresses it is found.
"""

from __future__ import annotations

import ctypes
import struct
import sys
import warnings
from typing import Any

_EXTENT = 1 << 16  #: bytes of the interpreter's state that are searched
_never = ctypes.c_int64(-1)


def version_address() -> int:
    """Where the number is; if that is not known, the address of a number that no registry has."""
    expected = _version()
    if expected is None:
        return ctypes.addressof(_never)
    prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p)
    state = prototype(("PyInterpreterState_Get", ctypes.pythonapi))() or 0
    try:
        with open("/proc/self/mem", "rb", buffering=0) as memory:  # ends where nothing is mapped
            memory.seek(state)
            held = memory.read(_EXTENT)
    except OSError:
        return ctypes.addressof(_never)
    found = _offset(held, expected)
    return ctypes.addressof(_never) if found is None else state + found


def _version() -> int | None:
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


def _offset(held: bytes, expected: int) -> int | None:
    """The place in the interpreter's state; None if there is not exactly one."""
    import _warnings

    names = "_onceregistry", "_defaultaction"
    beside = struct.pack("PP", *(id(getattr(_warnings, name, None)) for name in names))
    first = held.find(beside)
    found = first + len(beside) + 8 * (sys.version_info >= (3, 13))  # a mutex lies between
    if first < 0 or held.find(beside, first + 1) >= 0 or found + 8 > len(held):
        return None
    return found if struct.unpack_from("q", held, found) == (expected,) else None
