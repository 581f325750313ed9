"""``d | e`` and ``d |= e`` of own and of external dictionaries."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import pytest

from npcompile import jit
from tests.support.oracle import alike

X = np.linspace(0.0, 1.5, 4)


def test_own():
    def f(x):
        first = {"a": x, 1: 2, 0: 3}
        both = first | {"b": x * 2, "a": 1, 1.0: x + 1, False: 4}
        other = first
        other |= {"c": both["b"]}
        first |= first
        return both, first, list(both), other is first, len({} | {})

    alike(f, (X,))


def test_external():
    def f(d, e, x):
        made = d | e | {"k": x}
        e |= {"a": x.sum(), "b": 1}
        return made, list(made), d["a"] * x, e["a"]

    def calls():
        shared = {"a": 2.0}
        return [({"a": 1.0, "c": X}, {"b": 2}, X), (shared, shared, X), ({"a": 3}, {"a": 1}, X)]

    alike(f, *calls(), captured=False)


def test_in_loops_and_branches():
    def f(x, n):
        found = {"a": 0.0}
        for k in range(n):
            found |= {"a": found["a"] + x[k]}
        if x[0] > 1:
            found = found | {"a": 5.0}
        return found["a"] * x, found

    alike(f, (X, 3), (X + 2, 0))


def test_by_name():
    alike(lambda x: dict.__or__({"a": x}, {"b": 1})["a"] + x, (X,))


def test_others_are_pythons():
    def f(d, x):
        d |= [("a", 1)]
        return d["a"] * x

    alike(f, ({}, X), captured=False)
    alike(lambda d, x: ({"a": x} | d)["a"] * x, (OrderedDict(b=1), X), captured=False)


@pytest.mark.parametrize("wrong", [lambda x: {"a": x} | 1, lambda x: {"a": x} | [1],
                                   lambda x: [1] | {"a": x}, lambda x: {"a": x} | x])
def test_mistakes_are_pythons(wrong):
    with pytest.raises(TypeError) as plain:
        wrong(X)
    with pytest.raises(TypeError) as compiled:
        jit(wrong)(X)
    assert str(compiled.value) == str(plain.value)
