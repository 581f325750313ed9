"""Loops in which a name of an array from outside comes to mean another one, by the data."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import npcompile
from tests.support import oracle


def conditional(y, n, c):
    for _ in range(n):
        if y[0] < c:
            y = y + 1.0
    return y


def written_meanwhile(y, n, c):
    for _ in range(n):
        if y[0] < c:
            y = y + 1.0
        y[1] += 2
    return y


def best_of_several(y, n, c):
    best = y
    for k in range(n):
        z = y * (k + 1)
        if z[0] > c:
            best = z
    best[0] = 99.0
    return best


def beside_the_argument(y, n, c):
    x = y
    for _ in range(n):
        y[2] += 1.0
        if x[0] < c:
            x = x + y
    return x, y


def accepted_steps(y, n, c):
    x, e = y, y.sum()
    for k in range(n):
        new = x - 0.1 * k
        if new.sum() < e + c:
            x, e = new, new.sum()
    return x, e


def left_early(y, n, c):
    k = 0
    while k < n:
        if y[0] > c:
            break
        if y[1] < c:
            y = y * 2 + 1
        k += 1
    return y, k


def two_names(y, n, c):
    a, b = y, y + 1
    for _ in range(n):
        if a[0] < b[0] + c:
            a = b * 1.5
        else:
            b = a - 1
    return a, b


def loops_in_loops(y, n, c):
    x = y
    for _ in range(n):
        if x[0] < c:
            x = x + 1.0
        for _ in range(2):
            if x[1] < c:
                x = x * 2 + 1
    return x


def the_one_before(y, n, c):
    x = old = y
    for _ in range(n):
        if x[0] < c:
            old = x
            x = x + 1.0
    return x, old, x is old


def view_of_an_argument(y, n, c):
    x = y[1:]
    for k in range(n):
        if x[0] * k > c:
            x = x + 1
    x[0] = -5.0
    return x


def nothing_at_first(y, n, c):
    x = None
    for k in range(n):
        if y[0] * k > c:
            x = y * k
    return x


@pytest.mark.parametrize("function", [
    conditional, written_meanwhile, best_of_several, beside_the_argument, accepted_steps,
    left_early, two_names, loops_in_loops, the_one_before, view_of_an_argument, nothing_at_first,
])
def test_names_that_may_come_to_mean_other_arrays(function):
    compiled = npcompile.jit(function, fullgraph=True)
    for n in (0, 1, 2, 7):
        for c in (-5.0, 0.5, 3.0, 100.0):
            for start in ([0.0, 1.0, 2.0], [3.0, -1.0, 0.5]):
                oracle.check_calls(compiled, function, np.array(start), n, c)


def test_arrays_of_other_shapes_are_left_to_python():
    def grown(y, n, c):
        for k in range(n):
            if y[0] < c:
                y = np.append(y, k)
        return y

    compiled = npcompile.jit(grown)
    y = np.arange(3.0)
    for n in (0, 1, 4):
        assert np.array_equal(compiled(copy.copy(y), n, 1.0), grown(y, n, 1.0))
