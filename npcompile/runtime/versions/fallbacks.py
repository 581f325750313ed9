"""Calls of a function that were left to Python: how many, why, and what takes the next ones."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

from npcompile.core.aside import load
from npcompile.core.config import Config, deterministic_mode
from npcompile.core.errors import DeterminismError
from npcompile.core.locks import lock
from npcompile.core.sections import section
from npcompile.core.surroundings import why

if TYPE_CHECKING:
    from npcompile.runtime.versions.forwarding import Forwarder

_lock = lock()


class Fallbacks:
    """How many calls of one function were left to Python, by reason."""

    def __init__(self) -> None:
        self.forwarder: Forwarder | None = None  # takes calls that need not be looked at
        self.wanting = True  # whether there may be one, and is none
        self._counts: Counter[str] = Counter()

    @section
    def begin(self, function: FunctionType, python: Callable[..., Any]) -> None:
        """Has a forwarder from now on, where there is machine code for calls."""
        made = None
        try:
            if not load("npcompile.runtime.versions.forwarding"):
                return
            from npcompile.runtime.versions.forwarding import (
                forwarder,  # most functions are compiled
            )

            made = forwarder(function, python)
        except Exception as error:
            if why(error) is None:
                raise
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
