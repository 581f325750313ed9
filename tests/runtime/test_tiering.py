"""Calls that Python is faster at are left to it, once that has been found out."""

import math

import numpy as np
import pytest

from npcompile import jit
from npcompile.runtime.versions.tiering import FASTER, MORE, TIMED, WARM, TierProfile
from npcompile.runtime.versions.version import EXITS

X = np.arange(4.0)


class Thing:
    def __init__(self):
        self.k, self.x = 2.0, np.arange(4.0)

    @jit
    def get(self):
        return {"k": self.k}

    @jit
    def scaled(self, x):
        return self.x * x + self.k

    @jit
    def rooted(self, x):
        return np.exp(self.x) + x


def run(compiled, python, calls=100):
    """A trial with calls that take so long in either way, and which were Python's."""
    trial, turns = TierProfile(), []
    for _ in range(calls):
        turns.append(trial.in_python())
        seconds = python if turns[-1] else compiled
        trial.note(turns[-1], seconds, seconds)
        if trial.won:
            break
    return trial, turns


def test_python_wins():
    trial, turns = run(compiled=3e-6, python=1e-6)
    assert trial.lost
    assert not any(turns[:WARM])
    assert sum(turns[: WARM + TIMED]) == TIMED // 2
    assert all(turns[WARM + TIMED :])


def test_compiled_code_wins():
    # a little slower is not enough; what may be noise is timed for longer
    for compiled, times in ((1e-6, 1), (1.9e-6, 1), (2.1e-6, MORE), (2.9e-6, MORE)):
        trial, turns = run(compiled, python=3e-6, calls=WARM + MORE * TIMED)
        assert trial.won
        assert len(turns) == WARM + times * TIMED


def test_noise_decides_nothing():
    """A short call that Python was slow at in the first rounds only."""
    trial = TierProfile()
    while not (trial.won or trial.lost):
        python = trial.in_python()
        late = trial.iteration > WARM + TIMED
        seconds = (0.9e-6 if late else 1.2e-6) if python else 1e-6
        trial.note(python, seconds, seconds)
    assert trial.lost


def test_one_long_call_in_python_is_enough():
    trial, turns = run(compiled=1e-5, python=1.0)
    assert trial.won
    assert sum(turns) == 1


def test_longer_calls_are_tried_anew():
    trial, _ = run(compiled=3e-6, python=1e-6)
    trial.note(trial.in_python(), 1e-3, 1e-3)
    assert not trial.lost
    assert not trial.in_python()


def test_short_calls_are_left_to_python():
    thing, plain = Thing(), Thing.get.__wrapped__
    for k in range(400):
        thing.k = float(k)
        assert thing.get() == plain(thing)
    assert Thing.get._dispatcher.fallbacks[FASTER] > 200
    assert FASTER in str(Thing.get.explain())


def test_roots_of_floats_are_exact():
    @jit
    def divisor(n):
        for k in range(2, int(math.sqrt(n)) + 1):
            if n % k == 0:
                for found in {k, n // k}:
                    return found
        return None

    plain = divisor.__wrapped__
    for n in range(4, 400):
        assert divisor(n) == plain(n)
    assert divisor._dispatcher.exact()


def test_calls_that_leave_compiled_code():
    @jit
    def fibonacci(n):
        a, b = 0, 1
        for _ in range(n):
            a, b = b, a + b
        return a

    plain = fibonacci.__wrapped__
    for _ in range(EXITS):
        assert fibonacci(100) == plain(100)  # wider than 64 bits
    (version,) = fibonacci._dispatcher.versions
    assert version.exits.total() == EXITS
    assert version.trial is not None
    for n in (100, 90, 120) * (WARM + TIMED):
        assert fibonacci(n) == plain(n)


def test_calls_that_raise():
    @jit
    def root(x):
        if x < 0:
            raise ValueError("negative")
        return math.sqrt(x)

    assert root(4.0) == 2.0
    for _ in range(EXITS + 2 * (WARM + TIMED)):
        with pytest.raises(ValueError, match="negative"):
            root(-1.0)
    assert root._dispatcher.fallbacks[FASTER] > WARM + TIMED
    assert root(9.0) == 3.0


def test_sizes_that_change():
    thing, plain = Thing(), Thing.scaled.__wrapped__
    for n in (4, 100_000, 4, 50_000):
        thing.x = np.arange(float(n))
        for _ in range(60):
            x = thing.x + 1
            got = thing.scaled(x)
            assert (got == plain(thing, x)).all()
            assert got.dtype == float


def test_only_what_has_the_same_bits():
    thing = Thing()
    first = thing.rooted(X)
    for _ in range(200):
        assert (thing.rooted(X) == first).all()
    assert not Thing.rooted.cache_info().fallbacks


def test_python_that_was_faster_wins_whatever_lies_between_graph_breaks():
    """Much machine code between two graph breaks is a reason not to try Python, no more."""
    trial = TierProfile(heavy=True)
    while not (trial.won or trial.lost):
        if trial.in_python():
            trial.note(True, 5e-5, 5e-5)
        else:
            trial.note(False, 2.5e-3, 2.5e-3, graph_breaks=20, outside=8e-4)
    assert trial.lost
