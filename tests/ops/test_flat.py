"""``array.flat``"""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.oracle import alike

A = np.arange(12.0).reshape(3, 4)


def total(a):
    found = 0.0
    for x in a.flat:
        found = found * 0.5 + x
    return found


def places(a, i):
    return a.flat[i], a.flat[-1], type(a.flat[0]), a.flat[1:7:2]


def added(a, i):
    a.flat[i] += a.flat[0]
    a.flat[i + 1] = a[0, 0] * 2
    return a.flat[i]


def diagonal(n):
    a = np.zeros((n, n))
    a.flat[:: n + 1] = 1.0
    a.flat[1] = 2.5
    return a


def counted(a):
    found = 0.0
    for k, x in enumerate(a.flat):
        found += k * x
    for x, y in zip(a.flat, a[::-1].copy().flat):
        found -= x * y
    return found, sum(a.flat), max(a.flat), [x * 2 for x in a.flat]


def changed(a):
    """Elements are what they are when their turn comes."""
    found = 0.0
    for x in a.flat:
        found += x
        a[-1, -1] = found
    return found


def at_the_largest(a):
    k = np.argmax(a)
    a.flat[k] = a.flat[k] * 0.5
    return a.flat[k], a.flat[a.argmin()]


def copied(a):
    part = a.flat[2:5]
    part[0] = 99.0
    a[1] = 7.0
    return part


@pytest.mark.parametrize(("function", "calls"), [
    (total, [(A,), (A[:1],), (A[:0],), (A[0],), (np.array(2.5),)]),
    (places, [(A, 5), (A, -2), (A[0], 1)]),
    (added, [(A, 3), (A, 7)]),
    (diagonal, [(4,), (2,), (7,)]),
    (counted, [(A,), (A[1:],)]),
    (changed, [(A,), (A[:1],)]),
    (copied, [(A,), (A[1:],)]),
    (at_the_largest, [(A,), (A[1:],)]),
])
def test_captured(function, calls):
    alike(function, *calls)


def run_twice(a):
    it = a.flat
    return sum(it), list(it), [x * 1 for x in a.flat]


def under_a_name(a):
    """Python goes on in the middle of what goes through it."""
    it, found = a.flat, 0.0
    for k, x in enumerate(it):
        a[0, 0] = k
        found += x / (3 - k)
    return found


def goes_on(a):
    it, found = a.flat, 0.0
    for k, x in enumerate(a.flat):
        a[-1, 1] = k
        found += it[k] + x + a[k % 4, 0]
    return found


def asked(a):
    return isinstance(a.flat, np.flatiter), len(a.flat), bool(a.flat), next(a.flat)


def given(a):
    a.flat[1:4] = [1, 2]
    a.flat[0] = 3
    a.flat[[5, 6]] = 9
    return a.flat[[1, 2]], (a.flat == 3).sum(), np.array(a.flat), 3 in a.flat


def whole(a):
    a.flat = 2
    return a.flat.base is a, a.flat.copy(), a.flat.index


@pytest.mark.parametrize("function", [
    total, run_twice, under_a_name, goes_on, asked, given, whole, counted, changed,
])
def test_any(function):
    odd = np.arange(12).reshape(3, 4), A.T, A[:, ::2], A.astype(np.float32), A[::-1], A[:0]
    alike(function, (A,), *((a,) for a in odd), captured=False)


@pytest.mark.parametrize("function", [places, added])
def test_errors(function):
    read_only = A.copy()
    read_only.flags.writeable = False
    odd = np.arange(12).reshape(3, 4), A.T, read_only
    alike(function, (A, 12), (A, -13), (A, 11), *((a, 2) for a in odd), captured=False)
