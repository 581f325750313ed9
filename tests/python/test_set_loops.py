"""Loops over constant sets whose order does not depend on how their table came about."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from npcompile.python.sets import _places
from tests.support.oracle import alike

X = np.linspace(0.0, 1.5, 4)


def small(x):
    s = 0
    for k in {3, 1, 2}:
        s = s * 10 + k * x
    return s


def comprehension(x):
    return [x * k for k in {5, 0, 2}], [k + k for k in {"a"}], sum(k * x for k in {6, 2})


def broken_off(x):
    for k in {4, 1, 7}:
        if x[0] > k:
            break
    return k


def twenty(x):
    return [k + x[0] for k in {19, 0, 18, 1, 17, 2, 16, 3, 15, 4, 14, 5, 13, 6, 12, 7, 11, 8, 31}]


@pytest.mark.parametrize("function", [small, comprehension, broken_off, twenty])
def test_order_is_known(function: Any) -> None:
    alike(function, (X,), (X + 5.0,))


def collides(x):
    return [k * x for k in {8, 1, 0}]


def of_strings(x):
    return [len(k) * x for k in {"a", "bc"}]


def of_bools(x):
    return [k * x for k in {True, 0}]


def negative(x):
    return [k * x for k in {-1, 2}]


GIVEN = frozenset({1, 2})


def external(x):
    return [k * x for k in GIVEN]


@pytest.mark.parametrize("function", [collides, of_strings, of_bools, negative, external])
def test_order_is_the_tables(function: Any) -> None:
    alike(function, (X,), captured=False)


def test_the_smallest_table():
    """Whatever comes first, and however the set was made, its items come in their own order."""
    for count in range(1, 9):
        least = _places(count)
        for items in itertools.islice(itertools.permutations(range(least), count), 0, 4000, 7):
            held = set(items)
            for made in (held, frozenset(items), frozenset(held), frozenset(list(held))):
                assert list(made) == sorted(items)
    for count in (9, 19, 20, 37, 76, 77, 300):
        least = _places(count)
        items = list(np.random.default_rng(count).permutation(least)[:count].tolist())
        grown = set(range(least * 8))
        grown.intersection_update(items)
        assert list(set(items)) == list(frozenset(items)) == list(grown) == sorted(items)
