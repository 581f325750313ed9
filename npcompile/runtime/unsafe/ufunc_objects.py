"""The memory of ``numpy.ufunc`` objects: loops, and the pointer that calls go through.

:func:`vectorcall_place` finds that pointer and checks it on four ufuncs, which must have one and
the same; where it is not clear, :func:`take` does nothing, and calls go NumPy's way.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from npcompile.runtime.unsafe import numpy_memory, raw_memory
from npcompile.runtime.unsafe.layout import UfuncHead, supported
from npcompile.runtime.unsafe.native_functions import TABLE, FunctionBase

_HAVE_VECTORCALL = 1 << 11  # Py_TPFLAGS_...
_TYPE_OFFSET = 56  # of a class: where its instances have their vectorcall pointer, checked below
#: place of PyUFunc_FromFuncAndDataAndSignatureAndIdentity in NumPy's table of ufunc functions
_FROM_FUNCTIONS = 42


def head(ufunc: np.ufunc) -> UfuncHead:
    """The fields of a ufunc, where they are."""
    return UfuncHead.from_address(id(ufunc))


def readable(ufunc: np.ufunc) -> bool:
    """Whether a ufunc's fields say what Python says of it, and its loops are plain ones."""
    fields = head(ufunc)
    return supported() and (
        fields.nin, fields.nout, fields.nargs, fields.ntypes, fields.core_enabled) == (
        ufunc.nin, ufunc.nout, ufunc.nargs, ufunc.ntypes, 0)


@cache
def constructor() -> Callable[..., Any]:
    """NumPy's function that makes a ufunc of C arrays of loops, data and types."""
    kind = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int,
        ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int,
        ctypes.c_char_p, ctypes.py_object)
    return kind(numpy_memory.ufunc_function(_FROM_FUNCTIONS))


@cache
def vectorcall_place() -> int:
    """Where ufuncs have their vectorcall pointer; 0 if that is not known."""
    def of_class(cls: type) -> int:
        return raw_memory.word(id(cls) + _TYPE_OFFSET)

    pointer = ctypes.sizeof(ctypes.c_void_p)
    if not supported() or of_class(FunctionBase) != TABLE - pointer:
        return 0
    place = of_class(np.ufunc)
    if not (np.ufunc.__flags__ & _HAVE_VECTORCALL and 0 < place < np.ufunc.__basicsize__):
        return 0
    found = {raw_memory.word(id(ufunc) + place) for ufunc in (np.exp, np.add, np.isnan, np.modf)}
    return place if len(found) == 1 and 0 not in found else 0


def vectorcall(ufunc: np.ufunc) -> int:
    """The address that a ufunc's calls go to; 0 if that is not known."""
    place = vectorcall_place()
    return raw_memory.word(id(ufunc) + place) if place else 0


def take(ufunc: np.ufunc, library: np.ufunc, address: int) -> None:
    """Has calls of a ufunc of our own, which lives for ever, go to an address; its ``object`` is
    the library's ufunc."""
    raw_memory.keep_for_ever(library)
    head(ufunc).object = id(library)
    raw_memory.set_word(id(ufunc) + vectorcall_place(), address)
