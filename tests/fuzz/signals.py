"""Random programs whose compiled functions are called from anywhere: signal handlers, finalizers,
callbacks of weak references and of the garbage collector, trace and profile functions, threads,
functions at exit; at any point of importing, compiling, running and exiting.  Some handlers raise.

Compared with plain Python, many programs in a process: results, exceptions that got lost, functions
that stay in Python.
"""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import gc
import itertools
import os
import random
import signal
import subprocess
import sys
import threading
import traceback
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from npcompile.runtime.unsafe import gates
from tests.support.machine import SLOWER

ROOT = Path(__file__).parents[2]

EACH = max(25 // SLOWER, 1)  # programs in a process
LIMIT = 120 * SLOWER  # seconds for a program
FUNCTIONS, CALLS = 2, 3  # of a program for each who calls, calls for each function
THRESHOLDS = gc.get_threshold()
RAISED = 4  # exceptions of handlers in a program, at most

BODIES = (
    "def f{k}(x, a={c}):\n    return (x * {c} + a).sum()\n",
    "def f{k}(x, a={c}):\n    s = 0.0\n    for i in range(len(x)):\n        if x[i] > a:\n"
    "            s += x[i] * {c}\n        else:\n            s -= 1\n    return s\n",
    "def f{k}(x, a={c}):\n    for i in range(len(x)):\n        x[i] = x[i] * 2 + a\n    return x\n",
    "def f{k}(x, a={c}):\n    if x.sum() > 4 * a:\n        raise ValueError(a, len(x))\n"
    "    return x[::-1] * {c}\n",
    "def f{k}(x, a={c}):\n    return x[int(x[1]) + a % 5] + {c}\n",
    "def f{k}(x, a={c}):\n    BOX.note(len(x))\n    y = x * {c} + x\n    BOX.note(a)\n"
    "    return y - BOX.least\n",
    "def f{k}(x, a={c}):\n    def inner(y):\n        return np.where(y > a, y, {c})\n"
    "    return inner(x) + inner(x + 1)\n",
    "def f{k}(x, a={c}):\n    return np.minimum(x[:, None] * x, {c}).sum(axis=0), len(x), a\n",
    "def f{k}(x, a={c}):\n    made = []\n    for v in x.tolist():\n"
    "        made.append(v * {c} - a)\n    return made\n",
    "def f{k}(x, a={c}):\n    return np.poly(x) * {c} + np.kron(x, x).sum() + a\n",
    "def f{k}(x, a={c}):\n    return f{j}(x, a) if len(x) > 3 else ({c}, x + f{j}(x, a=2))\n",
    "def f{k}(x, a={c}):\n    thing = Thing(x)\n    return thing.twice + {c} * a\n",
)


class Late(Exception):
    """What handlers raise."""


class Box:
    """An object of a program, whose methods are Python's."""

    least = 2

    def note(self, what: int) -> None:
        self.last = what


class Run:
    """The programs of one process."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.functions: list[tuple[Any, Any]] = []  # jitted and plain
        self.depth = 0
        self.bad: list[str] = []
        self.again = 0  # exceptions that were raised once more
        self.left = 0  # exceptions that may still be raised
        self.awaited = True  # whether somebody catches them
        self.armed = False  # whether signals come
        self.raised: dict[int, Late] = {}
        self.found: set[int] = set()
        self.numbers = itertools.count(3)

    # ---------------------------------------------------------------- functions

    def write(self, jit: Callable[..., Any]) -> None:
        """Adds some functions that nobody has compiled."""
        k = len(self.functions)
        chosen = self.rng.randrange(len(BODIES) if k else len(BODIES) - 2)
        text = BODIES[chosen].format(k=k, j=self.rng.randrange(max(k, 1)), c=next(self.numbers))
        jitted: dict[str, Any] = {"np": np, "BOX": Box(), "Thing": Thing}
        plain = dict(jitted)
        for names, which in ((jitted, 0), (plain, 1)):
            names.update({f"f{i}": pair[which] for i, pair in enumerate(self.functions)})
            exec(compile(text, f"<program {k}>", "exec"), names)
        self.functions.append((jit(jitted[f"f{k}"]), plain[f"f{k}"]))

    def arguments(self) -> tuple[Any, dict[str, int]]:
        x = np.arange(self.rng.randrange(1, 7), dtype=self.rng.choice(("f8", "f8", "i8", "f4")))
        return x, {"a": self.rng.randrange(4)} if self.rng.random() < 0.3 else {}

    def check(self, k: int, where: str) -> None:
        """Calls a function and its plain one."""
        jitted, plain = self.functions[k]
        x, more = self.arguments()
        want = shown(plain, x.copy(), more)
        got = shown(jitted, x.copy(), more)
        if got != want:
            self.bad.append(f"{where}: f{k}({x.dtype}[{len(x)}], {more}): {got}, not {want}")

    # ---------------------------------------------------------------- who else calls

    def act(self, where: str) -> None:
        """Calls functions of the program from elsewhere."""
        if self.depth < 2 and self.functions:
            self.depth += 1
            try:
                for _ in range(self.rng.randrange(1, 3)):
                    self.check(self.rng.randrange(len(self.functions)), where)
            finally:
                self.depth -= 1

    def maybe_raise(self) -> None:
        if self.left and self.awaited and self.depth == 0 and self.rng.random() < 0.5:
            self.left -= 1
            error = Late(len(self.raised))
            self.raised[id(error)] = error
            raise error

    def note(self, error: BaseException | None) -> None:
        """Notes that an exception has come to where it belongs."""
        while error is not None:
            self.found.add(id(error))
            self.again += isinstance(error, Late) and not error.args
            error = error.__context__

    def handler(self, *_: object) -> None:
        try:
            self.act("handler")
            self.maybe_raise()
        finally:
            if self.armed:
                self.arm()

    def arm(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 2e-5 * 3000 ** self.rng.random())

    @contextlib.contextmanager
    def timer(self) -> Iterator[None]:
        try:  # the first signal may come before the block
            self.armed = True
            signal.signal(signal.SIGALRM, self.handler)
            self.arm()
            yield
        finally:
            self.disarm()

    def disarm(self) -> None:
        """Ends the signals; one that comes meanwhile may raise, and is noted."""
        while self.armed or signal.getitimer(signal.ITIMER_REAL)[0]:
            try:
                self.armed = False
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, lambda *_: None)
            except Late as error:
                self.awaited = False
                self.note(error)

    @contextlib.contextmanager
    def collector(self) -> Iterator[None]:
        def callback(phase: str, info: dict[str, Any]) -> None:
            if self.rng.random() < 0.2:
                self.act(f"collector {phase}")

        gc.callbacks.append(callback)
        gc.set_threshold(self.rng.choice((20, 100, 700)))
        try:
            yield
        finally:
            gc.callbacks.remove(callback)
            gc.set_threshold(*THRESHOLDS)

    @contextlib.contextmanager
    def finalizers(self) -> Iterator[None]:
        run = self

        class Dying:
            def __del__(self) -> None:
                run.act("__del__")

        def litter() -> None:
            for _ in range(20):
                thing = Dying()
                thing.itself = thing  # type: ignore[attr-defined]
                kept.append(weakref.ref(thing, lambda _: run.act("weak reference")))

        kept: list[Any] = []
        litter()
        gc.set_threshold(self.rng.choice((50, 300)))
        try:
            yield
        finally:
            gc.set_threshold(*THRESHOLDS)
            gc.collect()

    @contextlib.contextmanager
    def tracer(self) -> Iterator[None]:
        due = self.rng.randrange(1, 20_000)
        install = self.rng.choice((sys.settrace, sys.setprofile))

        def trace(frame: Any, event: str, value: object) -> Any:
            nonlocal due
            due -= 1
            if due == 0:
                due = self.rng.randrange(1, 20_000)
                self.act("tracer")
                if install is sys.settrace and "npcompile" in frame.f_code.co_filename:
                    self.maybe_raise()
            return trace

        install(trace)
        try:  # what is not compiled yet is compiled while it looks
            with mock.patch.object(gates, "looked_at", lambda: 0):
                yield
        finally:
            install(None)

    @contextlib.contextmanager
    def threads(self) -> Iterator[None]:
        def work() -> None:
            self.act("thread")
            raise ZeroDivisionError

        before, threading.excepthook = threading.excepthook, lambda _: self.act("excepthook")
        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield
        finally:
            while thread.is_alive():
                with contextlib.suppress(Late):
                    thread.join()
            threading.excepthook = before

    # ---------------------------------------------------------------- programs

    def program(self, number: int, jit: Callable[..., Any]) -> None:
        """One program: its functions are called while others call them, too."""
        from npcompile.core import aside, sections

        self.functions, self.bad, self.raised, self.found = [], [], {}, set()
        self.left, self.again = self.rng.choice((0, RAISED)), 0
        kinds = [self.timer] * 3 + [self.collector, self.finalizers, self.tracer, self.threads]
        for manager in self.rng.sample(kinds, self.rng.randrange(1, 3)):
            self.guarded(jit, manager)
        self.left = 0
        aside._wait()  # work that goes on after an exception
        for k, (jitted, _) in enumerate(self.functions):
            for _ in range(2):
                self.check(k, "after")
            self.settled(k, jitted)
        lost = [e for e in self.raised.values() if id(e) not in self.found]
        if len(lost) > self.again:
            self.bad.append(f"{len(lost)} exceptions of {len(self.raised)} got lost")
            for error in lost:  # the frames that it has passed
                steps = traceback.extract_tb(error.__traceback__)
                self.bad.append("  " + " < ".join(
                    f"{Path(step.filename).stem}:{step.lineno} {step.name}" for step in steps))
        if sections.inside() or sections._open or gc.get_threshold() != THRESHOLDS:
            self.bad.append(f"left behind: {sections._open} {gc.get_threshold()}")
        for line in self.bad[:5]:
            print(f"BAD {number}: {line}", flush=True)

    def guarded(self, jit: Callable[..., Any], manager: Callable[[], Any]) -> None:
        calls = 0
        while calls < CALLS * FUNCTIONS:
            self.awaited = True
            try:
                with manager():
                    while calls < CALLS * FUNCTIONS:
                        if calls % CALLS == 0:
                            self.write(jit)
                        calls += 1
                        self.check(self.rng.randrange(len(self.functions)), "main")
            except Late as error:
                self.awaited = False  # before the next signal: nothing catches here
                self.disarm()
                self.note(error)

    def settled(self, k: int, jitted: Any) -> None:
        """Whether a function is compiled, or left to Python for a reason of its own."""
        text = str(jitted.explain())
        if "failed with" in text:
            self.bad.append(f"f{k}: {text}")


class Thing:
    """Its attribute is computed by Python, which calls functions of the program."""

    run: Run

    def __init__(self, x: Any) -> None:
        self.x = x

    @property
    def twice(self) -> Any:
        self.run.act("property")
        return self.x * 2


def shown(function: Any, x: Any, more: dict[str, int]) -> str:
    """What a call gives or raises, and what becomes of its argument."""
    try:
        result = repr(function(x, **more))
    except Late:
        raise
    except Exception as error:
        result = f"{type(error).__name__}{error.args}"
    return f"{result} {x.tolist()}"


def at_exit(run: Run) -> None:
    """Has functions called while the process ends; what differs is printed there."""
    jitted, plain = run.functions[0]
    x = np.arange(5, dtype=run.rng.choice(("f8", "i4", "f2")))
    want = shown(plain, x.copy(), {})

    def check(where: str) -> None:
        got = shown(jitted, x.copy(), {})
        if got != want:
            print(f"BAD at exit: {where}: {got}, not {want}", flush=True)

    class Last:
        def __del__(self) -> None:
            check("__del__")

    last: Any = Last()
    last.itself = last
    sys.modules["__main__"].last = last  # type: ignore[attr-defined]
    sys.modules["__main__"].check = check  # type: ignore[attr-defined]
    weakref.finalize(last, check, "finalize")
    atexit.register(check, "atexit")
    if run.rng.random() < 0.3:
        threading.Thread(target=lambda: [check("thread") for _ in range(50)]).start()


def child(seed: int, count: int) -> None:
    """Runs the programs of a process."""
    faulthandler.dump_traceback_later(LIMIT, exit=True)
    sys.setswitchinterval(1e-4)
    run = Thing.run = Run(seed)
    ours: list[str] = []

    def unraisable(told: Any) -> None:
        run.note(told.exc_value)
        where = repr(told.object)
        # a generator that is dropped is closed by code of its own, as is a module's lock
        this = "fuzz.signals" in where or "fuzz/signals" in where or "_get_module_lock" in where
        if not this and not where.startswith("<generator object"):
            ours.append(f"{told.exc_value!r} ignored in {where}")

    sys.unraisablehook = unraisable
    jit: Any = None
    run.left = 2
    while jit is None:
        try:
            with run.timer():
                from npcompile import jit
        except Late as error:
            run.awaited = False
            run.disarm()
            run.note(error)
            run.awaited = True
    for number in range(seed, seed + count):
        faulthandler.dump_traceback_later(LIMIT, exit=True)
        run.rng.seed(number)
        run.program(number, jit)
    for line in ours:
        print(f"BAD {seed}: {line}", flush=True)
    at_exit(run)


def run_process(seed: int, count: int) -> list[str]:
    """What the programs of a process print."""
    command = [sys.executable, "-m", "tests.fuzz.signals", str(seed), str(count)]
    given = {**os.environ, "NPCOMPILE_STRICT": "1"}
    if seed % 3 == 0:
        given["NPCOMPILE_CACHE_DIR"] = "/dev/null/none"
    done = subprocess.run(command, cwd=ROOT, env=given, check=False, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    if done.returncode or done.stderr:
        lines.append(f"BAD {seed}: exit status {done.returncode}: {done.stderr[-6000:]}")
    return lines


def check(seed: int, counts: Counter[str]) -> str:
    """What the programs of a process show, which begins with a seed."""
    counts["processes"] += 1
    return "\n".join(run_process(seed * EACH, EACH))


if __name__ == "__main__":
    child(*map(int, sys.argv[1:3]))
else:  # a child imports npcompile while signals come
    from tests.fuzz.framework import Grammar

    GRAMMAR = Grammar(check=check)
