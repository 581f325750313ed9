"""``operator.itemgetter``, ``attrgetter`` and ``methodcaller``."""

from __future__ import annotations

import functools
import operator

import numpy as np
import pytest

from npcompile import jit
from tests.support.oracle import alike

X = np.linspace(0.5, 3.0, 6)


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y

    @property
    def norm(self):
        return np.sqrt(self.x * self.x + self.y * self.y)

    def scaled(self, by, *, shift=0.0):
        return self.x * by + shift


class Box:
    def __init__(self, point):
        self.point = point


def test_items():
    def f(x):
        first, both = operator.itemgetter(0), operator.itemgetter("a", "b")
        tail = operator.itemgetter(slice(1, None))
        return first((x + 1, x)) + first(x), both({"a": x, "b": 2}), tail(x), tail([x, x * 2])

    alike(f, (X,))


def test_attributes():
    def f(x):
        point = Point(x, x + 1)
        deep = operator.attrgetter("point.norm", "point.x")
        y, norm = operator.attrgetter("y"), operator.attrgetter("norm")
        return y(point) + norm(point), deep(Box(point))

    alike(f, (X,))


def test_methods():
    def f(x):
        total = operator.methodcaller("sum", axis=0)
        point = Point(x, x)
        return total(x) + x, operator.methodcaller("scaled", 2.0, shift=1.0)(point)

    alike(f, (X,))


def test_as_keys_and_in_loops():
    def f(x):
        pairs = [(3, x), (1, x * 2), (2, x * 3)]
        least = min([(2, 5), (1, 7)], key=operator.itemgetter(1))
        total = functools.reduce(operator.add, map(operator.itemgetter(1), pairs))
        pick = operator.itemgetter(1)
        for pair in pairs:
            total = total + pick(pair) * least[0]
        return total

    alike(f, (X,))


def test_either_of_two():
    def f(x):
        pick = operator.itemgetter(0) if x[0] > 1 else operator.itemgetter(1)
        get = operator.attrgetter("x") if x[1] > 1 else operator.attrgetter("y")
        return pick((x, x * 2)) + get(Point(x, -x))

    alike(f, (X,), (X + 1,))


def test_handed_in():
    alike(lambda x, pick: pick((x, x + 1)), (X, operator.itemgetter(1)), captured=False)


def test_classes():
    def f(x):
        made = (operator.itemgetter(0), operator.attrgetter("x"), operator.methodcaller("x"))
        return [type(one) for one in made], [callable(one) for one in made], x + 1

    alike(f, (X,))


@pytest.mark.parametrize("wrong", [
    lambda x: operator.itemgetter()(x), lambda x: operator.attrgetter(1)(x),
    lambda x: operator.itemgetter(1)(x, x), lambda x: operator.methodcaller(x)(x),
    lambda x: operator.itemgetter(9)((x, x)), lambda x: operator.attrgetter("nothing")(x),
])
def test_mistakes_are_pythons(wrong):
    with pytest.raises((TypeError, IndexError, AttributeError)) as plain:
        wrong(X)
    with pytest.raises(type(plain.value)) as compiled:
        jit(wrong)(X)
    assert str(compiled.value) == str(plain.value)
