"""Lists of lists that a program writes into."""

from __future__ import annotations

import numpy as np
import pytest

from npcompile import jit
from tests.fuzz import nested_lists
from tests.fuzz.framework import checked
from tests.support.oracle import alike

A = np.array([0.5, 2.0, 1.0, 3.0])


def longest_common(a, b):
    m, n = len(a), len(b)
    found = [[0] * (n + 1) for _ in range(m + 1)]
    for i in range(m):
        for j in range(n):
            if a[i] == b[j]:
                found[i + 1][j + 1] = found[i][j] + 1
            else:
                found[i + 1][j + 1] = max(found[i + 1][j], found[i][j + 1])
    return found, found[m][n]


def best_trades(prices):
    held = [[0.0, 0.0] for _ in prices]
    held[0][1] = -prices[0]
    for i in range(1, len(prices)):
        held[i][0] = max(held[i - 1][0], held[i - 1][1] + prices[i])
        held[i][1] = max(held[i - 1][1], held[i - 1][0] - prices[i])
    return held[-1][0], np.array(held)


def flood(n):
    """Lists beside a queue of places."""
    seen = [[False] * n for _ in range(n)]
    queue, count = [[0, 0]], 0
    seen[0][0] = True
    while queue:
        y, x = queue.pop(0)
        count += 1
        for down, right in ((0, 1), (1, 0)):
            if y + down < n and x + right < n and not seen[y + down][x + right]:
                seen[y + down][x + right] = True
                queue.append([y + down, x + right])
    return count, seen


def boards(n):
    """A list of lists that is made anew in each turn."""
    board = [[0] * n for _ in range(n)]
    for _ in range(3):
        following = [[0] * n for _ in range(n)]
        for i in range(n):
            for j in range(n):
                following[i][j] = board[i - 1][j] + board[i][j - 1] + i * j + 1
        board = following
    return board


def whole_rows(n):
    rows = [[0] * n for _ in range(n)]
    rows[0] = list(range(n))
    rows[1] = rows[0][:]
    rows[1][0] = 7
    taken = rows.pop()
    taken[0] = 5
    rows.append([1] * n)
    rows.reverse()
    return rows, taken


def under_names(n):
    """Rows under names of their own are the very lists."""
    rows = [[0] * n for _ in range(n)]
    first = rows[0]
    for k, row in enumerate(rows[1:]):
        row[k] = k + 1
        first[k] += row[k]
    first[-1] = 9
    return first, sum(map(sum, rows)), max(map(max, rows))


def three_deep(n):
    deep = [[[0] * n for _ in range(2)] for _ in range(n)]
    for i in range(n):
        deep[i][i % 2][i] = i + 1
        deep[0][1][i] += deep[i][0][0]
    return deep


def of_numpys_numbers(a):
    found = [[0.0] * len(a) for _ in a]
    for i in range(len(a)):
        found[i][0] = a[i]
    return np.array(found), type(found[1][0]) is type(a[0])


def powers(half, p):
    return np.array([[k**i for i in range(p + 1)] for k in range(-half, half + 1)])


WHOLE = {
    longest_common: [(A, A[::-1]), (A, A[:0]), (A[:2], A)],
    best_trades: [(A,), (A[:1],)],
    flood: [(4,), (1,)],
    boards: [(3,), (1,)],
    whole_rows: [(3,), (5,)],
    under_names: [(4,), (2,)],
    three_deep: [(3,)],
    of_numpys_numbers: [(A,)],
    powers: [(3, 2), (0, 0)],
}


@pytest.mark.parametrize("function", WHOLE, ids=lambda f: f.__name__)
def test_whole(function):
    alike(function, *WHOLE[function])


def mixed(n):
    rows = [[0] * n for _ in range(n)]
    rows[0][0] = 0.5
    return rows


def one_row(n):
    rows = [[0] * n] * n
    rows[0][1] = 2
    return rows


def moved(n):
    rows = [[0] * n for _ in range(n)]
    kept = rows[-1]
    rows.append([1] * n)
    rows[n - 1] = [2] * n
    kept[0] = 3
    return rows, kept


def shared(n):
    rows = [[0] * n for _ in range(n)]
    part = rows[1:]
    part[0][0] = 1
    return rows, part


def carried(n):
    rows = [[k] * n for k in range(n)]
    before = rows[0]
    for row in rows[1:]:
        row[0] += before[0]
        before = row
    before[1] = 9
    return rows


def part_written(a, n):
    """A part of a table is a list of its own."""
    rows = [[0] * n for _ in range(n)]
    part = rows[1:]
    part[0] = [1] * n
    part[1][0] = int(a[1])
    rows[int(a[1]) - 2][0] = 3
    return np.array(rows)


def extended(a, n):
    rows, more = ([[k] * n for k in range(n)] for _ in range(2))
    rows.extend(more)
    more[int(a[1])][0] = 7
    return np.array(rows)


def in_a_slice(a, n):
    rows, more = ([[k] * n for k in range(n)] for _ in range(2))
    rows[:1] = more
    more[int(a[1])][0] = 7
    return np.array(rows)


def of_itself(a, n):
    rows = [[k] * n for k in range(n)]
    rows[1:] = rows[:-1]
    rows[int(a[1]) - 2][0] = 7
    return np.array(rows)


def twice(a, n):
    row = [0] * n
    rows = [[1] * n for _ in range(n)]
    rows.extend([row, row])
    rows[int(a[1]) - 3][0] = 7
    return np.array(rows)


SHARED = [part_written, extended, in_a_slice, of_itself, twice]


@pytest.mark.parametrize("function", SHARED)
def test_rows_in_two_lists(function):
    alike(function, (A, 3), (A, 3), (A, 4), captured=False)


def test_pairs_of_one_list():
    def pairs(a, n):
        found = []
        for k in range(n):
            one, numbers = [k, k], a + k
            found.append((one, one, numbers, numbers))
        return found

    for one, other, a, b in jit(pairs)(A, 3):
        assert one is other
        assert a is b


def left_early(a, n):
    rows = [[-1] * n for _ in range(n)]
    for k in range(n):
        following = [[k] * n for _ in range(n)]
        following[0][k] = 7
        if a[k] > 0.7:
            break
        rows = following
    return np.array(rows)


def left_with_a_row(a, n):
    rows = [[0] * n for _ in range(n)]
    for k in range(n):
        row = rows[k]
        rows = [[k + 3] * n for _ in range(n)]
        rows[0][k] = 7
        if a[k] > 0.7:
            return np.array(rows), sum(row)
    return np.array(rows)


def numbers_left_early(a, n):
    numbers = [0] * n
    for k in range(n):
        before = numbers
        numbers = [k + 3] * n
        numbers[k] = 7
        if a[k] > 0.7:
            return np.array(numbers), np.array(before)
    return np.array(numbers)


@pytest.mark.parametrize("function", [left_early, left_with_a_row, numbers_left_early])
def test_a_loop_left_early_leaves_lists_as_they_are(function):
    """What a list is in the next turn is not moved to where this one has it, if there is none."""
    alike(function, (A, 3), (A, 4), (A[::-1], 2), (A * 0, 4), captured=False)


def test_whose_numbers_are_deep_in_lists():
    def deep(a, n):
        rows = [[[0.0] * n for _ in range(n)] for _ in range(n)]
        rows[0][0][0] = a[0]
        rows[int(a[1]) - 1] = [[x * 1.0 for x in a[:n]] for _ in range(n)]
        return type(rows[1][0][0]) is type(a[0]), type(rows[0][1][0]) is float

    def rows_in_a_slice(a, n):
        rows, k = [[0.0] * 3 for _ in range(n)], int(a[1])
        more = [[1.0, 2.0, float(a[3])] for _ in range(k)]
        rows[0][k] = 5.0
        rows[1:3] = more
        return np.array(rows)

    alike(deep, (A, 3), (A, 4), captured=False)
    alike(rows_in_a_slice, (A, 3), (A, 4), captured=False)


@pytest.mark.parametrize("function", [mixed, one_row, moved, shared, carried])
def test_what_is_left_to_python(function):
    alike(function, (3,), (3,), captured=False)


def test_index_errors():
    def reach(n, i, j):
        rows = [[0] * n for _ in range(n)]
        rows[i][j] = 1
        return rows

    alike(reach, (3, -1, 2), (3, 3, 0), (3, 0, 3), (3, -4, 0), (3, 0, -4), captured=False)


def test_identity_of_a_carried_row():
    def same(a, n):
        rows = [[0, 0] for _ in range(n)]
        row = [0] * n
        for k in range(n):
            if a[k] > 0.25:
                row = rows[k]
        return row is rows[n - 1], row is rows[0]

    alike(same, (A, 4), (A, 2), (A[::-1], 2), captured=False)


def test_maps_of_what_only_the_run_knows():
    def through(a, n):
        pairs = list(map(lambda x, k: x * k, a, range(n)))
        total = 0.0
        for x, y in zip(a, map(abs, a)):
            total += x - y
        return pairs, total, sum(map(abs, a)), max(map(float, a))

    alike(through, (A - 1, 3), (A, 9))


def test_random_programs():
    checked(nested_lists.GRAMMAR, range(40, 55))


def test_a_check_that_a_later_pass_sees_again():
    """What a check has told must not decide it when the graph is rewritten once more."""

    def last(n, m):
        rows = np.zeros((n, 3))
        j = 0
        for i in range(m):
            for j in range(n):
                if i > 0 and j > 0:
                    rows[m - 1, 1] += rows[0, 0]
        rows[0, j]
        return rows[0, 0]

    alike(last, (4, 4), (3, 3), (4, 4))
