"""Names in generated code and the addresses they stand for.

::

    PyObject_Vectorcall   Python's C API, functions and data (``PyFloat_Type``, ``_Py_NoneStruct``)
    PyArray_NewFromDescr  NumPy's C API, and its types ``PyArray_Type``, ``PyArrayDescr_Type``
    malloc, sin           libc and libm
    type.float64          a NumPy scalar type
    descr.float64         a NumPy dtype object
    subprogram.beta.8     of kinds that others provide (see :func:`provide`)
    npc_pool_run, ...     whatever was registered here

Generated code holds names only, so its objects can be cached on disk; ``obj.N`` names are given
anew at each load.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np

from npcompile.runtime.unsafe import numpy_memory, raw_memory

_OBJECTS: dict[str, object] = {
    "PyArray_Type": np.ndarray,
    "PyArrayDescr_Type": np.dtype,
    "PyGenericArrType_Type": np.generic,
}
#: libraries of Windows with functions of C and of the system, which Python's does not give
_WINDOWS = ("ucrtbase", "vcruntime140", "kernel32", "kernelbase")
_registered: dict[str, int] = {}
_providers: dict[str, Callable[[str], int]] = {}


def register(name: str, address: int) -> None:
    """Makes an address known by a name; a later one replaces it."""
    _registered[name] = address
    resolve.cache_clear()


DRAW = "draw"  #: names of functions that draw one random number
SUBPROGRAM = "subprogram"  #: names of functions that kernels of many programs call
STOCK = "stock"  #: names of kernels that many programs have
TENSOR = "tensor"  #: names of functions between tensors and arrays


def provide(kind: str, address: Callable[[str], int]) -> None:
    """Makes the addresses of names ``kind.what`` known by a function of ``what``."""
    _providers[kind] = address
    resolve.cache_clear()


def descr(dtype: np.dtype) -> str:
    """The name of a dtype object: ``descr.float64``."""
    # two types may share a name where the C types have the same width
    return "descr." + {"q": "longlong", "Q": "ulonglong"}.get(dtype.char, dtype.name)


@cache
def resolve(name: str) -> int:
    """The address that a name stands for; raises :class:`KeyError` if there is none."""
    if name in _registered:
        return _registered[name]
    if name in numpy_memory.PLACES:
        return numpy_memory.function(name)
    if name in _OBJECTS:
        return id(_OBJECTS[name])
    kind, _, what = name.partition(".")
    if kind == "descr":
        return id(np.dtype(what))
    if kind == "type":
        return id(np.dtype(what).type)
    if kind in _providers:
        return _providers[kind](what)
    for library in _libraries():
        try:
            return raw_memory.symbol(library, name)
        except ValueError:
            continue
    raise KeyError(name)


def _libraries() -> Iterator[ctypes.CDLL | None]:
    yield None  # the process: nearly always enough, and the search below is slow
    from ctypes.util import find_library

    for name in _WINDOWS if os.name == "nt" else ("c", "m"):
        found = find_library(name)
        if found:
            yield ctypes.CDLL(found)
