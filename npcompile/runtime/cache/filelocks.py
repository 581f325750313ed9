"""One process makes what several need; the others wait for it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

try:
    import fcntl
except ImportError:  # a system without such locks: everybody goes ahead
    fcntl = None  # type: ignore[assignment]

#: seconds to wait for what another process makes
PATIENCE = 10.0
_LOOKS = 0.002, 0.05  # seconds between two looks, at first and at most
_mine: set[str] = set()  # files that this process has locked


@contextmanager
def alone(folder: int, name: str) -> Iterator[bool]:
    """Locks a file of a folder, given by its descriptor, while something is made; whether another
    process has just been at it.

    The first process goes ahead.  Others wait until it is done, and then all of them go ahead at
    once: either they find what was made, or it can't be kept.  The lock is the kernel's and ends
    with the process that has it; where files can't be locked everybody goes ahead.
    """
    if name in _mine:  # the caller's, or that of a thread that makes the same
        yield False
        return
    if fcntl is None:
        yield False
        return
    try:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(name, flags, 0o600, dir_fd=folder)
    except OSError:
        yield False
        return
    waited = True
    _mine.add(name)
    try:
        waited = _wait(file)
        if waited:
            _unlock(file)
        yield waited
    finally:
        _mine.discard(name)
        if not waited:
            with suppress(OSError):  # somebody has emptied the folder
                os.unlink(name, dir_fd=folder)
            _unlock(file)
        os.close(file)


def _wait(file: int) -> bool:
    """Waits for the lock; whether another process had it."""
    graph_break, most = _LOOKS
    last = time.monotonic() + PATIENCE
    waited = False
    while not _locked(file) and time.monotonic() < last:
        waited = True
        time.sleep(graph_break)
        graph_break = min(2 * graph_break, most)
    return waited


def _locked(file: int) -> bool:
    """Whether this process has the lock now; true as well where there are no locks."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


def _unlock(file: int) -> None:
    """Lets others go ahead, although a child of a fork may still have the file open."""
    with suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_UN)
