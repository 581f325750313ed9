"""``del d[k]``, ``pop``, ``popitem`` and ``clear`` of own and of external dictionaries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from npcompile import jit
from tests.fuzz import dictionaries
from tests.fuzz.framework import checked
from tests.support.oracle import alike

X = np.linspace(0.0, 1.5, 4)


class Thing:
    """An object with a dictionary of its own."""

    def __init__(self, **named: Any) -> None:
        self.__dict__.update(named)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Thing) and self.__dict__.keys() == other.__dict__.keys()

    __hash__ = None  # type: ignore[assignment]


def given(**more: Any) -> dict[Any, Any]:
    return {"a": 2.0, "b": 1, 1: X.copy(), **more}


def taken(d, x):
    y = d.pop("a") * x
    del d["b"]
    return y, len(d), list(d), "a" in d, d.get("b", 5), d.pop("zz", 7), bool(d)


def emptied(d, x):
    d.clear()
    return x + len(d), [*d.items()]


def last(d, x):
    k, v = d.popitem()
    return k, v * x, list(d)


def some(d, x):
    for k in list(d):
        if k != "a":
            del d[k]
    return x * d["a"], d


def stored_first(d, x):
    d["b"] = x.sum()
    y = d.pop("b")
    return y + 1.0, list(d)


def beside_stores(d, x):
    d["new"] = x * 2
    del d["a"]
    d["b"] = 3.5
    return list(d), list(d.values())


def own(d, x):
    h = {"a": x, "b": x * 2, 3: 1.0}
    del h["a"]
    k, v = h.popitem()
    return k, v, h.pop("b"), h.pop("b", None), h


@pytest.mark.parametrize(
    "function", [taken, emptied, last, some, stored_first, beside_stores, own])
def test_removal(function: Any) -> None:
    alike(function, (given(), X), (given(c=1), X), times=2)


def test_what_left_is_kept():
    """An array that the dictionary loses is the very array."""

    def f(d):
        a = d.pop(1)
        a += 1.0
        return a

    d = given()
    a = d[1]
    assert jit(f, fullgraph=True)(d) is a and 1 not in d and a[0] == 1.0


def back(d, x):
    del d["a"]
    d["a"] = x.sum()
    return list(d)


def missing(d, x):
    return d.pop("zz") * x


def while_gone_through(d, x):
    for k in d:
        d.pop(k)
    return x * 2


def on_some_paths(d, x):
    if x[0] > 0:
        d.pop("a")
    for k in range(int(x[1])):
        d.pop(k, 0)
    return x * 2


def unhashable(d, x):
    return d.pop(slice(1), x)


def of_what_came(d, x):
    d["new"] = x
    del d["new"]
    return d.popitem()[0]


@pytest.mark.parametrize("function", [
    back, missing, while_gone_through, on_some_paths, unhashable, of_what_came])
def test_left_to_python(function: Any) -> None:
    alike(function, (given(), X), (given(), X + 1.0), ({}, X), captured=False)


def test_two_names_of_one_dictionary():
    def f(d, e, x):
        return d.pop("a") * x, "a" in e, len(e), list(e)

    one = given()
    alike(f, (given(), given(), X), (one, one, X), captured=False)


def test_an_object_and_its_dictionary():
    def f(o, d, x):
        d.pop("v")
        return hasattr(o, "v"), x * 2

    o = Thing(v=1.0)
    alike(f, (o, vars(o), X), (Thing(v=1.0), {"v": 2}, X), captured=False)


def added(d):
    held = (len(d) + k for k in range(2))
    d["new"] = 1
    return list(held)


def removed(d):
    held = (len(d) + k for k in range(2))
    del d["a"]
    return list(held)


@pytest.mark.parametrize("function", [added, removed])
def test_a_generator_that_looks_at_the_size(function: Any) -> None:
    alike(function, (given(),), captured=False)


def test_a_failed_check_after_a_removal():
    def f(d, x):
        y = d.pop("a")
        for k in range(len(x)):
            x[k] += y
            if x[k] > 3.0:
                raise ValueError(k)
        return list(d)

    alike(f, (given(), X.copy()), (given(), X + 1.0), (given(), X + 9.0))


def test_random_programs():
    checked(dictionaries.GRAMMAR, range(60, 75))
