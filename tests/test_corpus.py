"""The corpus: every program gives what NumPy gives, and most are captured whole."""

from __future__ import annotations

import types
import warnings

import numpy as np
import pytest

from benchmarks.programs import PROGRAMS, Program
from npcompile import CompileError, jit

#: programs that are compiled from end to end; this number only rises
CAPTURED = 0
RTOL = 1e-10


def same(got: object, want: object, exact: bool) -> None:
    """Asserts that two values are equal, with their types."""
    assert type(got) is type(want), f"{type(got)} for {type(want)}"
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for a, b in zip(got, want):
            same(a, b, exact)
    elif isinstance(want, np.random.Generator):
        same(got.random(4), want.random(4), True)
    elif isinstance(want, types.FunctionType):
        assert got is want
    elif isinstance(want, (np.ndarray, np.generic)):
        assert got.dtype == want.dtype and got.shape == want.shape
        if exact or want.dtype.kind not in "fc":
            assert got.tobytes() == want.tobytes(), np.max(np.abs(got * 1.0 - want))
        else:
            scale = RTOL * np.max(np.abs(want), initial=0.0, where=np.isfinite(want))
            np.testing.assert_allclose(got, want, rtol=RTOL, atol=scale)
    elif isinstance(want, float) and not exact:
        assert got == pytest.approx(want, rel=RTOL)
    else:
        assert got == want


def outcome(function, program: Program, size: int, seed: int) -> tuple[object, tuple]:
    """The result and the arguments afterwards."""
    args = program.arguments(size, seed)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("error")
        return function(*args), args


@pytest.mark.parametrize("name", PROGRAMS)
def test_equals_numpy(name: str) -> None:
    program = PROGRAMS[name]
    compiled = jit(program.function)
    for size, seed in ((program.small, 1), (program.small + 1, 2)):
        got = outcome(compiled, program, size, seed)
        want = outcome(program.function, program, size, seed)
        same(got, want, program.exact)


def captured(program: Program) -> bool:
    try:
        jit(program.function, fullgraph=True)(*program.arguments(program.small))
    except CompileError:
        return False
    return True


def test_captured_whole() -> None:
    left = [name for name, program in PROGRAMS.items() if not captured(program)]
    assert len(PROGRAMS) - len(left) >= CAPTURED, f"in Python: {', '.join(left)}"


def test_topics_and_size() -> None:
    assert len(PROGRAMS) >= 60
    assert len({program.topic for program in PROGRAMS.values()}) >= 10
