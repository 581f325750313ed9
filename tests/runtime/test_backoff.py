"""Calls that Python runs again, one after the other, are left to it for a while."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import npcompile
from npcompile import jit
from npcompile.runtime.versions.backoff import FEW, ROW, SHORT, Backoff
from tests.support import oracle


def several(a: Any, b: Any) -> Any:
    """Flags don't say which of its operations finds an invalid value."""
    return np.log(a / b) * np.exp(a) + b


def in_place(a: Any, b: Any) -> Any:
    a /= b
    a *= np.log(a)
    return a.sum()


def raises(a: Any, b: Any) -> Any:
    if a[0] == 0:
        raise ValueError("zero")
    return np.exp(a) / b


QUIET, LOUD = np.array([1.5, 1.25, 1.75]), np.array([0.0, 1.25, 1.75])


def left(function: Any) -> int:
    """How many calls of a function were Python's for that reason."""
    return int(function._dispatcher.fallbacks[Backoff.why])


@pytest.mark.parametrize("action", ["default", "always", "error"])
@pytest.mark.parametrize("function", [several, in_place, raises])
def test_calls_that_run_again(function: Any, action: Any) -> None:
    compiled = jit(function)
    with warnings.catch_warnings():
        warnings.simplefilter(action)
        for _ in range(3):
            for values, count in ((LOUD, 150), (QUIET, 3)):
                for _ in range(count):
                    oracle.check_calls(compiled, function, values.copy(), values.copy(),
                                       close=(1e-14, 0.0), warnings="all")
    assert left(compiled) > 300


def test_a_call_that_stays_ends_it() -> None:
    compiled = jit(in_place)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", RuntimeWarning)
        warnings.showwarning = lambda *_, **__: None
        while not left(compiled):
            compiled(LOUD.copy(), LOUD)
    for _ in range(SHORT):
        compiled(QUIET.copy(), QUIET)
    (version,) = compiled._dispatcher.versions
    before = left(compiled)
    assert before <= SHORT
    assert version.watched is None
    assert version in compiled._dispatcher.installable(False)
    for _ in range(100):
        compiled(QUIET.copy(), QUIET)
    assert left(compiled) == before


def test_deterministic_modes_give_up_nothing() -> None:
    with warnings.catch_warnings(), npcompile.deterministic():
        warnings.simplefilter("always")
        warnings.showwarning = lambda *_, **__: None
        compiled = jit(several)
        for _ in range(100):
            compiled(LOUD, QUIET)
    assert not left(compiled)


def calls(kinds: str) -> tuple[Backoff, str]:
    """A version's calls that run again (``x``) or do not, and how they went: Python's are ``p``."""
    backoff, python, told = Backoff(), 0, ""
    for kind in kinds:
        if backoff.watching and backoff.rests(python):
            python, told = python + 1, told + "p"
        elif kind == "x":
            backoff.ran_again(python)
            told += "x"
        else:
            if backoff.watching:
                backoff.stayed()
            told += "."
    return backoff, told


def test_python_takes_twice_as_many_each_time() -> None:
    first = FEW + ROW
    _, told = calls("x" * (first + SHORT + 1 + 2 * SHORT + 1 + 4 * SHORT + 1))
    assert told == "x" * first + "p" * SHORT + "x" + "p" * 2 * SHORT + "x" + "p" * 4 * SHORT + "x"


def test_a_call_that_stays_makes_it_more_patient() -> None:
    backoff, told = calls("x" * (FEW + ROW) + "." * (SHORT + 1) + "x" * 2 * FEW)
    assert told == "x" * (FEW + ROW) + "p" * SHORT + "." + "x" * 2 * FEW
    assert backoff.watching
    backoff, told = calls("x." * 200)
    assert "p" not in told


def test_few_calls_of_many_cost_nothing() -> None:
    _, told = calls(("x" + "." * 20) * 500)
    assert "p" not in told
