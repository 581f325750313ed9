"""What another thread finds between two steps of npcompile's own work.

CPython lets another thread run between calls, so each test has something called there that looks
at the state, or changes it, as another thread may.
"""

from __future__ import annotations

import gc
import signal
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.special

import npcompile as npc
from npcompile import jit
from npcompile.api import ufuncs
from npcompile.core import config, effects
from npcompile.core.living import Living
from npcompile.frontend import bytecode
from npcompile.ops import record
from npcompile.runtime.entry import frames, interrupts
from npcompile.runtime.random import draws
from npcompile.runtime.threads import pool
from npcompile.runtime.ufuncs import captured
from npcompile.runtime.unsafe import gates
from npcompile.runtime.versions import regions
from npcompile.runtime.versions.forwarding import Forwarder
from npcompile.runtime.versions.version import Version
from npcompile.runtime.versions.version_list import Versions

OFTEN = 1e-6  # seconds between two switches


class Told(Exception):
    """What handlers raise."""


def elsewhere(work: Callable[[], Any]) -> Any:
    """What some work gives or raises on another thread."""
    found: list[Any] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(60)
    assert found, "it waits for ever"
    if isinstance(found[0], BaseException):
        raise found[0]
    return found[0]


@contextmanager
def switching() -> Iterator[None]:
    """Threads are switched as often as can be."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(OFTEN)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def together(*works: Callable[[], Any]) -> list[Any]:
    """What works at the same time give or raise."""
    ready = threading.Barrier(len(works))
    found: list[Any] = [None] * len(works)

    def run(k: int) -> None:
        ready.wait()
        try:
            found[k] = works[k]()
        except BaseException as error:
            found[k] = error

    threads = [threading.Thread(target=run, args=(k,)) for k in range(len(works))]
    with switching():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return found


@contextmanager
def at_calls(name: str, work: Callable[[], Any]) -> Iterator[None]:
    """Does another thread's work where functions of a name begin, as threads are switched there."""
    def look(frame: Any, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code.co_name == name:
            work()

    sys.setprofile(look)
    try:
        yield
    finally:
        sys.setprofile(None)


# ------------------------------------------------------------------ exceptions of handlers


def below(x: Any) -> Any:
    y = x * 2
    y[0] = 1.0
    if y.sum() > 100:
        raise ValueError("large")
    return y


def test_another_thread_does_not_raise_what_a_handler_has_raised() -> None:
    """The main thread's loop was left, and Python has not gone on there yet."""
    f = jit(below)
    f(np.ones(3))
    interrupts.raised.append(Told())
    try:
        with pytest.raises(ValueError):
            elsewhere(lambda: f(np.full(9, 99.0)))
        assert len(interrupts.raised) == 1
        with pytest.raises(ValueError):  # no loop of this call was left
            f(np.full(9, 99.0))
        assert isinstance(interrupts.taken(), Told)
    finally:
        interrupts.raised.clear()


def test_only_the_last_exception_is_taken() -> None:
    interrupts.raised.extend([Told(1), Told(2)])
    taken = interrupts.taken()
    assert taken is not None and taken.args == (2,)
    assert interrupts.taken() is None


def test_a_second_handler_raises_while_a_loop_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    def summed(a: Any, n: int) -> float:
        total = 0.0
        for k in range(n):
            total = total * 0.5 + a[k % 3]
        return total

    def first(*_: object) -> None:
        raise Told("first")

    def box(*_: object) -> Any:
        raise Told("second")

    f, a = jit(summed), np.ones(3)
    f(a, 10**8)
    before = signal.signal(signal.SIGALRM, first)
    monkeypatch.setattr(frames.FrameReader, "box", box)
    contexts: list[str] = []
    try:
        for k in range(5):  # the signal may come while this call's version is compiled
            if "first" in contexts:
                break
            with pytest.raises(Told) as caught:
                signal.setitimer(signal.ITIMER_REAL, 0.05 * 3**k)
                f(a, 10**10)
            contexts.append(str(caught.value.__cause__))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert "first" in contexts
    assert not interrupts.raised


# ------------------------------------------------------------------ handlers and locks


def test_a_handler_asks_for_threads_where_threads_are_asked_for() -> None:
    with pool._lock:  # as a handler between two instructions finds it
        child = threading.Timer(60, lambda: None)
        child.start()
        try:
            assert pool._lock.acquire(blocking=False)
            pool._lock.release()
            assert npc.get_num_threads() >= 1
        finally:
            child.cancel()


# ------------------------------------------------------------------ memory of machine code


def test_tables_of_draws_outlive_those_who_made_them() -> None:
    """Two threads may make them, and machine code has the addresses of either."""
    tables = draws._tables
    if tables() is None:
        pytest.skip("NumPy's tables are not found here")
    made: list[Any] = []
    counts = []
    try:
        draws._tables = lambda: made.append(tables()) or made[-1]
        draws._drawers.__wrapped__()
        counts.append(sys.getrefcount(made[0]))
        gc.collect()
    finally:
        draws._tables = tables
    assert counts == [3]  # the list's, the argument's, and one that nobody gives back


def test_an_array_is_kept_while_a_loop_reads_it_without_the_gil() -> None:
    """Another thread binds its name anew, and calls the function."""
    table: Any = np.arange(1000.0)

    def looked_up(i: float) -> Any:
        return table[int(i)]

    f, at = npc.vectorize(looked_up), np.arange(3.0)
    assert f(at).tolist() == [0, 1, 2]

    def rebound(k: float) -> None:
        nonlocal table
        table = np.full(1000, k)
        for _ in range(2):
            assert f(at).tolist() == [k] * 3

    gone = weakref.ref(table)
    (variant,) = f._variants.values()
    state = variant.loop.captured.state
    assert state[captured.RUNNING] == 0
    state[captured.RUNNING] += 1  # as the loop does
    for k in range(1, 4):
        rebound(float(k))
    assert gone() is not None
    state[captured.RUNNING] -= 1
    for k in range(4, 6):
        rebound(float(k))
    assert gone() is None


# ------------------------------------------------------------------ deterministic modes


class Listener:
    """Is told of modes, and lets another thread run meanwhile."""

    def __init__(self, work: Callable[[], Any] = lambda: None) -> None:
        self.work, self.told = work, 0

    def modes_changed(self) -> None:
        self.told += 1
        self.work()


def test_a_block_begins_when_all_have_heard_of_it() -> None:
    """The second thread's block finds functions that the first one has not told yet."""
    modes = config._Modes()
    last = Listener()
    heard = []

    def second() -> None:
        first.work = lambda: None
        modes.change(1)
        heard.append(last.told)

    first = Listener(lambda: elsewhere(second))
    modes.listen(first)
    modes.listen(last)
    modes.change(1)
    assert heard == [1]


def test_calls_are_not_forwarded_in_a_block_that_has_just_begun(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = Forwarder(lambda x: x, lambda *_: None)  # type: ignore[arg-type]
    answers = iter([False, True])
    monkeypatch.setattr(
        "npcompile.runtime.versions.forwarding.modes",
        SimpleNamespace(__bool__=None), raising=True)

    class Begins:
        def __bool__(self) -> bool:
            return next(answers)

    monkeypatch.setattr("npcompile.runtime.versions.forwarding.modes", Begins())
    made._grant(5, 0.0, 1.0, False)
    assert made.left == 0


def test_living_things_are_not_lost_while_others_are_dropped() -> None:
    things: Living[Any] = Living()
    kept = []

    class Thing:
        """Something that can be referred to."""

    def late() -> None:
        if len(kept) < 100:
            kept.append(Thing())
            things._most = 10**6
            things.add(kept[-1])  # as another thread does

    class Late(dict[int, Any]):
        def items(self) -> Any:
            found = list(super().items())
            late()
            return found

        def values(self) -> Any:
            found = list(super().values())
            late()
            return found

    things._found = Late()
    things._most = 2
    others = [Thing() for _ in range(3)]
    for thing in others:
        things.add(thing)
    kept.append(Thing())
    things.add(kept[-1])
    assert set(map(id, kept)) <= set(map(id, things))


# ------------------------------------------------------------------ errors that are reported


def test_loops_are_the_librarys_while_any_thread_has_errors_reported() -> None:
    """A thread that stops reporting tells of it after another one has begun."""
    x = np.array([0.5, 0.7])
    npc.special.gammaln(x)
    reported = ufuncs.reported
    before = list(reported._listeners)
    entered, over = threading.Event(), threading.Event()

    def other() -> None:
        with scipy.special.errstate(all="raise"):
            entered.set()
            over.wait(60)

    thread = threading.Thread(target=other)

    def meanwhile() -> None:
        if not entered.is_set() and not reported:
            thread.start()
            entered.wait(60)

    reported._listeners.insert(0, meanwhile)
    try:
        with scipy.special.errstate(all="raise"):
            pass
        assert entered.is_set()
        with pytest.raises(scipy.special.SpecialFunctionError):
            elsewhere_in_errstate(lambda: npc.special.gammaln(np.array([-1.0])))
    finally:
        over.set()
        thread.join()
        reported._listeners[:] = before


def elsewhere_in_errstate(work: Callable[[], Any]) -> Any:
    """Some work on a thread whose errors are reported, which nobody is told of."""
    def run() -> Any:
        from scipy.special import _ufuncs

        _ufuncs.seterr.__wrapped__(singular="raise")
        return work()

    return elsewhere(run)


def test_an_eager_function_has_the_same_bits_while_it_is_compiled() -> None:
    """Another thread's call waits for the loop: the library's would have other last bits."""
    op = record.OPERATORS["exp"]
    x = np.linspace(-20.0, 20.0, 4001)
    for _ in range(3):
        made = ufuncs.ufunc(op)
        first, second = together(lambda made=made: made(x), lambda made=made: made(x))
        np.testing.assert_array_equal(first, second)
        np.testing.assert_array_equal(first, made(x))


# ------------------------------------------------------------------ tables that others change


def test_what_is_compiled_after_graph_breaks_is_asked_while_it_grows() -> None:
    made = regions.Continuations(below, config.Config(), None)  # type: ignore[arg-type]
    table = made.continuations

    def exact() -> bool:
        table[len(table)] = SimpleNamespace(exact=exact)  # type: ignore[index, assignment]
        return True

    table[0] = SimpleNamespace(exact=exact)  # type: ignore[index, assignment]
    versions = SimpleNamespace(regions=made)
    from npcompile.runtime.versions.exits import Exits

    assert Exits.exact.fget(versions) is True  # type: ignore[attr-defined]


def test_a_code_object_is_analysed_by_several_threads() -> None:
    code = compile("a = 1\nb = 2\n", "<twice>", "exec")
    bytecode.analyse(code)
    known = bytecode._KNOWN[code]
    with at_calls("<genexpr>", lambda: known.setdefault(len(known) + 10**6, known[None])):
        assert bytecode.analyse(code, 0) is known[0]


def test_a_stale_loop_is_dropped_by_two_threads() -> None:
    factor: float = 2.0

    def scaled(x: float) -> float:
        return x * factor

    f, x = npc.vectorize(scaled), np.arange(3.0)
    assert f(x).tolist() == [0, 2, 4]
    factor = 3
    dropped = []
    with at_calls("stands", lambda: dropped.append(f._known.clear())):
        assert f(x).tolist() == [0, 3, 6]
    assert dropped


def test_variants_are_looked_through_while_others_are_made() -> None:
    def scaled(x: float) -> float:
        return x * 2

    f = npc.vectorize(scaled)
    f(np.arange(3.0))
    ((name, variant),) = f._variants.items()
    kinds = 0

    def more() -> None:
        nonlocal kinds
        kinds += 1
        f._variants[name[0], (kinds,)] = variant

    more()
    with at_calls("__eq__", more):
        assert f(np.arange(3, dtype=np.float32)).dtype == np.float32
    with at_calls("<genexpr>", more):
        assert f.explain() and f.types
    assert kinds > 1


def test_an_operator_is_known_to_who_looks_while_another_thread_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(record, "_BY_IDENTITY", {})
    found: list[Any] = []

    class Seen(set[str]):
        def add(self, alias: str) -> None:
            super().add(alias)
            if not found and alias == "numpy:exp":
                found.append(record.resolve(np.exp))

    monkeypatch.setattr(record, "_SEEN_ALIASES", Seen())
    assert record.resolve(np.exp) is record.OPERATORS["exp"]
    assert found in ([], [record.OPERATORS["exp"]])


def test_versions_are_all_there_while_one_is_preferred() -> None:
    made = Versions(SimpleNamespace(lock=threading.RLock()))  # type: ignore[arg-type]
    first, second = object(), object()
    made.found = [first, second]  # type: ignore[list-item]
    seen = []

    class Watched(list[Any]):
        def sort(self, **how: Any) -> None:
            key = how["key"]
            super().sort(key=lambda v: (seen.append(len(made.found)), key(v))[1])

    made.found = Watched(made.found)
    made.prefer(second)  # type: ignore[arg-type]
    assert made.found == [second, first] and set(seen) <= {2}


def test_the_target_of_profiled_calls_is_there_before_a_gate_may_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Profiled(list[Any]):
        def append(self, python: Any) -> None:
            assert gates._target[0] == id(python)
            super().append(python)

    monkeypatch.setattr(gates, "_profiled", Profiled())
    before = gates._target[0]
    try:
        gates.profile_with(together)
    finally:
        gates._target[0] = before


def test_each_thread_knows_what_its_own_runs_have_done() -> None:
    """Another thread's look does not hide that this one has drawn numbers."""
    trace: Any = SimpleNamespace(marked=True)
    version = Version(trace, None, None, True, lasting=True)  # type: ignore[arg-type]
    assert not version.lasts()
    effects.happened()
    elsewhere(version.lasts)
    assert version.lasts()
    assert not version.lasts()
