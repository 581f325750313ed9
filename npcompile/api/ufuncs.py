"""True ``numpy.ufunc`` objects over compiled loops.

A ufunc is made with a stub for each loop that a record has; the first call of a loop compiles it
and puts its address in the stub's place.  Loops that no record has (long double, objects, complex
numbers of some functions) are the library's own, taken from its ufunc.
"""

from __future__ import annotations

import ctypes
import importlib
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from npcompile.core import config, logs
from npcompile.core.aside import aside
from npcompile.core.locks import lock
from npcompile.core.sections import inside
from npcompile.core.surroundings import why
from npcompile.ops.elementwise import ufunc_of
from npcompile.ops.record import Op, stands_for
from npcompile.runtime.layout import UfuncHead, supported

_LOOP = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)
#: place of PyUFunc_FromFuncAndDataAndSignatureAndIdentity in NumPy's table of ufunc functions
_FROM_FUNCTIONS = 42
_ALL_FLAGS = 0x3D
_lock = lock()
_kept: list[Any] = []  # ufuncs refer to their tables for ever
ctypes.pythonapi.Py_IncRef(ctypes.py_object(_kept))  # at exit, too


@cache
def _constructor() -> Callable[..., Any]:
    module: Any = importlib.import_module("numpy._core._multiarray_umath")
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(pointer(module._UFUNC_API, None),
                        ctypes.POINTER(ctypes.c_void_p))
    kind = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int,
        ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int,
        ctypes.c_char_p, ctypes.py_object)
    return kind(table[_FROM_FUNCTIONS] or 0)


def ufunc(op: Op, library: np.ufunc | None = None) -> np.ufunc:
    """The ufunc of a record: the library's own where its loops can't be read.  ``library``: the
    library's ufunc of another name that the record has, whose other loops may not be the same."""
    library = ufunc_of(op) if library is None else library
    assert library is not None
    if config.disabled() or not supported():
        return library
    fields = UfuncHead.from_address(id(library))
    read = (fields.nin, fields.nout, fields.nargs, fields.ntypes) == (
        library.nin, library.nout, library.nargs, library.ntypes)
    if not read:
        return library
    made = _Table(op, library, fields).ufunc()
    stands_for(made, op)
    return made


class _Table:
    """The loops of one ufunc: C arrays of functions, data and types."""

    def __init__(self, op: Op, library: np.ufunc, fields: UfuncHead) -> None:
        self.op, self.library, self.fields = op, library, fields
        own = {np.dtype(text[0]).str: text for text in op.signatures.split()}
        of_degree = {text for text in op.signatures.split() if "l" in text}
        count = library.ntypes
        self.functions = (ctypes.c_void_p * count)()
        self.data = (ctypes.c_void_p * count)()
        kinds = []
        self.stubs: list[Any] = []
        for k, text in enumerate(library.types):
            chars = text.replace("->", "")
            kinds += [np.dtype(char).num for char in chars]
            self.data[k] = fields.data[k] if fields.data else None
            same = all(char in "?" or char == chars[0] for char in chars)
            alike = chars[0] in "efdFD" and same and np.dtype(chars[0]).str in own
            if (alike or text in of_degree) and op.data.eager and not op.data.parts:
                stub = _LOOP(_Stub(self, k, tuple(map(np.dtype, chars))))
                self.stubs.append(stub)
                self.functions[k] = ctypes.cast(stub, ctypes.c_void_p).value
            else:
                self.functions[k] = fields.functions[k]
        self.types = bytes(kinds)
        self.texts = library.__name__.encode(), f"{op.doc}\n".encode()

    def ufunc(self) -> np.ufunc:
        _kept.append(self)
        made: np.ufunc = _constructor()(
            self.functions, self.data, self.types, self.library.ntypes, self.library.nin,
            self.library.nout, self.fields.identity, *self.texts, 0, None, self.library.identity)
        self.made = made
        return made


class _Stub:
    """What NumPy calls until a loop is compiled."""

    def __init__(self, table: _Table, place: int, dtypes: tuple[np.dtype, ...]) -> None:
        self.table, self.place, self.dtypes = table, place, dtypes
        self.loop: Any = None

    def __call__(self, *args: int | None) -> None:
        """A loop, whatever happens: NumPy hears of no exception here."""
        raised: type[BaseException] | None = None
        try:
            if self.loop is None and not inside():
                aside(self.compile)
        except BaseException as error:  # a signal handler's
            raised = type(error)
        _libm().feclearexcept(_ALL_FLAGS)  # compiling may have raised some
        loop = _LOOP(self.library) if self.loop is None else self.loop
        loop(*args)
        if raised is not None:  # as soon as NumPy is done
            thread = ctypes.c_ulong(threading.get_ident())
            ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(raised))

    @property
    def library(self) -> int:
        """The library's loop."""
        return self.table.fields.functions[self.place] or 0

    def compile(self) -> None:
        """Puts the compiled loop in the stub's place; the library's if it can't be made."""
        from npcompile.runtime.direct import call_directly
        from npcompile.runtime.loops import Loop

        table, address = self.table, self.library
        with _lock:
            if self.loop is not None:  # another thread was first
                return
            try:
                loop = Loop(table.op, self.dtypes)
            except Exception as error:
                text = f"ufunc {table.op.name}: {type(error).__name__}: {error}"
                logs.log("exits", lambda: text)
                if why(error) is None:
                    raise
            else:
                _kept.append(loop)
                address = loop.address
                if len(set(self.dtypes)) == 1:
                    call_directly(table.made, self.place)
            table.functions[self.place] = address
            self.loop = _LOOP(address)


@cache
def _libm() -> Any:
    return ctypes.CDLL(None)
