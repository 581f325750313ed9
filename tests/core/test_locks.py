"""A child process waits for no thread of its parent."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import numpy as np
import pytest

import npcompile as npc
from npcompile.api import ufuncs
from npcompile.core.config import modes
from npcompile.runtime.cache import disk
from npcompile.runtime.memory import recycled
from npcompile.runtime.versions import linalg_code

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
LOCKS = (modes._lock, linalg_code._lock, ufuncs._lock, recycled._lock, disk._counting)


@contextmanager
def held_elsewhere() -> Iterator[None]:
    """Another thread holds all locks meanwhile."""
    taken, over = threading.Event(), threading.Event()

    def hold() -> None:
        with ExitStack() as held:
            for lock in LOCKS:
                held.enter_context(lock)
            taken.set()
            over.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.mark.filterwarnings("ignore:This process")
def test_a_child_waits_for_no_thread_of_its_parent() -> None:
    x = np.arange(12.0).reshape(3, 4)
    assert (npc.jit(lambda x: x * 2)(x) == x * 2).all()
    with held_elsewhere():
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            fine = False
            try:
                with npc.deterministic():
                    fine = bool((npc.jit(lambda x: x * 3)(x) == x * 3).all())
                fine &= bool((npc.jit(lambda x: x @ x.T)(x) == x @ x.T).all())
                fine &= recycled.empty((3,), np.dtype("f8")).shape == (3,)
            finally:
                os._exit(0 if fine else 1)
        assert os.waitpid(child, 0)[1] == 0
