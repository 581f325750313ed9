"""Captured scalar loops: floating-point warnings are exact, whatever LLVM could move."""

# ruff: noqa: F841 (what nobody uses is what is tested)
from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import npcompile


def guarded(a, b, s):
    s = a[0]
    for i in range(len(a)):
        if b[i] != 0.0:
            s += a[i] / b[i]
    return s


def invariant(a, b, s):
    s, x, y = a[0], b[0], b[1]
    for i in range(len(a)):
        if a[i] > 0.0:
            s += x / y
    return s


def sunk(a, b, s):
    s = a[0]
    for i in range(len(a)):
        q = a[i] / b[i]
        if a[i] > 0.0:
            s += q
    return s


def last(a, b, s):
    r = s
    for i in range(len(a)):
        r = a[i] / b[i]
    return r


def one_place(a, b, s):
    out = np.zeros(2)
    for i in range(len(a)):
        out[0] = a[i] / b[i]
    return out


def square(a, b, s):
    s = a[0]
    for i in range(len(a)):
        if b[i] < 1e100:
            s = b[i] * b[i]
    return s


def product(a, b, s):
    for i in range(len(a)):
        r = a[i] * b[i]
    return r


def root(a, b, s):
    s = a[0]
    for i in range(len(a)):
        if a[i] >= 0:
            s += np.sqrt(a[i])
    return s


def in_place(a, b, s):
    for i in range(len(a)):
        if b[i] != 0.0:
            a[i] = a[i] / b[i]
    return s


def unused(a, b, s):
    for i in range(len(a)):
        q = a[i] / b[i]
    return s


def narrowed(a, b, s):
    for i in range(len(a)):
        if b[i] < 1e30:
            a[i] = np.float32(b[i])
    return a


def until(a, b, s):
    i = 0
    while i < len(a) and a[i] / b[i] < 100.0:
        i += 1
    return i


def outcome(function: Any, args: tuple[Any, ...]) -> tuple[str, list[tuple[str, int]]]:
    mine = [x.copy() if isinstance(x, np.ndarray) else x for x in args]
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = function(*mine)
    return repr((result, mine)), [(str(w.message), w.lineno) for w in found]


FUNCTIONS = [guarded, invariant, sunk, last, one_place, square, product, root, in_place, unused,
             narrowed, until]
ROWS = [
    ([1.0, 2, 3, 4], [1.0, 0, 2, 3], 0.0),
    ([-1.0, -2, -3, -4], [1.0, 0, 2, 3], 0.0),
    ([1.0, -2, 3, 4], [1e200, 0, 2, 3], np.float64(0)),
    ([1e200, 2, 3, 4], [1e200, 5, 2, 3], 0.0),
    ([1.0, 2, 3, 4], [1.0, 1, 2, 3], 0.0),
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_warnings(function: Any) -> None:
    compiled = npcompile.jit(function)
    for a, b, s in ROWS:
        args = (np.array(a), np.array(b), s)
        assert outcome(compiled, args) == outcome(function, args)
    assert compiled.explain(*args).refusal is None


def test_an_error_in_a_loop_of_which_nothing_is_needed() -> None:
    def last_of(a, places):
        for i in range(len(places)):
            x = a[places[i]]
        return 0.0

    compiled = npcompile.jit(last_of)
    assert compiled(np.arange(4.0), np.array([1, 3, -4])) == 0.0
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 4"):
        compiled(np.arange(4.0), np.array([1, 7, 2]))
    assert compiled.explain(np.arange(4.0), np.array([1, 7])).refusal is None
