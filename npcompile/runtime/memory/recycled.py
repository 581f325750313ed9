"""Recycled memory for the large result arrays of compiled functions.

::

    PyObject *npc_new_array(PyArray_Descr *descr, int nd, npy_intp *dims, npy_intp *strides)
    void *npc_take(size_t n)
    void npc_give(void *memory)
    PyObject *npc_adopt(PyArray_Descr *descr, int nd, npy_intp *dims, npy_intp *strides,
                        void *memory, size_t n)

make a fresh array as ``PyArray_NewFromDescr`` does, take and give back plain memory at a multiple
of 64, and make an array that owns memory which was taken, of ``n`` bytes.  From 256 KB on memory
comes from blocks that were given back earlier: their pages are there already, and page faults cost
as much as the arithmetic.  Arrays stay ordinary: they own their data, have no base and may outlive
everything; the handler that frees them is NumPy's own hook (NEP 49), so tracemalloc sees them.

At most :func:`limit` bytes lie idle (256 MB), the latest, each for some seconds: older blocks go
back to the system at the next large allocation, release or garbage collection, or by
:func:`trim`.
The code is in :mod:`.recycling_code`.  ``NPCOMPILE_RECYCLE=0`` or ``set_limit(0)`` iterations
recycling off.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import threading
from functools import cache
from typing import Any

import numpy as np

from npcompile.core.locks import lock
from npcompile.core.records import record
from npcompile.runtime.unsafe import raw_memory
from npcompile.runtime.unsafe.layout import ELSIZE

LIMIT = 256 << 20


class _Handler(ctypes.Structure):
    """NumPy's ``PyDataMem_Handler``."""

    _fields_ = (
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("context", ctypes.c_void_p),
        *((name, ctypes.c_void_p) for name in ("malloc", "calloc", "realloc", "free")),
    )


@record
class MemoryInfo:
    """``idle`` bytes wait for reuse; ``reused`` and ``fresh`` count large allocations."""

    limit: int
    idle: int
    reused: int
    fresh: int


def supported() -> bool:
    """Whether this platform has what recycling needs."""
    sizes = all(
        raw_memory.word(id(np.dtype(name)) + ELSIZE) == np.dtype(name).itemsize
        for name in ("i1", "f4", "c16")
    )
    return sys.platform == "linux" and sizes and raw_memory.has("malloc_usable_size")


#: what other machine code calls
_FUNCTIONS = "new_array", "adopt", "take", "give", "heard", "comes_again", "poll", "warn", "warned"


class _Memory:
    """The loaded code; immortal, for arrays may be freed when everything else is gone."""

    def __init__(self) -> None:
        from npcompile.backends.cpu.loader.compile import load
        from npcompile.backends.cpu.loader.symbols import register
        from npcompile.runtime.cache.disk import own
        from npcompile.runtime.entry.fp_messages import shown_before
        from npcompile.runtime.entry.helpers import errstate
        from npcompile.runtime.entry.interrupts import known

        self.recycling = supported()
        names = {**known(), **shown_before()}
        machine = own(f"memory {self.recycling or os.name} {errstate()}", self._text)
        if not self.recycling:
            code = load(machine, names)
            self.numbers = (ctypes.c_int64 * 4)()
        else:
            self.handler = _Handler(b"npcompile", 1)
            self.name = ctypes.create_string_buffer(b"mem_handler")
            addresses = ctypes.addressof(self.handler), ctypes.addressof(self.name)
            self.capsule = raw_memory.new_capsule(*addresses)
            code = load(machine, {"npc_mem_handler": id(self.capsule), **names})
            for field in ("malloc", "calloc", "realloc", "free"):
                setattr(self.handler, field, code[f"npc_memory_{field}"])
            self.numbers = raw_memory.numbers(code["npc_memory"], 4)
            self.trim = ctypes.PYFUNCTYPE(None, ctypes.c_int64)(code["npc_memory_trim"])
            # no other thread is in the middle of changing the list of blocks while one forks
            lock, unlock = (ctypes.PYFUNCTYPE(None)(code[f"npc_memory_{name}"])
                            for name in ("lock", "unlock"))
            os.register_at_fork(before=lock, after_in_parent=unlock, after_in_child=unlock)
            # not a function of Python's: a signal handler that raises in one would be swallowed
            collected = ctypes.PYFUNCTYPE(ctypes.py_object, *[ctypes.py_object] * 2)
            gc.callbacks.append(collected(code["npc_memory_collected"]))
        self.main = raw_memory.numbers(code["npc_poll_main"], 1)
        self.main[0] = threading.main_thread().ident or 0
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)
        self.code = code
        for owner in (self, code):
            raw_memory.keep_for_ever(owner)
        self.address = code["npc_new_array"]
        self.numbers[0] = 0 if os.environ.get("NPCOMPILE_RECYCLE") == "0" else LIMIT
        for name in _FUNCTIONS:
            register(f"npc_{name}", code[f"npc_{name}"])

    def _forked(self) -> None:
        self.main[0] = threading.get_ident()

    def _text(self) -> str:
        if self.recycling:  # only who compiles needs one of them
            from npcompile.runtime.memory import recycling_code

            return recycling_code.text()
        from npcompile.runtime.memory import plain_code

        return plain_code.text(os.name)


_lock = lock()


@cache
def _memory() -> _Memory:
    return _Memory()


def ensure() -> int:
    """The address of ``npc_new_array``, known to the CPU backend's symbols from then on."""
    with _lock:
        return _memory().address


@cache
def _new() -> Any:
    count, kind = ctypes.POINTER(ctypes.c_ssize_t), ctypes.py_object
    return ctypes.PYFUNCTYPE(kind, kind, ctypes.c_int, count, count)(ensure())


def empty(shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """Does as ``np.empty``, in recycled memory if the array is large."""
    return _new()(dtype, len(shape), (ctypes.c_ssize_t * max(len(shape), 1))(*shape), None)


def limit() -> int:
    """How many bytes may lie idle; 0: nothing is recycled."""
    ensure()
    return int(_memory().numbers[0])


def set_limit(count: int) -> None:
    """Let at most ``count`` bytes lie idle from now on; 0 iterations recycling off."""
    if count < 0:
        raise ValueError(f"a limit in bytes is not negative, as {count} is")
    ensure()
    _memory().numbers[0] = count
    if info().idle > count:
        trim()


def trim() -> None:
    """Give all idle memory back to the system."""
    ensure()
    if _memory().recycling:
        _memory().trim(0)


def info() -> MemoryInfo:
    """Counts of recycled memory so far."""
    ensure()
    return MemoryInfo(*(int(n) for n in _memory().numbers))
