"""``itertools.islice``, ``repeat`` and ``count``, in loops of known and unknown length."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from npcompile import jit
from tests.support import oracle

X = np.arange(1.0, 13.0)


def first(x, n):
    total = 0.0
    for v in itertools.islice(x, 3):
        total += v
    return total


def more_than_there_are(x, n):
    total = 0.0
    for k, v in enumerate(itertools.islice(x[2:], 30)):
        total += v * k
        x[k] = total  # read again by a later iteration
    return total


def from_a_place(x, n):
    return [*itertools.islice([1, 2.5, n, x[0]], 1, 3)], list(itertools.islice("abcd", 2))


def nothing(x, n):
    return list(itertools.islice(x, 0)), list(itertools.repeat(n, -2)), x[n]


def of_a_generator(x, n):
    return sum(itertools.islice((v * 2 for v in x), 5))


def calls_as_often(x, n):
    calls = []

    def called(v):
        calls.append(1)
        return v * v

    return sum(itertools.islice(map(called, x), 4)), len(calls)


def repeated(x, n):
    total = 0.0
    for v, k in zip(x, itertools.repeat(x[n])):
        total += v * k
        x[n] = total
    return total


def counted(x, n):
    total = 0.0
    for k, v in zip(itertools.count(n), x):
        total += v * k
    return total


def written(x, n):
    for k in itertools.count(-n):
        x[k] += k
        if k > 3:
            break
    return x


def until_python_raises(x, n):
    for k in itertools.count():
        if x[k] > 70:
            return k


def as_often_as_there_are(x, n):
    total = 0
    for _ in itertools.repeat(None, len(x)):
        total += n
    return total


def one_object(x, n):
    made = [*itertools.repeat([n], 3)]
    made[0].append(2)
    return made


def large(x, n):
    return [a for a, _ in zip(itertools.count(10**12), x)]


COMPILED = [first, more_than_there_are, from_a_place, nothing, of_a_generator, calls_as_often,
            repeated, counted, written, until_python_raises, as_often_as_there_are, one_object,
            large]


@pytest.mark.parametrize("function", COMPILED, ids=lambda f: f.__name__)
def test_items_and_writes_are_pythons(function) -> None:
    oracle.as_python(function, X, 2, compiled=True)
    compiled = jit(function)
    for x, n in ((X, 2), (X[:7], 3), (np.arange(20.0), 1), (X * 8, 2), (X[:0], 2)):
        oracle.check_calls(compiled, function, x, n)


def shared(x, n):
    it = iter(x)
    return sum(itertools.islice(it, 2)), sum(it)


def steps(x, n):
    return list(itertools.islice(x, n, None, 2)), [v for v, _ in zip(itertools.count(0, 3), x)]


def floats(x, n):
    return [v for v, _ in zip(itertools.count(0.1), x)]


@pytest.mark.parametrize("function", [shared, steps, floats], ids=lambda f: f.__name__)
def test_what_is_left_to_python(function) -> None:
    oracle.as_python(function, X, 2, compiled=False)
