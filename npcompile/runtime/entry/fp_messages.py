"""Floating-point warnings that machine code gives itself: where a flag leaves no doubt which
operation raised it, NumPy's warning is known before the call.

An entry has the address of an array of words::

    covered        the flags whose messages are known
    count          of the messages, in the order in which NumPy gives them
    __warningregistry__, __name__      addresses of these strings
    (flag, text, file, line, globals, key, certain, registry, tag, filters)
                   of each message; objects by their addresses; ``key`` is what the registry has
                   for a message that has been shown; the last three say which registry, with
                   which version tag, last had it, under which filters

A message that the registry says is not shown again costs a look there.  A flag may stand for one
of several messages, which are not ``certain`` and come first: if none of these would be shown, or
the first filter ignores all such warnings, nothing is told; otherwise Python has to look at it.
"""

from __future__ import annotations

import ctypes
import sys
import warnings
from types import FunctionType
from typing import TYPE_CHECKING, Any

from npcompile.core.paths import defer
from npcompile.core.records import record
from npcompile.runtime.entry.fp_warnings import home
from npcompile.runtime.entry.helpers import NAMES, audible, clear, warning
from npcompile.runtime.unsafe.layout import layout
from npcompile.runtime.unsafe.version_tags import filters_address

if TYPE_CHECKING:
    from npcompile.runtime.entry import function_writer
    from npcompile.runtime.entry.outline import Outline
else:
    defer(globals(), "npcompile.runtime.entry", "function_writer")

_REGISTRY, _NAME = sys.intern("__warningregistry__"), sys.intern("__name__")
_VERSION, _FILTERS = sys.intern("version"), sys.intern("filters")
#: what ``warnings.simplefilter("ignore")`` makes a filter of; its third item is a class of warnings
_IGNORE = sys.intern("ignore"), None, None, None, 0
_HEAD, _FIELDS = 4, 10  #: words before the messages, and of each
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
    spaces = [home(message.file, traced, function) for message in traced.messages]
    lost = {message.category for message, space in zip(traced.messages, spaces, strict=True)
            if space is None or _NAME not in space}
    for message, space in zip(traced.messages, spaces, strict=True):
        if message.category in lost:
            continue
        key = message.text, RuntimeWarning, message.line
        objects = (message.text, message.file, space, key)
        keep += objects
        text, file, names, shown = map(id, objects)
        rows.append((_FLAGS[message.category], text, file, message.line, names, shown,
                     message.certain, 0, 0, 0))
    if not rows:
        return None
    covered = sum({row[0] for row in rows})
    head = (covered, len(rows), id(_REGISTRY), id(_NAME))
    words = [*head, *(word for row in rows for word in row)]
    return MessageTable((ctypes.c_uint64 * len(words))(*words), tuple(keep))


def shown_before() -> dict[str, int]:
    """The addresses of what :func:`warn` compares with a registry and with filters, by the names
    it has there."""
    return {
        "npc.warnings.filters": filters_address(), "npc.warnings.version": id(_VERSION),
        "npc.warnings": id(vars(warnings)), "npc.warnings.name": id(_FILTERS),
        **{f"npc.warnings.ignore.{k}": id(item) for k, item in enumerate(_IGNORE)},
    }


def warn() -> str:
    """The text of ``i32 npc_warn(ptr table, i32 raised)``: it clears the floating-point flags and
    warns.  It returns 0 when all is told, -1 with an exception set, or the flags that Python has to
    look at, of which nothing is told yet."""
    w = function_writer.Writer()
    clear(w)
    state = w.let("call i32 @npc_errstate()")
    heard, warns = w.add("and", "i32", "%raised", audible(w, state)), warning(w, state)
    w.do("%unknown = icmp eq ptr %table, null")
    w.do("br i1 %unknown, label %python, label %look")
    w.label("look")
    known = w.add("and", "i32", w.load("i32", "%table"), warns)
    doubt = w.add("and", "i32", heard, w.add("xor", "i32", known, -1))
    w.do(f"%clear = icmp eq i32 {doubt}, 0")
    w.do("br i1 %clear, label %begin, label %python")
    w.label("python")
    w.do("%unheard = call i1 @npc_unheard()")
    others = w.add("and", "i32", heard, w.add("xor", "i32", warns, -1))
    w.do(f"ret i32 {w.let(f'select i1 %unheard, i32 {others}, i32 {heard}')}")
    shown, unheard = _shown(), _unheard()
    return "\n".join([
        _warned(), "define internal i1 @npc_shown(ptr %registry, ptr %fields) {", *shown.lines, "}",
        "define internal i1 @npc_unheard() {", *unheard.lines, "}",
        "define i32 @npc_warn(ptr %table, i32 %raised) {", *w.lines,
        _GIVE.replace("HEARD", heard), "}",
        *(w.outside | shown.outside | unheard.outside).values(), _OUTSIDE,
        function_writer.METADATA,
    ])


def _warned() -> str:
    """The text of ``i32 npc_warned()``: the flags of which ``np.errstate`` makes warnings."""
    w = function_writer.Writer()
    w.do(f"ret i32 {warning(w, w.let('call i32 @npc_errstate()'))}")
    return "\n".join(["define i32 @npc_warned() {", *w.lines, "}"])


def _shown() -> function_writer.Writer:
    """Writes ``i1 npc_shown(ptr registry, ptr fields)``: whether a module's registry, which may
    be null, says that a message is not shown again under the present filters.  It is CPython's
    ``already_warned``, but false where that would do anything else than find the key."""
    w, at = function_writer.Writer(), layout()
    kind, tagged = (0, None) if at is None else (at.type, at.dict_version)
    w.require(w.add("icmp ne", "ptr", "%registry", "null"), "no")
    own = w.load("ptr", "%registry", kind)
    w.require(w.add("icmp eq", "ptr", own, w.data("PyDict_Type")), "no")
    now = w.load("i64", w.data("npc.warnings.filters"))
    noted = {7: w.let("ptrtoint ptr %registry to i64"), 9: now}
    if tagged is not None:
        noted[8] = w.load("i64", "%registry", tagged)
        same = [w.add("icmp eq", "i64", value, w.load("i64", "%fields", 8 * k))
                for k, value in noted.items()]
        both = w.add("and", "i1", same[0], same[1])
        w.do(f"br i1 {w.add('and', 'i1', both, same[2])}, label %yes, label %look")
        w.label("look")
    version = _item(w, w.data("npc.warnings.version"))
    w.require(w.add("icmp ne", "ptr", version, "null"), "no")
    w.require(w.add("icmp eq", "ptr", w.load("ptr", version, kind), w.data("PyLong_Type")), "no")
    w.require(w.add("icmp eq", "i64", w.call("i64", "PyLong_AsLong", ("ptr", version)), now), "no")
    found = _item(w, w.load("ptr", "%fields", 40))
    w.require(w.add("icmp eq", "ptr", found, w.data("_Py_TrueStruct")), "no")
    if tagged is not None:
        for k, value in noted.items():
            w.store("i64", value, "%fields", 8 * k)
    w.goto("yes")
    w.label("yes")
    w.do("ret i1 true")
    w.label("no")
    w.call("void", "PyErr_Clear")
    w.do("ret i1 false")
    return w


def _item(w: function_writer.Writer, key: str, table: str = "%registry") -> str:
    return w.call("ptr", "PyDict_GetItemWithError", ("ptr", table), ("ptr", key))


def _unheard() -> function_writer.Writer:
    """Writes ``i1 npc_unheard()``: whether the first filter ignores all warnings that NumPy gives
    of floating-point errors, whatever their text and place.  It is read as CPython does."""
    w = function_writer.Writer()
    filters = _item(w, w.data("npc.warnings.name"), w.data("npc.warnings"))
    w.require(w.add("icmp ne", "ptr", filters, "null"), "no")
    first = w.call("ptr", "PyList_GetItem", ("ptr", filters), ("i64", 0))
    w.require(w.add("icmp ne", "ptr", first, "null"), "no")
    items = [w.call("ptr", "PyTuple_GetItem", ("ptr", first), ("i64", k))
             for k in range(len(_IGNORE))]
    other = [w.add("icmp ne", "ptr", item, w.data(f"npc.warnings.ignore.{k}"))
             for k, item in enumerate(items) if k != 2]
    names = "PyExc_RuntimeWarning", "PyExc_Warning", "PyExc_Exception"
    kinds = [w.add("icmp eq", "ptr", items[2], w.load("ptr", w.data(name))) for name in names]
    w.refuse([*other, w.add("xor", "i1", w.any(kinds), "true")], "no")
    w.do("ret i1 true")
    w.label("no")
    w.call("void", "PyErr_Clear")
    w.do("ret i1 false")
    return w


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
  %names.at = getelementptr i64, ptr %fields, i64 4
  %names = load ptr, ptr %names.at
  %found = call ptr @PyDict_GetItemWithError(ptr %names, ptr %registry.name)
  call void @Py_IncRef(ptr %found)
  %shown = call i1 @npc_shown(ptr %found, ptr %fields)
  br i1 %shown, label %skip, label %show
skip:
  call void @Py_DecRef(ptr %found)
  br label %next
show:
  %certain.at = getelementptr i64, ptr %fields, i64 6
  %certain = load i64, ptr %certain.at
  %doubtful = icmp eq i64 %certain, 0
  br i1 %doubtful, label %doubt, label %ready
doubt:  ; nothing is told yet
  %unheard.now = call i1 @npc_unheard()
  br i1 %unheard.now, label %skip, label %ask
ask:
  call void @Py_DecRef(ptr %found)
  ret i32 HEARD
ready:
  %text.at = getelementptr i64, ptr %fields, i64 1
  %text = load ptr, ptr %text.at
  %file.at = getelementptr i64, ptr %fields, i64 2
  %file = load ptr, ptr %file.at
  %line.at = getelementptr i64, ptr %fields, i64 3
  %line = load i32, ptr %line.at
  %module = call ptr @PyDict_GetItemWithError(ptr %names, ptr %name)
  call void @Py_IncRef(ptr %module)
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
  %registry = phi ptr [ %found, %ready ], [ %made, %put ]
  %raised.it = call i32 @PyErr_WarnExplicitObject(ptr %category, ptr %text, ptr %file, i32 %line,
    ptr %module, ptr %registry)
  call void @Py_DecRef(ptr %module)
  call void @Py_DecRef(ptr %registry)
  %error = icmp ne i32 %raised.it, 0
  br i1 %error, label %failed, label %next
next:
  %told.next = phi i1 [ %told, %row ], [ %told, %skip ], [ true, %give ]
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
