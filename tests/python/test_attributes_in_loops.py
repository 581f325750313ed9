"""Attributes of objects from outside that loops and branches store to."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from tests.support import oracle

A = np.array([1.0, 2.0, 3.0])


class Model:
    def __init__(self) -> None:
        self.x, self.v = np.arange(4.0), np.ones(4)
        self.t, self.dt, self.n = 0.0, 0.1, 0
        self.energy: Any = np.zeros(50)
        self.log: Any = None


def integrate(s, n):
    for _ in range(n):
        s.v = s.v - s.x * s.dt
        s.x = s.x + s.v * s.dt
        s.t += s.dt
    return s.t


def until(s, end):
    while s.t < end:
        s.t += s.dt
        s.n += 1


def early(s, n):
    for i in range(n):
        s.x += s.v * s.dt
        s.energy[i] = s.x.sum()
        if s.energy[i] > 20:
            s.log = i
            break
        s.n = i
    return s.n


def branch(s, k):
    if k > 0:
        s.t = 5.0
    else:
        s.n = 7
    return s.t + s.n


def rejected(s, a):
    for i in range(len(a)):
        s.n += 1
        s.t = s.t * 2 + a[i]
        if a[i] < 0:
            raise ValueError(i)
    return s.n


def rejected_late(s, a):
    """Python goes on in the middle: it must see the attributes."""
    for i in range(len(a)):
        a[i] += 1
        s.n += int(a[i])
        if a[i] > 50:
            raise ValueError(s.n)
    return s.n


def too_large(s, a):
    for i in range(len(a)):
        a[i] += 1
        s.n = s.n * 2**40 + int(a[i])
    return s.n


def two_names(s, n):
    for _ in range(n):
        old = s.x
        s.x = old * 2.0
        s.v = old
    return s.v


def swapped(s, n):
    for i in range(n):
        if i % 2:
            s.x, s.v = s.v, s.x
        s.x = s.x + 1
    return s.x[0]


def printed(s, n):
    for _ in range(n):
        s.t += 1.0
    print(s.t)
    s.n = n
    return s.t


@pytest.mark.parametrize(("function", "arguments", "captured"), [
    (integrate, (0, 5, 1, 30), True), (until, (1.0, -1.0), True), (early, (9, 30, 0), True),
    (branch, (1, -1), True), (rejected, (A, -A), True), (rejected_late, (A, A * 30), True),
    (too_large, (A[:1], A), True), (two_names, (0, 1, 3), True), (swapped, (0, 5), False),
    (printed, (0, 3), False),
])
def test_as_python(function, arguments, captured):
    compiled = jit(function)
    for argument in (*arguments, *arguments):
        plain, mine = Model(), Model()
        for _ in range(2):
            first, second = copy.copy(argument), copy.copy(argument)
            oracle.check(oracle.observe(compiled, mine, second),
                         oracle.observe(function, plain, first))
    if captured:
        assert compiled.explain(Model(), arguments[0]).captured


def test_two_objects():
    def f(s, q, n):
        for _ in range(n):
            s.t += q.t
            q.t = s.t * 0.5
        return s.t

    compiled = jit(f)
    for alias in (False, True, False):
        mine, plain = [Model(), Model()], [Model(), Model()]
        for pair in (mine, plain):
            pair[1] = pair[0] if alias else pair[1]
            pair[1].t = 2.0
        oracle.check(oracle.observe(compiled, *mine, 4), oracle.observe(f, *plain, 4))
    assert compiled.explain(Model(), Model(), 3).captured


def test_what_the_object_does_not_have():
    """An attribute of the class is not stored to an object that no turn stores to."""
    class Counted:
        n = 5

    def f(s, k):
        for _ in range(k):
            s.n += 1
        return s.n

    compiled = jit(f)
    for k in (0, 2, 0):
        s = Counted()
        assert compiled(s, k) == 5 + k
        assert ("n" in vars(s)) == (k > 0)
    s.n = 1
    assert compiled(s, 3) == 4
    assert compiled(Counted(), 0) == 5
