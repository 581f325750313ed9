"""Lists from outside that get more items."""

# ruff: noqa: PERF401
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from npcompile import jit
from tests.fuzz import appends
from tests.fuzz.framework import checked
from tests.support import oracle
from tests.support.oracle import alike

A = np.array([0.5, 2.0, 1.0, 3.0])


class Model:
    def __init__(self) -> None:
        self.w, self.losses, self.norms, self.n = np.ones(4), [], [0.25], 0

    def step(self, x):
        loss = ((x - self.w) ** 2).sum()
        self.w -= 0.1 * (self.w - x)
        self.losses.append(loss)
        return loss


HISTORY: list[Any] = []


def trained(model, x, n):
    for _ in range(n):
        model.step(x)
        model.norms.append(float(np.sqrt((model.w**2).sum())))
        model.n += 1
    return model.n


def until(model, x, n):
    """Leaves the loop early; what is appended is of Python's or of NumPy's numbers."""
    k = 0
    for k in range(n):
        if model.step(x) < 0.5:
            model.norms.append(k)
            break
    return k


def once(model, x, n):
    model.losses.append(x.sum())
    model.losses.append(n)
    model.norms.append((n, x * 2))
    model.norms.extend([n, x[0]])
    return model.losses


def to_global(model, x, n):
    for k in range(n):
        HISTORY.append(x[k] * 2)


def states(model, x, n):
    for k in range(n):
        model.norms.append(x * k)


def fails(model, x, n):
    """An index error in a turn, after the model has changed."""
    for k in range(n):
        model.w[k] = 7.0
        model.losses.append(x[k + 1])


def raises(model, x, n):
    for k in range(n):
        model.losses.append(x[k])
        if x[k] > 1.5:
            raise ValueError(k)


def divides(model, x, n):
    for k in range(n):
        model.losses.append(n / (k - 2))


def logs(model, x, n):
    for k in range(n):
        model.losses.append(np.log(x[k] - 1.0))


def printed(model, x, n):
    for k in range(n):
        model.losses.append(x[k])
        if k == 1:
            print(model.losses)
    model.losses.append(n)


def looked_at(model, x, n):
    for k in range(n):
        model.losses.append(x[k])
        if len(model.losses) > 2 and model.losses[-1] > 1:
            break
    return sum(model.losses)


def gone_through(model, x, n):
    model.losses.extend([n, n])
    for value in model.losses:
        model.losses.append(value)
        if len(model.losses) > 9:
            break


def by_a_generator(model, x, n):
    found = 0
    for value in (v for v in model.norms):
        found += 1
        if found < n:
            model.norms.append(value)
    return found


CAPTURED = [trained, once, to_global, states]
OTHERS = [until, fails, raises, divides, logs, printed, looked_at, gone_through, by_a_generator]


def appended(function: Any, model: Model, n: int) -> oracle.Outcome:
    """The outcome of a call, the lists that it found included."""
    HISTORY.clear()
    lists = model.losses, model.norms
    return oracle.observe(function, model, A.copy(), n, world=lambda: (lists, HISTORY))


@pytest.mark.parametrize("function", [*CAPTURED, *OTHERS])
@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_appended(function: Any, backend: str) -> None:
    compiled = jit(function, backend=backend, fullgraph=function in CAPTURED)
    for shared in (False, False, True, False):
        mine, theirs = Model(), Model()
        for model in (mine, theirs):
            if shared and function not in CAPTURED:
                model.norms = model.losses
        for n in (3, 4, 0, 2):
            got, want = (appended(call, model, n)
                         for call, model in ((compiled, mine), (function, theirs)))
            oracle.check(got, want)


def test_lists_that_may_be_one() -> None:
    def both(p, q, n):
        for k in range(n):
            p.append(k)
            q.append(k + 0.5)

    def read(p, q, n):
        p.append(n)
        return q[0] + len(q)

    held = [1, 2]
    for function in (both, read):
        alike(function, ([1], [2], 3), (held, held, 3), ([], [5], 2), captured=False)
        compiled, want, got = jit(function), [1, 2], [1, 2]
        for _ in range(2):
            assert compiled(got, got, 3) == function(want, want, 3)
            assert got == want


def test_entry_is_direct() -> None:
    def both(p, q, x):
        p.append(x)
        q.append(2 * x)

    compiled, p, q = jit(both), [], []
    for _ in range(50):
        compiled(p, q, 0.5)
    assert p == [0.5] * 50
    assert q == [1.0] * 50
    assert compiled.cache_info().compiled == 1
    compiled(p, p, 0.25)
    assert p[50:] == [0.25, 0.5]


def test_random_programs() -> None:
    checked(appends.GRAMMAR, range(40, 55))
