"""Calls of ufuncs of plain functions, in machine code.

A call on arrays goes to NumPy's ufunc at once, if the arrays have the dtypes that this ufunc was
made for, and nothing that its loop relies on has changed::

    PyObject *npc_vectorized(PyObject *self, PyObject **args, size_t nargsf, PyObject *kwnames)

The object's record says so.  It is a row of words, which leads to another row for other dtypes.
Records may be gone when the ufunc returns; ufuncs, and what belongs to them, are there for ever.
Python takes all other calls.  ``npc_unchanged`` is the test alone, for Python.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from npcompile.backends import cpu
from npcompile.runtime.cache.disk import compiled
from npcompile.runtime.unsafe import raw_memory, ufunc_objects
from npcompile.runtime.unsafe.layout import layout
from npcompile.runtime.unsafe.native_callables import RECORD, CallableBase, serve


class _Head(ctypes.Structure):
    """The words of a record before the operands' dtypes."""

    names = (
        "next",  # the record for other dtypes; 0: there is none
        "stale",  # the address of a word that is 0 as long as nothing is known to have changed
        "pairs",  # the address of pairs of words: an address, and what must be there
        "count",  # how many pairs there are
        "ufunc",  # NumPy's
        "nin",
        "nargs",
        "waiting",  # the address of a word that counts exceptions that wait to be raised
        "tell",  # a function that raises the one of its thread
        "python",  # a function that takes the calls that fit nowhere
    )
    _fields_ = tuple([(name, ctypes.c_uint64) for name in names])


def _text() -> str:
    at = layout()
    assert at is not None
    place = {name: getattr(_Head, name).offset for name in _Head.names}
    return f"""
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare ptr @PyObject_CallNoArgs(ptr)
declare void @PyErr_Fetch(ptr, ptr, ptr)
declare void @PyErr_Restore(ptr, ptr, ptr)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
@PyArray_Type = external global i8
@_Py_TrueStruct = external global i8
@_Py_FalseStruct = external global i8

define internal ptr @word(ptr %base, i64 %offset) {{
  %at = getelementptr i8, ptr %base, i64 %offset
  %word = load ptr, ptr %at
  ret ptr %word
}}

define internal i64 @number(ptr %base, i64 %offset) {{
  %at = getelementptr i8, ptr %base, i64 %offset
  %number = load i64, ptr %at
  ret i64 %number
}}

; Whether all that a loop relies on is as it was.  The pairs are looked at one after the other: the
; first ones say whether there are the others.
define internal i1 @unchanged(ptr %record) {{
entry:
  %stale.at = call ptr @word(ptr %record, i64 {place["stale"]})
  %stale = load i64, ptr %stale.at
  %fresh = icmp eq i64 %stale, 0
  %pairs = call ptr @word(ptr %record, i64 {place["pairs"]})
  %count = call i64 @number(ptr %record, i64 {place["count"]})
  br i1 %fresh, label %pair, label %no
pair:
  %k = phi i64 [ 0, %entry ], [ %next, %same ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %compare, label %yes
compare:
  %pair.at = getelementptr [2 x i64], ptr %pairs, i64 %k
  %address = load ptr, ptr %pair.at
  %expected = call i64 @number(ptr %pair.at, i64 8)
  %now = load i64, ptr %address
  %equal = icmp eq i64 %now, %expected
  br i1 %equal, label %same, label %no
same:
  %next = add i64 %k, 1
  br label %pair
yes:
  ret i1 true
no:
  ret i1 false
}}

define ptr @npc_unchanged(ptr %self, ptr %args, i64 %nargsf, ptr %kwnames) {{
  %record = call ptr @word(ptr %self, i64 {RECORD})
  %same = call i1 @unchanged(ptr %record)
  %told = select i1 %same, ptr @_Py_TrueStruct, ptr @_Py_FalseStruct
  call void @Py_IncRef(ptr %told)
  ret ptr %told
}}

; Whether the operands are arrays of the dtypes of a record.
define internal i1 @fits(ptr %record, ptr %args, i64 %count) {{
entry:
  %nin = call i64 @number(ptr %record, i64 {place["nin"]})
  %nargs = call i64 @number(ptr %record, i64 {place["nargs"]})
  %dtypes = getelementptr i8, ptr %record, i64 {ctypes.sizeof(_Head)}
  %enough = icmp uge i64 %count, %nin
  %few = icmp ule i64 %count, %nargs
  %possible = and i1 %enough, %few
  br i1 %possible, label %operand, label %no
operand:
  %k = phi i64 [ 0, %entry ], [ %next, %same ]
  %more = icmp slt i64 %k, %nin
  br i1 %more, label %look, label %yes
look:
  %arg.at = getelementptr ptr, ptr %args, i64 %k
  %arg = load ptr, ptr %arg.at
  %class = call ptr @word(ptr %arg, i64 {at.type})
  %array = icmp eq ptr %class, @PyArray_Type
  br i1 %array, label %compare, label %no
compare:
  %dtype.at = getelementptr ptr, ptr %dtypes, i64 %k
  %dtype = load ptr, ptr %dtype.at
  %its = call ptr @word(ptr %arg, i64 {at.descr})
  %equal = icmp eq ptr %its, %dtype
  br i1 %equal, label %same, label %no
same:
  %next = add i64 %k, 1
  br label %operand
yes:
  ret i1 true
no:
  ret i1 false
}}

define ptr @npc_vectorized(ptr %self, ptr %args, i64 %nargsf, ptr %kwnames) {{
entry:
  %count = and i64 %nargsf, {2**63 - 1}
  %first = call ptr @word(ptr %self, i64 {RECORD})
  br label %look
look:
  %record = phi ptr [ %first, %entry ], [ %next, %other ]
  %suits = call i1 @fits(ptr %record, ptr %args, i64 %count)
  br i1 %suits, label %check, label %other
other:
  %next = call ptr @word(ptr %record, i64 {place["next"]})
  %none = icmp eq ptr %next, null
  br i1 %none, label %python, label %look
check:
  %same = call i1 @unchanged(ptr %record)
  br i1 %same, label %run, label %python
python:
  %takes = call ptr @word(ptr %first, i64 {place["python"]})
  %taken = call ptr @PyObject_Vectorcall(ptr %takes, ptr %args, i64 %nargsf, ptr %kwnames)
  ret ptr %taken
run:
  %ufunc = call ptr @word(ptr %record, i64 {place["ufunc"]})
  %waiting.at = call ptr @word(ptr %record, i64 {place["waiting"]})
  %tells = call ptr @word(ptr %record, i64 {place["tell"]})
  %result = call ptr @PyObject_Vectorcall(ptr %ufunc, ptr %args, i64 %nargsf, ptr %kwnames)
  %waiting = load i64, ptr %waiting.at
  %raised = icmp ne i64 %waiting, 0
  br i1 %raised, label %tell, label %done
done:
  ret ptr %result
tell:
  %class = alloca ptr
  %value = alloca ptr
  %trace = alloca ptr
  call void @PyErr_Fetch(ptr %class, ptr %value, ptr %trace)
  %kind = load ptr, ptr %class
  %error = load ptr, ptr %value
  %frames = load ptr, ptr %trace
  %told = call ptr @PyObject_CallNoArgs(ptr %tells)
  %failed = icmp eq ptr %told, null
  br i1 %failed, label %raise, label %silent
silent:
  call void @Py_DecRef(ptr %told)
  call void @PyErr_Restore(ptr %kind, ptr %error, ptr %frames)
  ret ptr %result
raise:
  call void @Py_DecRef(ptr %result)
  call void @Py_DecRef(ptr %kind)
  call void @Py_DecRef(ptr %error)
  call void @Py_DecRef(ptr %frames)
  ret ptr null
}}
"""


@cache
def _code() -> tuple[int, int]:
    """The addresses of the two functions."""
    loaded = cpu.load(compiled(_text()), {})
    raw_memory.keep_for_ever(loaded)  # ufuncs live for ever
    return loaded["npc_vectorized"], loaded["npc_unchanged"]


class Watch(CallableBase):
    """Says whether all that code relies on is as it was.

    Parameters
    ----------
    stale, pairs, count
        The addresses of a word that is 0 until a change is known, and of pairs of words: an
        address, and what must be there; how many pairs there are.
    """

    def __init__(self, stale: int, pairs: int, count: int) -> None:
        self.words = {"stale": stale, "pairs": pairs, "count": count}
        self._record = _Head(**self.words)
        if layout() is not None:
            serve(self, _code()[1], ctypes.addressof(self._record))

    def __call__(self) -> bool:
        return False


class DirectCall:
    """A record: calls on arrays of some dtypes go to a ufunc.

    Parameters
    ----------
    ufunc
        NumPy's, with one loop.
    dtypes
        The operands' own.
    watch
        What the loop relies on.
    waiting, tell
        The address of the word that counts exceptions, and what raises them.
    python
        What takes all other calls.
    """

    def __init__(self, ufunc: np.ufunc, dtypes: Sequence[np.dtype], watch: Watch, waiting: int,
                 tell: Callable[[], None], python: Callable[..., Any]) -> None:
        self._kept = ufunc, tuple(dtypes), watch, tell, python
        head = _Head(ufunc=id(ufunc), nin=ufunc.nin, nargs=ufunc.nargs, waiting=waiting,
                     tell=id(tell), python=id(python), **watch.words)
        words = [*(getattr(head, name) for name in _Head.names), *map(id, dtypes)]
        self._record = (ctypes.c_uint64 * len(words))(*words)

    def before(self, following: DirectCall | None) -> None:
        """Has calls that do not fit looked at by another one."""
        self._record[0] = 0 if following is None else ctypes.addressof(following._record)

    def serves(self, thing: CallableBase) -> None:
        """Has an object's calls looked at by this one first."""
        serve(thing, _code()[0], ctypes.addressof(self._record))


def supported() -> bool:
    """Whether calls can be taken in machine code here."""
    return bool(ufunc_objects.vectorcall_place())
