"""Operators of classes that are written in Python."""

from __future__ import annotations

import math

import numpy as np
import pytest

from npcompile import jit
from tests.support.oracle import alike

A = np.array([1.0, 2.0, 3.0])


class Vector:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return Vector(self.x - other.x, self.y - other.y)

    def __mul__(self, other):
        if isinstance(other, Vector):
            return self.x * other.x + self.y * other.y
        return Vector(self.x * other, self.y * other)

    __rmul__ = __mul__

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __iadd__(self, other):
        self.x += other.x
        self.y += other.y
        return self

    def __eq__(self, other):
        return self.x == other.x and self.y == other.y

    def __lt__(self, other):
        return self.x < other.x

    def __abs__(self):
        return math.sqrt(self.x * self.x + self.y * self.y)

    def __getitem__(self, k):
        return (self.x, self.y)[k]

    def __len__(self):
        return 2

    def __call__(self, x):
        return self.x * x + self.y


class Below(Vector):
    def __radd__(self, other):
        return other.x - self.x


class Dual:
    """A number with its derivative."""

    def __init__(self, value, slope=0.0):
        self.value, self.slope = value, slope

    def __add__(self, other):
        other = other if isinstance(other, Dual) else Dual(other)
        return Dual(self.value + other.value, self.slope + other.slope)

    __radd__ = __add__

    def __mul__(self, other):
        if not isinstance(other, (Dual, int, float)):
            return NotImplemented
        other = other if isinstance(other, Dual) else Dual(other)
        return Dual(
            self.value * other.value, self.value * other.slope + self.slope * other.value
        )

    def __rmul__(self, other):
        return self * other

    def __pow__(self, n):
        return Dual(self.value**n, n * self.value ** (n - 1) * self.slope)


def arithmetic(a, n):
    p, v = Vector(0.0, 1.0), Vector(1.0, 0.5)
    for i in range(n):
        p = p + 0.1 * v - v * 0.01
        v += Vector(0.1, a[i])
    return p.x, p.y, v.x, p * v, (-p).x


def derivative(x):
    d = Dual(x, 1.0)
    y = 3 * d * d + 2 * d + 1 + d**3
    return y.value, y.slope


def comparisons(x):
    p, q = Vector(1.0, x), Vector(x, 1.0)
    return p == q, p != q, p < q, p > q, p == p


def reflected_first(x):
    return Vector(x, 1.0) + Below(1.0, 2.0), Below(1.0, x) + Vector(1.0, 0.0) == Vector(2.0, x)


def protocols(x):
    p = Vector(x, 2.0)
    return abs(p), p[0], p[-1], len(p), p(3.0), 1 if p else 2


@pytest.mark.parametrize(("function", "calls"), [
    (arithmetic, [(A, 3), (A, 0), (A, 2)]),
    (derivative, [(1.5,), (2,), (-0.5,)]),
    (comparisons, [(1.0,), (2.0,), (math.nan,)]),
    (reflected_first, [(1.5,), (2.0,)]),
    (protocols, [(1.5,), (-2.0,)]),
])
def test_captured(function, calls):
    alike(function, *calls)


def test_objects_from_outside():
    p, q = Vector(1.0, 2.0), Vector(3.0, -1.0)

    def f(a):
        return (p + q * a[0]).y, abs(p), p[1] - q[0], p < q, 2 * p * q

    alike(f, (A,))
    p.x = 7.0
    alike(f, (A,))


def test_other_objects_at_each_call():
    """Which objects are one is what counts, not which they are."""
    def f(p, q, held):
        total = 0.0
        for one in held:
            if one is p:
                total += 10
            if one is not q:
                total += one.x
        return total, p is q

    compiled = jit(f, fullgraph=True)
    for k in range(4):
        p, q, r = (Vector(float(k + j), 1.0) for j in range(3))
        assert compiled(p, q, [p, q, r]) == f(p, q, [p, q, r])
    assert compiled.cache_info().compiled == 1
    for args in ((p, p, [p, q, r]), (p, q, [q, p, r]), (p, q, [r, r, r]), (p, q, [p, q, p])):
        assert compiled(*args) == f(*args)


def wrong_operand(x):
    return Dual(x) * "a"


def from_numpy(a):
    return (a[0] * Vector(1.0, 2.0)).x


def no_size(x):
    class Odd(Vector):
        def __len__(self):
            return -1

    return len(Odd(x, x))


def changed_before(a):
    """A check that fails in a method after an array was changed."""
    a[0] = 5.0
    p = Vector(int(a[1]), 1)
    q = p * (2**62)
    a[1] = 6.0
    return q.x + p.x


@pytest.mark.parametrize(("function", "args"), [
    (wrong_operand, (1.0,)), (from_numpy, (A,)), (no_size, (1.0,)), (changed_before, (A * 9,)),
    (changed_before, (A,)),
])
def test_left_to_python(function, args):
    alike(function, args, args, captured=False)
