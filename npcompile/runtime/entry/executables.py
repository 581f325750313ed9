"""Executables, and the exception by which they are left."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from npcompile.core.records import field, record
from npcompile.core.unseen import unseen
from npcompile.runtime.unsafe.raw_memory import keep_for_ever

if TYPE_CHECKING:
    from npcompile.program.ir import Program

#: what a version returns for leaves that it is not valid for
MISS = object()

# what an entry leaves with where no check has failed, beside those of a frame's body
FLAGS = -3  #: done, but with floating-point flags that somebody wants to know of
OVERLAP = -4  #: a written array shares memory with another one or with itself
STALE = -5  #: a watched word has changed
UNDONE = -6  #: as FLAGS, but it is as if the call had not begun


class Left(Exception):
    """Compiled code was left, having raised floating-point ``flags``: a check failed (``number``,
    not negative), or it ran to its end and ``result`` is what it returned.

    ``held`` is what the frames of the check's exit hold: variables and stacks in order, which took
    so many ``seconds`` to make.  ``exception`` is what a signal handler has raised, for Python to
    raise there.
    """

    def __init__(
        self,
        reason: str,
        number: int = -1,
        flags: frozenset[str] = frozenset(),
        result: Any = None,
        held: Sequence[Any] = (),
        seconds: float = 0.0,
        exception: BaseException | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason, self.number, self.flags = reason, number, flags
        self.result, self.held, self.seconds = result, held, seconds
        self.exception = exception


@record(eq=False, frozen=False)
class Executable:
    """Runs leaves; raises :class:`Left`; returns :data:`MISS` if they don't fit.

    ``times`` are milliseconds spent in each stage of making it.
    """

    whole: Callable[[], Program]
    run: Callable[[tuple[Any, ...]], Any]
    address: int = 0  # of the machine-code entry, 0 if there is none
    text: str = ""
    optimise: tuple[str, ...] = ()  # functions of the text that LLVM passes help
    times: dict[str, float] = field(default_factory=dict)
    owner: Any = None
    keep: Any = None  # what the machine code needs alive

    def belongs_to(self, owner: Any, times: dict[str, float]) -> None:
        """It serves a version, and took some milliseconds."""
        self.owner, self.times = owner, times

    @property
    def program(self) -> Program:
        """The program that it runs; without statements if another process has compiled it."""
        return self.whole()

    @unseen
    def __call__(self, leaves: tuple[Any, ...]) -> Any:
        return self.run(leaves)


def retire(executable: Executable) -> None:
    """Keeps machine code for ever that nobody calls any more: a thread may still be in it."""
    keep_for_ever(executable.keep)


class Stopwatch:
    """Milliseconds between laps."""

    def __init__(self) -> None:
        self.times: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.times[name] = 1e3 * (now - self._last)
        self._last = now
