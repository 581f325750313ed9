"""Signal handlers that raise while compiled loops run."""

from __future__ import annotations

import ctypes
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from npcompile.backends.cpu.loader import symbols
from npcompile.backends.cpu.loader.compile import compile, load
from npcompile.runtime.memory import recycled
from tests.fuzz.interrupts import differs
from tests.support.signals import Alarm, Stop

SOON = 0.05
LATE = 1.0  # a busy machine may take so long; without looking it would be many times that


def stopped(
    function: Any, make: Callable[[], tuple[Any, ...]]
) -> tuple[Any, dict[str, Any], float]:
    """The arguments, the variables of the function's frame, and how long after the signal."""
    name = function.__name__
    for wait in (SOON, 1.0, 3.0, 8.0):  # the first calls are compiled meanwhile
        args = make()
        began = time.perf_counter()
        try:
            with Alarm(wait):
                function(*args)
        except Stop:
            seconds, frame = time.perf_counter() - began - wait, sys.exc_info()[2]
            found: FrameType | None = None
            while frame is not None:
                inside = frame.tb_frame.f_code
                if inside.co_name == name and inside.co_filename == __file__:
                    found = frame.tb_frame
                frame = frame.tb_next
            if found is not None:
                return args, dict(found.f_locals), seconds
    raise AssertionError(f"{name} was not interrupted")


def counted(a: Any, n: int) -> int:
    total = 0
    for i in range(n):
        a[i & 7] += 1
        total = (total * 3 + i) & 1023
    return total


def whiled(a: Any, n: int) -> int:
    k = total = 0
    while k < n:
        total = (total * 5 + k) % 7919
        a[k & 7] += 1
        k += 1
    return total


def nested(a: Any, n: int) -> int:
    total = 0
    for i in range(n):
        for j in range(a.shape[0]):
            a[j] += 1
            total = (total + i * j) & 1023
    return total


def smoothed(a: Any, n: int) -> Any:
    for i in range(n):
        a[1:-1] = (a[:-2] + a[2:]) * 0.5
        a[0] = i
    return a


def called(a: Any, n: int) -> int:
    total = 0
    for _ in range(n):
        total += counted(a, 10_000_000)
    return total


def kept(a: Any, n: int) -> int:
    i = 0
    try:
        while i < n:
            a[i & 7] += 1
            i += 1
    except Stop:
        return -i
    finally:
        a[8] = -1
    return i


def tabled(a: Any, n: int) -> Any:
    table = np.zeros((n, n))
    for k in range(n):
        for i in range(n):
            for j in range(n):
                table[i, j] += a[k & 7]
    return table[0, 0]


def tabled_twice(a: Any, n: int) -> Any:
    table, other = np.zeros((n, n)), np.ones((n, n))
    for k in range(n):
        for i in range(n):
            for j in range(n):
                table[i, j] += a[k & 7]
                other[j, i] -= a[k & 7]
    return table[0, 0], other[0, 0]


def listed(a: Any, n: int) -> Any:
    before, grown = [0] * len(a), []
    for k in range(n):
        now = [0] * len(a)
        for j in range(1, len(a)):
            now[j] = max(before[j - 1] + 1, now[j - 1])
        before = now
        a[k & 7] += 1
        if len(grown) < 100:
            grown.append(k)
    return before[-1], grown


def doubled(a: Any, at: Any) -> None:
    b = a * 2.0
    for k in range(len(at)):
        b[at[k]] += 1.0
        a[k] = b[0]


def following(a: Any, n: int, total: int) -> int:
    for i in range(n):
        total = (total * 3 + i) & 1023
    return total


def test_a_counted_loop_ends_between_two_iterations() -> None:
    (a, _), found, seconds = stopped(jit(counted), lambda: (np.zeros(8, int), 10**11))
    turns = int(a.sum())
    assert turns > 0 and a.max() - a.min() <= 1
    assert seconds < LATE
    if turns < 10**8:
        assert found["total"] == jit(following)(a, turns, 0)


def test_a_while_loop_ends_between_two_iterations() -> None:
    (a, _), found, seconds = stopped(jit(whiled), lambda: (np.zeros(8, int), 10**11))
    assert found["k"] == a.sum() and a.max() - a.min() <= 1
    assert seconds < LATE


def test_loops_in_loops_end_between_iterations() -> None:
    (a, _), _, seconds = stopped(jit(nested), lambda: (np.zeros(1000, int), 10**9))
    assert a.max() - a.min() <= 1 and np.all(np.diff(a) <= 0)
    assert seconds < LATE


def test_loops_around_kernels_end_between_iterations() -> None:
    size = 2000
    (a, _), _, seconds = stopped(jit(smoothed), lambda: (np.zeros(size), 10**9))
    turns = int(a[0]) + 1
    plain = smoothed(np.zeros(size), turns) if turns < 50_000 else a
    np.testing.assert_array_equal(a, plain)
    assert seconds < LATE


def test_an_array_of_the_function_s_own_is_handed_over_without_a_copy() -> None:
    f, n = jit(tabled), 2000
    f(np.ones(8), n // 20)
    for _ in range(2):  # the first call may be compiled
        before = recycled.info()
        _, found, seconds = stopped(f, lambda: (np.ones(8), n))
        after = recycled.info()
    table = found["table"]
    assert after.fresh + after.reused - before.fresh - before.reused == 1
    assert table.flags.owndata and table.base is None and table.flags.writeable
    assert table.max() - table.min() <= 1
    table.resize(n * n * 2, refcheck=False)
    assert table[-1] == 0
    assert seconds < LATE


def test_several_arrays_are_handed_over_without_a_copy() -> None:
    f, n = jit(tabled_twice), 2000
    f(np.ones(8), n // 20)
    for _ in range(2):
        before = recycled.info()
        _, found, seconds = stopped(f, lambda: (np.ones(8), n))
        after = recycled.info()
    assert after.fresh + after.reused - before.fresh - before.reused == 2
    table, other = found["table"], found["other"]
    assert table.flags.owndata and other.flags.owndata
    assert np.abs(table + other.T - 1).max() <= 1
    assert seconds < LATE


def test_loops_over_lists_end_between_iterations() -> None:
    (a, _), found, seconds = stopped(jit(listed), lambda: (np.zeros(2000, int), 10**9))
    turns = int(a.sum())
    assert found["before"] == [min(j, turns) for j in range(len(a))]
    assert found["grown"] == list(range(min(turns, 100)))
    assert all(type(item) is int for item in found["before"] + found["grown"])
    assert seconds < LATE


def test_functions_that_are_called_have_frames() -> None:
    (a, _), _, seconds = stopped(jit(called), lambda: (np.zeros(8, int), 10**6))
    assert a.max() - a.min() <= 1
    assert seconds < LATE


def test_the_function_handles_what_the_handler_raises() -> None:
    f = jit(kept)
    for wait in (1.0, 4.0, 8.0):
        a = np.zeros(9, int)
        with suppress(Stop), Alarm(wait):  # while it is compiled, if the machine is busy
            i = f(a, 10**12)
            assert i < 0 and a[8] == -1 and a[:8].sum() == -i
            return
    raise AssertionError("it takes too long to compile")


def test_the_way_out_of_a_loop_is_compiled_in_haste() -> None:
    text = jit(doubled, cache=False).lower(np.ones(9), np.arange(5)).llvm
    heads = [line for line in text.split("\n") if line.startswith("define internal i64 @exit.")]
    assert heads
    assert all(head.endswith("optnone noinline {") for head in heads)


def test_what_a_handler_raises_inside_a_library_function_is_not_lost() -> None:
    """Python makes a call again that has raised and changed nothing: handlers' are raised at once.
    """
    class Told(Exception):
        """What the handler raises."""

    @jit
    def columns(x: Any) -> Any:
        return np.apply_along_axis(np.sort, 0, x) * 2

    def handler(*_: object) -> None:
        told.append(0)
        raise Told

    x, told, caught = np.arange(600.0).reshape(6, 100), list[int](), 0
    columns(x)
    before = signal.signal(signal.SIGALRM, handler)
    try:
        for k in range(150):
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-5 * (1 + k % 50))
                columns(x)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except Told:
                caught += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert caught == len(told) > 0


def test_a_handler_that_returns_costs_nothing() -> None:
    calls: list[int] = []
    f = jit(whiled)
    a = np.zeros(8, int)
    n = 3_000_000
    f(a, n)
    before = signal.signal(signal.SIGALRM, lambda *_: calls.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        assert f(a, n) == whiled(np.zeros(8, int), n)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert calls and a.sum() == 2 * n


def test_other_threads_leave_signals_alone() -> None:
    a, f = np.zeros(8, int), jit(whiled)
    f(a, 10)
    worker = threading.Thread(target=f, args=(a, 3_000_000))
    with pytest.raises(Stop), Alarm(SOON):
        worker.start()
        while True:
            time.sleep(0.01)
    worker.join()
    assert a.sum() == 3_000_010


def test_vector_registers_outlive_a_look_at_the_clock() -> None:
    text = """
declare preserve_allcc i32 @npc_poll(ptr)
define void @npc_probe(ptr %from, ptr %to) {
  %vector = load <4 x i64>, ptr %from, align 8
  %found = call preserve_allcc i32 @npc_poll(ptr null)
  store <4 x i64> %vector, ptr %to, align 8
  ret void
}
"""
    recycled.ensure()
    code = load(compile(text), {"npc_poll": symbols.resolve("npc_poll")})
    probe = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(code["npc_probe"])
    for wait in (0.0, 0.0, 0.05):  # with signals looked at, and without
        time.sleep(wait)
        here, there = np.arange(1, 5), np.zeros(4, int)
        probe(here.ctypes.data, there.ctypes.data)
        assert there.tolist() == here.tolist()


@pytest.mark.parametrize("seed", range(301, 306))
def test_random_loops(seed: int) -> None:
    assert differs(seed) is None


def shifted(a: Any, n: int) -> int:
    total = 0
    for i in range(n):
        rest = a[i & 7] ^ i
        while rest > 1:
            rest >>= 1
            total += 1
    return total


def stepped(a: Any, n: int) -> int:
    total = 0
    for i in range(n):
        rest = a[i & 7]
        while rest > 1:
            rest -= 3
            total += 1
    return total


@pytest.mark.parametrize(("function", "counted"), [(shifted, False), (stepped, True)])
def test_iterations_are_counted_where_they_may_be_many(function: Any, counted: bool) -> None:
    """Nothing is counted in loops that shift a number's bits out."""
    text = jit(function, cache=False).lower(np.arange(8), 100).llvm
    assert ("16384" in text or "@npc_poll(" in text) is counted
    assert jit(function)(np.arange(8), 100) == function(np.arange(8), 100)
