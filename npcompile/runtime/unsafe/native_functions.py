"""Function objects whose calls go straight to machine code.

:class:`FunctionBase` is a heap type with a vectorcall pointer (PEP 590) in each instance.  While
the pointer is NULL, CPython calls the class's ``__call__``; once :func:`install` has set it, calls
run the code that it points to and nothing else.  Classes derived from it are ordinary Python
classes: dictionary, weak references, garbage collection and attributes are CPython's own.  Where
the layout of objects is not known the base is a plain Python class and nothing can be installed.

>>> class Function(FunctionBase):
...     def __call__(self, x):
...         return x + 1
>>> Function()(1)
2
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, Any

from npcompile.runtime.unsafe.layout import layout

_BASE_TYPE, _VECTORCALL, _METHOD = 1 << 10, 1 << 11, 1 << 17  # Py_TPFLAGS_...
_DEFAULT = 1 << 18
_POINTER = object.__basicsize__  # where an instance has its vectorcall pointer
_WIDTH = ctypes.sizeof(ctypes.c_void_p)
TABLE = _POINTER + _WIDTH  #: and where that to its binder's table
FORWARD = TABLE + _WIDTH  #: and to its forwarder's
_PLAIN = FORWARD + _WIDTH  # and to its plain function, if it has a gate
_CHAIN = _PLAIN + _WIDTH  # and the address of its first entry, before which the gate stands
_PASSING = _CHAIN + _WIDTH  # and a word that is 1 while a profiler's function calls
_TP_CALL, _TP_DESCR_GET, _TP_MEMBERS = 50, 54, 72  # numbers of Include/typeslots.h
_T_PYSSIZET, _READONLY = 19, 1


class _Slot(ctypes.Structure):
    _fields_ = (("slot", ctypes.c_int), ("function", ctypes.c_void_p))


class _Spec(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("basicsize", ctypes.c_int),
        ("itemsize", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(_Slot)),
    )


class _Member(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("type", ctypes.c_int),
        ("offset", ctypes.c_ssize_t),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def _address(name: str) -> int:
    return ctypes.addressof(ctypes.c_byte.in_dll(ctypes.pythonapi, name))


def native_type(name: bytes, size: int, bound: bool) -> Any:
    """A type of instances of so many bytes with a vectorcall pointer; ``bound``: like functions."""
    python = ctypes.pythonapi
    get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_int)
    bind = get(("PyType_GetSlot", python))(type(native_type), _TP_DESCR_GET)  # makes methods
    members = (_Member * 2)(
        _Member(b"__vectorcalloffset__", _T_PYSSIZET, _POINTER, _READONLY, None)
    )
    slots = (_Slot * 4)(
        _Slot(_TP_CALL, _address("PyVectorcall_Call")),
        _Slot(_TP_MEMBERS, ctypes.addressof(members)),
        *[_Slot(_TP_DESCR_GET, bind)] * bound,
    )
    flags = _DEFAULT | _BASE_TYPE | _VECTORCALL | _METHOD * bound
    spec = _Spec(b"npcompile.runtime.unsafe." + name, size, 0, flags, slots)
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.POINTER(_Spec))
    made = make(("PyType_FromSpec", python))(ctypes.byref(spec))
    _keep.extend((members, slots, spec))  # the type's name and members may point into them
    return made


_keep: list[Any] = []


class _Python:
    """Stands in where objects have an unknown layout: calls go to ``__call__``, always."""

    __call__: Callable[..., Any]

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)


if TYPE_CHECKING:
    _Native = _Python
else:
    _Native = native_type(b"native_functions._Native", _PASSING + 8, True) if layout() else _Python


class FunctionBase(_Native):
    """Derive from it and define ``__call__``, which takes the calls that no machine code takes."""

    _binder: Any  # see npcompile.runtime.entry.argument_binding

    def binds_by(self, binder: Any) -> None:
        """Has machine code bind the arguments of calls."""
        self._binder = binder

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        call_directly(cls, _METHOD)


def call_directly(cls: type, more: int = 0) -> None:
    """Makes CPython look at the vectorcall pointers of a class's instances.

    A class with a Python ``__call__`` is not expected to have any, so the flag is lost.
    """
    where = layout()
    if where is None:
        return
    flags = ctypes.c_uint64.from_address(id(cls) + where.type_flags)
    flags.value |= _VECTORCALL | more
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(cls))


def install(function: FunctionBase, address: int) -> None:
    """Calls of ``function`` run the vectorcall function at ``address``, which must outlive it.

    Address 0 gives the calls back to ``__call__``.
    """
    if not isinstance(function, FunctionBase):
        raise TypeError(f"{function!r} is no FunctionBase")
    if layout() is None:
        if address:
            raise RuntimeError("this Python's objects have an unknown layout")
        return
    entrance = address
    if address and _word(function, _PLAIN)[0]:
        from npcompile.runtime.unsafe.gates import gate  # decorating does not need it

        entrance = gate(_PLAIN, _CHAIN, _PASSING) or address
    if address:  # before the gate stands there: another thread may call between the two stores
        _word(function, _CHAIN)[0] = address
    _word(function, _POINTER)[0] = entrance


def installed(function: FunctionBase) -> int:
    """The address that calls go to; 0: ``__call__``."""
    served = layout() is not None and _word(function, _POINTER)[0]
    return int(_word(function, _CHAIN)[0]) if served else 0


def stands_for(function: FunctionBase, plain: object) -> None:
    """Lets debuggers and the like see the plain function, which ``function`` keeps alive."""
    if layout() is not None:
        _word(function, _PLAIN)[0] = id(plain)


def let_pass(function: FunctionBase, passing: bool) -> None:
    """Has the gate let calls pass that a profiler would see: its own function makes them."""
    if layout() is not None:
        _word(function, _PASSING)[0] = passing


def passes(function: FunctionBase) -> bool:
    """Whether a profiler's function calls."""
    return layout() is None or bool(_word(function, _PASSING)[0])


def _word(function: FunctionBase, place: int) -> Any:
    return (ctypes.c_uint64 * 1).from_address(id(function) + place)
