"""Many random numbers at once: NumPy's stream to the bit, and its generator afterwards."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from npcompile.runtime.random import draws

METHODS: list[tuple[Callable[..., Any], str, tuple[float, ...]]] = [
    (draws._random, "random", ()),
    (draws._standard_normal, "standard_normal", ()),
    (draws._uniform_between, "uniform", (-2, 0.5)),
    (draws._normal, "normal", (3, 1e-3)),
]


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LEAST", "LEAST_OTHERS", "WORTH"):
        monkeypatch.setattr(draws, name, 1)


def test_this_numpy_is_known() -> None:
    assert draws._drawers() is not None


@pytest.mark.parametrize("at", range(len(METHODS)))
def test_same_bits_and_state(at: int) -> None:
    quick, name, given = METHODS[at]
    for seed, size in enumerate([1, 2, 3, 4, 5, 8, 1001, (7, 3), (2, 0, 3)]):
        ours, other = (np.random.default_rng(seed) for _ in "ab")
        for rng in (ours, other):
            rng.integers(9, dtype=np.uint32)  # keeps half a word
        got, want = quick(ours, *given, size=size), getattr(other, name)(*given, size=size)
        if want.size:
            assert got.tobytes() == want.tobytes()
            assert got.shape == want.shape
            assert got.dtype == want.dtype
        assert ours.bit_generator.state == other.bit_generator.state


SMALL = [(0, 2), (-3, 9), (5, 1000), (0, (1 << 31) - 1), (-(1 << 31), 1 << 30)]
LARGE = [(7, 7 + (3 << 30)), (1 << 40, (1 << 40) + 77), (-(1 << 63), 5 - (1 << 63))]


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
def test_integers(dtype: type) -> None:
    """Any count, whether or not half a word is kept, and where many products are refused."""
    ours, other = (np.random.default_rng(8) for _ in "ab")
    for low, high in SMALL + LARGE * (dtype is np.int64):
        for size in [*range(1, 20), 3, (7, 11), 400, (2, 0)]:
            got, want = draws._integers(ours, low, high, size, dtype), other.integers(
                low, high, size, dtype)
            if want.size:
                assert got.dtype == want.dtype
                assert got.shape == want.shape
                assert got.tobytes() == want.tobytes()
            assert ours.bit_generator.state == other.bit_generator.state
        assert draws._integers(ours, low, high - 1, 5, dtype, True).tobytes() == other.integers(
            low, high - 1, 5, dtype, True).tobytes()


def test_the_tail() -> None:
    """A layer in 256, and once in 3,700 the tail beyond it."""
    ours, other = (np.random.default_rng(11) for _ in "ab")
    got, want = draws._standard_normal(ours, 300_000), other.standard_normal(300_000)
    assert got.tobytes() == want.tobytes()
    assert np.abs(want).max() > 4


@pytest.mark.parametrize("rng", [
    np.random.Generator(np.random.MT19937(3)), np.random.Generator(np.random.PCG64DXSM(3)),
    np.random.RandomState(3),
])
def test_others_are_asked(rng: Any) -> None:
    assert draws._random(rng, 9) is None
    assert draws._normal(rng, 0.0, 1.0, 9) is None


def test_arguments_that_numpy_checks() -> None:
    rng = np.random.default_rng(1)
    for size in (None, -1, 2.0, True, [3], np.int64(3), (3, -1)):
        assert draws._random(rng, size) is None
        assert draws._standard_normal(rng, size) is None
    for scale in (-1.0, -0.0, np.nan, np.inf, np.ones(9), "1"):
        assert draws._normal(rng, 0.0, scale, 9) is None
    for low, high in ((1.0, 0.0), (0.0, np.inf), (np.nan, 1.0), (-1e308, 1e308), ("", 1)):
        assert draws._uniform_between(rng, low, high, 9) is None
    for integers in ((3, 3), (3, 4), (4, 3), (0, 1 << 32), (0.0, 3), (True, 9), (np.int64(2), 9),
                     (0, 1 << 64), (-(1 << 63) - 1, 5), ([1], 9), (0, 3.0)):
        assert draws._integers(rng, *integers, size=9) is None
    for dtype in (np.uint8, np.int16, np.uint64, bool, ">i8", float):
        assert draws._integers(rng, 0, 2, 9, dtype) is None
    for given in ((np.ones((3, 3)), 9), ([1, 2], 9), (np.ones(0), 9), (0, 9), (5, 3, False),
                  (5, 3, True, np.ones(5) / 5), (True, 9), (np.ma.ones(5), 9)):
        assert draws._choice(rng, *given) is None
    assert draws._random(rng, 9, np.float32) is None
    assert draws._standard_normal(rng, 9, out=np.empty(9)) is None
    assert rng.bit_generator.state == np.random.default_rng(1).bit_generator.state


def walk(rng: Any, n: int, turns: int) -> Any:
    total, seen = np.zeros(n), []
    for _ in range(turns):
        total += rng.standard_normal(n) * rng.random()
        total -= rng.normal(0.5, 2.0, (n,)) / rng.uniform(1, 2, size=n)
        total += total[rng.integers(n, size=n)] + rng.choice(total, n) * rng.choice(9, (n,))
        seen.append(int(rng.integers(0, 5, n - 1, dtype=np.int32).sum() + rng.integers(3)))
    return total, rng.random((n, 2)).mean(), seen


def test_in_a_program() -> None:
    compiled = jit(walk)
    for seed in range(3):
        ours, other = (np.random.default_rng(seed) for _ in "ab")
        got, want = compiled(ours, 2000, 3), walk(other, 2000, 3)
        assert (got[0] == want[0]).all()
        assert got[1:] == want[1:]
        assert ours.bit_generator.state == other.bit_generator.state


def test_errors_are_numpys() -> None:
    def bad(rng: Any, scale: float) -> Any:
        return rng.normal(0.0, scale, 5000).sum()

    for function in (jit(bad), bad):
        assert np.isfinite(function(np.random.default_rng(2), 1.0))
        with pytest.raises(ValueError, match="scale < 0") as caught:
            function(np.random.default_rng(2), -1.0)
        assert "bad" in [entry.name for entry in caught.traceback]


# ------------------------------------------------------------------ one number at a time


def singles(rng: Any, n: int, low: Any, high: Any, least: Any, most: Any) -> Any:
    seen, total = np.zeros(n), 0
    for i in range(n):
        seen[i] = rng.random() + rng.normal() * rng.uniform(low, high)
        seen[i] -= rng.standard_normal() + rng.normal(low, scale=high) + rng.normal(scale=3)
        seen[i] *= rng.uniform(high=high) + rng.uniform() + rng.uniform(low)
        total += int(rng.integers(least, most)) + rng.integers(high=7, low=-2) + rng.integers(most)
        if total % 3 == 0:
            total += rng.integers(1 << 40) % 5 + rng.integers(0, 9, endpoint=True)
            seen[i] += rng.exponential() + rng.integers(3, dtype=np.uint8)
    return seen, total, rng.random(3)


GENERATORS: list[Callable[[], Any]] = [
    lambda: np.random.default_rng(5), lambda: np.random.Generator(np.random.MT19937(5)),
    lambda: np.random.Generator(np.random.PCG64DXSM(5)), lambda: Other(np.random.PCG64(5)),
]


class Other(np.random.Generator):
    """Its methods are NumPy's, its class is not."""


def plain_state(rng: Any) -> str:
    return repr(rng.bit_generator.state)


@pytest.mark.parametrize("make", GENERATORS)
def test_one_number(make: Callable[[], Any]) -> None:
    compiled = jit(singles)
    floats = np.float64(-7.5), np.float64(0.125)
    for given in ((-1.0, 2.0, -3, 9), (0, 2, 0, 1 << 31), (*floats, 0, 2),
                  (1e-310, 2e-310, np.int64(4), np.int64(5)), (-1e150, 1e150, 0, (1 << 32) - 1),
                  (0.0, 1.0, 0, 1 << 32)):
        ours, other = make(), make()
        got, want = compiled(ours, 100, *given), singles(other, 100, *given)
        assert got[0].tobytes() == want[0].tobytes()
        assert (got[1], type(got[1])) == (want[1], type(want[1]))
        assert (got[2] == want[2]).all()
        assert plain_state(ours) == plain_state(other)


def test_no_call_of_pythons() -> None:
    """Two thousand draws: a method's call would be told to a profiler, in both ways of running."""
    def sums(rng: Any, n: int) -> Any:
        total = 0.0
        for _ in range(n):
            total += rng.random() + rng.normal(0.5, 2.0) + rng.uniform(-1, 1) * rng.integers(2, 8)
        return total

    compiled, called = jit(sums), []
    compiled(np.random.default_rng(1), 3)
    ours = np.random.default_rng(2)
    sys.setprofile(lambda frame, event, what: called.append(what) if event == "c_call" else None)
    try:
        got = compiled(ours, 500)
    finally:
        sys.setprofile(None)
    assert got == sums(np.random.default_rng(2), 500)
    assert not [what for what in called if "Generator" in str(what)]


def test_a_lock_that_is_held() -> None:
    """Where a lock is held NumPy waits for it; whoever holds it may draw."""
    compiled = jit(singles)
    given = (-1.0, 2.0, -3, 9)
    compiled(np.random.default_rng(3), 5, *given)
    ours, other = np.random.default_rng(4), np.random.default_rng(4)
    with ours.bit_generator.lock:
        waiting = threading.Thread(target=compiled, args=(ours, 5, *given))
        waiting.start()
        waiting.join(0.05)
        assert waiting.is_alive()
        assert plain_state(ours) == plain_state(other)
    waiting.join()
    singles(other, 5, *given)
    assert plain_state(ours) == plain_state(other)


@pytest.mark.parametrize("given", [
    (2.0, -1.0, 0, 5), (-1e308, 1e308, 0, 5), (0.0, 1.0, 5, 5), (float("nan"), 1.0, 0, 5),
    (0.0, 1.0, 0, -1),
])
def test_wrong_parameters(given: Any) -> None:
    compiled = jit(singles)
    compiled(np.random.default_rng(3), 5, -1.0, 2.0, -3, 9)
    ours, other = np.random.default_rng(4), np.random.default_rng(4)
    with pytest.raises((ValueError, OverflowError)) as want:
        singles(other, 5, *given)
    with np.errstate(all="raise"), pytest.raises(type(want.value)) as got:
        compiled(ours, 5, *given)
    assert str(got.value) == str(want.value)
    assert plain_state(ours) == plain_state(other)


def test_calls_in_programs_are_drawn_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands for a library's function is called in its place."""
    from npcompile.runtime.versions import fast_calls

    path, sizes = "numpy.random.Generator.standard_normal", []

    def counted(rng: Any, size: Any) -> Any:
        sizes.append(size)
        return draws.FUNCTIONS[path](rng, size)

    monkeypatch.setitem(fast_calls.FUNCTIONS, path, counted)
    compiled = jit(lambda rng, n: rng.standard_normal((n, 5)).sum(), cache=False)
    plain, mine = np.random.default_rng(3), np.random.default_rng(3)
    for _ in range(2):
        assert compiled(mine, 400) == plain.standard_normal((400, 5)).sum()
    assert sizes == [(400, 5)] * 2
