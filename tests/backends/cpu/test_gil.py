"""Bodies release the GIL, and what other threads do meanwhile."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from tests.support.gil import looking

RELEASES = ("PyEval_SaveThread", "@npc_poll(ptr %")  # by a call, or every 10 ms or so
LONG = 300_000  # elements that are worth it
OPTIONS = {"cache": False}


@contextmanager
def beside(work: Callable[[], Any], pause: float = 0.0) -> Iterator[list[int]]:
    """Another thread does some work again and again, and counts how often."""
    done, count = threading.Event(), [0]
    errors: list[BaseException] = []

    def run() -> None:
        try:
            while not done.is_set():
                work()
                count[0] += 1
                time.sleep(pause)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield count
    finally:
        done.set()
        thread.join()
    assert not errors


def many(function: Callable[[], Any], seconds: float = 0.4) -> None:
    """Calls a function for some time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        function()


def summed(n: int, s: float) -> float:
    for k in range(n):
        s = s * 0.5 + k
    return s


def collatz(start: int, times: int) -> int:
    turns, n = 0, start
    while times > 0:
        if n == 1:
            n = start
            times -= 1
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        turns += 1
    return turns


def waved(x: Any) -> Any:
    return np.sin(x) * 2 + np.cos(x)


def deep(x: Any) -> Any:
    for _ in range(8):
        x = np.sin(x) + np.cos(x)
    return x


def taken(a: Any, at: Any) -> Any:
    return a[at] * 2


def looped(a: Any, at: Any) -> float:
    total = 0.0
    for k in range(len(at)):
        total += a[at[k]]
    return total


def positive(a: Any) -> Any:
    return a[a > 0]


def counted(values: list[int]) -> int:
    total = 0
    for value in values:
        total += value
    return total


# ---------------------------------------------------------------------- where it is released


@pytest.mark.parametrize(("function", "args", "released"), [
    (summed, (10, 1.0), True),
    (waved, (np.ones(5),), True),
    (collatz, (9, 9), True),
    (taken, (np.ones(5), np.zeros(5, int)), False),
    (looped, (np.ones(5), np.zeros(5, int)), False),
    (positive, (np.ones(5),), False),
    (counted, ([1, 2, 3],), False),
])
def test_who_releases_it(function: Any, args: Any, released: bool) -> None:
    f = jit(function)
    f(*args)
    assert any(way in f.lower(*args).llvm for way in RELEASES) is released


def runs(values: Any) -> list[int]:
    found = []
    i = 0
    while i < len(values):
        j = i
        while j < len(values) and values[j] == values[i]:
            j += 1
        found.append(j - i)
        i = j
    return found


def test_inner_loops_of_unknown_length_release_it_after_them() -> None:
    values = np.arange(200_000) // 7
    f = jit(runs)
    assert f(values) == runs(values)
    text, release = f.lower(values).llvm, "@PyEval_SaveThread()"
    before, loop, inner = re.split(r"^(while\d+):", text, flags=re.MULTILINE)[-3:]
    assert release in before + inner
    assert release not in inner.partition(f"label %{loop},")[0]


@pytest.mark.parametrize(("function", "args"), [
    (summed, (60_000_000, 1.0)), (collatz, (837_799, 100_000)), (deep, (np.ones(3_000_000),)),
])
def test_another_thread_runs_meanwhile(function: Any, args: Any) -> None:
    f, calls = jit(function), 0
    f(*args)
    with beside(lambda: None, 1e-3) as ticks:
        end = time.monotonic() + 0.4
        while time.monotonic() < end:
            f(*args)
            calls += 1
    assert ticks[0] > 4 * calls  # two at most if the GIL is held


# ---------------------------------------------------------------------- every use of Python has it


def ordered(x: Any) -> Any:
    return np.sort(x) + np.sin(x)


def appended(x: Any) -> Any:
    return [np.sin(x) + k for k in range(5)]


def left(x: Any, y: Any) -> Any:
    y[0] = 7.0
    z = np.sin(x) + y
    if z[1] > 1.0:
        raise ValueError(z[1])
    return z


def drawn(rng: Any, n: int) -> float:
    total = 0.0
    for _ in range(n):
        total += rng.random()
        for k in range(30):
            total += k * 0.5
    return total


def emptied(n: int) -> Any:
    return np.ones(n) + np.ones(n)


def converged(x: Any) -> Any:
    error, turns = 1.0, 0
    while error > 1e-3:
        x = np.sqrt(x) + np.linalg.norm(x) * 1e-9
        error = abs(x[0] - 1.0)
        turns += 1
    return x, turns


@pytest.mark.parametrize(("function", "args"), [
    (ordered, lambda: (np.arange(9.0),)),
    (appended, lambda: (np.arange(9.0),)),
    (left, lambda: (np.zeros(9), np.zeros(9))),
    (left, lambda: (np.zeros(9), np.arange(9.0) * 2)),
    (drawn, lambda: (np.random.default_rng(1), 40)),
    (converged, lambda: (np.full(9, 5.0),)),
    (summed, lambda: (2**20, 1.0)),
    (emptied, lambda: (2**55,)),
])
def test_python_is_used_with_it(function: Any, args: Any) -> None:
    def outcome(f: Any) -> tuple[Any, Any]:
        given = args()
        try:
            return f(*given), given[1:2]
        except (ValueError, MemoryError) as error:
            return type(error), given[1:2]

    with looking() as mistakes:
        f = jit(function, **OPTIONS)
        for _ in range(3):
            np.testing.assert_equal(outcome(f), outcome(function))
        assert mistakes.value == 0
        assert any(way in f.lower(*args()).llvm for way in RELEASES)


# ---------------------------------------------------------------------- what others change


def test_lists_are_read_as_a_whole() -> None:
    """They are read where they lie, so the GIL is kept."""
    n = 40_000
    values, f = [1] * n, jit(counted, fullgraph=True)  # in Python, the other thread comes between
    f(values)
    other = [[2] * n, [1] * n]

    def change() -> None:
        values[:] = other[0]
        other.reverse()

    with beside(change):
        many(lambda: check(f(values) in (n, 2 * n)))


def check(holds: bool) -> None:
    assert holds


def test_attributes_and_globals_may_be_bound_anew() -> None:
    """The call has read them, and keeps the arrays alive."""
    thing = SimpleNamespace(x=np.zeros(LONG))
    closed = np.zeros(LONG)

    def total(o: Any) -> Any:
        x, y = o.x, closed
        return x * 2 + x, y * 2 + y

    f = jit(total)
    f(thing)

    def change() -> None:
        nonlocal closed
        value = float(np.random.randint(9))
        thing.x, closed = np.full(LONG, value), np.full(LONG, value)

    def look() -> None:
        for found in f(thing):
            assert found.min() == found.max() and found[0] % 3 == 0

    with beside(change):
        many(look)


def test_strings_may_be_bound_anew() -> None:
    thing = SimpleNamespace(text="a" * 50_000)

    def letters(o: Any) -> int:
        total = 0
        for letter in o.text:
            total += ord(letter)
        return total

    f = jit(letters)
    f(thing)

    def change() -> None:
        thing.text = chr(97 + np.random.randint(20)) * 50_000

    with beside(change):
        many(lambda: check(f(thing) % 50_000 == 0))


def test_generators_give_each_number_once() -> None:
    """Machine code steps their state with the GIL."""
    def numbers(rng: Any, out: Any) -> Any:
        for k in range(len(out)):
            out[k] = rng.random()
        return np.sin(out)

    f, n = jit(numbers), 20_000
    f(np.random.default_rng(0), np.zeros(n))
    rng, found = np.random.default_rng(1), [np.zeros(n) for _ in range(4)]
    threads = [threading.Thread(target=f, args=(rng, out)) for out in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    plain = np.random.default_rng(1).random(4 * n)
    np.testing.assert_array_equal(np.sort(np.concatenate(found)), np.sort(plain))


def test_indices_that_change_are_never_out_of_bounds() -> None:
    a, at = np.arange(1000.0), np.arange(LONG) % 1000
    functions = [jit(looped), jit(taken)]
    right = [f(a, at) for f in functions]

    def change() -> None:
        at[LONG // 2] = 10**12
        time.sleep(1e-4)
        at[LONG // 2] = LONG // 2 % 1000

    def look() -> None:
        for f, expected in zip(functions, right, strict=True):
            with suppress(IndexError):
                np.testing.assert_array_equal(f(a, at), expected)

    with beside(change, 1e-4):
        many(look)


# ---------------------------------------------------------------------- what threads share


def made(x: Any, k: float) -> Any:
    a = x * 0 + k
    b = np.exp(a - a) * k
    return a + b


def test_memory_and_pool_are_shared() -> None:
    """No block is given to two threads; a thread that finds the pool busy runs alone."""
    f, x = jit(made), np.ones(LONG)
    f(x, 1.0)

    def look(k: float) -> None:
        found = f(x, k)
        assert found.min() == found.max() == 2 * k

    with beside(lambda: look(3.0)), beside(lambda: look(4.0)):
        many(lambda: look(5.0))


def test_versions_may_be_withdrawn_meanwhile() -> None:
    f = jit(summed)
    expected = summed(100_000, 1.0)

    def change() -> None:
        f(10, 1.0)
        f.clear_cache()

    with beside(change):
        many(lambda: check(f(100_000, 1.0) == expected))


# ---------------------------------------------------------------------- the end, and forks

START = """
import os, threading, time, warnings
import numpy as np
import npcompile.runtime.entry.frames  # else a thread may be importing it when another one forks
from npcompile import jit
warnings.simplefilter("ignore")

@jit
def summed(n, s):
    for k in range(n):
        s = s * 0.5 + k
    return s

@jit
def made(x, k):
    a = x * 0 + k
    return a + np.exp(a - a) * k

@jit
def special(x):
    return np.arctanh(x) + np.sinh(x)

x = np.zeros(400_000)
summed(10, 1.0), made(x, 1.0), special(x)

def again(f, *args):
    while True:
        f(*args)
"""

AT_EXIT = START + """
work = [(summed, 5_000_000, 1.0), (made, x, 2.0), (special, x), (summed, 10**10, 1.0)]
for f, *args in work:
    threading.Thread(target=again, args=(f, *args), daemon=True).start()
time.sleep(0.2)
print("end", flush=True)
"""

FORKED = START + """
for k in (1.0, 2.0):
    threading.Thread(target=again, args=(made, x, k), daemon=True).start()
for turn in range(30):
    child = os.fork()
    if not child:
        good = all((made(x, 5.0) == 10.0).all() for _ in range(3))
        os._exit(0 if good else 3)
    _, status = os.waitpid(child, 0)
    assert status == 0, status
assert (made(x, 5.0) == 10.0).all()
print("end", flush=True)
os._exit(0)
"""


@pytest.mark.parametrize("text", [AT_EXIT, FORKED], ids=["exit", "fork"])
def test_threads_at_exit_and_forks(text: str) -> None:
    run = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120)
    assert (run.returncode, run.stdout, run.stderr) == (0, "end\n", "")
