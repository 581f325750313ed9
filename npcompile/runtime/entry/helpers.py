"""Handling of floating-point flags in entries, and constants that entries share."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from npcompile.backends.cpu.loader import symbols
from npcompile.runtime.unsafe.numpy_memory import ERROR_STATE, error_mask

if TYPE_CHECKING:
    from npcompile.runtime.entry.function_writer import Writer

INVALID, DIVIDE, OVERFLOW, UNDERFLOW = 1, 4, 8, 16  # in the word of `npc.fp.save`
ALL_FLAGS = INVALID | DIVIDE | OVERFLOW | UNDERFLOW

# where NumPy keeps the three bits that say what to do about each (NPY_UFUNC_ERR, 0: ignore)
SHIFT = {DIVIDE: 0, OVERFLOW: 3, UNDERFLOW: 6, INVALID: 9}
WARN = 1  # what these bits say where it warns
NAMES = {DIVIDE: "divide", OVERFLOW: "over", UNDERFLOW: "under", INVALID: "invalid"}
_ACTIONS: tuple[Literal["ignore", "warn", "raise"], ...] = ("ignore", "warn", "raise")

#: formats of Py_BuildValue: function, code, flags, what, args, nargsf, kwnames
CONSTANTS = (
    '@npc.format.address = private constant [8 x i8] c"OLiKKKK\\00"',
    '@npc.format.object = private constant [8 x i8] c"OLiNKKK\\00"',
    '@npc.format.call = private constant [5 x i8] c"OKKK\\00"',
)


def flag_names(flags: int) -> frozenset[str]:
    """Flags by the names that ``np.errstate`` has for them."""
    return frozenset(name for flag, name in NAMES.items() if flags & flag)


@cache
def errstate() -> bool:
    """Whether NumPy's error state can be read from machine code; names its variable if so."""
    try:
        from numpy._core.umath import _extobj_contextvar as variable
    except ImportError:
        return False
    for k in range(12):
        request = {name: _ACTIONS[(k >> i) % 3] for i, name in enumerate(NAMES.values())}
        with np.errstate(divide=request["divide"], over=request["over"], under=request["under"],
                         invalid=request["invalid"]):
            try:
                mask = error_mask(variable.get())
            except (ValueError, LookupError):
                return False
        if any((mask >> SHIFT[f] & 7 == 0) != (request[n] == "ignore") for f, n in NAMES.items()):
            return False
    symbols.register("npc.errstate", id(variable))
    return True


def heard() -> str:
    """The text of ``i32 npc_errstate()``, what NumPy's error state holds, and of
    ``i32 npc_heard(i32 raised)``: it clears the floating-point flags and gives those among them
    that ``np.errstate`` does not ignore."""
    from npcompile.runtime.entry.function_writer import Writer  # only who compiles needs it

    w, name = Writer(), f'c"{ERROR_STATE.decode()}\\00"'
    clear(w)
    state = w.let("call i32 @npc_errstate()")
    w.do(f"ret i32 {w.add('and', 'i32', '%raised', audible(w, state))}")
    mode = _state()
    return "\n".join([
        *(w.outside | mode.outside).values(),
        f"@npc.errstate.name = private constant [{len(ERROR_STATE) + 1} x i8] {name}",
        "define i32 @npc_errstate() {", *mode.lines, "}",
        "define i32 @npc_heard(i32 %raised) {", *w.lines, "}", "",
    ])


def clear(w: Writer) -> None:
    """Clears the floating-point flags."""
    w.do("%fpstate = alloca i32")
    w.call("void", "npc.fp.save", ("ptr", "%fpstate"))
    w.store("i32", w.add("and", "i32", w.load("i32", "%fpstate"), ~ALL_FLAGS), "%fpstate")
    w.call("void", "npc.fp.restore", ("ptr", "%fpstate"))


def audible(w: Writer, state: str) -> str:
    """The flags that an error state of NumPy's does not ignore."""
    kept = "0"
    for flag, shift in SHIFT.items():
        ignored = w.add("icmp eq", "i32", w.add("and", "i32", state, 7 << shift), 0)
        kept = w.add("or", "i32", kept, w.let(f"select i1 {ignored}, i32 0, i32 {flag}"))
    return kept


def warning(w: Writer, state: str) -> str:
    """The flags of which an error state of NumPy's makes warnings."""
    found = "0"
    for flag, shift in SHIFT.items():
        mode = w.add("and", "i32", state, 7 << shift)
        warns = w.add("icmp eq", "i32", mode, WARN << shift)
        found = w.add("or", "i32", found, w.let(f"select i1 {warns}, i32 {flag}, i32 0"))
    return found


def _state() -> Writer:
    """Reads NumPy's error state; all bits are set where only Python can."""
    from npcompile.runtime.entry.function_writer import Writer  # only who compiles needs it

    w = Writer()
    if not errstate():
        w.do("ret i32 -1")
        return w
    w.do("%state.at = alloca ptr")
    w.store("ptr", "null", "%state.at")
    args = (("ptr", w.data("npc.errstate")), ("ptr", "null"), ("ptr", "%state.at"))
    w.call("i32", "PyContextVar_Get", *args)
    state = w.load("ptr", "%state.at")
    w.do(f"%set = icmp ne ptr {state}, null")
    w.do("br i1 %set, label %found, label %unset")
    w.label("found")
    name = ("ptr", "@npc.errstate.name")
    mask = w.load("i32", w.call("ptr", "PyCapsule_GetPointer", ("ptr", state), name))
    w.call("void", "Py_DecRef", ("ptr", state))
    w.do(f"ret i32 {mask}")
    w.label("unset")  # nobody called np.seterr: underflow is ignored
    w.do(f"ret i32 {sum(WARN << shift for flag, shift in SHIFT.items() if flag != UNDERFLOW)}")
    return w
