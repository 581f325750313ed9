"""The thread pool: machine code that splits a range over threads.

::

    void npc_pool_run(void (*fn)(frame, begin, end), frame, n, grain, pieces)
    void npc_pool_call(void (*fn)(frame, begin, end), frame, n, grain, pieces, bool much)
    void npc_pool_share(void (*fn)(frame, begin, end), frame, n, bool much)

splits ``[0, n)`` into one part a thread, all but the last multiples of ``grain`` (0: of 64), and
these into pieces, each half of what is left, altogether not more than ``pieces`` if there are
fewer parts.  The caller's part is the first one.  Each thread runs its own part, which its cache
may hold, then what is left of others', piece by piece: a worker that wakes late, or whose core is
taken, costs no waiting, and joins in when it comes.  Where another Python thread is in the pool, or
a piece calls it again, the caller runs the whole range.  Which thread runs what never shows in
results: pieces run under the caller's floating-point control bits, and the exception flags they
raise are joined into the caller's.  ``npc_pool_call`` does so only if there is ``much`` to do.
``npc_pool_share`` is for ranges of which some regions take longer than others: each thread takes
another region when it is done with one.

Workers start at the first parallel run.  They spin while others are at work and for some 20 us
after that, then sleep; they block all signals and end before a fork and at interpreter exit.  On
Linux they sleep on a futex and keep off the caller's processor (:mod:`.placement`).  The code is in
:mod:`.worker_code`, with the threads of each system in :mod:`.systems`.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
from functools import cache

from npcompile.backends.target import here
from npcompile.core.config import wanted_threads
from npcompile.core.locks import lock
from npcompile.runtime.threads.processors import MAX_THREADS, shared_processors
from npcompile.runtime.unsafe import raw_memory

_lock = lock()  # a signal handler may ask for the number of threads at any point
_chosen: int | None = None  # by set_num_threads


def supported() -> bool:
    """Whether this platform has worker threads."""
    return bool(_system())


def _system() -> str:
    """The kind of system that gives threads, or an empty string."""
    if sys.platform == "linux" or not here().runs:
        return "linux" * here().runs
    return {"posix": "posix", "nt": "windows"}.get(os.name, "")


def _text() -> str:
    from npcompile.runtime.threads import worker_code  # only who compiles needs it

    return worker_code.text(_system(), here())


class _Pool:
    """The loaded code; one in a process."""

    def __init__(self) -> None:
        from npcompile.backends.cpu.loader.compile import lasting
        from npcompile.backends.cpu.loader.symbols import register
        from npcompile.runtime.cache.disk import own

        self._code = lasting(own(f"pool {_system()}", _text))
        self.address = self._code["npc_pool_run"]
        self.limit = raw_memory.numbers(self._code["npc_pool_limit"], 1)
        self.forget = ctypes.PYFUNCTYPE(None)(self._code["npc_pool_forget"])
        self.stop = ctypes.PYFUNCTYPE(ctypes.c_int)(self._code["npc_pool_stop"])
        self.threads = ctypes.PYFUNCTYPE(ctypes.c_int64)(self._code["npc_pool_threads"])
        # without workers a fork is safe in every way; if they are at work the child forgets them
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self.stop, after_in_child=self._forked)
        atexit.register(self.stop)
        for name in ("npc_pool_run", "npc_pool_call", "npc_pool_share", "npc_pool_limit"):
            register(name, self._code[name])

    def _forked(self) -> None:
        self.forget()
        workers = sys.modules.get("multiprocessing.util")
        if workers is not None:  # calls it if the child is a worker, when the child knows that
            workers.register_after_fork(self, _Pool.adjust)

    def adjust(self) -> None:
        """Takes as many threads as this process may have."""
        self.limit[0] = _wanted()


@cache
def _pool() -> _Pool:
    return _Pool()


def ensure() -> int:
    """The address of ``npc_pool_run``, known to the CPU backend's symbols from then on."""
    with _lock:
        pool = _pool()
        pool.adjust()
        return pool.address


def get_num_threads() -> int:
    """How many threads a compiled function may use.

    As set by :func:`set_num_threads`, else by ``NPCOMPILE_NUM_THREADS``, else the processors that
    this process may run on and that its control group grants, at most ``OMP_NUM_THREADS``; without
    that variable, one in the workers of `multiprocessing`.
    """
    with _lock:
        return _wanted()


def set_num_threads(count: int) -> None:
    """Use at most ``count`` threads from now on; results don't depend on it."""
    global _chosen
    if not 1 <= count <= MAX_THREADS:
        raise ValueError(f"the number of threads is 1 to {MAX_THREADS}, not {count!r}")
    with _lock:
        _chosen = count
        if _pool.cache_info().currsize:  # loaded already
            _pool().limit[0] = count


def running_threads() -> int:
    """The threads that have been started, this one included."""
    with _lock:
        return int(_pool().threads())


def stop() -> bool:
    """End the workers, unless they are at work; the next parallel run starts new ones."""
    with _lock:
        return bool(_pool().stop())


def _wanted() -> int:
    return _chosen if _chosen is not None else _usual(os.getpid())


@cache
def _usual(process: int) -> int:
    """The threads of a process of this number: after a fork it is another one."""
    return min(wanted_threads() or shared_processors(), MAX_THREADS)
