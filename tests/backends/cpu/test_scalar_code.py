"""What scalar code leaves out (branches, checks, copies) and what it still answers exactly."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import npcompile
from npcompile.backends.cpu.kernels.branched_updates import units
from npcompile.program.ir import Apply, Kernel, Value
from tests.support import oracle

LIMIT = 2**63
Function = Callable[..., Any]


def as_plain(function: Function, *args: Any) -> str:
    """Compares with the plain function; the kernel program, to look at."""
    compiled = npcompile.jit(function)
    for _ in range(2):
        oracle.check_calls(compiled, function, *args, nans=True, warnings="all")
    return compiled.lower(*args).program


# ------------------------------------------------------------------ one condition, many names


def running_best(x):
    best, where, count, before = 0.0, 0, 0, -1.0
    for i in range(len(x)):
        if x[i] > best:
            before = best
            best = x[i]
            where = i
            count += 1
    return best, where, count, before


def crossed(x):
    a = b = c = 0.0
    d = e = f = 1.0
    for i in range(len(x)):
        if x[i] > 0.5:
            a, b, c = b + 1.0, c, x[i]
        if b > c:
            d, e, f = e, f + a, b
        if x[i] > 0.5:
            a, b, c = a + d, b - e, c + f
    return a, b, c, d, e, f


def largest_of_four(a, b, gap):
    score = np.zeros((len(a) + 1, len(b) + 1))
    best, where = 0.0, (0, 0)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            step = 2.0 if a[i - 1] == b[j - 1] else -1.0
            score[i, j] = max(0.0, score[i - 1, j - 1] + step, score[i - 1, j] + gap,
                              score[i, j - 1] + gap)
            if score[i, j] > best:
                best = score[i, j]
                where = (i, j)
    return best, where


SPECIAL = (np.array([0.1, np.nan, 0.7, 0.7, -0.0, np.inf, 3.0, np.nan]), np.zeros(3),
           np.array([-0.0, 0.0, -1.0]), np.linspace(-1.0, 2.0, 37), np.full(5, np.nan))


@pytest.mark.parametrize("x", SPECIAL)
@pytest.mark.parametrize("function", [running_best, crossed])
def test_names_that_one_condition_sets(function: Function, x: np.ndarray) -> None:
    as_plain(function, x)


def test_arms_that_differ_in_origin_only() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 4, 20), rng.integers(0, 4, 25)
    program = as_plain(largest_of_four, a, b, -1.5)
    assert "if s" not in program  # zero may be Python's or NumPy's; all else is the same
    as_plain(largest_of_four, a, b, float("nan"))
    as_plain(largest_of_four, a, b, -1e3)


def test_choices_that_need_each_other_stay_apart() -> None:
    def where(*args: int) -> Apply:
        return Apply("where", args, np.dtype(float))

    one: list[Value] = [Apply("x", (), np.dtype(float)) for _ in range(4)]
    two = [where(0, 2, 3), where(1, 4, 3), where(0, 5, 3), where(1, 2, 6), where(0, 2, 7),
           where(1, 8, 2), where(0, 3, 2), where(1, 3, 2)]
    order = units(Kernel("k", (), tuple(one + two)))
    done: set[int] = set()
    for unit in order:
        for position in unit:
            value = (one + two)[position]
            assert isinstance(value, Apply) and done.issuperset(value.args)
        done.update(unit)
    assert done == set(range(12))


# ------------------------------------------------------------------ checks that are one


def collatz(n):
    steps = 0
    while n != 1 and steps < 100:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return n, steps


def stepped(n):
    out = 0
    for _ in range(3):
        out = (n * 3 + 7) * -5 - 11
        n = n + 1
    return out


def beyond(n):
    for _ in range(2):
        m = n + 9223372036854775807 + 9223372036854775807 + 9223372036854775807
    return m


@pytest.mark.parametrize("n", [
    27, 1, 2, -1, (LIMIT - 2) // 3, LIMIT // 3, LIMIT // 3 + 1, LIMIT - 1, -LIMIT // 3,
    -LIMIT // 3 - 1, -LIMIT, 3074457345618258601, 3074457345618258603])
def test_steps_of_a_computation(n: int) -> None:
    as_plain(collatz, n)


@pytest.mark.parametrize("offset", range(-3, 4))
@pytest.mark.parametrize("end", [LIMIT // 15, -LIMIT // 15, LIMIT // 3, -LIMIT // 3])
def test_ends_of_a_computation(end: int, offset: int) -> None:
    as_plain(stepped, end + offset)


@pytest.mark.parametrize("n", [0, -LIMIT, LIMIT - 1, -1, 1 - LIMIT])
def test_a_computation_that_no_number_stands(n: int) -> None:
    as_plain(beyond, n)


# ------------------------------------------------------------------ indices known to be inside


def insertion_sort(a):
    for i in range(1, len(a)):
        x = a[i]
        j = i
        while j > 0 and a[j - 1] > x:
            a[j] = a[j - 1]
            j -= 1
        a[j] = x
    return a


def down_by_two(a):
    total, j = 0.0, len(a) - 1
    while j > 0:
        total += a[j] * a[j - 1]
        j -= 2
    return total, j


def wraps_below(a):
    count, j = 0, len(a) - 1
    while j >= 0 and a[j - 1] < 9.0:
        j -= 1
        count += 1
    return count, j


def first_then_down(a):
    j, total = len(a), 0.0
    while j > 0:
        j -= 1
        total = total * 0.5 + a[j]
    return total


def runs_off_the_end(a):
    j = 0
    while a[j] < 2.0:
        a[j] += 1.0
        j += 1
    return j


def until_the_end(a):
    j, total = 0, 0.0
    while j < len(a):
        total += a[j] - a[j - 1]
        j += 1 + int(a[j] > 0.5)
    return total, j


def begins_beyond(a):
    j, total = len(a), 0.0
    while True:
        total += a[j - 1]
        j -= 1
        if j <= 0:
            break
    return total, a[j]


def other_condition(a):
    i, j = 0, len(a) - 1
    while i < j:
        if a[i] > a[j]:
            a[i], a[j] = a[j], a[i]
            i += 1
        else:
            j -= 1
    return i


def ends_in_a_flag(a):
    going, k = True, 0
    while going:
        a[k] = -a[k]
        k += 1
        going = k < len(a) and a[k] > 0.2
    return k


@pytest.mark.parametrize("function", [
    insertion_sort, down_by_two, wraps_below, first_then_down, runs_off_the_end, until_the_end,
    begins_beyond, other_condition, ends_in_a_flag])
@pytest.mark.parametrize("n", [1, 2, 3, 8, 21])
def test_indices_in_loops_that_ask(function: Function, n: int) -> None:
    rng = np.random.default_rng(n)
    as_plain(function, rng.random(n))
    as_plain(function, np.where(rng.random(n) < 0.3, np.nan, rng.random(n)))


def test_sorting_checks_no_index_within_its_loop() -> None:
    program = as_plain(insertion_sort, np.random.default_rng(1).random(30))
    inner = program[program.index("do:"):program.index("while s")]
    assert "check" not in inner


def remainders(positions, cells):
    out = np.zeros(cells)
    for p in range(len(positions)):
        at = positions[p]
        out[at % cells] += 1.0
        out[(at + 1) % cells] -= 0.5
    return out


def other_remainders(a, m):
    total = 0.0
    for k in range(-5, 12):
        total = total * 0.5 + a[k % m]
    return total


def counted(digits):
    counts = np.zeros(12, dtype=np.int64)
    for d in digits:
        counts[(d & 7) + 1] += 1
    return counts


def doubled(digits):
    counts = np.ones(12, dtype=np.int64)
    for d in digits:
        counts[d] += counts[d - 1]
    return counts


def turned(grid, i, j, steps):
    di, dj = -1, 0
    for _ in range(steps):
        if grid[i, j]:
            di, dj = -dj, di
        else:
            di, dj = dj, -di
        grid[i, j] = not grid[i, j]
        i = (i + di) % grid.shape[0]
        j = (j + dj) % grid.shape[1]
    return i, j, di, dj


def test_remainders_and_counts() -> None:
    rng = np.random.default_rng(2)
    at = rng.integers(-40, 40, 60)
    for cells in (7, 1, 0):
        as_plain(remainders, at, cells)
    for m in (3, 5, -3, -5, 0, 9):
        as_plain(other_remainders, rng.random(5), m)
    as_plain(counted, at)
    as_plain(doubled, rng.integers(0, 12, 70))  # overflows: NumPy warns
    as_plain(doubled, np.full(70, 5))
    for start in (0, 3, -4, 7, -(2**63)):
        as_plain(turned, rng.random((6, 5)) < 0.5, start, 2, 40)


# ------------------------------------------------------------------ doubling, errors of exp


def doubles(x):
    total = 0.0
    for i in range(len(x)):
        total = 2.0 * total + x[i] * 2.0
    return total


def exponentials(x):
    total = 0.0
    for i in range(len(x)):
        total += math.exp(float(x[i]))
    return total


@pytest.mark.parametrize("x", [*SPECIAL, np.array([1e308, 1e308]), np.array([-1e308, -1.7e308]),
                               np.array([5e-324, -5e-324]), np.array([-np.inf, 1.0])])
def test_doubling(x: np.ndarray) -> None:
    as_plain(doubles, x)
    with np.errstate(over="ignore"):
        single = x.astype(np.float32)
    as_plain(doubles, single)


@pytest.mark.parametrize("last", [709.0, 709.9, 710.5, np.inf, -np.inf, np.nan, -800.0])
def test_what_overflows_in_python(last: float) -> None:
    compiled = npcompile.jit(exponentials)
    x = np.array([0.5, last])
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                want: object = exponentials(x)
            except OverflowError as error:
                with pytest.raises(OverflowError, match=str(error)):
                    compiled(x)
            else:
                np.testing.assert_array_max_ulp(compiled(x), want, 2)


# ------------------------------------------------------------------ a first turn like the others


def total_of(x, n):
    total = 0.0
    for k in range(n):
        total += x[k] * x[k]
    return total


def count_of(x, n):
    count, last = 0, 0
    for k in range(n):
        count += x[k]
        last = x[k]
    return count, last


def quotient_of(x, n):
    total = 1.0
    for k in range(n):
        total = total / x[k] / total
    return total


@pytest.mark.parametrize("n", [0, 1, 4])
@pytest.mark.parametrize("kind", [float, np.int64, np.float32])
@pytest.mark.parametrize("function", [total_of, count_of, quotient_of])
def test_what_only_the_first_iteration_finds_to_be_pythons(
    function: Function, kind: type, n: int
) -> None:
    as_plain(function, np.array([3, -1, 0, 2**40]).astype(kind), n)


def row_totals(bounds, x):
    found = np.zeros(len(bounds) - 1)
    for row in range(len(found)):
        total = 0.0
        for k in range(bounds[row], bounds[row + 1]):
            total += x[k]
        found[row] = total
    return found


def test_such_a_iteration_is_no_iteration_of_its_own() -> None:
    program = as_plain(row_totals, np.array([0, 0, 2, 5, 3, 5]), np.arange(5.0))
    assert program.count("float64 x[") == 1
    assert " if s" not in program


# ------------------------------------------------------------------ what is loaded before a loop


def steady(a, b, n):
    for i in range(len(a)):
        for j in range(n):
            b[j] = a[i] - b[j] * a[0]
    return b


def not_steady(a, b, n):
    for i in range(len(a)):
        for j in range(n):
            a[j] = a[i] - b[j] * a[0]
    return b


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("function", [steady, not_steady])
def test_elements_that_stay(function: Function, n: int) -> None:
    program = as_plain(function, np.arange(1.0, 4), np.arange(2.0, 5), n)
    assert ("kernel ahead" in program) == (function is steady)


# ------------------------------------------------------------------ quotients by constants


def quotients(x):
    found = np.zeros((len(x), 8), np.int64)
    for i in range(len(x)):
        n = x[i] ^ (i & 0)
        found[i, 0], found[i, 1] = n // 3, n % 7
        found[i, 2], found[i, 3] = n // 65521, n % 65521
        found[i, 4], found[i, 5] = n // 9223372036854775807, n % 6148914691236517205
        found[i, 6], found[i, 7] = n // 4611686018427387905, n % 1000000007
    return found


def test_quotients_by_constants() -> None:
    rng = np.random.default_rng(6)
    x = rng.integers(-(2**63), 2**63 - 1, 400)
    near = [d * k + e for d in (3, 7, 65521, 1000000007, 2**62 + 1, 6148914691236517205)
            for k in (-(2**63) // d + 1, -1, 0, 1, (2**63 - 1) // d) for e in (-1, 0, 1)]
    inside = [n for n in near if -(2**63) <= n < 2**63]
    as_plain(quotients, np.concatenate([x, np.array([*inside, 2**63 - 1, -(2**63), 2**63 - 2])]))


# ------------------------------------------------------------------ floats that are compared

SPECIAL = np.array([0.0, -0.0, 1.0, -1.5, np.nan, np.inf, -np.inf, 5e-324, 0.0, np.nan, -0.0])


def least_path(x, y):
    cost = np.zeros(len(x) + 1)
    for i in range(len(x)):
        cost[i + 1] = min(cost[i], x[i], y[i]) + max(x[i], cost[i], 0.0)
    return cost


def equal_floats(x, y):
    found = np.zeros(len(x))
    for i in range(len(x)):
        one = 7.0 if x[i] == y[i] else x[i]
        found[i] = one if y[i] != 0.0 else y[i] * 2.0
    return found


def lengths(x, y):
    found = np.zeros(len(x))
    for i in range(len(x)):
        a, b = float(x[i]), float(y[i])
        found[i] = math.sqrt(a * a + b * b + 1.0) + math.sqrt(abs(a) * 0.5)
    return found


@pytest.mark.parametrize("function", [least_path, equal_floats, lengths])
@pytest.mark.parametrize("dtype", ["d", "f"])
def test_floats_that_are_compared(function: Function, dtype: str) -> None:
    for turn in range(4):
        as_plain(function, SPECIAL.astype(dtype), np.roll(SPECIAL, turn).astype(dtype))


def test_what_is_no_square_is_asked_for_its_sign() -> None:
    def difference(a, b):
        return math.sqrt(a * a - b)

    assert "math domain" not in as_plain(lengths, SPECIAL, SPECIAL)
    assert "math domain" in npcompile.jit(difference).lower(2.0, 1.0).program
    with pytest.raises(ValueError):
        npcompile.jit(difference)(1.0, 2.0)


def digits(x):
    one, other = 0, 0
    for i in range(len(x)):
        small = int(x[i]) & 0xFFFF
        one = (small | 0x10000) ^ (small << 3)
        other = (other ^ small) * 3 & 0xFFFFFFFF
        one -= (small ^ -5) | other
    return one, other


@pytest.mark.parametrize("ends", [(0, 10), (-(2**63), 2**63 - 1)])
def test_bits_of_bounded_numbers(ends: tuple[int, int]) -> None:
    x = np.random.default_rng(3).integers(*ends, 50, endpoint=True)
    assert "wider than 64 bits" not in as_plain(digits, x)


def from_both_ends(a, where):
    total = 0.0
    for i in range(len(where)):
        k = where[i]
        total += a[k] * a[k - 2]
        a[k] = total
    return total


@pytest.mark.parametrize("where", [[0, 1, 2], [-1, 3, -2, 0], [4, -5, 1], [2, 5], [1, -4], [-6]])
def test_indices_that_count_from_the_end(where: list[int]) -> None:
    as_plain(from_both_ends, np.arange(1.0, 6.0), np.array(where))
