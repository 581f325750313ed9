"""The oracle sees each kind of difference, and nothing where there is none."""

from __future__ import annotations

import copy
import warnings
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.support import oracle

X = np.arange(6.0).reshape(2, 3)


class Thing:
    def __init__(self, **held: Any) -> None:
        self.__dict__.update(held)


class Slotted:
    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x


def twice(x: Any) -> list[Any]:
    return [x, x]


def advanced(items: Any) -> Any:
    it = iter(items)
    next(it)
    return it


UNLIKE: list[tuple[Any, Any]] = [
    (1, True), (1, 1.0), (1.0, np.float64(1.0)), (0.0, -0.0), (1, np.int64(1)), ("a", b"a"),
    (0j, complex(0.0, -0.0)), (np.float32(1), np.float64(1)), (1.0, np.nextafter(1.0, 2)),
    (X, X.astype("f4")), (X, X.astype(">f8")), (X, X.reshape(3, 2)), (X, np.asfortranarray(X)),
    (X, X.copy()[::1, ::-1][:, ::-1][:1]), (X, X * np.where(X == 5, np.nan, 1)),
    (np.array([0.0]), np.array([-0.0])), (np.array(1.0), np.float64(1.0)),
    (np.array([1, 2.5], object), np.array([1.0, 2.5], object)),
    (np.ma.masked_array([1.0], [True]), np.ma.masked_array([1.0], [False])),
    ([1], (1,)), ([1, 2], [1]), ([1], [1, 2]), ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ({"a": 1}, {"a": 2}), ({1: 0}, {1.0: 0}), ({8, 0}, {0, 8}), ({1}, frozenset({1})),
    (OrderedDict(a=1), {"a": 1}), (deque([1], 2), deque([1], 3)), (defaultdict(int), {}),
    (twice([]), [[], []]), (twice(X), [X.copy(), X.copy()]), ([X, X[0]], [X, X[0].copy()]),
    ([X, X[0]], [X, X[1]]), (Thing(x=1), Thing(x=2)), (Thing(x=1), Thing(y=1)),
    (Slotted(1), Slotted(2)), (Fraction(1, 2), Fraction(1, 3)), (len, max), (int, float),
    (iter([1, 2]), advanced([1, 2])), (ValueError(1), ValueError(2)), (slice(1), slice(2)),
    (np.random.default_rng(1), np.random.default_rng(2)),
]


@pytest.mark.parametrize("k", range(len(UNLIKE)))
def test_values_differ(k: int) -> None:
    one, other = UNLIKE[k]
    assert oracle.difference(one, other) and oracle.difference(other, one)
    for value in (one, other):
        assert not oracle.difference(value, copy.copy(value))


def frozen(x: np.ndarray) -> np.ndarray:
    x = x.copy()
    x.flags.writeable = False
    return x


def test_what_a_policy_leaves_out() -> None:
    nan, other = np.array([np.nan]), np.array([-np.nan])
    wide = np.ones((1, 3)), np.ones((3, 1)).T
    rows: list[tuple[Any, Any, dict[str, Any]]] = [
        (0.0, -0.0, {"signs": False}), (1.0, 1.0 + 1e-12, {"close": (1e-9, 0.0)}),
        (X, np.asfortranarray(X), {"strides": ""}), (*wide, {"strides": "long"}),
        ([X, X[0]], [X, X[0].copy()], {"sharing": False}),
    ]
    for one, two, policy in rows:
        assert oracle.difference(one, two) and not oracle.difference(one, two, **policy)
    assert oracle.difference(X, np.asfortranarray(X), strides="long")
    assert oracle.difference(1.0, 1.1, close=(1e-9, 0.0))
    assert not oracle.difference(nan, other) and oracle.difference(nan, other, nans=True)
    assert oracle.difference(X, frozen(X), strides="")
    one = float("2.5")
    assert not oracle.difference([one, one], [2.5, float("2.5")])
    assert oracle.difference([one, one], [2.5, float("2.5")], numbers=True)


def raises(x: Any) -> None:
    raise ValueError("no")


def raises_below(x: Any) -> None:
    raise ValueError("no")


def warns(x: Any) -> None:
    warnings.warn("oh", stacklevel=1)


def warns_below(x: Any) -> None:
    warnings.warn("oh", stacklevel=1)


def changes(x: Any) -> None:
    x[0] = 7.0


def hands_on(x: Any) -> Any:
    return x


CALLS: list[Callable[[Any], Any]] = [
    raises, raises_below, warns, warns_below, changes, hands_on, lambda x: x.copy(),
    lambda x: None, lambda x: print("a"), lambda x: print("b"), lambda x: 1 // 0,
]


def test_calls_differ() -> None:
    outcomes = [oracle.observe(call, np.arange(3.0)) for call in CALLS]
    again = [oracle.observe(call, np.arange(3.0)) for call in CALLS]
    for j, got in enumerate(outcomes):
        for k, want in enumerate(again):
            assert bool(oracle.difference(got, want)) == (j != k), (j, k)
    warned = [oracle.observe(call, 1) for call in (warns, warns_below)]
    assert not oracle.difference(*warned, warnings="messages")
    failed = [oracle.observe(call, 1) for call in (raises, raises_below)]
    assert not oracle.difference(*failed, lines=False)


def test_compiled_calls_are_compared_on_each_backend() -> None:
    seen: list[int] = []

    def counted(x: Any) -> Any:
        seen.append(1)
        return x + len(seen)

    with pytest.raises(AssertionError, match="cpu: result"):
        oracle.alike(counted, (np.ones(3),), captured=False)
    oracle.alike(lambda x: x * 2, (np.ones(3),), (np.ones(4),))
