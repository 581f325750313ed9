"""Signal handlers, finalizers and the collector's callbacks at any point of our own work."""

from __future__ import annotations

import _imp
import gc
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from npcompile.core import aside, sections
from tests.support.signals import Alarm

X = np.arange(5.0)


class Late(Exception):
    """What a handler raises."""


@contextmanager
def alarm(seconds: float, handler: Callable[..., Any]) -> Iterator[None]:
    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def fresh(number: int) -> Any:
    """A function that nobody has compiled."""
    return jit(eval(f"lambda x: (np.sqrt(x) * {number} + x).sum() + len(x)", {"np": np}))


def test_a_handler_gets_results_while_its_thread_compiles() -> None:
    got: list[Any] = []
    functions = [fresh(time.perf_counter_ns() + k) for k in range(8)]
    with alarm(0.002, lambda *_: got.extend(float(f(X)) for f in functions[:2])):
        own = [float(f(X)) for f in functions]
    want = [float(f.__wrapped__(X)) for f in functions]
    assert own == want
    assert got and set(got) <= set(want[:2])
    assert all(f.cache_info().compiled for f in functions)


@pytest.mark.parametrize("seconds", [1e-3, 4e-3, 9e-3, 20e-3])
def test_what_a_handler_raises_reaches_the_caller(seconds: float) -> None:
    f = fresh(time.perf_counter_ns())
    with pytest.raises(Late), Alarm(seconds, seconds, Late):
        while True:
            assert f(X) == f.__wrapped__(X)
            f.clear_cache()
    assert f(X) == f.__wrapped__(X)
    assert f.cache_info()[:2] == (1, 0)
    assert not sections.inside()


def test_a_wait_ends_when_a_handler_raises_and_the_work_goes_on() -> None:
    done: list[int] = []

    def work() -> None:
        assert gc.get_threshold()[0] == 0
        assert sections.inside()
        time.sleep(0.1)
        done.append(1)

    threshold = gc.get_threshold()
    begun = time.perf_counter()
    with pytest.raises(Late), Alarm(0.01, 0.01, Late):
        aside.aside(work)
    assert time.perf_counter() - begun < 0.09 and not done
    while not done or gc.get_threshold() != threshold:
        time.sleep(0.01)


def test_an_import_lock_that_an_interrupt_has_left_taken_is_no_end() -> None:
    _imp.acquire_lock()
    f = fresh(time.perf_counter_ns())
    assert f(X) == f.__wrapped__(X)
    assert not _imp.lock_held()


def test_what_work_raises_and_gives_reaches_the_caller() -> None:
    assert aside.aside(lambda: aside.aside(lambda: 7)) == 7
    with pytest.raises(ZeroDivisionError):
        aside.aside(lambda: 1 / 0)
    assert not aside._running


def test_code_that_runs_while_a_function_is_followed_may_call_it() -> None:
    seen = []

    class Thing:
        def __getattr__(self, name: str) -> Any:
            seen.append(float(f(X, None)))
            return 2.0

    @jit
    def f(x, thing):
        return (x * (3.0 if thing is None else thing.scale)).sum()

    assert f(X, Thing()) == 20.0
    assert set(seen) == {30.0}


def test_a_function_that_the_collector_finds_leaves_nothing() -> None:
    def make(k):
        def f(x):
            return (x * 2 + 1).sum()

        return jit(f)

    def dispatcher(k: int, cycle: bool) -> int:
        f = make(k)
        assert f(X) == 25.0
        if cycle:
            f.itself = f
        return id(f._dispatcher)

    dispatcher(0, cycle=True)
    gc.collect()
    again = make(0)
    assert not again._dispatcher.versions
    dispatcher(0, cycle=False)
    assert make(0)._dispatcher.versions


def test_the_collector_calls_no_python_of_ours() -> None:
    assert fresh(3)(X) == fresh(3).__wrapped__(X)
    for callback in gc.callbacks:
        assert "npcompile" not in str(getattr(callback, "__module__", ""))
    gc.collect()


HEAD = """
import gc, sys, warnings
import numpy as np
"""
FUNCTION = """
import npcompile
from npcompile import jit
@jit
def f(a): return (np.sin(a) * 2).sum() + a[-1]
x = np.arange(5.0)
"""
SHUTDOWN = """
import atexit
class C:
    def __del__(self): print("del", f(np.arange(4)), f(x), npcompile.exp(1.0), npcompile.sin(x))
c = C(); c.me = c
print(f(x), npcompile.exp(1.0))
gc.callbacks.append(lambda *_: f(x))
atexit.register(lambda: print(f(np.arange(6.0)), f(x[::2].copy())))
"""
CALLS = """
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    print([round(float(f(x)), 6) for _ in range(40)][-1], round(float(npcompile.exp(1.0)), 6))
print(len(told), told[0].category.__name__, told[0].filename == "<string>")
text = str(f.explain(x))
print(text.splitlines()[0])
print("llvmlite" in text or "armv7" in text)
"""
LEFT = "6.270172 2.718282\n1 RuntimeWarning True\nf: runs in Python; 40 calls so far\nTrue\n"
CASES = {
    "shutdown": (FUNCTION + SHUTDOWN, None),
    "blocked": ("sys.modules['llvmlite.binding'] = None\n" + FUNCTION + CALLS, LEFT),
    "mock": ("from unittest import mock\nfor name in ('llvmlite', 'llvmlite.binding'):\n"
             "    sys.modules[name] = mock.MagicMock(__spec__=None)\n" + FUNCTION + CALLS, LEFT),
    "another machine": ("import platform\nplatform.machine = lambda: 'armv7'\n" + FUNCTION + CALLS,
                        LEFT),
}


@pytest.mark.parametrize("name", CASES)
def test_surroundings(name: str, tmp_path: Any) -> None:
    script, want = CASES[name]

    def run(**more: str) -> tuple[str, str]:
        given = {**os.environ, "NPCOMPILE_CACHE_DIR": str(tmp_path / "cache"), **more}
        done = subprocess.run([sys.executable, "-c", HEAD + script], env=given, check=False,
                              capture_output=True, text=True)
        return done.stdout, done.stderr

    assert run() == ((want, "") if want is not None else run(NPCOMPILE_DISABLE="1"))
