"""The gate: machine code before all entries of a function, which sees who looks at the program.

A debugger, a tool of coverage or a profiler of lines sees Python's instructions, which machine code
has none of.  While one is at work the gate has the plain function run.  While a profiler of calls
is at work, the gate has a Python function call the entries that has the function's name.  Nobody
tells of a tool that begins in the middle of a program, so the gate looks at each call, which takes
half a nanosecond::

    gate(callable, ...) ::= tools of no kind     -> the entries
                          | a profiler's own     -> the entries
                          | a profiler alone     -> profiled(callable, args, nargsf, kwnames)
                          | any other            -> the plain function

CPython keeps what is at work in memory of its own: before 3.12 two functions in the state of a
thread, from 3.12 on a byte for each event with a bit for each tool (PEP 669).  Where that lies is
found by switching a tool on and off.
"""

from __future__ import annotations

import _thread
import ctypes
import mmap
import platform
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from npcompile.core.locks import lock
from npcompile.core.records import record
from npcompile.core.sections import whole_section
from npcompile.runtime.unsafe.layout import supported
from npcompile.runtime.unsafe.raw_memory import (
    keep_for_ever,
    protect,
    returned_address,
    snapshot,
    symbol,
    word,
)

_PROFILERS = 0x44  # bits of a byte of tools: PROFILER_ID, and what `sys.setprofile` uses
_PLACES = 512  # bytes of a thread's state, and of the runtime's, that are searched
_EVENTS = 8  # the first ones; nobody sees instructions without one of them


@record
class _Places:
    """Where it is told who looks: the address of the bytes of tools; or that of a pointer to a
    thread's state, with the offsets of its two functions."""

    address: int
    trace: int = -1
    profile: int = -1


_searching = lock()  # two threads that search see each other's tools
_searched_once: list[_Places | None] = []


def _places() -> _Places | None:
    if not _searched_once:
        with _searching:
            if not _searched_once:
                _searched_once.append(_search())
    return _searched_once[0]


def _search() -> _Places | None:
    if sys.platform != "linux" or platform.machine() != "x86_64" or not supported():
        return None
    if sys.version_info < (3, 12):
        return _functions()
    from npcompile.runtime.unsafe import tool_bytes  # no earlier Python has any

    address = tool_bytes.address()
    return None if address is None else _Places(address)


# ------------------------------------------------------------------ before 3.12


def _functions() -> _Places | None:
    """Found on a thread of its own, which no tool looks at."""
    found: list[_Places | None] = []
    over = _thread.allocate_lock()
    over.acquire()
    _thread.start_new_thread(_functions_here, (found, over))  # runs no hook of `threading`
    with over:
        return found[0] if found else None


@whole_section  # a callback of the garbage collector may call compiled functions on this thread
def _functions_here(found: list[_Places | None], over: Any) -> None:
    try:
        found.append(_searched())
    finally:
        over.release()


def _searched() -> _Places | None:
    state = returned_address("PyThreadState_Get")
    trace = _changed(state, sys.settrace)
    profile = _changed(state, sys.setprofile)
    runtime = symbol(None, "_PyRuntime")
    holds = state.to_bytes(8, "little")
    memory = snapshot(runtime, 2 * _PLACES)
    # the last place is that of the current thread; one before it, of who had the GIL last
    current = [k for k in range(0, len(memory), 8) if memory[k : k + 8] == holds]
    if trace is None or profile is None or not current:
        return None
    return _Places(runtime + current[-1], trace, profile)


def _changed(state: int, switch: Callable[[Any], None]) -> int | None:
    """The place of the C function that a switch puts into a thread's state, beside its object."""
    def look(frame: Any, event: str, argument: Any) -> None:
        """Sees nothing."""

    before = snapshot(state, _PLACES)
    switch(look)
    during = snapshot(state, _PLACES)
    switch(None)
    after = snapshot(state, _PLACES)
    none, thing = bytes(8), id(look).to_bytes(8, "little")
    new = [k for k in range(0, _PLACES, 8)
           if before[k : k + 8] == after[k : k + 8] == none != during[k : k + 8]]
    functions = [k for k in new if during[k : k + 8] != thing]
    return functions[0] if len(new) == 2 and len(functions) == 1 else None


# ------------------------------------------------------------------ who looks


#: how a tool looks: at each line, or at calls alone
LINES, CALLS = 2, 1


def looked_at() -> int:
    """How tools look at the program, at this thread if that is known: ``LINES``, ``CALLS`` or 0."""
    if sys.gettrace() is not None:
        return LINES
    if "monitoring" not in vars(sys):  # before 3.12; asking for the attribute takes a microsecond
        return CALLS if sys.getprofile() is not None else 0
    places = _places() if _found else None
    tools = _tools_in_python() if places is None else word(places.address)
    if tools & ~_mask(_PROFILERS):
        return LINES
    return CALLS if tools else 0


def _tools_in_python() -> int:
    """What stands in the bytes of tools, without `sys.setprofile`'s."""
    monitoring: Any = vars(sys)["monitoring"]
    found = 0
    for tool in range(6):
        if monitoring.get_tool(tool) is not None:
            events = monitoring.get_events(tool) & ((1 << _EVENTS) - 1)
            found |= sum(1 << 8 * k + tool for k in range(_EVENTS) if events >> k & 1)
    return found


_found: list[int] = []  # the gate's address, once it is there
#: what takes the calls that a profiler sees, and the word in which machine code finds it
_profiled: list[Any] = []
_target = (ctypes.c_uint64 * 1)()
_FORMAT = 1024  # where in the page the format of its arguments is


def profile_with(python: Callable[..., Any]) -> None:
    """While a profiler is at work, ``python(callable, args, nargsf, kwnames)`` takes calls."""
    if not _profiled:
        _target[0] = id(python)
        _profiled.append(python)  # a gate that another thread makes finds the target


def _mask(byte: int) -> int:
    return int.from_bytes(bytes([byte] * _EVENTS), "little")


@cache
def gate(plain: int, chain: int, passing: int) -> int:
    """The address of the gate; 0: there is none.

    Parameters
    ----------
    plain, chain, passing
        The places in an object of the plain function, of the address of its first entry, and of a
        word that is 1 while the profiler's function calls.
    """
    places = _places()
    if places is None or not _profiled:
        return 0
    size, rights = mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_WRITE
    memory = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, rights)
    held = ctypes.c_char.from_buffer(memory)
    start = ctypes.addressof(held)
    code = _code(places, plain, chain, passing, start + _FORMAT)
    memory[: len(code)] = code
    memory[_FORMAT : _FORMAT + 5] = b"OKKK\0"
    keep_for_ever((memory, held))
    if not protect(start, size, mmap.PROT_READ | mmap.PROT_EXEC):
        return 0
    _found.append(start)
    return start


def _code(places: _Places, plain: int, chain: int, passing: int, format_: int) -> bytes:
    """The gate for x86-64 and System V's convention: callable, args, nargsf and kwnames are in rdi,
    rsi, rdx and rcx."""
    onward = _op("ff67", chain)  # jmp [rdi + chain]
    plainly = (
        _op("488b7f", plain)  # mov rdi, [rdi + plain]
        + _op("49bb", symbol(None, "PyObject_Vectorcall"), 8) + _op("41ffe3")  # jmp there
    )
    profiled = (
        _op("4989c9 4989d0 4889f1 4889fa")  # mov r9, rcx; mov r8, rdx; mov rcx, rsi; mov rdx, rdi
        + _op("48be", format_, 8)  # mov rsi, format
        + _op("48bf", ctypes.addressof(_target), 8) + _op("488b3f 31c0")  # the target; no floats
        + _op("49bb", symbol(None, "PyObject_CallFunction"), 8) + _op("41ffe3")
    )
    look = _op("48b8", places.address, 8) + _op("488b00")  # mov rax, [address]
    if places.trace < 0:
        look += _op("4885c0")  # test rax, rax
        traced = _op("49bb", ~_mask(_PROFILERS) & (1 << 64) - 1, 8) + _op("4c85d8")
    else:
        look += _op("4c8b98", places.trace, 4) + _op("4c0b98", places.profile, 4)  # either
        traced = _op("4883b8", places.trace, 4) + bytes(1)  # cmp qword [rax + trace], 0
    return (
        look + _op("75", len(onward)) + onward
        + _op("837f", passing) + bytes(1) + _op("74", len(onward)) + onward
        + traced + _op("74", len(plainly)) + plainly + profiled
    )


def _op(code: str, number: int | None = None, size: int = 1) -> bytes:
    """An instruction, and the number in it."""
    return bytes.fromhex(code) + (b"" if number is None else number.to_bytes(size, "little"))
