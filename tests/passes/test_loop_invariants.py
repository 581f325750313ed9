"""What loops keep true of several numbers at once: no check is left of what follows from it, and
results, errors and overflows are Python's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import npcompile
from npcompile.core.facts import Facts
from npcompile.core.sizes import Predicate, evaluate, largest, mod, smallest, symbol


def search(table: Any, key: Any) -> int:
    low, high = 0, len(table)
    while low < high:
        middle = (low + high) // 2
        if table[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


def compact(x: Any) -> int:
    kept = 0
    for i in range(len(x)):
        if x[i] > 0:
            x[kept] = x[i]
            kept += 1
    return kept


def reverse(x: Any) -> None:
    i, j = 0, len(x) - 1
    while i < j:
        x[i], x[j] = x[j], x[i]
        i += 1
        j -= 1


def sift_up(x: Any, place: int) -> int:
    moved = 0
    if place >= len(x):
        return -1
    while place > 0 and x[(place - 1) // 2] > x[place]:
        above = (place - 1) // 2
        x[place], x[above] = x[above], x[place]
        place = above
        moved += 1
    return moved


def around(x: Any) -> float:
    n = len(x)
    total = 0.0
    for i in range(n):
        total += x[(i + 1) % n] * x[i - 1]
    return total


def wander(x: Any, steps: int) -> int:
    """Leaves its array: the last index is out of range."""
    i = 0
    total = 0
    while steps > 0:
        total += int(x[i])
        i += 2
        steps -= 1
    return total


def checks(function: Callable[..., Any], *args: Any) -> int:
    return npcompile.jit(function, cache=False).lower(*args).program.count(" check ")


NUMBERS = np.linspace(-3.0, 5.0, 40)


@pytest.mark.parametrize(("function", "args"), [
    (search, (NUMBERS, 1.5)), (compact, (NUMBERS,)), (reverse, (NUMBERS,)), (around, (NUMBERS,)),
])
def test_no_checks_are_left(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    assert not checks(function, *(a.copy() if isinstance(a, np.ndarray) else a for a in args))


COMPILED = {f: npcompile.jit(f) for f in (search, compact, reverse, sift_up, around, wander)}


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 30), st.integers(0, 2**32), st.sampled_from(list(COMPILED)),
       st.integers(-3, 35))
def test_results_and_errors(n: int, seed: int, function: Callable[..., Any], number: int) -> None:
    x = np.random.default_rng(seed).standard_normal(n)
    if function is search:
        x.sort()
    more = (number,) if function in (search, sift_up, wander) else ()
    found = []
    for called in (COMPILED[function], function):
        given_to = x.copy()
        try:
            found.append((called(given_to, *more), given_to.tobytes()))
        except (IndexError, ZeroDivisionError) as error:
            found.append((type(error), str(error), given_to.tobytes()))
    assert found[0] == found[1]


def test_overflow_in_a_loop_that_adds_two() -> None:
    def fibonacci(n: int) -> int:
        a, b = 0, 1
        while n > 0:
            a, b = b, a + b
            n -= 1
        return a

    compiled = npcompile.jit(fibonacci)
    assert [compiled(n) for n in (5, 80, 120)] == [fibonacci(n) for n in (5, 80, 120)]


def test_proofs_from_several_facts() -> None:
    facts = Facts()
    low, high, n = (symbol(name) for name in ("low", "high", "n"))
    for left, right, op in ((0, low, "<="), (low, high, "<"), (high, n, "<=")):
        facts.learn(Predicate(op, left, right))
    middle = (low + high) // 2
    assert facts.never_negative(middle - low, 3)
    assert facts.never_negative(high - middle - 1, 3)
    assert facts.never_negative(n - middle - 1, 3)
    assert not facts.never_negative(middle - low - 1, 3)
    assert not facts.never_negative(n - high - 1, 3)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_proofs_are_right(data: st.DataObject) -> None:
    """Whatever is proved of sums of symbols holds for all numbers that satisfy the facts."""
    names = [symbol(name) for name in "xyz"]
    small = st.integers(-3, 3)

    def size() -> Any:
        made: Any = data.draw(small)
        for x in names:
            made = made + x * data.draw(small)
        kind = data.draw(st.sampled_from(["sum", "quotient", "rest", "least", "most"]))
        other = data.draw(st.sampled_from(names))
        changed = {"sum": made, "quotient": made // 3, "rest": mod(made, 4),
                   "least": smallest(made, other), "most": largest(made, other)}
        return changed[kind] * data.draw(st.sampled_from([-1, 1]))

    facts = Facts()
    known = [Predicate("<=", 0, size()) for _ in range(3)]
    for predicate in known:
        facts.learn(predicate)
    goal = size() + size()
    proved = facts.never_negative(goal, 3) or facts.prove("<=", 0, goal) is True
    values = np.stack(np.meshgrid(*[np.arange(-6, 7)] * 3), -1).reshape(-1, 3)
    if proved:
        for row in values.tolist():
            of = {x.terms[0][0][0]: value for x, value in zip(names, row, strict=True)}
            if all(p.holds(of.__getitem__) for p in known):
                assert evaluate(goal, of.__getitem__) >= 0


def congruences(x: int, n: int) -> Any:
    out = np.empty(n, np.int64)
    for i in range(n):
        x = (1103515245 * x + 12345) % 2147483648
        out[i] = x % 1000 + x // 7 + (x + i) % (i + 3) + (i * i) // (i + 1)
    return out


def test_quotients_without_signs() -> None:
    compiled = npcompile.jit(congruences)
    for start in (0, 1, 2**31 - 1, -5, 2**40):
        np.testing.assert_array_equal(compiled(start, 60), congruences(start, 60), strict=True)
    assert "int_mod" in compiled.lower(1, 60).program
    assert "cast.uint32" in compiled.lower(1, 60).program
