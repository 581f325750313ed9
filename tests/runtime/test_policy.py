"""When calls are left to Python: after how many, and which come back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import npcompile
from npcompile import jit
from npcompile.runtime.versions.forwarding import BLIND
from npcompile.runtime.versions.policy import IDLE_LIMIT, LITTLE
from npcompile.runtime.versions.tiering import COMPARED, DEBT, TIMED, WARM, TierProfile
from npcompile.runtime.versions.version import EXITS

X = np.linspace(0.0, 6.0, 50)


class Artist:
    """What a plot is drawn with."""

    def set_data(self, x: Any, y: Any) -> None:
        self.xy = x, y


LINE = Artist()


def update(frame: int) -> Any:
    LINE.set_data(X, np.sin(X + frame))
    return (LINE,)


def unknown(value: Any) -> Any:
    return eval("value * 2", {"value": value})


def waves(n: int) -> Any:
    a = np.sin(np.linspace(0.0, 1.0, n))
    for k in range(2):
        b = unknown(k)
        a = np.exp(-a) * b
    return a


def compiled_calls(function: Any, calls: Callable[[int], tuple[Any, ...]], count: int) -> int:
    """How many of so many calls were not Python's; all give what Python gives."""
    plain = function.__wrapped__
    before = function.cache_info().fallbacks
    for k in range(count):
        got, want = function(*calls(k)), plain(*calls(k))
        assert type(got) is type(want)
        if isinstance(want, np.ndarray):
            assert np.allclose(got, want, rtol=1e-14)
    return int(count - function.cache_info().fallbacks + before)


def test_little_work_that_python_looks_at() -> None:
    """It has other bits: no clock decides, the second such call is the last."""
    f = jit(update, cache=False)
    assert compiled_calls(f, lambda k: (k % 7,), 100) == IDLE_LIMIT
    assert LITTLE.reason in str(f.explain())


def test_little_work_between_graph_breaks() -> None:
    f = jit(waves, cache=False)
    assert compiled_calls(f, lambda k: (30 + k % 5,), 60) == IDLE_LIMIT


def test_much_work_between_graph_breaks_comes_back() -> None:
    f = jit(waves, cache=False)
    assert compiled_calls(f, lambda k: (20,), 200) == IDLE_LIMIT
    many = compiled_calls(f, lambda k: (20_000,), 2 * BLIND)
    assert many > BLIND // 2  # at most so many are forwarded before one is looked at
    assert compiled_calls(f, lambda k: (20,), 200) == 0


def test_short_calls_before_long_ones_are_no_measure() -> None:
    """The version was made for arguments that do little, and serves those that do much."""
    f = jit(waves, cache=False)
    compiled_calls(f, lambda k: (20,), 1)
    assert compiled_calls(f, lambda k: (20_000,), 20) == 20


def test_nothing_is_given_up_in_a_deterministic_mode() -> None:
    def f(x: Any) -> Any:
        return {"a": np.sin(x["a"])}

    compiled = jit(f, cache=False)
    with npcompile.deterministic(True):
        for _ in range(2 * WARM + TIMED):
            assert np.allclose(compiled({"a": X})["a"], np.sin(X), rtol=1e-14)
    assert compiled.cache_info().fallbacks == 0


def test_bits_depend_on_no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls that are Python's and those that are not are the same ones, however long they take."""
    def served(function: Any) -> list[bool]:
        found = []
        for k in range(700):
            before = f.cache_info().fallbacks
            function(20 if k % 350 < 300 else 20_000)
            found.append(f.cache_info().fallbacks > before)
        return found

    f = jit(waves, cache=False)
    first = served(f)
    ticks = iter(range(10**9))
    home = "npcompile.runtime.versions"
    for module in ("dispatch", "forwarding", "regions"):
        monkeypatch.setattr(f"{home}.{module}.perf_counter", lambda: 7.0 * next(ticks))
    for module in ("dispatch", "forwarding"):
        monkeypatch.setattr(f"{home}.{module}.thread_time", lambda: 5.0 * next(ticks))
    f = jit(waves, cache=False)
    assert served(f) == first
    assert any(first) and not all(first)


class Network:
    """Reads one element of its lists in a call."""

    def __init__(self) -> None:
        self.costs, self.signs = list(range(100)), [k % 3 for k in range(100)]

    @jit
    def cost(self, k: int) -> int:
        return self.costs[k] if self.signs[k] else -self.costs[k]


def test_versions_whose_guards_fail_again_and_again() -> None:
    held, plain = Network(), Network.cost.__wrapped__
    for k in range(3000):
        held.costs[k % 7] += 1
        assert held.cost(k % 100) == plain(held, k % 100)
    forwarder = Network.cost._dispatcher.left.forwarder
    assert Network.cost.cache_info().fallbacks > 2000
    assert forwarder.left > 0


def test_a_clock_decides_once_calls_owe_too_much() -> None:
    trial = TierProfile()
    turns = []
    for _ in range(20):
        turns.append(trial.in_python())
        if trial.lost or trial.won:
            break
        seconds = 0.001 if turns[-1] else 0.03
        trial.note(turns[-1], seconds, seconds)
    assert trial.lost
    assert turns[:3] == [False, False, True]  # 60 ms are more than DEBT
    assert 0.03 < DEBT < 0.06


def test_exits_are_tried_more_than_once() -> None:
    @jit(cache=False)
    def f(n: int) -> int:
        a, b = 0, 1
        for _ in range(n):
            a, b = b, a + b
        return a

    plain = f.__wrapped__
    for _ in range(EXITS):
        assert f(100) == plain(100)  # wider than 64 bits
    (version,) = f._dispatcher.versions
    assert version.trial is not None
    assert version.patience == 2 * EXITS
    for _ in range(WARM + TIMED):
        assert f(100) == plain(100)
    assert version.trial is None or version.trial.lost
    assert f._dispatcher.fallbacks[COMPARED] > 0
