"""NumPy's memory: its tables of C functions, its error state, views that its functions can't make,
and the states of its random generators.

The tables' positions are part of NumPy's binary interface.  What is not (the error state, the
generators' objects) is checked where it is found: :func:`error_mask` by its caller, under every
setting; :func:`generator_fields` by looking for known contents.
"""

from __future__ import annotations

import ctypes
import importlib
from functools import cache
from typing import Any

import numpy as np

from npcompile.runtime.unsafe import raw_memory

#: positions in NumPy's C API table; they never change (NumPy's numpy_api.py)
PLACES: dict[str, int] = {
    "PyArray_DescrFromType": 45,
    "PyArray_TypeObjectFromType": 46,
    "PyArray_CopyInto": 50,
    "PyArray_CopyAnyInto": 51,
    "PyArray_Scalar": 60,
    "PyArray_ScalarAsCtype": 62,
    "PyArray_CastScalarToCtype": 63,
    "PyArray_FromAny": 69,
    "PyArray_Return": 76,
    "PyArray_CopyObject": 84,
    "PyArray_NewCopy": 85,
    "PyArray_UpdateFlags": 92,
    "PyArray_NewFromDescr": 94,
    "PyArray_CheckFromAny": 108,
    "PyArray_View": 137,
    "PyArray_EquivTypes": 182,
    "PyArray_Zeros": 183,
    "PyArray_Empty": 184,
    "PyArray_NewLikeArray": 277,
    "PyArray_SetBaseObject": 282,
    "PyArray_FailUnlessWriteable": 286,
    "PyDataMem_SetHandler": 304,
}
#: the capsule of the error state, of whose npy_extobj the first field is read
ERROR_STATE = b"numpy.ufunc.extobj"


@cache
def _table(name: str) -> int:
    module: Any = importlib.import_module("numpy._core._multiarray_umath")
    return raw_memory.capsule(getattr(module, name))


def function(name: str) -> int:
    """The address of a function of NumPy's C API."""
    return raw_memory.word(_table("_ARRAY_API") + 8 * PLACES[name])


def ufunc_function(place: int) -> int:
    """The address of a function in NumPy's table of ufunc functions."""
    return raw_memory.word(_table("_UFUNC_API") + 8 * place)


def error_mask(state: object) -> int:
    """What a capsule of NumPy's error state holds: three bits for each kind of errors."""
    return ctypes.c_int.from_address(raw_memory.capsule(state, ERROR_STATE)).value


@cache
def _view_functions() -> tuple[Any, Any]:
    counts = ctypes.POINTER(ctypes.c_ssize_t)
    pointer, integer, thing = ctypes.c_void_p, ctypes.c_int, ctypes.py_object
    new = ctypes.PYFUNCTYPE(thing, thing, pointer, integer, counts, counts, pointer, integer,
                            pointer)
    own = ctypes.PYFUNCTYPE(integer, thing, pointer)
    return new(function("PyArray_NewFromDescr")), own(function("PyArray_SetBaseObject"))


def view(
    owner: Any,
    dtype: np.dtype[Any],
    offset: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    flags: int,
) -> Any:
    """A view of an array's memory at any offset, with NumPy's own rule for its base."""
    new, own = _view_functions()
    counts = ctypes.c_ssize_t * max(len(shape), 1)
    data = owner.__array_interface__["data"][0] + offset
    raw_memory.keep_for_ever(dtype)  # both functions steal a reference
    made = new(np.ndarray, id(dtype), len(shape), counts(*shape), counts(*strides), data,
               flags, None)
    raw_memory.keep_for_ever(owner)
    own(made, id(owner))
    return made


# ------------------------------------------------------------------ random generators


def generator_state(bits: Any) -> tuple[int, int]:
    """Where the state of a :class:`numpy.random.PCG64` is, with its increment after it; and where
    it says whether half a word is kept, with that half after it."""
    state = raw_memory.word(raw_memory.capsule(bits.capsule, b"BitGenerator"))
    return raw_memory.word(state), state + 8


def generator_interface(bits: Any) -> list[int]:
    """The addresses of a bit generator's state and of its functions."""
    return list(raw_memory.words(raw_memory.capsule(bits.capsule, b"BitGenerator"), 5))


def _words(thing: object) -> list[int]:
    return list(raw_memory.words(id(thing), type(thing).__basicsize__ // 8))


def generator_fields() -> tuple[int, int, int] | None:
    """Where a generator has its interface and its lock, and the lock says that it is held; found by
    what is there, None if that is not clear."""
    rng = np.random.Generator(np.random.PCG64(1))
    bits, words = rng.bit_generator, _words(rng)
    lock, interface = bits.lock, generator_interface(bits)
    faces = [k for k in range(len(words)) if words[k : k + 5] == interface]
    locks = [k for k, word in enumerate(words) if word == id(lock)]
    before = _words(lock)
    with lock:
        during = _words(lock)
    after = _words(lock)
    held = [k for k, word in enumerate(during) if word and not before[k] and not after[k]]
    if len(faces) != 1 or len(locks) != 1 or not held:
        return None
    return 8 * faces[0], 8 * locks[0], 8 * held[0]
