"""Work on a thread of its own, for which the caller waits.

Signal handlers and trace functions don't run on that thread, and it has a stack of its own.  So an
import or a compile is never interrupted in its middle: a handler that raises ends the wait, and the
work goes on to its end.  The garbage collector does not begin by itself meanwhile, because it would
run the program's finalizers on a thread that they don't expect.
"""

from __future__ import annotations

import _imp
import _thread
import atexit
import gc
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from types import FrameType
from typing import Any, Generic, TypeVar

from npcompile.core.sections import section, whole_section

T = TypeVar("T")

STACK = 16 << 20  #: bytes: LLVM is recursive, and who made few threads' stacks small has not
MOMENT = 1.0  #: seconds that another thread may have the import system's lock, on a busy machine
#: what npcompile's modules import
_PACKAGES = frozenset({"npcompile", "numpy", "scipy", "llvmlite"})


class _Task(Generic[T]):
    """One piece of work, its thread, and what became of it."""

    def __init__(self, work: Callable[[], T]) -> None:
        self.work = work
        self.thread = 0
        self.over = threading.Lock()
        self.error: BaseException | None = None
        self.result: T

    @whole_section
    def __call__(self) -> None:
        self.thread = _thread.get_ident()
        try:
            self.result = _quietly(self.work)
        except BaseException as error:
            self.error = error
        finally:
            _running.pop(id(self), None)
            self.over.release()


#: who forks has it, so that no work begins meanwhile
_gate = threading.RLock()
#: by their ids: a handler that raises never comes between an assignment and what follows it
_running: dict[int, _Task[Any]] = {}
_threshold = threading.Lock()
_quiet = 0  # works under way
_usual: tuple[int, ...] = ()


@section
def _quietly(work: Callable[[], T]) -> T:
    """Does some work without automatic garbage collection.

    A threshold of 0 is used, not ``gc.disable()``, which the program may call meanwhile.
    """
    global _quiet, _usual
    with _threshold:
        _quiet += 1
        if _quiet == 1:
            _usual = gc.get_threshold()
            gc.set_threshold(0)
    try:
        return work()
    finally:
        with _threshold:
            _quiet -= 1
            if _quiet == 0 and gc.get_threshold()[0] == 0:
                gc.set_threshold(*_usual)


def _is_aside() -> bool:
    """Whether the caller is such a thread."""
    here = _thread.get_ident()
    return any(work.thread == here for work in list(_running.values()))


def aside(work: Callable[[], T]) -> T:
    """What ``work()`` gives or raises."""
    if _is_aside() or not _can_import():
        return work()
    begun = _Task(work)
    begun.over.acquire()
    if not _started(begun):
        begun()
    with begun.over:  # and not longer: who forks may wait for it too
        pass
    if begun.error is not None:
        raise begun.error
    return begun.result


def _started(work: _Task[T]) -> bool:
    """Whether a thread for some work could be had: not with too little memory, or too many."""
    with _gate:
        usual = _thread.stack_size()
        try:
            _thread.stack_size(max(usual, STACK))
            _running[id(work)] = work
            _thread.start_new_thread(work, ())
        except RuntimeError:
            return False
        finally:
            _thread.stack_size(usual)
    return True


def _wait() -> None:
    """Waits for what others have begun."""
    here = _thread.get_ident()
    for work in list(_running.values()):
        if work.thread != here:
            with work.over:
                pass


def forking(lock: Any) -> None:
    """Has forks wait for all work, and then for a lock that such work takes; a child finds it free.

    Python calls what was registered last first.  A lock that was taken before the wait would keep
    the work from its end.
    """
    def before() -> None:
        _gate.acquire()
        _wait()
        lock.acquire()

    def after() -> None:
        try:
            lock.release()
        finally:  # a signal handler may have raised during the wait
            _gate.release()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=before, after_in_parent=after, after_in_child=after)


forking(_gate)  # also without a compiler
atexit.register(_wait)

_loaded: set[str] = set()


def load(*names: str) -> bool:
    """Imports modules of npcompile completely, if they are not there yet.

    Returns False, and does nothing, where the caller is itself inside an import of what they need:
    each would wait for the other.
    """
    if _loaded.issuperset(names):
        return True
    if not _is_aside() and _importing():
        return False
    aside(lambda: [import_module(name) for name in names])
    _loaded.update(names)
    return True


def _importing() -> bool:
    """Whether a function of the caller's stack imports such a package."""
    return any(
        frame.f_code.co_name == "_find_and_load"
        and str(frame.f_locals.get("name")).partition(".")[0] in _PACKAGES
        for frame in _imports()
    )


def _imports() -> Iterator[FrameType]:
    """The frames of the import system in the caller's stack."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            yield frame
        frame = frame.f_back


def _can_import() -> bool:
    """Whether another thread could import now.

    What a signal handler raises inside the import system may leave its lock taken for ever: only
    this thread could go on importing.  It is released.  Another thread has it for a moment only,
    and who imported meanwhile would wait for that thread, and that thread for it.
    """
    if _imp.lock_held() and not any(True for _ in _imports()):
        with suppress(RuntimeError):
            while True:
                _imp.release_lock()
        end = time.monotonic() + MOMENT
        while _imp.lock_held() and time.monotonic() < end:
            time.sleep(0.001)
    return not _imp.lock_held()
