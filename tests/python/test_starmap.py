"""``itertools.starmap``."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from npcompile import jit
from tests.support.oracle import alike

X = np.linspace(0.5, 3.0, 6)


def scaled(x, by, shift=0.0):
    return x * by + shift


def test_known_items():
    def f(x):
        total = sum(itertools.starmap(scaled, [(x, 2), (x, 3, 1.0), [x, 4]]))
        made = list(map(math.hypot, (3, 5), (4, 12)))
        for part in itertools.starmap(lambda a, b: a - b, ((x, 1), (x, 2))):
            total = total + part
        return total, made, list(itertools.starmap(scaled, ()))

    alike(f, (X,))


def test_as_many_items_as_the_run_finds():
    def f(x, n):
        total = 0.0
        for part in map(scaled, x, range(n)):
            total += part
        return total + sum(itertools.starmap(lambda k, v: v * k, enumerate(x)))

    alike(f, (X, 4), (X, 0), (X[:2], 9))


def test_order_of_calls():
    def f(x):
        seen = []

        def noted(k, v):
            seen.append(k)
            return v * k

        items = itertools.starmap(noted, ((1, x), (2, x), (3, x)))
        first = next(items)
        seen.append(10)
        return first + sum(items), seen

    alike(f, (X,), captured=False)


def test_other_lengths_on_either_path():
    def f(x):
        items = ((x, 1), (x, 2)) if x[0] > 1 else ((x, 3),)
        return sum(itertools.starmap(scaled, items))

    alike(f, (X,), (X + 1,), captured=False)


@pytest.mark.parametrize("wrong", [
    lambda x: list(itertools.starmap(scaled)), lambda x: list(itertools.starmap(scaled, x)),
    lambda x: list(itertools.starmap(scaled, [(x,)])), lambda x: list(itertools.starmap(1, [x])),
])
def test_mistakes_are_pythons(wrong):
    with pytest.raises(TypeError) as plain:
        wrong(X)
    with pytest.raises(TypeError) as compiled:
        jit(wrong)(X)
    assert str(compiled.value) == str(plain.value)
