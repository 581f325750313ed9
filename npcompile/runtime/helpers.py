"""Small functions that every compiled module carries, as LLVM text: the ways out to Python."""

from __future__ import annotations

import ctypes
from functools import cache

import numpy as np

from npcompile.backends.cpu import symbols
from npcompile.runtime.layout import Layout
from npcompile.runtime.state import EXIT
from npcompile.runtime.writer import Writer

INVALID, DIVIDE, OVERFLOW, UNDERFLOW = 1, 4, 8, 16  # as MXCSR has them
ALL_FLAGS = INVALID | DIVIDE | OVERFLOW | UNDERFLOW

# where NumPy keeps the three bits that say what to do about each (NPY_UFUNC_ERR, 0: ignore)
_SHIFT = {DIVIDE: 0, OVERFLOW: 3, UNDERFLOW: 6, INVALID: 9}
_NAMES = {DIVIDE: "divide", OVERFLOW: "over", UNDERFLOW: "under", INVALID: "invalid"}
_CAPSULE = b"numpy.ufunc.extobj"

OUTSIDE = {
    "PyObject_Vectorcall": "declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)",
    "PyLong_FromLongLong": "declare ptr @PyLong_FromLongLong(i64)",
    "Py_DecRef": "declare void @Py_DecRef(ptr)",
    "llvm.memcpy": "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
    "npc.state": "@npc.state = external global i8",
}


def forward(at: Layout) -> str:
    """``target(*prefix, *args, **kwargs)``: the call at hand with arguments put before."""
    return f"""
define internal ptr @npc.forward(
    ptr %target, ptr %prefix, i64 %before, ptr %args, i64 %nargsf, ptr %kwnames) noinline {{
start:
  %count = and i64 %nargsf, {2**63 - 1}
  %plain = icmp eq ptr %kwnames, null
  br i1 %plain, label %go, label %named
named:
  %size.at = getelementptr i8, ptr %kwnames, i64 {at.tuple_size}
  %size = load i64, ptr %size.at
  br label %go
go:
  %keywords = phi i64 [0, %start], [%size, %named]
  %given = add i64 %count, %keywords
  %all = add i64 %given, %before
  %room = alloca ptr, i64 %all
  %first = shl i64 %before, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %room, ptr %prefix, i64 %first, i1 false)
  %rest = getelementptr ptr, ptr %room, i64 %before
  %then = shl i64 %given, 3
  call void @llvm.memcpy.p0.p0.i64(ptr %rest, ptr %args, i64 %then, i1 false)
  %n = add i64 %before, %count
  %result = call ptr @PyObject_Vectorcall(ptr %target, ptr %room, i64 %n, ptr %kwnames)
  ret ptr %result
}}"""


# steals a reference to %what
LEAVE = f"""
define internal ptr @npc.leave(ptr %callable, i64 %code, i32 %flags, ptr %what,
                               ptr %args, i64 %nargsf, ptr %kwnames) noinline {{
start:
  %prefix = alloca [4 x ptr]
  %wide = zext i32 %flags to i64
  %a = call ptr @PyLong_FromLongLong(i64 %code)
  %b = call ptr @PyLong_FromLongLong(i64 %wide)
  %p1 = getelementptr ptr, ptr %prefix, i64 1
  %p2 = getelementptr ptr, ptr %prefix, i64 2
  %p3 = getelementptr ptr, ptr %prefix, i64 3
  store ptr %callable, ptr %prefix
  store ptr %a, ptr %p1
  store ptr %b, ptr %p2
  store ptr %what, ptr %p3
  %no.a = icmp eq ptr %a, null
  %no.b = icmp eq ptr %b, null
  %no.c = icmp eq ptr %what, null
  %no.ab = or i1 %no.a, %no.b
  %no = or i1 %no.ab, %no.c
  br i1 %no, label %done, label %go
go:
  %target.at = getelementptr i8, ptr @npc.state, i64 {8 * EXIT}
  %target = load ptr, ptr %target.at
  %made = call ptr @npc.forward(
      ptr %target, ptr %prefix, i64 4, ptr %args, i64 %nargsf, ptr %kwnames)
  br label %done
done:
  %result = phi ptr [null, %start], [%made, %go]
  call void @Py_DecRef(ptr %a)
  call void @Py_DecRef(ptr %b)
  call void @Py_DecRef(ptr %what)
  ret ptr %result
}}"""


def flag_names(flags: int) -> frozenset[str]:
    """Flags by the names that ``np.errstate`` has for them."""
    return frozenset(name for flag, name in _NAMES.items() if flags & flag)


class _State(ctypes.Structure):
    """NumPy's npy_extobj, of which only the first field is read."""

    _fields_ = (("mask", ctypes.c_int),)


@cache
def errstate() -> bool:
    """Whether NumPy's error state can be read from machine code; names its variable if so."""
    try:
        from numpy._core.umath import _extobj_contextvar as variable
    except ImportError:
        return False
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    for k in range(12):
        wish = {name: ("ignore", "warn", "raise")[(k >> i) % 3] for i, name in
                enumerate(_NAMES.values())}
        with np.errstate(**wish):  # type: ignore[arg-type]
            try:
                mask = _State.from_address(get(variable.get(), _CAPSULE)).mask
            except (ValueError, LookupError):
                return False
        if any((mask >> _SHIFT[f] & 7 == 0) != (wish[n] == "ignore") for f, n in _NAMES.items()):
            return False
    symbols.register("npc.errstate", id(variable))
    return True


def errors(writer: Writer) -> str:
    """``@npc.errors(raised)``: the flags that ``np.errstate`` does not ignore."""
    head = "\ndefine internal i32 @npc.errors(i32 %raised) noinline {\nstart:"
    if not errstate():  # Python decides
        return f"{head}\n  ret i32 %raised\n}}"
    w = Writer()
    w.do("%slot = alloca ptr")
    w.store("ptr", "null", "%slot")
    variable = w.data("npc.errstate")
    args = (("ptr", variable), ("ptr", "null"), ("ptr", "%slot"))
    w.call("i32", "PyContextVar_Get", *args)
    found = w.load("ptr", "%slot")
    w.require(w.add("icmp ne", "ptr", found, "null"), "default")
    name = ("ptr", "@npc.errstate.name")
    mask = w.load("i32", w.call("ptr", "PyCapsule_GetPointer", ("ptr", found), name))
    w.call("void", "Py_DecRef", ("ptr", found))
    kept = "0"
    for flag, shift in _SHIFT.items():
        ignored = w.add("icmp eq", "i32", w.add("and", "i32", mask, 7 << shift), 0)
        kept = w.add("or", "i32", kept, w.let(f"select i1 {ignored}, i32 0, i32 {flag}"))
    w.do(f"ret i32 {w.add('and', 'i32', kept, '%raised')}")
    w.label("default")  # nobody called np.seterr: underflow is ignored
    w.do(f"ret i32 {w.add('and', 'i32', '%raised', ALL_FLAGS & ~UNDERFLOW)}")
    writer.outside.update(w.outside)
    text = _CAPSULE.decode()
    constant = f'@npc.errstate.name = private constant [{len(text) + 1} x i8] c"{text}\\00"'
    return "\n".join([f"\n{constant}{head}", *w.lines, "}"])
