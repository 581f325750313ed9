"""Whether a profiler takes the calls of compiled functions."""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from typing import Any

from npcompile.core.config import modes

#: calls a function in the place of its compiled versions: the object under ``jit`` and arguments
Taker = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]


class Recording:
    """The profiler of the process, which takes the calls of one thread."""

    def __init__(self) -> None:
        self.taker: Taker | None = None
        self._thread = 0

    def begin(self, taker: Taker) -> None:
        """Has a profiler take calls of this thread.

        Raises
        ------
        RuntimeError
            If another one does already.
        """
        if self.taker is not None:
            raise RuntimeError("a profiler is recording already")
        self._thread = get_ident()
        self._set(taker)

    def end(self) -> None:
        """Calls go to compiled code again."""
        self._set(None)

    def here(self) -> Taker | None:
        """The profiler that takes the calls of this thread."""
        return self.taker if self.taker is not None and get_ident() == self._thread else None

    def _set(self, taker: Taker | None) -> None:
        self.taker = taker
        for listener in modes.listening():
            listener.modes_changed()


recording = Recording()
