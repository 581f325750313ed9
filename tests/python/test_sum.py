"""``sum`` of Python's numbers: since Python 3.12 it adds what sums of floats have lost."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from npcompile import jit

RANDOM = random.Random(5)
SPECIAL = [0.1, 1e100, -1e100, 1e308, -1e308, math.inf, -math.inf, math.nan, -0.0, 0.0, 1e-320]


class Point:
    def __init__(self, x: float, y: float) -> None:
        self.x, self.y = x, y


def floats(count: int) -> list[float]:
    return [RANDOM.choice(SPECIAL) if RANDOM.random() < 0.3
            else RANDOM.gauss(0, 1) * 10 ** RANDOM.randint(-10, 20) for _ in range(count)]


def number() -> Any:
    return RANDOM.choice([*floats(3), RANDOM.randint(-9, 2**60), np.float64(RANDOM.random())])


def of_a_list(items: Any) -> Any:
    return sum(items)


def with_a_start(items: Any, start: Any) -> Any:
    return sum(items, start)


def of_a_display(a: Any, b: Any, c: Any) -> Any:
    return sum([a, 0.1, b, 0.2, c])


def of_attributes(points: Any) -> Any:
    return sum(p.x * p.y for p in points)


def of_a_generator(x: Any, scale: float) -> Any:
    return sum(float(v) * scale for v in x)


def of_a_list_that_grew(x: Any) -> Any:
    items = []
    for v in x:
        if v > 0:
            items.append(float(v) / 3)  # noqa: PERF401  a list of which the run knows the length
    return sum(items)


def of_ints_then_floats(n: int) -> Any:
    return sum(i * 0.1 for i in range(n))


def from_false(n: int) -> Any:
    return sum((i * 0.1 for i in range(n)), False)


def of_an_array(x: Any) -> Any:
    return sum(x)


def numbers() -> Any:
    return np.array(floats(RANDOM.choice([0, 1, 2, 40])))


@pytest.mark.parametrize(("function", "make"), [
    (of_a_list, lambda: (floats(RANDOM.choice([0, 1, 2, 30, 400])),)),
    (of_a_list, lambda: ([RANDOM.randint(-9, 9) for _ in range(RANDOM.choice([0, 1, 30]))],)),
    (with_a_start, lambda: (floats(20), RANDOM.choice([0, 5, -0.0, 1e16, True]))),
    (of_a_display, lambda: (number(), number(), number())),
    (of_attributes, lambda: ([Point(x, 1.5) for x in floats(12)],)),
    (of_a_generator, lambda: (numbers(), 0.1)),
    (of_a_list_that_grew, lambda: (numbers(),)),
    (of_ints_then_floats, lambda: (RANDOM.randint(0, 90),)),
    (from_false, lambda: (RANDOM.randint(0, 90),)),
    (of_an_array, lambda: (numbers(),)),
])
def test_bits_are_pythons(function: Callable[..., Any], make: Callable[[], Any]) -> None:
    compiled = jit(function, fullgraph=True)  # no call is left to Python
    for _ in range(60):
        args = make()
        with np.errstate(all="ignore"):
            got, want = compiled(*args), function(*args)
        assert type(got) is type(want)
        same = got == want and math.copysign(1, got) == math.copysign(1, want)
        assert same or (math.isnan(got) and math.isnan(want)), args
    assert compiled.cache_info().fallbacks == 0
