"""``a[mask] = f(a[mask])`` computes elements where they are."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from tests.support import oracle


def flipped(a: Any, b: Any) -> Any:
    a[a < 0] *= -1
    return a


def moved(a: Any, b: Any) -> Any:
    inside = np.abs(a) < 2
    a[inside] = a[inside] ** 2 + b[inside]
    return a, inside


def both(a: Any, b: Any) -> Any:
    higher = a > b
    a[higher] = (a[higher] + b[higher]) / 2
    b[~higher] = 1 / b[~higher]
    return a


def needed_later(a: Any, b: Any) -> Any:
    mask = a > b
    found = a[mask] * 2
    a[mask] = found
    b[mask] -= found
    return found, found.sum()


def the_mask_changes(a: Any, b: Any) -> Any:
    mask = a > b
    found = a[mask] + 1
    mask[0] = not mask[0]
    mask[-1] = not mask[-1]
    if mask.sum() == len(found):
        a[mask] = found
    return a


def in_turns(a: Any, b: Any) -> Any:
    count = np.zeros(a.shape, int)
    for k in range(6):
        inside = np.abs(a) < 3
        count[inside] = k
        a[inside] = a[inside] * 1.5 + b[inside]
    return count


def as_other_dtypes(a: Any, b: Any) -> Any:
    a[a > 1] = a[a > 1].astype(np.float32)
    c = np.arange(a.size).reshape(a.shape)
    c[c % 3 == 0] += 7
    c[b > 0] = c[b > 0] * 2.0
    return c


def divided(a: Any, b: Any) -> Any:
    mask = b > 100
    a[mask] = a[mask] / 0.0
    b[mask] = np.log(b[mask] - 1)
    return a


FUNCTIONS = [flipped, moved, both, needed_later, the_mask_changes, in_turns, as_other_dtypes,
             divided]
rng = np.random.default_rng(4)
ARRAYS = [rng.standard_normal((7, 9)) * 3, np.asfortranarray(rng.standard_normal((4, 5))),
          rng.standard_normal((8, 6))[::2, ::-1], rng.standard_normal(40), np.zeros((0, 3)),
          rng.standard_normal(20) + 1j * rng.standard_normal(20)]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_equals_numpy(function: Any) -> None:
    compiled = jit(function)
    for a in ARRAYS:
        if a.dtype.kind == "c" and function is not moved:
            continue
        if function is the_mask_changes and a.ndim != 1:
            continue
        for _ in range(2):
            oracle.check_calls(compiled, function, a, a.real[::-1])


def test_nothing_is_packed() -> None:
    for function in (flipped, moved, both, in_turns):
        program = jit(function).lower(ARRAYS[0].copy(), ARRAYS[0].copy()).program
        assert "[+]" not in program


def test_what_the_mask_leaves_out_warns_of_nothing() -> None:
    def f(a: Any, b: Any) -> Any:
        mask = a != 0
        b[mask] = b[mask] / a[mask]
        return b

    a, b = np.array([0.0, 2.0, 0.0, 4.0] * 3000), np.ones(12000)
    compiled = jit(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            assert np.array_equal(compiled(a, b.copy()), f(a, b.copy()))
    a[1] = np.inf
    b[1] = np.inf
    with pytest.warns(RuntimeWarning, match="invalid value encountered in divide"):
        compiled(a, b)
