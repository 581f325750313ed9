"""Keywords and defaults, bound by machine code.

An entry takes its arguments in one fixed order.  The binder stands at the end of a chain of
entries: it puts the arguments of a call that names some or leaves some out into the order of the
parameters, and tries the chain once more.  What does not fit is Python's: it raises the TypeError.
"""

from __future__ import annotations

import ctypes
import sys
import weakref
from collections.abc import Callable
from functools import cache
from string import Template
from types import FunctionType
from typing import Any

from npcompile.backends.cpu.loader.compile import lasting
from npcompile.runtime.cache.disk import compiled
from npcompile.runtime.entry.state import spread
from npcompile.runtime.unsafe.layout import Layout, layout
from npcompile.runtime.unsafe.native_functions import TABLE, FunctionBase, install, installed
from npcompile.runtime.unsafe.parameters import Parameters
from npcompile.runtime.unsafe.raw_memory import set_word

_HEAD, _LAST, _PYTHON, _FUNCTION, _CODE, _COUNT, _NAMELESS, _NAMES = range(8)  # slots of a table


class Binder:
    """Binds the arguments of one function, which keeps it.

    Parameters
    ----------
    function
        What is called.
    plain
        The Python function; all of its parameters can be given by position.
    python
        ``python(function, *args, **kwargs)`` takes the calls that no entry takes.
    """

    def __init__(
        self, function: FunctionBase, plain: FunctionType, python: Callable[..., Any]
    ) -> None:
        code = plain.__code__
        if not Parameters(plain).plain:
            raise ValueError("a parameter that can't be given by position")
        self._kept = spread(python), plain, code
        names = [sys.intern(name) for name in code.co_varnames[: code.co_argcount]]
        self._table = (ctypes.c_uint64 * (_NAMES + len(names)))(
            installed(function), 0, id(self._kept[0]), id(plain), id(code),
            len(names), code.co_posonlyargcount, *map(id, names),
        )
        self._names = names
        #: what the last entry of the chain has to go on to
        self.address = _code()
        set_word(id(function) + TABLE, ctypes.addressof(self._table))
        self._function = weakref.ref(function)
        function.binds_by(self)

    @property
    def outdated(self) -> bool:
        """Whether the function has got other code since."""
        return self._kept[1].__code__ is not self._kept[2]

    def install(self, address: int, last: int = 0) -> None:
        """The chain starts at this address now, for calls and for bound arguments; what it does
        not take goes to ``last`` (0: to Python)."""
        self._table[_HEAD], self._table[_LAST] = address, last
        function = self._function()
        if function is not None:
            install(function, address)


@cache
def _code() -> int:
    """The address of the binder's code, the same for all functions."""
    where = layout()
    if where is None:
        raise RuntimeError("this Python's objects have an unknown layout")
    return lasting(compiled(_text(where)))["npc.bind"]


def _text(at: Layout) -> str:
    return _TEXT.substitute(
        TABLE=TABLE, LAST=_LAST, PYTHON=_PYTHON, FUNCTION=_FUNCTION, COUNT=_COUNT, NAMES=_NAMES,
        NAMELESS=_NAMELESS, MASK=2**63 - 1,
        DEFAULTS=at.func_defaults, CODE=_CODE, FUNC_CODE=at.func_code,
        SIZE=at.tuple_size, ITEMS=at.tuple_items,
    )


_TEXT = Template("""\
declare ptr @PyObject_CallFunction(ptr, ptr, ...)
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
@npc.format.call = private constant [5 x i8] c"OKKK\\00"

define ptr @npc.bind(ptr %callable, ptr %args, i64 %nargsf, ptr %kwnames) optnone noinline {
start:
  %table.at = getelementptr i8, ptr %callable, i64 $TABLE
  %table = load ptr, ptr %table.at
  %n.at = getelementptr i64, ptr %table, i64 $COUNT
  %n = load i64, ptr %n.at
  %names = getelementptr i64, ptr %table, i64 $NAMES
  %function.at = getelementptr i64, ptr %table, i64 $FUNCTION
  %function = load ptr, ptr %function.at
  %defaults.at = getelementptr i8, ptr %function, i64 $DEFAULTS
  %defaults = load ptr, ptr %defaults.at
  %count = and i64 %nargsf, $MASK
  %many = icmp ugt i64 %count, %n
  %plain = icmp eq ptr %kwnames, null
  %full = icmp eq i64 %count, %n  ; in order already: the chain had its chance
  %code.at = getelementptr i8, ptr %function, i64 $FUNC_CODE
  %code = load ptr, ptr %code.at
  %code.then.at = getelementptr i64, ptr %table, i64 $CODE
  %code.then = load ptr, ptr %code.then.at
  %other.code = icmp ne ptr %code, %code.then
  %unfit = or i1 %many, %full
  %no = or i1 %unfit, %other.code
  br i1 %no, label %python, label %room
room:
  %room.at = alloca ptr, i64 %n
  %all.bytes = shl i64 %n, 3
  call void @llvm.memset.p0.i64(ptr %room.at, i8 0, i64 %all.bytes, i1 false)
  %given.bytes = shl i64 %count, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %room.at, ptr %args, i64 %given.bytes, i1 false)
  br i1 %plain, label %fill, label %named
named:
  %size.at = getelementptr i8, ptr %kwnames, i64 $SIZE
  %size = load i64, ptr %size.at
  %some = icmp sgt i64 %size, 0
  %nameless.at = getelementptr i64, ptr %table, i64 $NAMELESS
  %nameless = load i64, ptr %nameless.at
  %more.given = icmp ugt i64 %count, %nameless
  %from.here = select i1 %more.given, i64 %count, i64 %nameless
  br i1 %some, label %keyword, label %fill
keyword:  ; one name after the other
  %k = phi i64 [0, %named], [%k.next, %found]
  %name.off = shl i64 %k, 3
  %name.base = getelementptr i8, ptr %kwnames, i64 $ITEMS
  %name.at = getelementptr i8, ptr %name.base, i64 %name.off
  %name = load ptr, ptr %name.at
  br label %search
search:  ; among the parameters that have a name and are not given by position
  %j = phi i64 [%from.here, %keyword], [%j.next, %other]
  %end = icmp eq i64 %j, %n
  br i1 %end, label %python, label %compare
compare:
  %param.at = getelementptr ptr, ptr %names, i64 %j
  %param = load ptr, ptr %param.at
  %same = icmp eq ptr %param, %name
  br i1 %same, label %found, label %other
other:
  %j.next = add i64 %j, 1
  br label %search
found:
  %from = add i64 %count, %k
  %value.at = getelementptr ptr, ptr %args, i64 %from
  %value = load ptr, ptr %value.at
  %to.at = getelementptr ptr, ptr %room.at, i64 %j
  store ptr %value, ptr %to.at
  %k.next = add i64 %k, 1
  %more = icmp slt i64 %k.next, %size
  br i1 %more, label %keyword, label %fill
fill:  ; what is still missing has a default
  %none = icmp eq ptr %defaults, null
  br i1 %none, label %known, label %length
length:
  %length.at = getelementptr i8, ptr %defaults, i64 $SIZE
  %length.found = load i64, ptr %length.at
  br label %known
known:
  %have = phi i64 [0, %fill], [%length.found, %length]
  %first = sub i64 %n, %have
  br label %next
next:
  %i = phi i64 [%count, %known], [%i.next, %step]
  %done = icmp eq i64 %i, %n
  br i1 %done, label %go, label %look
look:
  %slot = getelementptr ptr, ptr %room.at, i64 %i
  %held = load ptr, ptr %slot
  %missing = icmp eq ptr %held, null
  br i1 %missing, label %default, label %step
default:
  %index = sub i64 %i, %first
  %without = icmp slt i64 %index, 0
  br i1 %without, label %python, label %take
take:
  %items = getelementptr i8, ptr %defaults, i64 $ITEMS
  %default.at = getelementptr ptr, ptr %items, i64 %index
  %default.value = load ptr, ptr %default.at
  store ptr %default.value, ptr %slot
  br label %step
step:
  %i.next = add i64 %i, 1
  br label %next
go:
  %head = load ptr, ptr %table
  %empty = icmp eq ptr %head, null
  br i1 %empty, label %python, label %enter
enter:
  call void @Py_IncRef(ptr %defaults)
  %result = call ptr %head(ptr %callable, ptr %room.at, i64 %n, ptr null)
  call void @Py_DecRef(ptr %defaults)
  ret ptr %result
python:
  %last.at = getelementptr i64, ptr %table, i64 $LAST
  %last = load ptr, ptr %last.at
  %none.left = icmp eq ptr %last, null
  br i1 %none.left, label %call, label %forward
forward:
  %passed = tail call ptr %last(ptr %callable, ptr %args, i64 %nargsf, ptr %kwnames)
  ret ptr %passed
call:
  %python.at = getelementptr i64, ptr %table, i64 $PYTHON
  %target = load ptr, ptr %python.at
  %answer = call ptr (ptr, ptr, ...) @PyObject_CallFunction(ptr %target, ptr @npc.format.call,
      ptr %callable, ptr %args, i64 %nargsf, ptr %kwnames)
  ret ptr %answer
}
""")
