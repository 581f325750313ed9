"""Checks of what the arguments' numbers decide come first, and Python's exceptions stay."""

import numpy as np
import pytest

import npcompile
from npcompile.program.ir import For, If, SideExit, While


def checks(statements):
    """(at the front, in loops and arms)"""
    inner = [s for s in statements if isinstance(s, (For, While, If))]
    inside = 0
    for s in inner:
        for block in (s.then, s.orelse) if isinstance(s, If) else (s.body,):
            inside += sum(checks(block))
    return sum(isinstance(s, SideExit) for s in statements), inside


def smooth(u, steps, d):
    for _ in range(steps):
        old = u.copy()
        u[1:-1] = old[1:-1] + (old[2:] - old[:-2]) * (1 / d**2)
    return u


def either(u, steps, speed, d):
    for _ in range(steps):
        u += 1.0
        if speed > 0:
            u[1:] -= speed / d * u[:-1]
        else:
            u[:-1] -= speed / d * u[1:]


def one_arm(u, steps, d):
    for _ in range(steps):
        u += 1.0
        if d != 0.0:
            u /= 1.0 / d


@pytest.mark.parametrize(("function", "numbers"), [(smooth, (3, 0.5)), (either, (3, -1.0, 0.5))])
def test_checks_leave_loops(function, numbers):
    compiled = npcompile.jit(function)
    program = compiled.lower(np.ones(9), *numbers).executable.program
    front, inside = checks(program.body)
    assert front > 0 and inside == 0
    a, b = np.arange(9.0), np.arange(9.0)
    compiled(a, *numbers)
    function(b, *numbers)
    assert np.array_equal(a, b)


@pytest.mark.parametrize(("function", "numbers"), [(smooth, (3, 0.0)), (either, (3, 1.0, 0.0))])
def test_division_by_zero(function, numbers):
    """Raised where Python raises it, after what was changed before."""
    compiled = npcompile.jit(function)
    compiled(np.arange(9.0), 1, *(0.5 for _ in numbers[1:]))
    a, b = np.arange(9.0), np.arange(9.0)
    lines = []
    for run, u in ((compiled, a), (function, b)):
        with pytest.raises(ZeroDivisionError) as caught:
            run(u, *numbers)
        lines.append(caught.traceback[-1].lineno)
    assert np.array_equal(a, b) and lines[0] == lines[1]


def test_zero_that_is_guarded_stays_compiled():
    compiled = npcompile.jit(one_arm)
    for d in (0.5, 0.0):
        a, b = np.arange(9.0), np.arange(9.0)
        compiled(a, 3, d)
        one_arm(b, 3, d)
        assert np.array_equal(a, b)
    assert compiled.cache_info()[2] == 0
