"""The corpus: every program gives what NumPy gives, and most are captured whole."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from benchmarks.programs import PROGRAMS, Program
from benchmarks.programs.compare import difference
from npcompile import CompileError, jit
from tests.support import oracle

#: programs that are compiled from end to end; this number only rises
CAPTURED = 153


def called(function: Callable[..., Any], program: Program, size: int, seed: int) -> Any:
    """The result and the arguments afterwards."""
    args = program.arguments(size, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return function(*args), args


@pytest.mark.parametrize("name", PROGRAMS)
def test_equals_numpy(name: str) -> None:
    program = PROGRAMS[name]
    compiled = jit(program.function)
    for size, seed in ((program.small, 1), (program.small + 1, 2), (program.small, 3)):
        got = called(compiled, program, size, seed)
        want = called(program.function, program, size, seed)
        assert not difference(got, want, program.exact)
        if program.exact:
            oracle.check(got, want)


def captured(program: Program) -> bool:
    try:
        jit(program.function, fullgraph=True)(*program.arguments(program.small))
    except CompileError:
        return False
    return True


def test_captured_whole() -> None:
    left = [name for name, program in PROGRAMS.items() if not captured(program)]
    assert len(PROGRAMS) - len(left) >= CAPTURED, f"in Python: {', '.join(left)}"


def test_arguments_are_the_same_for_a_seed() -> None:
    for program in PROGRAMS.values():
        first, again = (program.arguments(program.small) for _ in range(2))
        assert not difference(first, again, exact=True)


def test_topics_and_size() -> None:
    assert len(PROGRAMS) >= 60
    assert len({program.topic for program in PROGRAMS.values()}) >= 10
    assert np.sum([program.scalar for program in PROGRAMS.values()]) >= 30
