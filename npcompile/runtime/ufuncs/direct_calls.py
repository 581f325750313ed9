"""Calls of ufuncs on plain arrays, without NumPy's way to a loop.

A ufunc's calls go to the vectorcall function that stands in it (PEP 590).  For ufuncs with
compiled loops that is::

    PyObject *npc_ufunc(PyObject *ufunc, PyObject **args, size_t nargsf, PyObject *kwnames)

Where all arguments, ``out`` too, are arrays of one shape and one dtype whose elements lie next to
each other, it makes the result, runs the loop and returns, in a third of the time that NumPy's own
takes.  Whatever else there is goes to that one: other keywords, no or many elements, axes of
length 1 beside others (of which NumPy chooses the strides), results that overlap operands, and
flags of which ``np.errstate`` makes more than a warning, for which the loop runs anew.  Objects of
other classes than NumPy's and Python's own (masked arrays, quantities, whatever has
``__array_ufunc__``) know NumPy's ufuncs by identity, so a call with one goes to the library's
ufunc.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from npcompile.backends import cpu
from npcompile.backends.cpu.loader.symbols import register
from npcompile.runtime.cache.disk import compiled
from npcompile.runtime.entry.fp_warnings import CATEGORIES
from npcompile.runtime.entry.guard_code import ALIGNED, C_CONTIGUOUS, WRITEABLE
from npcompile.runtime.entry.helpers import ALL_FLAGS, NAMES, SHIFT
from npcompile.runtime.memory import recycled
from npcompile.runtime.unsafe import raw_memory, ufunc_objects
from npcompile.runtime.unsafe.layout import ELSIZE, UfuncHead, layout

MANY = 8192  #: elements beyond which NumPy lets other threads of Python's run
OPERANDS = 4
_WARN_ON_WRITE = 1 << 31  # of NPY_ARRAY_ flags
#: the classes that no code of a user's or of another library stands behind
_USUAL = ("PyArray_Type", "PyFloat_Type", "PyLong_Type", "PyComplex_Type", "PyBool_Type",
          "PyList_Type", "PyTuple_Type", "_PyNone_Type")


def _declared(names: tuple[str, ...]) -> str:
    return "\n".join(f"@{name} = external global i8" for name in names)


def _among(names: tuple[str, ...]) -> str:
    """Whether ``%class`` is one of these: ``%known``."""
    lines = ["  %known.0 = icmp eq ptr null, @PyArray_Type"]
    for k, name in enumerate(names):
        after = f"known.{k + 1}" if k + 1 < len(names) else "known"
        lines += [f"  %is.{k} = icmp eq ptr %class, @{name}",
                  f"  %{after} = or i1 %known.{k}, %is.{k}"]
    return "\n".join(lines)


def _text() -> str:
    at = layout()
    assert at is not None
    fields = {name: getattr(UfuncHead, name).offset for name, *_ in UfuncHead._fields_}
    contiguous = C_CONTIGUOUS | ALIGNED
    return f"""
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare ptr @npc_new_array(ptr, i32, ptr, ptr)
declare i32 @npc_heard(i32)
declare i32 @npc_warned()
declare i32 @PyErr_WarnFormat(ptr, i64, ptr, ...)
@PyExc_RuntimeWarning = external global i8
{_formats()}
declare ptr @npc_ufunc_generic(ptr, ptr, i64, ptr)
declare void @npc.fp.save(ptr)
declare void @npc.fp.restore(ptr)
declare i32 @PyType_IsSubtype(ptr, ptr)
{_declared(_USUAL)}
@npc.generic = external global i8
@npc.out = external global i8
@npc_mark = global i8 0

define internal ptr @word(ptr %base, i64 %offset) {{
  %at = getelementptr i8, ptr %base, i64 %offset
  %word = load ptr, ptr %at
  ret ptr %word
}}

define internal i32 @half(ptr %base, i64 %offset) {{
  %at = getelementptr i8, ptr %base, i64 %offset
  %half = load i32, ptr %at
  ret i32 %half
}}

; Whether a thing is an array with such flags, and of the rank, dtype and lengths of the first.
define internal i1 @alike(ptr %thing, ptr %first, i32 %wanted) {{
entry:
  %class = call ptr @word(ptr %thing, i64 {at.type})
  %array = icmp eq ptr %class, @PyArray_Type
  br i1 %array, label %look, label %no
look:
  %flags = call i32 @half(ptr %thing, i64 {at.flags})
  %counting = or i32 %wanted, {_WARN_ON_WRITE}
  %held = and i32 %flags, %counting
  %flagged = icmp eq i32 %held, %wanted
  %descr = call ptr @word(ptr %thing, i64 {at.descr})
  %its.descr = call ptr @word(ptr %first, i64 {at.descr})
  %kind = icmp eq ptr %descr, %its.descr
  %rank = call i32 @half(ptr %thing, i64 {at.ndim})
  %its.rank = call i32 @half(ptr %first, i64 {at.ndim})
  %ranked = icmp eq i32 %rank, %its.rank
  %both = and i1 %flagged, %kind
  %good = and i1 %both, %ranked
  br i1 %good, label %lengths, label %no
lengths:
  %dims = call ptr @word(ptr %thing, i64 {at.dims})
  %its.dims = call ptr @word(ptr %first, i64 {at.dims})
  %axes = sext i32 %rank to i64
  br label %axis
axis:
  %k = phi i64 [ 0, %lengths ], [ %next, %same ]
  %more = icmp slt i64 %k, %axes
  br i1 %more, label %compare, label %yes
compare:
  %at = getelementptr i64, ptr %dims, i64 %k
  %its.at = getelementptr i64, ptr %its.dims, i64 %k
  %length = load i64, ptr %at
  %its.length = load i64, ptr %its.at
  %equal = icmp eq i64 %length, %its.length
  br i1 %equal, label %same, label %no
same:
  %next = add i64 %k, 1
  br label %axis
yes:
  ret i1 true
no:
  ret i1 false
}}

; How many elements; 0 for none, many, and axes of length 1 beside others.
define internal i64 @elements(ptr %array) {{
entry:
  %rank = call i32 @half(ptr %array, i64 {at.ndim})
  %dims = call ptr @word(ptr %array, i64 {at.dims})
  %axes = sext i32 %rank to i64
  %several = icmp ne i64 %axes, 1
  %least = zext i1 %several to i64
  %some = icmp sgt i64 %axes, 0
  br i1 %some, label %axis, label %none
axis:
  %k = phi i64 [ 0, %entry ], [ %next, %on ]
  %count = phi i64 [ 1, %entry ], [ %product, %on ]
  %at = getelementptr i64, ptr %dims, i64 %k
  %length = load i64, ptr %at
  %long = icmp sgt i64 %length, %least
  %short = icmp sle i64 %length, {MANY}
  %fits = and i1 %long, %short
  br i1 %fits, label %multiply, label %none
multiply:
  %product = mul i64 %count, %length
  %few = icmp sle i64 %product, {MANY}
  br i1 %few, label %on, label %none
on:
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %axes
  br i1 %more, label %axis, label %done
done:
  ret i64 %product
none:
  ret i64 0
}}

; The number of the loop for a dtype, if it is one of ours; else -1.
define internal i64 @loop(ptr %ufunc, ptr %descr) {{
entry:
  %order.at = getelementptr i8, ptr %descr, i64 {at.byte_order}
  %order = load i8, ptr %order.at
  %foreign = icmp eq i8 %order, {ord(">")}
  %noted = call ptr @word(ptr %descr, i64 {at.metadata})
  %bare = icmp eq ptr %noted, null
  %native = xor i1 %foreign, true
  %plain = and i1 %bare, %native
  %number = call i32 @half(ptr %descr, i64 {at.type_number})
  %types = call ptr @word(ptr %ufunc, i64 {fields["types"]})
  %data = call ptr @word(ptr %ufunc, i64 {fields["data"]})
  %count = call i32 @half(ptr %ufunc, i64 {fields["ntypes"]})
  %nargs = call i32 @half(ptr %ufunc, i64 {fields["nargs"]})
  br i1 %plain, label %look, label %none
look:
  %k = phi i32 [ 0, %entry ], [ %next, %on ]
  %more = icmp slt i32 %k, %count
  br i1 %more, label %compare, label %none
compare:
  %place = mul i32 %k, %nargs
  %type.at = getelementptr i8, ptr %types, i32 %place
  %type = load i8, ptr %type.at
  %its.number = sext i8 %type to i32
  %mark.at = getelementptr ptr, ptr %data, i32 %k
  %mark = load ptr, ptr %mark.at
  %same = icmp eq i32 %its.number, %number
  %ours = icmp eq ptr %mark, @npc_mark
  %found = and i1 %same, %ours
  br i1 %found, label %done, label %on
on:
  %next = add i32 %k, 1
  br label %look
done:
  %wide = sext i32 %k to i64
  ret i64 %wide
none:
  ret i64 -1
}}

; The array that is given for the result, by position or by name: %none if there is none, null if
; there are other arguments.
define internal ptr @given(ptr %args, i64 %count, i64 %nin, ptr %kwnames, ptr %none) {{
entry:
  %after = getelementptr ptr, ptr %args, i64 %nin
  %unnamed = icmp eq ptr %kwnames, null
  br i1 %unnamed, label %positions, label %names
positions:
  %alone = icmp eq i64 %count, %nin
  br i1 %alone, label %nothing, label %second
nothing:
  ret ptr %none
second:
  %up = add i64 %nin, 1
  %one = icmp eq i64 %count, %up
  br i1 %one, label %direct, label %other
names:
  %number.at = getelementptr i8, ptr %kwnames, i64 {at.tuple_size}
  %number = load i64, ptr %number.at
  %name = call ptr @word(ptr %kwnames, i64 {at.tuple_items})
  %single = icmp eq i64 %number, 1
  %out = icmp eq ptr %name, @npc.out
  %all = icmp eq i64 %count, %nin
  %named = and i1 %single, %out
  %right = and i1 %named, %all
  br i1 %right, label %unpack, label %other
unpack:
  %value = load ptr, ptr %after
  %class = call ptr @word(ptr %value, i64 {at.type})
  %tuple = icmp eq ptr %class, @PyTuple_Type
  br i1 %tuple, label %items, label %direct
items:
  %size.at = getelementptr i8, ptr %value, i64 {at.tuple_size}
  %size = load i64, ptr %size.at
  %first = icmp eq i64 %size, 1
  br i1 %first, label %item, label %other
item:
  %inside = call ptr @word(ptr %value, i64 {at.tuple_items})
  ret ptr %inside
direct:
  %thing = load ptr, ptr %after
  ret ptr %thing
other:
  ret ptr null
}}

; Clears the floating-point flags; gives those that count.
define internal i32 @raised() {{
entry:
  %fpstate = alloca i32
  call void @npc.fp.save(ptr %fpstate)
  %bits = load i32, ptr %fpstate
  %raised = and i32 %bits, {ALL_FLAGS}
  %any = icmp ne i32 %raised, 0
  br i1 %any, label %clear, label %done
clear:
  %less = and i32 %bits, {~ALL_FLAGS}
  store i32 %less, ptr %fpstate
  call void @npc.fp.restore(ptr %fpstate)
  br label %done
done:
  ret i32 %raised
}}

; Whether all arguments are of NumPy's or Python's own classes.
define internal i1 @usual(ptr %args, i64 %count) {{
entry:
  br label %argument
argument:
  %k = phi i64 [ 0, %entry ], [ %next, %on ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %look, label %yes
look:
  %at = getelementptr ptr, ptr %args, i64 %k
  %thing = load ptr, ptr %at
  %class = call ptr @word(ptr %thing, i64 {at.type})
{_among(_USUAL)}
  br i1 %known, label %on, label %scalar
scalar:
  %is = call i32 @PyType_IsSubtype(ptr %class, ptr @npc.generic)
  %number = icmp ne i32 %is, 0
  br i1 %number, label %on, label %no
on:
  %next = add i64 %k, 1
  br label %argument
yes:
  ret i1 true
no:
  ret i1 false
}}

define ptr @npc_ufunc(ptr %ufunc, ptr %args, i64 %nargsf, ptr %kwnames) {{
entry:
  %pointers = alloca [{OPERANDS} x ptr]
  %steps = alloca [{OPERANDS} x i64]
  %length = alloca i64
  %count = and i64 %nargsf, {2**63 - 1}
  %nin.half = call i32 @half(ptr %ufunc, i64 {fields["nin"]})
  %nin = sext i32 %nin.half to i64
  %enough = icmp uge i64 %count, %nin
  br i1 %enough, label %look, label %generic
look:
  %first = load ptr, ptr %args
  %out = call ptr @given(ptr %args, i64 %count, i64 %nin, ptr %kwnames, ptr %ufunc)
  %bad = icmp eq ptr %out, null
  br i1 %bad, label %generic, label %operand
operand:
  %k = phi i64 [ 0, %look ], [ %next, %take ]
  %at = getelementptr ptr, ptr %args, i64 %k
  %thing = load ptr, ptr %at
  %fits = call i1 @alike(ptr %thing, ptr %first, i32 {contiguous})
  br i1 %fits, label %take, label %generic
take:
  %data = call ptr @word(ptr %thing, i64 {at.data})
  %pointer.at = getelementptr ptr, ptr %pointers, i64 %k
  store ptr %data, ptr %pointer.at
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %nin
  br i1 %more, label %operand, label %sizes
sizes:
  %n = call i64 @elements(ptr %first)
  %some = icmp ne i64 %n, 0
  %descr = call ptr @word(ptr %first, i64 {at.descr})
  %loop = call i64 @loop(ptr %ufunc, ptr %descr)
  %ours = icmp sge i64 %loop, 0
  %possible = and i1 %some, %ours
  br i1 %possible, label %result, label %generic
result:
  %size.at = getelementptr i8, ptr %descr, i64 {ELSIZE}
  %size = load i64, ptr %size.at
  store i64 %n, ptr %length
  %fresh = icmp eq ptr %out, %ufunc
  br i1 %fresh, label %make, label %test
make:
  %rank = call i32 @half(ptr %first, i64 {at.ndim})
  %dims = call ptr @word(ptr %first, i64 {at.dims})
  %made = call ptr @npc_new_array(ptr %descr, i32 %rank, ptr %dims, ptr null)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %error, label %fill
error:
  ret ptr null
test:
  %same = call i1 @alike(ptr %out, ptr %first, i32 {contiguous | WRITEABLE})
  br i1 %same, label %hold, label %generic
hold:
  call void @Py_IncRef(ptr %out)
  br label %fill
fill:
  %target = phi ptr [ %made, %make ], [ %out, %hold ]
  %memory = call ptr @word(ptr %target, i64 {at.data})
  %last.at = getelementptr ptr, ptr %pointers, i64 %nin
  store ptr %memory, ptr %last.at
  %bytes = mul i64 %n, %size
  %to = ptrtoint ptr %memory to i64
  br label %step
step:
  %j = phi i64 [ 0, %fill ], [ %j.next, %apart ]
  %from.at = getelementptr ptr, ptr %pointers, i64 %j
  %from.pointer = load ptr, ptr %from.at
  %from = ptrtoint ptr %from.pointer to i64
  %forward = sub i64 %to, %from
  %distance = call i64 @llvm.abs.i64(i64 %forward, i1 false)
  %clear = icmp uge i64 %distance, %bytes
  %last = icmp eq i64 %j, %nin
  %free = or i1 %clear, %last
  br i1 %free, label %apart, label %undo
apart:
  %step.at = getelementptr i64, ptr %steps, i64 %j
  store i64 %size, ptr %step.at
  %j.next = add i64 %j, 1
  br i1 %last, label %run, label %step
run:
  %before = call i32 @raised()
  %functions = call ptr @word(ptr %ufunc, i64 {fields["functions"]})
  %function.at = getelementptr ptr, ptr %functions, i64 %loop
  %function = load ptr, ptr %function.at
  call void %function(ptr %pointers, ptr %length, ptr %steps, ptr null)
  %raised = call i32 @raised()
  %quiet = icmp eq i32 %raised, 0
  br i1 %quiet, label %done, label %ask
ask:
  %heard = call i32 @npc_heard(i32 %raised)
  %silent = icmp eq i32 %heard, 0
  br i1 %silent, label %done, label %tell
tell:
  %warned = call i32 @npc_warned()
  %all = or i32 %heard, %warned
  %warnings = icmp eq i32 %all, %warned
  br i1 %warnings, label %begin, label %undo
begin:
  %name = call ptr @word(ptr %ufunc, i64 {fields["name"]})
  %category = load ptr, ptr @PyExc_RuntimeWarning
  br label %say0
{_warnings()}done:
  ret ptr %target
raise:
  call void @Py_DecRef(ptr %target)
  ret ptr null
undo:
  call void @Py_DecRef(ptr %target)
  br label %generic
generic:
  %usual = call i1 @usual(ptr %args, i64 %count)
  %library = call ptr @word(ptr %ufunc, i64 {fields["object"]})
  %which = select i1 %usual, ptr %ufunc, ptr %library
  %found = call ptr @npc_ufunc_generic(ptr %which, ptr %args, i64 %nargsf, ptr %kwnames)
  ret ptr %found
}}

declare i64 @llvm.abs.i64(i64, i1)
"""


def _warnings() -> str:
    """Warns of the flags in NumPy's order, as NumPy does."""
    return "".join(f"""\
say{k}:
  %its{k} = and i32 %heard, {flag}
  %has{k} = icmp ne i32 %its{k}, 0
  br i1 %has{k}, label %warn{k}, label %{after}
warn{k}:
  %said{k} = call i32 (ptr, i64, ptr, ...) @PyErr_WarnFormat(ptr %category, i64 1,
    ptr @npc.format.{k}, ptr %name)
  %error{k} = icmp ne i32 %said{k}, 0
  br i1 %error{k}, label %raise, label %{after}
""" for k, (flag, after) in enumerate(zip(SHIFT, ("say1", "say2", "say3", "done"), strict=True)))


def _formats() -> str:
    texts = [f"{CATEGORIES[NAMES[flag]]} encountered in %s" for flag in SHIFT]
    return "\n".join(f'@npc.format.{k} = private constant [{len(text) + 1} x i8] c"{text}\\00"'
                     for k, text in enumerate(texts))


@cache
def _code() -> tuple[int, int]:
    """The addresses of the vectorcall function and of what marks our loops."""
    recycled.ensure()
    register("npc_ufunc_generic", ufunc_objects.vectorcall(np.exp))
    register("npc.out", id(_NAME))
    register("npc.generic", id(np.generic))
    loaded = cpu.load(compiled(_text()), {})
    raw_memory.keep_for_ever(loaded)  # ufuncs live for ever
    return loaded["npc_ufunc"], loaded["npc_mark"]


#: names of keywords are interned, and so is this one
_NAME = "out"


def take(ufunc: np.ufunc, library: np.ufunc) -> None:
    """From now on a ufunc's calls come here; the library's takes the objects of other classes."""
    if recycled.supported() and ufunc_objects.vectorcall_place():
        ufunc_objects.take(ufunc, library, _code()[0])


def mark(ufunc: np.ufunc) -> int | None:
    """The data of a loop of one dtype and one result, whose function does not look at it, that is
    called without NumPy's help."""
    fields = ufunc_objects.head(ufunc)
    fits = taken(ufunc) and fields.nout == 1 and fields.nargs <= OPERANDS
    return _code()[1] if fits else None


def taken(ufunc: np.ufunc) -> bool:
    """Whether a ufunc's calls come here."""
    known = recycled.supported() and ufunc_objects.vectorcall_place()
    return bool(known) and ufunc_objects.vectorcall(ufunc) == _code()[0]
