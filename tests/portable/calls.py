"""Many calls from threads, from children of forks, through side exits, interrupted, from disk.

    python -m tests.portable.calls [COUNT]

A call that gives another result than NumPy's counts as wrong; a crash ends it all.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

import npcompile
from npcompile import jit

ITERATIONS = 1_000_000


class Interrupted(Exception):
    """Raised by the handler of a signal."""


def small(x: Any) -> Any:
    return x * 2 + 1


def large(x: Any) -> Any:
    return np.sqrt(x) * 3 + x.sum()


def leaving(x: Any, at: int) -> Any:
    y = x.copy()
    for k in range(len(x)):
        y[k] = y[k] + 1
        if k == at:
            raise ValueError(k)
    return y


def looping(x: Any, n: int) -> Any:
    total = 0.0
    for k in range(n):
        total = total * 0.5 + x[k % 7]
    return total


class Calls:
    """Compiled functions, arguments with their results, and counts of calls."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.small, self.large, self.leaving, self.looping = map(
            jit, (small, large, leaving, looping))
        rng = np.random.default_rng(5)
        self.few, self.many = rng.random(50), rng.random(150_000)
        self.want = {"few": small(self.few), "many": large(self.many)}
        self.loop = looping(self.few, ITERATIONS)

    def told(self, kind: str, well: bool) -> None:
        """Counts a call and whether its result is NumPy's."""
        self.counts[kind] += 1
        self.counts["wrong"] += not well

    def call(self, kind: str) -> None:
        """A call with few elements."""
        self.told(kind, np.array_equal(self.small(self.few), self.want["few"]))

    def parallel(self, kind: str) -> None:
        """A call that is divided among threads."""
        self.told(kind, np.array_equal(self.large(self.many), self.want["many"]))

    def threads(self, count: int) -> None:
        """Calls from four threads of Python's at once."""
        def work() -> None:
            for k in range(count // 4):
                (self.call if k % 25 else self.parallel)("threads")

        started = [threading.Thread(target=work) for _ in range(4)]
        for thread in started:
            thread.start()
        for thread in started:
            thread.join()

    def exits(self, count: int) -> None:
        """Calls that leave machine code by an exception, and some that don't."""
        for k in range(count):
            at = k % 60
            try:
                well = np.array_equal(self.leaving(self.few, at), self.few + 1) and at >= 50
            except ValueError as error:
                well = error.args == (at,)
            self.told("exits", well)

    def forks(self, count: int) -> None:
        """Calls in children, whose exit status counts what is wrong."""
        each = 25
        for _ in range(count // each):
            self.parallel("before forks")
            process = os.fork()
            if not process:
                before = self.counts["wrong"]
                for k in range(each):
                    (self.call if k % 12 else self.parallel)("forks")
                os._exit(self.counts["wrong"] - before)
            status = os.waitpid(process, 0)[1]
            self.counts["forks"] += each
            self.counts["wrong"] += status if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)

    def interrupts(self, count: int) -> None:
        """Calls into which signals come, whose handlers raise."""
        def handler(*_: Any) -> None:
            raise Interrupted

        self.looping(self.few, ITERATIONS)
        begun = time.perf_counter()
        self.looping(self.few, ITERATIONS)
        part = (time.perf_counter() - begun) / 10
        signal.signal(signal.SIGALRM, handler)
        for k in range(count):
            try:
                signal.setitimer(signal.ITIMER_REAL, part * (1 + k % 20))
                well = self.looping(self.few, ITERATIONS) == self.loop
                signal.setitimer(signal.ITIMER_REAL, 0)
            except Interrupted:
                well = True
                self.counts["interrupted"] += 1
            self.told("interrupts", well)

    def disk(self, count: int) -> None:
        """First calls of functions that an earlier one has left on disk."""
        for _ in range(count // 50):
            found: Callable[[Any], Any] = jit(lambda x: x * 2 + 1)
            for _ in range(50):
                self.told("disk", np.array_equal(found(self.few), self.want["few"]))


def main() -> None:
    count = int(sys.argv[1]) if sys.argv[1:] else 2000
    npcompile.set_num_threads(4)
    calls = Calls()
    for kind in ("threads", "exits", "forks", "disk", "interrupts", "threads"):
        getattr(calls, kind)(count if kind != "interrupts" else count // 10)
        print(kind, dict(calls.counts), flush=True)
    total = sum(calls.counts[kind] for kind in ("threads", "exits", "forks", "disk", "interrupts"))
    print(f"{os.environ.get('CPU', 'neoverse-n1')}: {total} calls, {calls.counts['wrong']} wrong")
    raise SystemExit(bool(calls.counts["wrong"]))


if __name__ == "__main__":
    main()
