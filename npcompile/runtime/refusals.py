"""Which calls of a function are left to Python without being looked at again.

A refusal is remembered for arguments of the same sizes and values.  After several of one kind of
arguments (their types) all of that kind are left to Python; after many kinds, or much time for
compiling, all calls that no compiled version serves.

Where one kind is compiled again and again, as for each new text in it, nobody knows whether there
is an end.  So nobody shall wait for it longer than for Python: such calls are left to it until
they have taken as long there as what was compiled for their kind before.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from time import thread_time
from types import FunctionType
from typing import TYPE_CHECKING, Any

from npcompile.core.aside import load
from npcompile.core.config import Config, deterministic_mode
from npcompile.core.errors import DeterminismError, Refusal
from npcompile.core.locks import lock
from npcompile.core.records import record
from npcompile.core.sections import section
from npcompile.core.surroundings import why
from npcompile.runtime.kinds import call_kind

if TYPE_CHECKING:
    from npcompile.runtime.forwarding import Forwarder

#: refused traces of one kind of arguments before that kind is left to Python without trying
SAME = 8
#: refused kinds of arguments before all others are
KINDS = 64
#: seconds of compiling before all other calls are, if it was for more calls than that
BUDGET, CALLS = 30.0, 16
#: compiles for one kind of arguments, or seconds of them, before it is asked what they are worth
FEW, LONG = 8, 3.0
#: seconds that they may take beyond those that such calls have taken in Python
AT_ONCE = 0.3
#: calls in Python that are forwarded for one which is looked at, at most
UNSEEN = 512


@record(frozen=False)
class Spent:
    """What compiling for one kind of arguments has taken, and calls that were left to Python: it
    is entered for each.  ``left``: how many calls the function has left to it."""

    compiles: int = 0
    seconds: float = 0.0
    python: float = 0.0
    left: int = 0
    stands_for: int = 1
    begun: float = 0.0

    def too_much(self) -> Refusal | None:
        """Why no more of it is compiled now."""
        many = self.compiles >= FEW or self.seconds >= LONG
        if not many or self.seconds < AT_ONCE + self.python:
            return None
        what = f"compiled {self.compiles} times in {self.seconds:.1f} s for one kind of arguments"
        return Refusal("versions", what, hint="more is compiled after as much time in Python")

    def before(self, left: int) -> Spent:
        """For the next call; some before it may have been forwarded."""
        self.stands_for, self.left = min(max(left - self.left, 1), UNSEEN), left
        return self

    def __enter__(self) -> None:
        self.begun = thread_time()

    def __exit__(self, *raised: object) -> None:
        seconds = thread_time() - self.begun  # below zero if another thread has begun since
        self.python += self.stands_for * max(seconds, 0.0)


_lock = lock()


class Refusals:
    """Those of one function, and the time that was taken for compiling it."""

    def __init__(self) -> None:
        self.exact: dict[object, Refusal] = {}
        self._same: Counter[object] = Counter()
        self._latest: dict[object, Refusal] = {}
        self._calls, self._seconds = 0, 0.0
        self._spent: dict[object, Spent] = {}

    def known(self, bound: dict[str, Any], patient: bool) -> Refusal | None:
        """Why a call is left to Python without trying; ``patient``: whoever calls would rather
        wait for what may be compiled later."""
        kind, exact = call_kind(bound, exact=False), call_kind(bound, exact=True)
        found = self.exact.get(exact)
        if found is None and self._same[kind] >= SAME:
            found = self._latest.get(kind)
        if found is None and len(self._latest) >= KINDS:
            found = Refusal("versions", f"{KINDS} kinds of arguments are left to Python")
        if found is None and self._calls > CALLS and self._seconds > BUDGET:
            what = f"more than {BUDGET:.0f} s of compiling for more than {CALLS} kinds of calls"
            found = Refusal("versions", what)
        if found is None and not patient and kind in self._spent:
            found = self._spent[kind].too_much()
        return found

    def remember(self, bound: dict[str, Any], refusal: Refusal, whole: bool) -> None:
        """Leaves such calls to Python; ``whole``: all of their kind."""
        kind, exact = call_kind(bound, exact=False), call_kind(bound, exact=True)
        self.exact[exact] = self._latest[kind] = refusal
        self._same[kind] += SAME if whole or refusal.general else 1

    def took(self, bound: dict[str, Any], seconds: float) -> None:
        """What compiling for one call has taken, in vain or not."""
        self._calls += 1
        self._seconds += seconds
        spent = self._spent.setdefault(call_kind(bound, exact=False), Spent())
        spent.compiles += 1
        spent.seconds += seconds

    def begin_anew(self) -> None:
        """For another function of the same code, whose versions may be few."""
        self._spent.clear()

    def python(self, bound: dict[str, Any], left: int) -> Spent:
        """To be entered for a call in Python; ``left``: how many there were."""
        spent = self._spent.get(call_kind(bound, exact=False))
        return (Spent() if spent is None else spent).before(left)


class Fallbacks:
    """How many calls of one function were left to Python, by reason."""

    def __init__(self) -> None:
        self.forwarder: Forwarder | None = None  # takes calls that need not be looked at
        self.wanting = True  # whether there may be one, and is none
        self._counts: Counter[str] = Counter()

    @section
    def begin(self, function: FunctionType, python: Callable[..., Any]) -> None:
        """Has a forwarder from now on, where there is machine code for calls."""
        if not load("npcompile.runtime.forwarding"):
            return
        from npcompile.runtime.forwarding import forwarder  # most functions are compiled

        try:
            made = forwarder(function, python)
        except Exception as error:
            if why(error) is None:
                raise
            made = None
        with _lock:  # calls of another thread may be in its forwarder
            self.forwarder, self.wanting = self.forwarder or made, False

    @property
    def counts(self) -> Counter[str]:
        if self.forwarder is not None:
            why, count = self.forwarder.settle()
            if count:
                self._counts[why] += count
        return self._counts

    def interrupt(self) -> None:
        """A call was not left to Python."""
        if self.forwarder is not None:
            self.forwarder.interrupt()

    def clear(self) -> None:
        self.counts.clear()
        if self.forwarder is not None:
            self.forwarder.withdraw()


def complain(config: Config, text: str) -> None:
    """A call that is not deterministic raises, or warns at its place."""
    if config.warn_only or deterministic_mode()[1]:
        warnings.warn(text, stacklevel=2)
    else:
        raise DeterminismError(text)
