"""What compares equal is not always the same: keys of dictionaries, constants given to calls."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from npcompile import jit

EQUAL_KEYS: list[list[Any]] = [
    [1, True, 1.0, np.int64(1), np.float32(1), 1 + 0j], [0.0, -0.0, 0, False, complex(0, -0.0)],
    ["a", np.str_("a")], [(1, 2), (True, 2), (1.0, 2)], [frozenset([1]), frozenset([True])],
    [Fraction(1), 1],
]


def keys(d: Any) -> Any:
    return list(d), {k: v + 1 for k, v in d.items()}, [type(k).__name__ for k in d]


def summed(d: Any, x: Any) -> Any:
    total = 0.0
    for last, value in d.items():  # noqa: B007
        total += value * x[0]
    return total, last


@pytest.mark.parametrize("names", EQUAL_KEYS)
def test_equal_keys(names: Any) -> None:
    of_keys, of_sums = jit(keys), jit(summed)
    x = np.ones(3)
    for name in (*names, *names):
        d = {name: 2.0}
        assert repr(of_keys(d)) == repr(keys(d))
        assert repr(of_sums(d, x)) == repr(summed(d, x))


class Named:
    """A key whose comparisons are counted."""

    asked = 0

    def __init__(self, name: str) -> None:
        self.name = name

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        Named.asked += 1
        return isinstance(other, Named) and self.name == other.name


def test_keys_of_classes_are_not_compared() -> None:
    compiled, x = jit(summed), np.ones(3)
    for _ in range(3):
        for key in (Named("a"), Named("a"), Named("b")):
            assert compiled({key: 2.0}, x)[1] is key
    assert not Named.asked


def of_range(r: Any, x: Any) -> Any:
    return r.stop, r.step, x * len(r)


def of_set(s: Any, x: Any) -> Any:
    return x.sum() if s else x, list(s)


def test_equal_constants() -> None:
    x = np.ones(2)
    for function, given in (
        (of_range, (range(0, 3, 2), range(0, 4, 2), range(0), range(1, 0))),
        (of_set, (frozenset([1, 8]), frozenset([8, 1]), frozenset([True, 8]))),
    ):
        compiled = jit(function)
        for constant in (*given, *given):
            assert repr(compiled(constant, x)) == repr(function(constant, x))


def test_signs_of_static_zeros() -> None:
    compiled = jit(lambda z, x: (z, x * 2), static=("z",))
    for z in (0j, complex(0, -0.0), complex(-0.0, 0), 0j):
        assert repr(compiled(z, 1.0)[0]) == repr(z)
