"""What differs from path to path: arrays made anew in turns and arms, numbers of several types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from npcompile import jit
from tests.support import oracle

DATA = np.array([0.1, 0.7, 0.3, 0.9, 0.2, 0.8])


def as_python(function: Any, *calls: tuple[Any, ...]) -> None:
    """Captured whole; all that can be seen of each call is the plain function's."""
    compiled = jit(function, fullgraph=True, cache=False)
    for args in calls:
        oracle.check_calls(compiled, function, *args, policy=oracle.EXACT)


# ---------------------------------------------------------------------- arrays of each turn


def constant_in_each_turn(a: Any, n: int) -> Any:
    z, s = np.zeros(3), 0.0
    for i in range(n):
        w = np.zeros(3)
        w[i % 3] = a[i]
        if a[i] > 0.5:
            w[0] += 2.0
        s = s + w[0]
        z = z + w
    return s, z, w


def computed_in_each_turn(a: Any, n: int) -> Any:
    b, t = a * 2, a[0]
    for i in range(n):
        c = a * 2
        c[0] = i
        for j in range(3):
            c[j] += 1.0
        t += c[0] + c[1] + b[0]
    return t, b, c


def in_an_inner_loop(a: Any, n: int) -> Any:
    b, out = a * 2, np.zeros((n, 3))
    for i in range(n):
        for j in range(2):
            c = a[:3] * 2
            c[j] = i
            out[i] += c
        b = b + 1
    return out, b


def bound_to_the_carried_name(u: Any, n: int) -> Any:
    for _ in range(n):
        un = np.empty_like(u)
        un[1:-1] = u[2:] + u[:-2]
        un[0] = 0
        un[-1] = 1
        u = un
    return u


def copied_and_written(u: Any, n: int) -> Any:
    for _ in range(n):
        v = u.copy()
        u[1:-1] = v[2:] + v[:-2]
        if u[1] > 2:
            w = v
            w[0] = 3
            u[0] += w[0]
    return u, v


def argument_at_first(u: Any, n: int) -> Any:
    v = u
    for k in range(n):
        v = v * 0.5
        v[0] = k
        if k > 2:
            v[1] = 7
        u[k % 3] += v[1]
    return u, v


@pytest.mark.parametrize("function", [
    constant_in_each_turn, computed_in_each_turn, in_an_inner_loop, bound_to_the_carried_name,
    copied_and_written, argument_at_first,
])
def test_arrays_of_each_iteration(function: Any) -> None:
    as_python(function, *((DATA, n) for n in (1, 2, 4, 5, 1)))


def test_what_an_arm_did_is_not_handed_to_python() -> None:
    def f(a: Any, n: int) -> Any:
        x, y = a[0], a[1]
        k = 0
        while n >= k and k < 2:
            k += 1
            a[0] += 1.0
            if a[2] > n:
                break
        else:
            y = x - y
            for _ in range(2):
                k += 1
            raise ValueError(k)
        return y

    compiled = jit(f, cache=False)
    for n in (0, 5, 0, 1):
        mine, theirs = DATA.copy(), DATA.copy()
        results = []
        for function, a in ((compiled, mine), (f, theirs)):
            try:
                results.append(function(a, n))
            except ValueError as error:
                results.append(str(error))
        assert results[0] == results[1]
        assert np.array_equal(mine, theirs)
