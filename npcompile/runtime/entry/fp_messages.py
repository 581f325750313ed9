"""Floating-point warnings that machine code gives itself: where a flag leaves no doubt which
operation raised it, NumPy's warning is known before the call.

An entry has the address of an array of words::

    covered        the flags that leave no doubt
    count          of the messages, in the order in which NumPy gives them
    __warningregistry__, __name__      addresses of these strings
    (flag, text, file, line, globals)  of each message; objects by their addresses
"""

from __future__ import annotations

import ctypes
import sys
from types import FunctionType
from typing import TYPE_CHECKING, Any

from npcompile.core.records import record
from npcompile.runtime.entry.fp_warnings import home
from npcompile.runtime.entry.function_writer import Writer
from npcompile.runtime.entry.helpers import NAMES, SHIFT, WARN

if TYPE_CHECKING:
    from npcompile.runtime.entry.outline import Outline

_REGISTRY, _NAME = sys.intern("__warningregistry__"), sys.intern("__name__")
_HEAD, _FIELDS = 4, 5  #: words before the messages, and of each
_FLAGS = {name: flag for flag, name in NAMES.items()}


@record
class MessageTable:
    """Such an array, and the objects whose addresses it holds."""

    words: Any
    keep: tuple[Any, ...]

    @property
    def address(self) -> int:
        return ctypes.addressof(self.words)


def table(traced: Outline, function: FunctionType) -> MessageTable | None:
    """The messages of a version for this function, but those of lines in modules that are not
    known; None if none is left."""
    rows: list[tuple[int, ...]] = []
    keep: list[object] = [_REGISTRY, _NAME]
    for message in traced.messages:
        space = home(message.file, traced, function)
        if space is None or _NAME not in space:
            continue
        objects = (message.text, message.file, space)
        keep += objects
        text, file, names = map(id, objects)
        rows.append((_FLAGS[message.category], text, file, message.line, names))
    if not rows:
        return None
    head = (sum(row[0] for row in rows), len(rows), id(_REGISTRY), id(_NAME))
    words = [*head, *(word for row in rows for word in row)]
    return MessageTable((ctypes.c_uint64 * len(words))(*words), tuple(keep))


def warn() -> str:
    """The text of ``i32 npc_warn(ptr table, i32 raised)``: it clears the floating-point flags and
    warns.  It returns 0 when all is told, -1 with an exception set, or the flags that Python has to
    look at, of which nothing is told yet."""
    w = Writer()
    heard = w.let("call i32 @npc_heard(i32 %raised)")
    w.do("%unknown = icmp eq ptr %table, null")
    w.do("br i1 %unknown, label %python, label %look")
    w.label("look")
    clear = w.add("and", "i32", w.load("i32", "%table"), w.let("call i32 @npc_warned()"))
    doubt = w.add("and", "i32", heard, w.add("xor", "i32", clear, -1))
    w.do(f"%clear = icmp eq i32 {doubt}, 0")
    w.do("br i1 %clear, label %begin, label %python")
    w.label("python")
    w.do(f"ret i32 {heard}")
    return "\n".join([_warned(), "define i32 @npc_warn(ptr %table, i32 %raised) {", *w.lines,
                      _GIVE.replace("HEARD", heard), "}", *w.outside.values(), _OUTSIDE])


def _warned() -> str:
    """The text of ``i32 npc_warned()``: the flags of which ``np.errstate`` makes warnings."""
    w = Writer()
    state, found = w.let("call i32 @npc_errstate()"), "0"
    for flag, shift in SHIFT.items():
        mode = w.add("and", "i32", state, 7 << shift)
        warns = w.add("icmp eq", "i32", mode, WARN << shift)
        found = w.add("or", "i32", found, w.let(f"select i1 {warns}, i32 {flag}, i32 0"))
    return "\n".join(["define i32 @npc_warned() {", *w.lines, f"  ret i32 {found}", "}"])


_OUTSIDE = """
@PyExc_RuntimeWarning = external global i8
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare ptr @PyDict_New()
declare i32 @PyDict_SetItem(ptr, ptr, ptr)
declare ptr @PyDict_GetItemWithError(ptr, ptr)
declare i32 @PyErr_WarnExplicitObject(ptr, ptr, ptr, i32, ptr, ptr)
declare i32 @PyErr_ExceptionMatches(ptr)
declare void @PyErr_Clear()
"""

#: as PyErr_WarnEx does where NumPy calls it
_GIVE = f"""\
begin:
  %category = load ptr, ptr @PyExc_RuntimeWarning
  %count.at = getelementptr i64, ptr %table, i64 1
  %count = load i64, ptr %count.at
  %registry.at = getelementptr i64, ptr %table, i64 2
  %registry.name = load ptr, ptr %registry.at
  %name.at = getelementptr i64, ptr %table, i64 3
  %name = load ptr, ptr %name.at
  %rows = getelementptr i64, ptr %table, i64 {_HEAD}
  br label %row
row:
  %k = phi i64 [ 0, %begin ], [ %k.next, %next ]
  %told = phi i1 [ false, %begin ], [ %told.next, %next ]
  %at = mul i64 %k, {_FIELDS}
  %fields = getelementptr i64, ptr %rows, i64 %at
  %flag = load i32, ptr %fields
  %raises = and i32 %flag, HEARD
  %silent = icmp eq i32 %raises, 0
  br i1 %silent, label %next, label %message
message:
  %text.at = getelementptr i64, ptr %fields, i64 1
  %text = load ptr, ptr %text.at
  %file.at = getelementptr i64, ptr %fields, i64 2
  %file = load ptr, ptr %file.at
  %line.at = getelementptr i64, ptr %fields, i64 3
  %line = load i32, ptr %line.at
  %names.at = getelementptr i64, ptr %fields, i64 4
  %names = load ptr, ptr %names.at
  %module = call ptr @PyDict_GetItemWithError(ptr %names, ptr %name)
  call void @Py_IncRef(ptr %module)
  %found = call ptr @PyDict_GetItemWithError(ptr %names, ptr %registry.name)
  call void @Py_IncRef(ptr %found)
  %known = icmp ne ptr %found, null
  br i1 %known, label %give, label %make
make:
  %made = call ptr @PyDict_New()
  %short = icmp eq ptr %made, null
  br i1 %short, label %failed, label %put
put:
  %unset = call i32 @PyDict_SetItem(ptr %names, ptr %registry.name, ptr %made)
  br label %give
give:
  %registry = phi ptr [ %found, %message ], [ %made, %put ]
  %raised.it = call i32 @PyErr_WarnExplicitObject(ptr %category, ptr %text, ptr %file, i32 %line,
    ptr %module, ptr %registry)
  call void @Py_DecRef(ptr %module)
  call void @Py_DecRef(ptr %registry)
  %error = icmp ne i32 %raised.it, 0
  br i1 %error, label %failed, label %next
next:
  %told.next = phi i1 [ %told, %row ], [ true, %give ]
  %k.next = add i64 %k, 1
  %more = icmp ult i64 %k.next, %count
  br i1 %more, label %row, label %done
done:
  ret i32 0
failed:
  %asked = call i32 @PyErr_ExceptionMatches(ptr %category)
  %filter = icmp ne i32 %asked, 0
  %first = xor i1 %told, true
  %anew = and i1 %first, %filter
  br i1 %anew, label %forget, label %exception
forget:  ; Python raises it, from the very line
  call void @PyErr_Clear()
  ret i32 HEARD
exception:
  ret i32 -1
"""
