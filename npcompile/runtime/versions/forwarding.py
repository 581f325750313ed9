"""Calls that go straight to the plain function, because those before them were left to Python.

A function whose calls nobody compiles should cost what the plain one costs.  The forwarder stands
at the end of a chain of entries: as long as calls are *granted* to it, it passes each on and looks
at nothing but the processor's clock.  After a call that takes longer than expected, the next is
looked at again: it may be one that compiled code is faster at.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from string import Template
from time import perf_counter, thread_time
from types import FunctionType
from typing import Any

from npcompile.backends.cpu.loader.compile import lasting
from npcompile.core.config import modes
from npcompile.core.unseen import unseen
from npcompile.runtime.cache.disk import compiled
from npcompile.runtime.entry.state import spread
from npcompile.runtime.unsafe.layout import supported
from npcompile.runtime.unsafe.native_functions import FORWARD, FunctionBase
from npcompile.runtime.unsafe.raw_memory import set_word

_FOREVER = 2**62  # ticks
#: calls in Python that are forwarded for one which is looked at, at most, and where no clock tells
#: that they are short
UNSEEN, BLIND = 4096, 256
_PYTHON, _FUNCTION, _LEFT, _DONE, _LIMIT, _LONG, _SLOTS = range(7)  # slots of a table
#: calls left to Python in a row before the first that is forwarded; the seconds that those take
#: which are forwarded one after the other (``UNSEEN`` calls at most)
PATIENCE, LONGEST = 32, 0.02
#: calls that are looked at after a long one; only one is after so many long ones that were all left
#: to Python (the collector of garbage makes calls long)
AGAIN = 4
#: calls inside each other after which those further inside are forwarded: what looks at a call has
#: frames of its own, and Python counts them as the program's
NESTED = 8
#: seconds; what a call takes that is looked at is a tenth of it
SHORT = 50e-6
#: calls that take so many times as long as the one before are other calls
LONGER = 4.0
#: seconds between two looks at both clocks that tell how fast the processor's is
APART = 1e-3


class Forwarder:
    """Passes calls on to ``plain``; others to ``python(function, *args, **kwargs)``."""

    def __init__(self, plain: FunctionType, python: Callable[..., Any]) -> None:
        self._kept = spread(python), plain
        self._table = (ctypes.c_uint64 * _SLOTS)(id(self._kept[0]), id(plain))
        self._in_a_row = 0  # calls left to Python that were looked at
        self._alarms = 0  # long calls since one was not left to Python
        self._open = 0  # of them, those that have not returned
        self._why = ""
        self.busy = 0.0  # seconds that the last call that was looked at has run
        _machine()  # its clock begins

    def serve(self, function: FunctionBase) -> int:
        """The address that calls of ``function`` may go to from now on."""
        set_word(id(function) + FORWARD, ctypes.addressof(self._table))
        return _machine().address

    @property
    def left(self) -> int:
        """So many of the next calls are forwarded, if they are short."""
        return int(self._table[_LEFT])

    @unseen
    def look(
        self,
        why: str,
        longest: float | None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        timed: bool,
    ) -> Any:
        """A call that is left to Python once more, for a reason; what takes ``longest`` seconds
        (None: much more than this one) is another kind of call.  Who knows how long they take has
        looked at many already.  ``timed``: a clock may tell how many of the next are forwarded."""
        if why != self._why:
            self._why = why
            self._in_a_row = self._in_a_row if longest is None else PATIENCE
        if self._table[_LONG] and timed:
            self._table[_LONG], self._alarms = 0, self._alarms + 1
            if self._alarms < AGAIN or self._alarms % PATIENCE == 0:
                self._in_a_row = min(self._in_a_row, PATIENCE - AGAIN)
        self._in_a_row += 1
        ran, begun = thread_time(), perf_counter()
        try:
            return self._nested(args, kwargs)
        finally:  # what it raises takes time as well
            seconds, self.busy = perf_counter() - begun, thread_time() - ran
            limit = max(SHORT, LONGER * seconds) if longest is None else longest
            self._grant(self._in_a_row - PATIENCE, seconds if timed else 0.0, limit, timed)

    @unseen
    def _nested(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The plain function's call; of those inside many others, the next are forwarded."""
        self._open += 1
        deep = self._open > NESTED and not modes
        if deep:
            self._table[_LIMIT], self._table[_LEFT] = _FOREVER, UNSEEN
        try:
            return self._kept[1](*args, **kwargs)
        finally:
            self._open -= 1
            if deep:
                self._table[_LEFT] = self._table[_LONG] = 0

    def _grant(self, more: int, seconds: float, limit: float, timed: bool) -> None:
        """Forwards the next calls, if ``more`` than need be were looked at: twice as many for each.
        """
        if more <= 0 or modes:
            return
        granted = min(1 << min(more + 2, 20), UNSEEN, int(LONGEST / max(seconds, 1e-9)))
        if timed:
            rate = _machine().rate()  # where other threads go on
            if rate is None:
                return
            self._table[_LIMIT] = int(limit * rate)
        else:
            granted, self._table[_LIMIT] = min(granted, BLIND), _FOREVER
        self._table[_LEFT] = granted
        if modes:  # another thread has begun to promise something meanwhile
            self._table[_LEFT] = 0

    def interrupt(self) -> None:
        """A call was not left to Python."""
        self._in_a_row = self._alarms = 0

    def withdraw(self) -> None:
        """The next call is looked at."""
        self._table[_LEFT] = self._in_a_row = 0

    def settle(self) -> tuple[str, int]:
        """Why calls were forwarded and how many since the last time."""
        done = int(self._table[_DONE])
        self._table[_DONE] -= done
        return self._why, done


class _Machine:
    """The code, the same for all functions, and the rate of the processor's clock."""

    def __init__(self) -> None:
        loaded = lasting(compiled(_text()))
        self.address = loaded["npc.forward"]
        self._ticks = ctypes.CFUNCTYPE(ctypes.c_uint64)(loaded["npc.ticks"])
        self._first = perf_counter(), self._ticks()

    def rate(self) -> float | None:
        """Ticks a second; None if it can't be told yet."""
        seconds, ticks = perf_counter() - self._first[0], self._ticks() - self._first[1]
        return ticks / seconds if seconds > APART and ticks > 0 else None


@cache
def _machine() -> _Machine:
    return _Machine()


def forwarder(plain: FunctionType, python: Callable[..., Any]) -> Forwarder | None:
    """A forwarder, or None where there is no machine code for calls."""
    return Forwarder(plain, python) if supported() else None


def _text() -> str:
    return _TEXT.substitute(
        FORWARD=FORWARD, PYTHON=_PYTHON, FUNCTION=_FUNCTION, LEFT=_LEFT, DONE=_DONE, LIMIT=_LIMIT,
        LONG=_LONG,
    )


_TEXT = Template("""\
declare ptr @PyObject_CallFunction(ptr, ptr, ...)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare i64 @npc.clock()
@npc.format.call = private constant [5 x i8] c"OKKK\\00"

define i64 @npc.ticks() {
  %now = call i64 @npc.clock()
  ret i64 %now
}

define ptr @npc.forward(ptr %callable, ptr %args, i64 %nargsf, ptr %kwnames) {
start:
  %table.at = getelementptr i8, ptr %callable, i64 $FORWARD
  %table = load ptr, ptr %table.at
  %left.at = getelementptr i64, ptr %table, i64 $LEFT
  %left = load i64, ptr %left.at
  %some = icmp sgt i64 %left, 0
  br i1 %some, label %forward, label %python
forward:
  %rest = sub i64 %left, 1
  store i64 %rest, ptr %left.at
  %done.at = getelementptr i64, ptr %table, i64 $DONE
  %before = load i64, ptr %done.at
  %one.more = add i64 %before, 1
  store i64 %one.more, ptr %done.at
  %function.at = getelementptr i64, ptr %table, i64 $FUNCTION
  %function = load ptr, ptr %function.at
  %begun = call i64 @npc.clock()
  %result = call ptr @PyObject_Vectorcall(ptr %function, ptr %args, i64 %nargsf, ptr %kwnames)
  %ended = call i64 @npc.clock()
  %took = sub i64 %ended, %begun
  %limit.at = getelementptr i64, ptr %table, i64 $LIMIT
  %limit = load i64, ptr %limit.at
  %long = icmp ugt i64 %took, %limit
  br i1 %long, label %look, label %done
look:  ; at the next call
  store i64 0, ptr %left.at
  %long.at = getelementptr i64, ptr %table, i64 $LONG
  store i64 1, ptr %long.at
  br label %done
done:
  ret ptr %result
python:
  %target = load ptr, ptr %table
  %answer = call ptr (ptr, ptr, ...) @PyObject_CallFunction(ptr %target, ptr @npc.format.call,
      ptr %callable, ptr %args, i64 %nargsf, ptr %kwnames)
  ret ptr %answer
}
""")
