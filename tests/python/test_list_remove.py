"""``list.remove``."""

from __future__ import annotations

import numpy as np
import pytest

from npcompile import jit
from tests.support.oracle import alike

X = np.linspace(0.0, 1.5, 4)


def test_first_of_equal_items():
    def f(x):
        items, mixed = [3, 1, 2, 1], [1.5, "a", (1, 2), True, None]
        same = items
        items.remove(1)
        mixed.remove("a")
        mixed.remove(1)
        mixed.remove((1, 2))
        mixed.remove(None)
        return items, same is items, mixed, x * len(items), items.remove(2)

    alike(f, (X,))


def test_numbers_that_only_the_run_knows():
    def f(x, n):
        items = [x[0], x[1], 5.0]
        items.remove(x[1] if n > 1 else 5.0)
        return items, x + items[1]

    alike(f, (X, 2), (X, 0), captured=False)


def test_in_loops_and_branches():
    def f(x, n):
        items = [0, 1, 2, 3]
        for k in (1, 3):
            items.remove(k)
        if n > 1:
            items.remove(0)
        else:
            items.remove(2)
        grown = []
        for k in range(n):
            grown.append(k * 2 + len(grown))
        if n > 2:
            grown.remove(2)
        return items, grown, x * items[0]

    alike(f, (X, 3), (X, 0), captured=False)


def test_external_lists_are_pythons():
    def f(x, items):
        items.remove(2)
        return x * items[0]

    alike(f, (X, [1, 2, 3]), captured=False)


@pytest.mark.parametrize("wrong", [
    lambda x: [1].remove(2), lambda x: [].remove(x), lambda x: [1].remove(),
    lambda x: [x].remove(x),
])
def test_mistakes_are_pythons(wrong):
    def outcome(function):
        try:
            return repr(function(X))
        except Exception as error:
            return type(error), str(error)

    assert outcome(jit(wrong)) == outcome(wrong)
