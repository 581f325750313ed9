"""Whether scipy.special's functions report errors (``scipy.special.seterr``, ``errstate``).

By default they don't, and compiled code tells nothing of errors.  Where a program asks for warnings
or exceptions, SciPy's own functions run, which find the errors.  SciPy keeps this state out of
reach of other libraries' code: reading it at each call would cost more than most calls do.  So its
``seterr``, by which ``errstate`` changes it too, gets a wrapper that tells of each change.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from threading import get_ident
from typing import Any

from npcompile.core.config import modes

#: what stands for the default: of errors, memory's alone are exceptions
_SILENT = {"memory": "raise"}


class _Reported:
    """True while any thread has errors reported; SciPy keeps a state for each."""

    def __init__(self) -> None:
        self._threads: set[int] = set()
        self._listeners: list[Callable[[], None]] = []
        self._watches = False

    def __bool__(self) -> bool:
        return bool(self._threads)

    def listen(self, listener: Callable[[], None]) -> None:
        """Calls it after each change, and now if errors are reported."""
        self._listeners.append(listener)
        if self:
            listener()

    def watch(self) -> None:
        """Hears of changes from now on."""
        if self._watches:
            return
        self._watches = True
        public: Any = importlib.import_module("scipy.special")
        library: Any = importlib.import_module("scipy.special._ufuncs")
        change = library.seterr

        @functools.wraps(change)
        def seterr(**kwargs: str) -> Any:
            try:
                return change(**kwargs)
            finally:
                self._note(library.geterr())

        library.seterr = public.seterr = seterr
        self._note(library.geterr())

    def _note(self, state: dict[str, str]) -> None:
        here = get_ident()
        before = here in self._threads
        silent = all(value == _SILENT.get(name, "ignore") for name, value in state.items())
        if silent is not before:
            return
        if silent:
            self._threads.discard(here)
        else:
            self._threads.add(here)
        # also where another thread has told of it: not all may have heard it yet
        for listener in list(self._listeners):
            listener()
        modes.tell()


reported = _Reported()
