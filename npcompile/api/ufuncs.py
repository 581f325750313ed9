"""True ``numpy.ufunc`` objects over compiled loops.

A ufunc is made with a stub for each loop that a record has; the first call of a loop compiles it
and puts its address in the stub's place.  Loops that no record has (long double, objects, complex
numbers of some functions), and those of integers, are the library's own, taken from its ufunc.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from npcompile.backends.cpu.loader import symbols
from npcompile.core import config, logs
from npcompile.core.aside import aside
from npcompile.core.locks import lock
from npcompile.core.reported import reported
from npcompile.core.sections import again, inside
from npcompile.core.surroundings import why
from npcompile.ops.elementwise import ufunc_of
from npcompile.ops.record import Op, stands_for
from npcompile.runtime.unsafe import raw_memory, ufunc_objects
from npcompile.runtime.unsafe.layout import UfuncHead

_LOOP = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)
_ALL_FLAGS = 0x3F  # on any machine; what it does not have is ignored
_lock = lock()
_kept: list[Any] = []  # ufuncs refer to their tables for ever
raw_memory.keep_for_ever(_kept)  # at exit, too


def ufunc(op: Op, library: np.ufunc | None = None) -> np.ufunc:
    """The ufunc of a record: the library's own where its loops can't be read.  ``library``: the
    library's ufunc of another name that the record has, whose other loops may not be the same."""
    library = ufunc_of(op) if library is None else library
    assert library is not None
    if config.disabled() or not ufunc_objects.readable(library):
        return library
    table = _Table(op, library, ufunc_objects.head(library))
    made = table.ufunc()
    stands_for(made, op)
    if op.reference.startswith("scipy.special:"):
        reported.listen(table.lend)
    _attempt(op, lambda: _take(made, library))
    return made


def _take(made: np.ufunc, library: np.ufunc) -> None:
    from npcompile.runtime.ufuncs.direct_calls import take

    take(made, library)


def _attempt(op: Op, step: Callable[[], object]) -> None:
    """Does without what can't be compiled here; the log says why."""
    try:
        step()
    except Exception as error:
        text = f"ufunc {op.name}: {type(error).__name__}: {error}"
        logs.log("exits", lambda: text)
        if why(error) is None:
            raise


class _Table:
    """The loops of one ufunc: C arrays of functions, data and types."""

    def __init__(self, op: Op, library: np.ufunc, fields: UfuncHead) -> None:
        self.op, self.library, self.fields = op, library, fields
        own = {tuple(np.dtype(char).str for char in text.replace("->", ""))
               for text in op.signatures.split() if text[0] in "fdFD" or text[-1] in op.ulp}
        count = library.ntypes
        self.functions = (ctypes.c_void_p * count)()
        self.data = (ctypes.c_void_p * count)()
        kinds = []
        self.stubs: list[Any] = []
        self.own: dict[int, tuple[int, int | None]] = {}
        self.lent = False
        for k, text in enumerate(library.types):
            chars = text.replace("->", "")
            kinds += [np.dtype(char).num for char in chars]
            self.data[k] = self.theirs(k)[1]
            dtypes = tuple(map(np.dtype, chars))
            compiled = tuple(dtype.str for dtype in dtypes) in own and op.data.eager
            if compiled and not op.data.parts:
                stub = _LOOP(_Stub(self, k, dtypes))
                self.stubs.append(stub)
                self.put(k, ctypes.cast(stub, ctypes.c_void_p).value or 0, self.data[k])
            else:
                self.functions[k] = fields.functions[k]
        self.types = bytes(kinds)
        self.texts = library.__name__.encode(), f"{op.doc}\n".encode()

    def ufunc(self) -> np.ufunc:
        _kept.append(self)
        made: np.ufunc = ufunc_objects.constructor()(
            self.functions, self.data, self.types, self.library.ntypes, self.library.nin,
            self.library.nout, self.fields.identity, *self.texts, 0, None, self.library.identity)
        ufunc_objects.head(made).type_resolver = self.fields.type_resolver
        self.made = made
        return made

    def theirs(self, k: int) -> tuple[int, int | None]:
        """The library's loop and what it gets as its data."""
        return self.fields.functions[k] or 0, self.fields.data[k] if self.fields.data else None

    def put(self, k: int, function: int, mark: int | None) -> None:
        """Has another loop run in the place of a stub."""
        with _lock:
            self.own[k] = function, mark
            self._place()

    def lend(self) -> None:
        """Has the library's loops run while errors are reported, else those of this table."""
        with _lock:
            self.lent = bool(reported)
            self._place()

    def _place(self) -> None:
        for k, own in self.own.items():
            self.functions[k], self.data[k] = self.theirs(k) if self.lent else own


class _Stub:
    """What NumPy calls until a loop is compiled."""

    def __init__(self, table: _Table, place: int, dtypes: tuple[np.dtype, ...]) -> None:
        self.table, self.place, self.dtypes = table, place, dtypes
        self.loop: Any = None

    def __call__(self, *args: int | None) -> None:
        """A loop, whatever happens: NumPy hears of no exception here."""
        raised: BaseException | None = None
        try:
            if self.loop is None and not inside():
                aside(self.compile)
        except BaseException as error:  # a signal handler's
            raised = error
        _clear_flags()(_ALL_FLAGS)  # compiling may have raised some
        loop = _LOOP(self.library) if self.loop is None else self.loop
        loop(*args)
        if raised is not None:
            again(raised)

    @property
    def library(self) -> int:
        """The library's loop."""
        return self.table.fields.functions[self.place] or 0

    def compile(self) -> None:
        """Puts the compiled loop in the stub's place; the library's if it can't be made."""
        from npcompile.runtime.ufuncs.direct_calls import mark
        from npcompile.runtime.ufuncs.inner_loops import UfuncLoop

        with _lock:
            if self.loop is not None:  # another thread was first
                return
            table, k = self.table, self.place
            made = [table.theirs(k)]

            def compiled() -> None:
                loop = UfuncLoop(table.op, self.dtypes)
                _kept.append(loop)
                alike = len(set(self.dtypes)) == 1
                made.append((loop.address, mark(table.made) if alike else None))

            try:
                _attempt(table.op, compiled)
            finally:  # not before: other threads wait here, whose results have the same bits
                table.put(k, *made[-1])
                self.loop = _LOOP(made[-1][0])


@cache
def _clear_flags() -> Any:
    return ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(symbols.resolve("feclearexcept"))
