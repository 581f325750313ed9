"""What ``np.errstate`` ignores beside what it does not: calls stay compiled, warnings are right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from npcompile import jit
from tests.fuzz import errstate
from tests.fuzz.errstate import left
from tests.fuzz.framework import checked
from tests.support import oracle


def ratio(a: Any, b: Any) -> Any:
    product = a * b
    with np.errstate(divide="ignore", invalid="ignore"):
        found = a / b
    return np.where(b == 0, 0.0, found) * product / (1 + a * a)


def halves(a: Any, b: Any) -> Any:
    """What is heard and what is not are equal but for that."""
    one = a / b
    with np.errstate(divide="ignore"):
        other = a / b
    return one, other * 2, (a / b).sum()


def in_loop(a: Any, b: Any) -> Any:
    out = np.zeros_like(a)
    for k in range(3):
        with np.errstate(all="ignore"):
            out += a / (b - k)
        out[~np.isfinite(out)] = 0
        out = out / (a + k)
    return out


def numbers(a: Any, b: Any) -> Any:
    total = 0.0
    for k in range(len(a)):
        with np.errstate(divide="ignore", invalid="ignore"):
            found = a[k] / b[k]
        total = total + (0.0 if found > 1e300 else found) / (b[k] + 1)
    return total


def in_place(a: Any, b: Any) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        a /= b
        a[~np.isfinite(a)] = 1
    b /= a
    with np.errstate(invalid="ignore"):
        return (a - b).sum(), np.sqrt(-b) / a


def in_arm(a: Any, b: Any) -> Any:
    if a.mean() > 0.5:
        with np.errstate(divide="ignore", invalid="ignore"):
            found = a / b
            with np.errstate(over="ignore"):
                found = found * a * 1e200 / b
    else:
        found = b / a
    return np.where(np.isinf(found), 0, found) / (b + 1)


def heard_then_put(a: Any, b: Any) -> Any:
    """What a mask picks out is computed where it is put, but heard where it stands."""
    holds, out = b < 1.2, a * 1
    found = out[holds] / b[holds] * 1e120
    with np.errstate(all="ignore"):
        out[holds] = found
    return out


def ignored_then_put(a: Any, b: Any) -> Any:
    holds, out = b < 1.2, a * 1
    with np.errstate(divide="ignore", invalid="ignore"):
        found = out[holds] / b[holds]
    out[holds] = found * 1e120
    return np.where(np.isfinite(out), out, 1) / (b + 1)


def determinant(a: Any, b: Any) -> Any:
    """A routine with several results."""
    found = np.linalg.det(np.outer(a[:3], a[:3]) + np.diag(b[:3]))
    with np.errstate(over="ignore", invalid="ignore"):
        product = a * 1e120 * b
    return found, product, a * (b - 1) * 1e120


@pytest.mark.parametrize("function", [
    ratio, halves, in_loop, numbers, in_place, in_arm, heard_then_put, ignored_then_put,
    determinant,
])
def test_only_calls_that_warn_leave(function: Any) -> None:
    compiled = jit(function)
    a, b = np.linspace(1, 2, 9), np.linspace(0.5, 1.5, 9)
    zero, minus = b.copy(), b.copy()
    zero[2], minus[3] = 0, -1
    heard = set()
    for other in (b, zero, minus, np.where(a > 1.5, zero, minus), b):
        for one in (a, a - 1, b * 1e200):
            before = left(compiled)
            want = oracle.check_made(
                compiled, function, lambda one=one, other=other: (one.copy(), other.copy()),
                warnings="all")
            assert want.warned or left(compiled) == before
            heard.add(bool(want.warned))
    assert heard == {False, True}
    assert left(compiled) > 0
    assert compiled.explain(a, b).captured


def test_quotients_of_integers_overflow() -> None:
    def f(i: Any, j: Any, a: Any) -> Any:
        with np.errstate(divide="ignore"):
            found = i // j
        with np.errstate(over="ignore"):
            return found * (a * a)

    compiled, least = jit(f), np.iinfo(np.int64).min
    for i, j in [(7, 2), (7, 0), (least, -1), (least, 0)]:
        for a in (1.0, 1e200):
            args = [np.array([i, 1]), np.array([j, 1]), np.array([a, 1.0])]
            oracle.check_calls(compiled, f, *args, warnings="all")


def test_loops_that_keep_a_number_do_not_lose_its_error() -> None:
    def f(x: Any, n: int) -> Any:
        found = x / x
        for _ in range(n):
            found = found
        with np.errstate(invalid="ignore"):
            return found * x - 1

    compiled = jit(f)
    for x in (1.0, 0.0):
        for n in (2, 0):
            args = [np.float64(x), n]
            before = left(compiled)
            want = oracle.check_made(compiled, f, lambda args=args: args, warnings="all")
            assert want.warned or left(compiled) == before


def test_large_arrays_that_are_written_warn_of_what_is_heard() -> None:
    """Such a call can't be run again: the warning is that of the operation that can raise it."""
    def f(a: Any, b: Any) -> None:
        with np.errstate(divide="ignore", invalid="ignore"):
            a /= b
        b /= np.minimum(a, 1) - 1

    compiled = jit(f)
    for small in (1.0, 0.5, 0.0):
        a, b = np.full(9000, 0.25), np.ones(9000)
        b[7] = small
        oracle.check_calls(compiled, f, a, b, warnings="all")


@pytest.mark.parametrize("seed", [3, 11, 17, 29])
def test_random_programs(seed: int) -> None:
    checked(errstate.GRAMMAR, [seed])
