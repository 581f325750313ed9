"""Sections of npcompile's own work that a thread never enters twice.

A signal handler, a finalizer, a callback of the garbage collector or a trace function runs between
any two instructions, also while the same thread compiles, and may call compiled functions.  Locks
don't keep such a call out, because its own thread holds them.  So there is one rule: a call that is
made inside a section runs the plain function at once; it imports, compiles and changes nothing.
"""

from __future__ import annotations

import ctypes
import signal
import sys
from collections.abc import Callable
from functools import partial, wraps
from threading import get_ident
from types import CodeType, FrameType
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

#: the frame of each thread's section
_open: dict[int, FrameType] = {}
#: the code of functions whose calls are sections from their first instruction to their last
_whole: set[CodeType] = set()


def inside() -> bool:
    """Whether the caller runs inside a section of its thread."""
    if not _open:
        return False
    section = _open.get(get_ident())
    frame: FrameType | None = sys._getframe()
    while frame is not None:  # a trace function that raised may have left a section open
        if frame is section or frame.f_code in _whole:
            return True
        frame = frame.f_back
    return False


def section(function: Callable[P, R]) -> Callable[P, R]:
    """Makes each call of a function a section."""

    @wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        if inside():
            return function(*args, **kwargs)
        try:  # a handler that raises finds the section closed, before and after
            _open[get_ident()] = sys._getframe()
            return function(*args, **kwargs)
        finally:
            _open.pop(get_ident(), None)

    return wrapped


def whole_section(function: Callable[P, R]) -> Callable[P, R]:
    """Makes each call of a function a section while any other section is open.

    A thread that works for another one, which waits in a section and holds locks, runs in it from
    its first instruction: a garbage collection may come before :func:`section` has opened one.
    """
    _whole.add(function.__code__)
    return function


def from_handler(error: BaseException) -> bool:
    """Whether a signal handler raised an error, and not the code that it interrupted."""
    handlers = {_code(signal.getsignal(number)) for number in signal.valid_signals()} - {None}
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code in handlers:
            return True
        trace = trace.tb_next
    return False


def again(error: BaseException) -> None:
    """Raises an exception once more, as soon as this thread goes on: where it is now, it would be
    lost.  It will be a new one of its class."""
    thread = ctypes.c_ulong(get_ident())
    ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(type(error)))


def _code(handler: Any) -> CodeType | None:
    """The code that a signal handler begins with."""
    if isinstance(handler, partial):
        return _code(handler.func)
    handler = getattr(handler, "__func__", handler)
    called = getattr(type(handler).__call__, "__code__", None)
    found: CodeType | None = getattr(handler, "__code__", called)
    return found
