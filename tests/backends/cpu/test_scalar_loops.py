"""Captured scalar loops: floating-point warnings are exact, whatever LLVM could move."""

# ruff: noqa: F841 (what nobody uses is what is tested)
from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import npcompile
from tests.support import oracle


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
        oracle.check_calls(compiled, function, *args, warnings="all")
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


def counted(n, k):
    up = down = 0
    for i in range(n):
        up += 3
        if i % 3 == k:
            down -= 7
        elif i > k:
            down = i
    return up, down, up - down


def from_afar(n, k):
    x = k
    for _ in range(n):
        x += 5
    return x


def doubling(n, k):
    x = 1
    while n > 0:
        x += x
        n -= 1
    return x


def mixed(n, k):
    x, y = 1, 2
    for _ in range(n):
        x, y = y + 1, x * 3
    return x, y


def least_and_most(n, k):
    low, high = 0, 0
    for i in range(n):
        low, high = min(low - 1, k), max(high + 2, i)
    return low, high, high * low


def backwards(n, k):
    total, j = 0, n
    while j > 0:
        j -= 2
        total += j * (2**40 if k == 9 else 1)
    return total, j


def signs(n, k):
    found = 0
    for i in range(n):
        j = i - 3
        found = found * 2 + (j // 2) % 5 + (j % 4) - (j >> 1) + (j & 6)
        found %= 1000003
    return found


@pytest.mark.parametrize(
    "function", [counted, from_afar, doubling, mixed, least_and_most, backwards, signs],
    ids=lambda f: f.__name__)
def test_integers(function: Any) -> None:
    compiled = npcompile.jit(function)
    for n, k in ((0, 0), (1, 1), (10, 2), (62, 9), (70, 2**62), (80, -(2**63)), (50, 2**63 - 20),
                 (3, 2**63 - 1)):
        assert compiled(n, k) == function(n, k), (n, k)


def checks_of(function: Any, *args: Any) -> int:
    program: str = npcompile.jit(function).lower(*args).program
    return program.count("check ")


def test_counters_need_no_checks() -> None:
    def pairs(a):
        more = less = 0
        for i in range(len(a)):
            for j in range(i):
                if a[i] > a[j]:
                    more += 1
                elif a[i] < a[j]:
                    less += 1
        return more - less

    def before(a):
        found = 0
        for i in range(len(a)):
            if i > 0 and a[i - 1] > a[i]:
                found += 1
        return found

    assert checks_of(pairs, np.arange(4.0)) == 0
    assert checks_of(before, np.arange(4.0)) == 0
    assert checks_of(doubling, 3, 0) == 1  # of both numbers
    assert checks_of(from_afar, 3, 0) == 1


def smoothed(a, k):
    out = np.empty_like(a)
    out[0] = a[0]
    for i in range(1, len(a)):
        out[i] = 0.25 * a[i] + 0.75 * out[i - 1]
    return out


def in_place_sums(a, k):
    for i in range(2, len(a)):
        a[i] = a[i - 1] + a[i]
    return a


def both_ways(a, k):
    for i in range(1, len(a) - 1):
        a[i] = a[i - 1] + a[i + 1] * a[i]
    return a


def two_before(a, k):
    for i in range(2, len(a)):
        a[i] = a[i - 1] - a[i - 2]
    return a


def twice(a, k):
    for i in range(1, len(a)):
        a[i] = a[i - 1] + 1.0
        a[i] = a[i - 1] * a[i]
    return a


def sometimes(a, k):
    for i in range(1, len(a)):
        if a[i] > 1.5:
            a[i] = a[i - 1] + 1.0
    return a


def another_place(a, k):
    for i in range(1, len(a)):
        a[i] = a[i - 1] + 1.0
        a[k] = 7.0
    return a


def in_rows(a, k):
    table = np.zeros((len(a), 5))
    for i in range(len(a)):
        table[i, 0] = a[i]
        for j in range(1, 5):
            table[i, j] = table[i, j - 1] * 0.5 + a[j % len(a)]
    return table


def over_rows(a, k):
    table = np.zeros((len(a) + 1, 4))
    for i in range(1, len(a) + 1):
        for j in range(1, 4):
            table[i, j] = min(table[i - 1, j], table[i, j - 1], table[i - 1, j - 1]) + a[i - 1]
    return table


def leaves(a, k):
    for i in range(1, len(a)):
        if a[i] < 0:
            raise ValueError(i)
        a[i] = a[i - 1] + a[i]
    return a


RECURRENCES = [smoothed, in_place_sums, both_ways, two_before, twice, sometimes, another_place,
               in_rows, over_rows, leaves]


@pytest.mark.parametrize("function", RECURRENCES, ids=lambda f: f.__name__)
def test_recurrences(function: Any) -> None:
    compiled = npcompile.jit(function)
    whole = np.linspace(0.5, 2.5, 24)
    lone = whole[:6].copy()
    lone[4] = -1.0
    for array in (whole, whole[::-2], whole[:1], whole[:2], whole[:3], lone, whole[3:8]):
        mine, theirs = array.copy()[::1], array.copy()
        results = []
        for f, x in ((compiled, mine), (function, theirs)):
            try:
                results.append(f(x, 1))
            except ValueError as error:
                results.append(str(error))
        assert np.array_equal(*results) and np.array_equal(mine, theirs)


# ------------------------------------------------------------------ loops that are kernels


def scaled(a, b, k):
    out = np.empty_like(a)
    for i in range(len(a)):
        out[i] = a[i] * b[i] + k
    return out


def counts(a, b, k):
    more = less = 0
    for i in range(len(a)):
        if a[i] > b[i]:
            more += 1
        elif a[i] < b[i]:
            less -= 2
    return more, less


def among(a, b, k):
    low = middle = high = 0
    for i in range(len(a)):
        x, y = a[i], b[i]
        if x < -0.5:
            low += 1
        elif x > 0.5:
            high = 1 + high
        elif y > 0.0 and x < y:
            middle += 1
    return low, middle, high


def masked(a, b, k):
    for i in range(len(a)):
        if a[i] > b[i]:
            a[i] = b[i]
    return a


def shifted(a, b, k):
    for i in range(3, len(a)):
        a[i] = b[i - 3] * 2.0 - b[i]
    return a


def backwards_over(a, b, k):
    n = len(a)
    for i in range(n):
        a[i] = b[n - 1 - i] + i * k
    return a


def depends(a, b, k):
    for i in range(1, len(a)):
        a[i] = a[i - 1] * 0.5 + b[i]
    return a


def reads_ahead(a, b, k):
    for i in range(len(a) - 1):
        a[i] = a[i + 1] * 0.5
    return a


def quotients(a, b, k):
    count = 0
    for i in range(len(a)):
        q = a[i] / (b[i] - 1.5)
        if q > 1.0:
            count += 1
    return count


def unused_quotients(a, b, k):
    count = 0
    for i in range(len(a)):
        q = a[i] / (b[i] - 1.5)
        if a[i] > 1.0:
            count += 1
    return count


def last_of_all(a, b, k):
    x = a[0]
    for i in range(len(a)):
        x = a[i] + b[i]
    return x


def table(a, b, k):
    out = np.zeros((len(a), len(b)))
    n = 0
    for i in range(len(a)):
        for j in range(len(b)):
            out[i, j] = a[i] - b[j]
        for j in range(i):
            if out[i, j] < 0.25:
                n += i - j
    return out, n


def columns(a, b, k):
    out = np.zeros((3, len(a)), np.float32)
    for j in range(3):
        for i in range(len(a)):
            out[j, i] = np.float32(a[i]) * np.float32(j)
    return out


def of_integers(a, b, k):
    found = np.zeros(len(a), np.int64)
    total = k
    for i in range(len(a)):
        found[i] = (i * 7) % 5 - (i >> 1)
        total = 3 + total
    return found, total


def summed_twice(a, b, k):
    n = m = 0
    for i in range(len(a)):
        if a[i] > b[i]:
            n += 1
        m += n
    return n, m


def to_and_fro(a, b, k):
    n = 5
    for i in range(len(a)):
        n = i - n
    return n


LANES = [scaled, counts, among, masked, shifted, backwards_over, depends, reads_ahead,
         quotients, unused_quotients, last_of_all, table, columns, of_integers, summed_twice,
         to_and_fro]


@pytest.mark.parametrize("function", LANES, ids=lambda f: f.__name__)
def test_loops_that_are_kernels(function: Any) -> None:
    compiled = npcompile.jit(function)
    rng = np.random.default_rng(3)
    for n in (40, 1, 2, 16, 17, 18, 31, 33):
        a, b = rng.uniform(-2, 2, n), rng.uniform(-2, 2, n)
        for x, y in ((a, b), (np.repeat(a, 2)[::2], b[::-1]), (a, np.where(b > 1, np.nan, b)),
                     (a, np.where(b > 1, 1.5, b))):
            oracle.check_calls(compiled, function, x, y, 3, warnings="all")
    assert compiled.explain(a, b, 3).refusal is None


def test_which_loops_are_kernels() -> None:
    a, b = np.arange(4.0), np.arange(4.0)
    kernels = {f for f in LANES if "lanes over" in str(npcompile.jit(f).lower(a, b, 3).program)}
    assert kernels >= {scaled, counts, among, masked, shifted, quotients,
                       table, columns}
    assert not kernels & {depends, reads_ahead, unused_quotients, last_of_all, summed_twice,
                          to_and_fro}


def test_what_branches_count_are_bools() -> None:
    """The machine counts them at once."""
    a = np.arange(4.0)
    text = str(npcompile.jit(among).lower(a, a, 3).program)
    kernel = text[text.index("kernel lanes") :].partition("kernel sum")[0]
    assert kernel.count("cast.int64") == 3
    assert "where" not in kernel


def extremes(a, b, k):
    out = np.empty((len(a), 6), a.dtype)
    for i in range(len(a)):
        x, y = a[i], b[i]
        out[i, 0], out[i, 1] = min(x, y), max(x, y)
        out[i, 2] = x if x < y else y
        out[i, 3] = y if x < y else x
        out[i, 4] = x if x > y else y
        out[i, 5] = min(x, 0.5, y)
    return out


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_smaller_and_larger_numbers(dtype: Any) -> None:
    special = np.array([0.0, -0.0, 1.0, -np.inf, np.inf, np.nan, -np.nan], dtype)
    a, b = (x.ravel() for x in np.meshgrid(special, special))
    compiled = npcompile.jit(extremes)
    for some in (slice(0, 7), slice(5, 12), slice(7, 14), slice(None)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            got, want = compiled(a[some], b[some], 1), extremes(a[some], b[some], 1)
        assert got.tobytes() == want.tobytes()


def test_checks_that_are_one_keep_errors_and_flags_apart() -> None:
    def picked(a, places, b):
        total = a[0]
        for i in range(len(places)):
            total = total + a[places[i]] / b[places[i]]
        return total

    compiled = npcompile.jit(picked)
    a, b = np.arange(4.0), np.array([1.0, 2, 0, 4])
    for places in ([0, 1, 3], [0, 1, 4], [0, -5, 1], [0, 2, 4], [-1, -4, -2], [0, 2]):
        oracle.check_calls(compiled, picked, a, np.array(places), b, warnings="all")
    assert compiled.explain(a, np.array([0]), b).refusal is None


def test_elements_of_what_is_reduced() -> None:
    """What is read again after a reduction is computed once, in the same kernel."""
    def best(costs: Any, added: Any) -> Any:
        out = np.zeros(len(costs))
        for i in range(len(costs)):
            sums = costs[i] + added[:, i]
            out[i] = sums[np.argmin(sums)] + sums[-1]
        return out

    rng = np.random.default_rng(5)
    args = rng.standard_normal((7, 7)), rng.standard_normal((7, 7))
    compiled = npcompile.jit(best)
    assert np.array_equal(compiled(*args), best(*args))
    assert compiled.lower(*args).program.count("load float64 added") == 1
