"""Compiled functions and objects with ``__call__`` that a compiled function calls: after they have
changed an array, a failed check goes on inside them, as inside plain functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from npcompile import jit
from tests.support.oracle import check_calls


def plain(function: Any) -> Any:
    return function


def model(way: Any) -> type:
    """A class whose methods call each other; ``way`` decorates all but the outermost."""

    class Model:
        def __init__(self) -> None:
            self.pos, self.total = np.linspace(0.0, 1.0, 12), 1

        @way
        def change(self, high: int) -> None:
            self.pos[:] = self.pos * 0.5
            for i in range(len(self.pos)):
                self.pos[i] += 1.0
                self.total *= high  # beyond 64 bits Python goes on
            self.pos[0] = self.total % 7

        @way
        def __call__(self, high: int) -> Any:
            self.pos += 1.0
            self.change(high)
            return self.pos[high]

        def step(self, high: int) -> Any:
            self.pos -= 0.25
            self.change(high)
            self.pos *= 2.0
            return self.total

        def called(self, high: int) -> Any:
            self.pos -= 0.25
            found = self(high)
            self.pos *= 2.0
            return found

    return Model


def outcome_of(function: Any, *args: Any) -> Any:
    """The result of a call, or the text of its IndexError."""
    try:
        return function(*args)
    except IndexError as error:
        return str(error)


@pytest.mark.parametrize("name", ["step", "called"])
@pytest.mark.parametrize("way", [plain, jit], ids=["plain", "jit"])
def test_it_goes_on_inside(name: str, way: Any) -> None:
    compiled, expected = (model(w) for w in (way, plain))
    outer = jit(getattr(compiled, name))
    for high in (2, 3, 2, 60, 61, 3, 11, 50, 2):
        one, other = compiled(), expected()
        results = [outcome_of(outer, one, high), outcome_of(getattr(expected, name), other, high)]
        assert results[0] == results[1]
        assert np.array_equal(one.pos, other.pos) and one.total == other.total
    assert outer.cache_info().compiled


def test_a_helper_that_changes_its_argument() -> None:
    @jit
    def halved(x: Any, n: int) -> int:
        x *= 0.5
        return 3**n

    def outer(x: Any, n: int) -> Any:
        x += 1.0
        big = halved(x, n)
        x[0] = big % 10
        return big

    compiled = jit(outer)
    for n in (2, 60, 2, 41):
        check_calls(compiled, outer, np.arange(4.0), n)
