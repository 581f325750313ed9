"""Calls of a function that are left to Python: how many, why, and what takes the next ones."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from typing import TYPE_CHECKING, Any

from npcompile.core import logs
from npcompile.core.aside import load
from npcompile.core.config import Config, Deterministic, deterministic_mode
from npcompile.core.errors import CompileError, DeterminismError, Refusal
from npcompile.core.locks import lock
from npcompile.core.sections import section
from npcompile.core.surroundings import is_told, why
from npcompile.core.unseen import unseen
from npcompile.runtime.versions.native import in_python
from npcompile.runtime.versions.policy import LITTLE
from npcompile.runtime.versions.served import Served

if TYPE_CHECKING:
    from npcompile.runtime.versions.forwarding import Forwarder

#: refused calls of a function before a warning
MANY = 32
_lock = lock()


@unseen
class Fallbacks:
    """Runs calls of one function in Python, and counts them by reason."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self.forget()

    def forget(self) -> None:
        """Begins anew, for another function."""
        self.forwarder: Forwarder | None = None  # takes calls that need not be looked at
        self._warned = False
        self._wanting = True  # whether there may be one, and is none
        self._counts: Counter[str] = Counter()

    # ------------------------------------------------------------------ calls

    def python(self, refusal: Refusal, args: Any, kwargs: Any, mode: Deterministic) -> Any:
        """A call that could not be compiled."""
        self.note(str(refusal))
        served = self._served
        if served.config.fullgraph:
            raise CompileError(f"{served.name}: {refusal}")
        if mode:
            complain(served.config, f"{served.name}: runs in Python ({refusal})")
        return served.plain(*args, **kwargs)

    def refused(
        self, refusal: Refusal, args: Any, kwargs: Any, mode: Deterministic, timed: bool
    ) -> Any:
        """A call of a kind that is known to be left to Python."""
        if mode or self._served.config.fullgraph:
            return self.python(refusal, args, kwargs, mode)
        known = refusal is LITTLE or self._warned or is_told(refusal)
        if not known and self._served.start is None:
            self._warn(str(refusal))
        return self.again(str(refusal), None, args, kwargs, timed)

    def _warn(self, why: str) -> None:
        """Logs a warning, once, when many calls were refused."""
        if self.counts[why] >= MANY:
            self._warned = True
            served, code = self._served, self._served.function.__code__
            place = f"{os.path.basename(code.co_filename)}:{code.co_firstlineno}"
            logs.warn("exits", f"{served.name} ({place}) is left to Python: {why}")

    def again(
        self, why: str, longest: float | None, args: Any, kwargs: Any, timed: bool
    ) -> Any:
        """One more call that is left to Python; after many in a row, short ones (of at most
        ``longest`` seconds) are not looked at any more.  ``timed``: by a clock, which results don't
        depend on."""
        self.note(why)
        taker = self.taker()
        if taker is None:
            return self._served.plain(*args, **kwargs)
        return taker.look(why, longest, args, kwargs, timed)

    def note(self, why: str) -> None:
        """Counts a call that is left to Python."""
        self.counts[why] += 1
        logs.log("exits", lambda: f"{self._served.name} runs in Python: {why}")

    # ------------------------------------------------------------------ the forwarder

    def taker(self) -> Forwarder | None:
        """The entry that passes calls straight to the plain function, if they need no dispatch."""
        if self._wanting and self._served.start is None:
            self._begin()
            self._served.changed()
        return self.forwarder

    @section
    def _begin(self) -> None:
        """Has a forwarder from now on, where there is machine code for calls."""
        made = None
        try:
            if not load("npcompile.runtime.versions.forwarding"):
                return
            from npcompile.runtime.versions.forwarding import (
                forwarder,  # most functions are compiled
            )

            made = forwarder(self._served.function, in_python)
        except Exception as error:
            if why(error) is None:
                raise
        with _lock:  # calls of another thread may be in its forwarder
            self.forwarder, self._wanting = self.forwarder or made, False

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
        """Forgets the calls so far."""
        self.counts.clear()
        if self.forwarder is not None:
            self.forwarder.withdraw()


@unseen
def complain(config: Config, text: str) -> None:
    """A call that is not deterministic raises, or warns at its place."""
    if config.warn_only or deterministic_mode()[1]:
        warnings.warn(text, stacklevel=2)
    else:
        raise DeterminismError(text)
