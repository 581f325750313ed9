"""Objects whose calls go to machine code that finds what it needs in a record of words.

:class:`CallableBase` is to objects that are no functions what
:class:`~npcompile.runtime.unsafe.native_functions.FunctionBase` is to functions: they do not become
methods of the classes that hold them.  While nothing is installed, calls go to ``__call__``.

>>> class Ufunc(CallableBase):
...     def __call__(self, x):
...         return x + 1
>>> Ufunc()(1)
2
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from npcompile.runtime.unsafe import raw_memory
from npcompile.runtime.unsafe.layout import layout
from npcompile.runtime.unsafe.native_functions import call_directly, native_type

_POINTER = object.__basicsize__  # where an instance has its vectorcall pointer
_WIDTH = ctypes.sizeof(ctypes.c_void_p)
RECORD = _POINTER + _WIDTH  #: and the address of its record


if TYPE_CHECKING:
    _Native = object
else:
    _Native = object  # where objects have an unknown layout
    if layout() is not None:
        _Native = native_type(b"native_callables._Native", RECORD + _WIDTH, False)


class CallableBase(_Native):
    """Derive from it and define ``__call__``, which takes the calls that no machine code takes."""

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if layout() is not None:
            call_directly(cls)


def serve(thing: CallableBase, code: int, record: int) -> None:
    """Calls of ``thing`` run the vectorcall function at an address, with a record; both must
    outlive it.  An address of 0 gives the calls back to ``__call__``."""
    if layout() is None:
        return
    if code:  # the record is there before the code that reads it
        raw_memory.set_word(id(thing) + RECORD, record)
    raw_memory.set_word(id(thing) + _POINTER, code)
