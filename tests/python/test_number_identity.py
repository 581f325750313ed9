"""Numbers that come from outside are handed on as the objects that they came as: in results,
attributes and lists, and where Python goes on in the middle of a function."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from tests.support import oracle

ENDLESS, HELD = float("inf"), float("2.5e7")
NUMBERS: tuple[Any, ...] = (
    2.5e7, math.inf, math.nan, -0.0, 1 << 40, 3, 1.5 + 2j, True, np.float64(2.5), np.float32(1.5),
    np.int64(1 << 40), np.complex128(2j), np.bool_(True), np.float64("nan"),
)


class Holder:
    def __init__(self, **held: Any) -> None:
        self.__dict__.update(held)


class Own(float):
    pass


def as_plain(function: Callable[..., Any], *make: Callable[[], tuple[Any, ...]]) -> None:
    """Compiled and plain calls give the same objects, at first and later."""
    compiled = jit(function)
    for made in make * 3:
        oracle.check_made(compiled, function, made, numbers=True)


@pytest.mark.parametrize("number", NUMBERS)
def test_results(number: Any) -> None:
    def f(x: Any, a: Any) -> Any:
        a += 1.0
        y = x
        return x, [y], {"x": (y, a)}

    assert jit(f)(number, np.ones(3))[0] is number
    as_plain(f, lambda: (number, np.arange(9.0)), lambda: (number, np.arange(5.0)))


@pytest.mark.parametrize("number", NUMBERS)
def test_attributes_items_and_globals(number: Any) -> None:
    def f(held: Any, items: Any, table: Any, a: Any) -> Any:
        a *= 2.0
        held.last = held.x
        held.x = items[1]
        return held.last, items[0], items[1], table["k"], ENDLESS, HELD, number

    as_plain(f, lambda: (Holder(x=number, last=0.0), [2.5, number], {"k": number}, np.ones(4)))


def test_an_object_of_a_class_of_its_own() -> None:
    as_plain(lambda x, a: (x, a.sum()), lambda: (Own(2.5), np.ones(3)))


def test_a_number_that_changed() -> None:
    def f(held: Any, x: Any, a: Any) -> Any:
        before = held.x
        held.x = x + 1.0
        a += held.x
        return before, held.x, held.x, x

    as_plain(f, lambda: (Holder(x=7.5e9), 3.5, np.ones(3)))


def test_a_new_number_is_one_object() -> None:
    def f(x: Any, a: Any) -> Any:
        total = a.sum()
        best, y = total, x * 3.0
        return {"total": total, "best": best}, y, [y], x * 5.0, a[0]

    as_plain(f, lambda: (2.5, np.arange(4.0)))


def test_what_is_computed_twice_is_two_objects() -> None:
    def f(x: Any, a: Any) -> Any:
        return x * 3.0, x * 3.0, a[1], a[1]

    as_plain(f, lambda: (2.5, np.arange(4.0)))


def test_a_variable_that_gets_the_same_in_each_iteration() -> None:
    def f(x: Any, a: Any) -> Any:
        y = x
        for k in range(len(a)):
            a[k] += y
            y = x
        return x, y

    as_plain(f, lambda: (2.5, np.arange(4.0)), lambda: (2.5, np.arange(0.0)))


def test_an_attribute_that_is_deleted_meanwhile() -> None:
    def f(held: Any, log: Any, a: Any) -> Any:
        x = held.x
        for k in range(3):
            a += x
            log[str(k)] = held.__dict__.pop("x", None)
        return x, log["0"] is x

    as_plain(f, lambda: (Holder(x=float("2.5e7")), {}, np.arange(3000.0)))


@pytest.mark.parametrize("number", NUMBERS)
def test_graph_breaks(number: Any) -> None:
    def f(x: Any, held: Any, log: Any, a: Any) -> Any:
        y, z = held.x, a[1] * 2.0
        for k in range(3):
            a *= 1.5
            log[f"{k}"] = (x, y, z)  # which Python does
        first, last = log["0"], log["2"]
        return x, y, z, first, last, held.x

    as_plain(f, lambda: (number, Holder(x=number), {}, np.arange(3000.0)))


@pytest.mark.parametrize("number", NUMBERS)
def test_comparisons_after_a_graph_break(number: Any) -> None:
    def f(x: Any, y: Any, log: Any, a: Any) -> Any:
        z, found = a[1] * 2.0, []
        w = z
        for k in range(3):
            a *= 1.5
            log[f"{k}"] = (x, z)
            found.append((x is y, z is w, log[f"{k}"][0] is y, log[f"{k}"][1] is w))
        return found

    other = number + 0 if isinstance(number, (float, complex)) else number
    as_plain(f, lambda: (number, number, {}, np.arange(3000.0)),
             lambda: (number, other, {}, np.arange(3000.0)))


def test_keys_that_are_nan() -> None:
    def f(x: Any, log: Any, a: Any) -> Any:
        counts = {}
        for k in range(3):
            a *= 1.5
            log.setdefault(str(k), x)
            counts[x] = k
        return len(counts), x in [log["1"]]

    as_plain(f, lambda: (math.nan, {}, np.arange(3000.0)))


def test_comparisons_of_what_paths_join() -> None:
    def f(x: Any, y: Any, log: Any, a: Any) -> Any:
        z = x if a[1] > 5.0 else y
        best, before, found = x, y, []
        for k in range(3):
            a *= 1.5
            if a[k] > 2.0:
                best, before = before, x
            log[f"{k}"] = (z, best, before)
            found.append((z is x, z is y, best is x, before is best))
        return found, z is best

    def made(first: float) -> Callable[[], tuple[Any, ...]]:
        return lambda: (2.5e7, float("3.5e7"), {}, np.arange(3000.0) + first)

    as_plain(f, made(0.0), made(9.0))


def test_comparisons_without_a_graph_break() -> None:
    def f(x: Any, y: Any, held: Any, a: Any) -> Any:
        z = x * 2.0
        w = z
        a += z
        return x is y, x is held.x, z is w, z is x, z is a[0], held.x is ENDLESS, x is not y

    one, other = 2.5e7, float("2.5e7")
    as_plain(f, lambda: (one, one, Holder(x=other), np.ones(3)),
             lambda: (one, other, Holder(x=one), np.ones(3)),
             lambda: (one, other, Holder(x=ENDLESS), np.ones(3)))


def test_a_failed_check_goes_on_with_the_same_objects() -> None:
    def f(x: Any, n: Any, held: Any, a: Any) -> Any:
        a += x
        y = x * 2.0
        z = y
        value = a[n]  # which may be no place of it
        return value, x, held.x, y is z, x is held.x

    def made(n: int) -> Callable[[], tuple[Any, ...]]:
        number = float("2.5e7")
        return lambda: (number, n, Holder(x=number), np.arange(5.0))

    as_plain(f, made(3), made(-4), made(4))


def test_truths_are_compared() -> None:
    def f(a: Any, x: Any) -> Any:
        one, other = x > 1.0, x > 2.0
        return one is other, one is not other, a * x

    for x in (0.5, 1.5, 2.5):
        as_plain(f, lambda x=x: (np.ones(3), x))


def test_comparisons_in_functions_made_after_a_graph_break() -> None:
    def f(x: Any, numbers: Any, n: Any) -> Any:
        best = x
        for k in range(n):
            best = max(best, numbers[k])
        numbers.sort()  # which Python does
        def same(number: Any) -> bool:
            return number is best

        return list(map(same, numbers))

    as_plain(f, lambda: (2.5e7, [1.5e7, 3.5e7], 0), lambda: (2.5e7, [1.5e7, 3.5e7], 2))
