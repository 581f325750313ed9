"""Values that depend on the path that was taken: numbers of several types, arrays, None."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from npcompile import jit
from tests.support import oracle

DATA = np.array([1.0, 2.0, 3.0, 0.5, 4.0, 1.0])


def as_python(function: Any, *calls: tuple[Any, ...]) -> None:
    """Captured whole; all that can be seen of each call is the plain function's."""
    compiled = jit(function, fullgraph=True, cache=False)
    for args in calls:
        oracle.check_calls(compiled, function, *args, policy=oracle.EXACT)


def drawdown(prices: Any, c: float) -> Any:
    peak, worst = prices[0], 0.0
    start = end = candidate = 0
    for i in range(len(prices)):
        if prices[i] > peak:
            peak, candidate = prices[i], i
        fall = (peak - prices[i]) / peak
        if fall > worst:
            worst = fall
            start, end = candidate, i
    return worst, start, end


def used_where_types_show(a: Any, c: float) -> Any:
    x = 0
    if c > 1:
        x = a[1]
    b = np.zeros(4, dtype=np.float32)
    b[1] = x
    b[int(x) % 3] = 2
    y = x / 3 if c else x // 2
    return b, y, isinstance(x, float), b * x, x + np.float32(1)


def none_or_number(a: Any, c: float) -> Any:
    least = None
    for value in a:
        if value > c and (least is None or value < least):
            least = value
    if least is None:
        return -1
    return least * 2


def none_used(a: Any, c: float) -> Any:
    x = None
    if a[0] > c:
        x = a[1]
    return x + 1


def unbound(a: Any, c: float) -> Any:
    k = 2
    if a[0] > c:
        k = np.int64(1)
    elif a[1] > c:
        del k
    return a[k] + k


def array_or_argument(a: Any, c: float) -> Any:
    b = a
    if a[0] > c:
        b = a * 2
    b[1] = 5
    b += 1
    d = b + 1
    return b, d, b is a


def one_of_two_arguments(a: Any, b: Any, c: float) -> Any:
    x = a if a[0] > c else b
    x[0] = 7
    b[1] = 3
    y = x
    y[2] += x[1]
    return x, y


def shapes(a: Any, c: float) -> Any:
    x = a[1:] if a[0] > c else a[::2] * 2
    return x.sum(), len(x), x


def swapped(a: Any, b: Any, c: float) -> Any:
    if a[0] > c:
        a, b = b, a
    a[0] = 10
    return b[0] - a[1], a


def carried_int_and_float(a: Any, c: float) -> Any:
    k, total = 0, 0
    for i in range(len(a)):
        if a[i] > c:
            k = k + int(a[i])
        else:
            k = k / 2
        total += k
    return k, total


def carried_through_loops(a: Any, c: float) -> Any:
    best, where = -1, (0, 0)
    for i in range(len(a)):
        for j in range(i):
            if a[i] - a[j] > best and a[i] > c:
                best = a[i] - a[j]
                where = (i, j)
            if best > 3:
                break
        else:
            continue
        break
    return best, where


def returned_early(a: Any, c: float) -> Any:
    best = 0
    for x in a:
        if x > c:
            return best, x
        best = max(best, x)
    return best, None


def divided(a: Any, c: float) -> Any:
    d = int(c)
    if c > 1:
        d = a[0] - 1.0
    return a[1] / d if c > 2 else 1 / d


@pytest.mark.parametrize("function", [
    drawdown, used_where_types_show, none_or_number, none_used, unbound, array_or_argument, shapes,
    carried_int_and_float, carried_through_loops, returned_early,
])
def test_one_array(function: Any) -> None:
    with np.errstate(all="ignore"):
        as_python(function, *((DATA, c) for c in (0.0, 1.0, 2.0, 3.0, 0.5, 9.0)))


@pytest.mark.parametrize("function", [one_of_two_arguments, swapped])
def test_two_arrays(function: Any) -> None:
    as_python(function, *((DATA, DATA + 1, c) for c in (0.0, 2.0)))


def test_division_by_zero_is_that_of_the_type() -> None:
    with np.errstate(all="ignore"):
        as_python(divided, (DATA, 0.0), (DATA, 1.5), (DATA, 3.0), (DATA + 1, 3.0))


def test_products_of_ints_that_left_a_branch_are_checked() -> None:
    def f(a: Any, i: int) -> Any:
        k = i
        while a[0] > 0:
            k = i + 1
            a[0] -= 1
            if a[1] > 1:
                break
        return 4 * k, 4 * i

    compiled = jit(f, cache=False)
    for i in (1, 2**61, 2**62, 5):
        assert compiled(DATA.copy(), i) == f(DATA.copy(), i)


def test_shorter_arrays_of_a_branch_are_still_one() -> None:
    def f(a: Any, c: float) -> Any:
        v = a + 0
        for _ in range(int((a > 0.5).sum())):
            if len(v) < 2:
                break
            v = v * 2 - 1
            v = v[(v < 2)]
        return np.sqrt(np.abs(v)), v[::-1]

    compiled = jit(f, cache=False)
    for c in (0.0, 1.0):
        oracle.check(compiled(DATA + c, c), f(DATA + c, c), oracle.EXACT)
