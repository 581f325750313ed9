"""Memory by address: all that npcompile reads and writes without an object of Python's around it.

Whoever calls these functions says why the address is right and that its owner is alive.  They are
the only ones, beside those of this folder, that make something of a number.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np


def word(address: int) -> int:
    """The 64-bit word at an address."""
    return ctypes.c_uint64.from_address(address).value


def set_word(address: int, value: int) -> None:
    """Writes a word, which readers in other threads see before or after, never half."""
    ctypes.c_uint64.from_address(address).value = value


@cache
def _many(kind: Any, count: int) -> Any:
    return kind * count


def words(address: int, count: int) -> Any:
    """So many words, as a ctypes array that stays where they are."""
    return _many(ctypes.c_uint64, count).from_address(address)


def numbers(address: int, count: int) -> Any:
    """So many signed words, likewise."""
    return _many(ctypes.c_int64, count).from_address(address)


def objects(address: int, count: int) -> list[Any]:
    """The objects that so many pointers in a row lead to."""
    found: list[Any] = _many(ctypes.py_object, count).from_address(address)[:]
    return found


def object_at(address: int) -> Any:
    """The object that lies at an address."""
    return ctypes.cast(address, ctypes.py_object).value


def text(address: int) -> str:
    """The characters at an address, up to a zero."""
    return ctypes.string_at(address).decode()


def array(address: int, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
    """An array over memory that another object owns."""
    size = dtype.itemsize * int(np.prod(shape))
    memory: Any = (ctypes.c_char * size).from_address(address)
    return np.frombuffer(memory, dtype).reshape(shape)


def strided(
    address: int, dtype: np.dtype[Any], shape: tuple[int, ...], strides: tuple[int, ...]
) -> Any:
    """An array over memory that another object owns, from its first element on."""
    ends = [(length - 1) * stride for length, stride in zip(shape, strides)]
    if 0 in shape:
        return np.empty(shape, dtype)
    low = sum(min(end, 0) for end in ends)
    size = sum(map(abs, ends)) + dtype.itemsize
    memory: Any = (ctypes.c_char * size).from_address(address + low)
    return np.ndarray(shape, dtype, memory, -low, strides)


def capsule(held: object, name: bytes | None = None) -> int:
    """The pointer in a capsule.

    Raises
    ------
    ValueError
        If it is no capsule of this name.
    """
    found: int = _capsule_functions()[0](held, name)
    return found


def capsule_name(held: object) -> bytes | None:
    """The name of a capsule."""
    found: bytes | None = _capsule_functions()[1](held)
    return found


def new_capsule(address: int, name: int) -> object:
    """A capsule with a pointer; its name lies at an address, for as long as it lives."""
    prototype = ctypes.PYFUNCTYPE(ctypes.py_object, *[ctypes.c_void_p] * 3)
    return prototype(("PyCapsule_New", ctypes.pythonapi))(address, name, None)


@cache
def _capsule_functions() -> tuple[Callable[..., Any], Callable[..., Any]]:
    thing, text = ctypes.py_object, ctypes.c_char_p
    return (
        ctypes.PYFUNCTYPE(ctypes.c_void_p, thing, text)(
            ("PyCapsule_GetPointer", ctypes.pythonapi)),
        ctypes.PYFUNCTYPE(text, thing)(("PyCapsule_GetName", ctypes.pythonapi)),
    )


def keep_for_ever(thing: object) -> None:
    """Keeps an object even when the interpreter ends and clears all modules: daemon threads that
    have released the GIL run machine code until the process is gone."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


@cache
def raise_here() -> Callable[[Any, Any], Any]:
    """A function that raises an exception of a class, and leaves no frame in the traceback."""
    kind = ctypes.py_object
    return ctypes.PYFUNCTYPE(kind, kind, kind)(("PyErr_SetObject", ctypes.pythonapi))


def symbol(library: Any, name: str) -> int:
    """The address of a name of a library; None: of the process.  Raises ValueError if there is
    none."""
    owner = ctypes.pythonapi if library is None else library
    return ctypes.addressof(ctypes.c_byte.in_dll(owner, name))


def has(name: str) -> bool:
    """Whether the process has a function of this name."""
    return hasattr(ctypes.pythonapi, name)


@cache
def _mprotect() -> Callable[[int, int, int], int]:
    kinds = ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    return ctypes.PYFUNCTYPE(*kinds)(("mprotect", ctypes.pythonapi))


def protect(address: int, size: int, how: int) -> bool:
    """Changes what may be done with pages of memory; False: the system does not let it be run."""
    return not _mprotect()(address, size, how)


@cache
def _clean() -> Callable[[int, int], None] | None:
    try:
        found = ctypes.CDLL("libgcc_s.so.1")
        prototype = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
        return prototype(("__clear_cache", found))
    except (OSError, AttributeError):
        return None


def clean_instructions(address: int, size: int) -> None:
    """Makes instructions out of what was written, where caches don't by themselves.  Linux does
    so, too, when it lets fresh pages be run."""
    clean = _clean()
    if clean is not None:
        clean(address, address + size)


def snapshot(address: int, size: int) -> bytes:
    """So many bytes of memory, or those before the first that can't be read: where an object of
    CPython's ends is not known, and another thread may give back what lies behind it."""
    try:
        with open("/proc/self/mem", "rb", buffering=0) as memory:
            memory.seek(address)
            return memory.read(size)
    except OSError:  # nothing of it can be read, or nobody may read so
        return b""


def returned_address(name: str) -> int:
    """The address that a function of CPython's without arguments returns."""
    prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p)
    return int(prototype((name, ctypes.pythonapi))() or 0)
