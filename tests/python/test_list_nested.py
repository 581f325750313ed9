"""Lists, and arrays of sizes that are found to be equal, in lists whose length the run knows."""

# ruff: noqa: PERF401
from __future__ import annotations

import numpy as np
import pytest

from tests.support.oracle import alike

Y = np.array([1.0, 0.5])
A = np.array([1.0, -2.0, 3.0, 4.0])


def path(x, n):
    found = [[0.0, x]]
    for _ in range(n):
        t, v = found[-1]
        found.append([t + 0.1, v * 0.9])
    return found


def of_some(a):
    found = []
    for i in range(a.shape[0]):
        if a[i] > 0:
            found.append([i, [a[i], a[i] * 2], (i, a[i])])
    return found


def halves(a):
    """A stack of intervals."""
    stack, count = [[0, len(a) - 1]], 0
    while stack:
        low, high = stack.pop()
        count += 1
        if low < high:
            middle = (low + high) // 2
            stack.append([low, middle])
            stack.append([middle + 1, high])
    return count


def table(n):
    pairs = []
    for i in range(n):
        for j in range(i):
            pair = [i]
            pair.append(j)
            pairs.append(pair)
    total = 0
    for i, j in pairs:
        total += i * j
    return np.array(pairs), total, len(pairs)


def with_arrays(a, n):
    found = [[a.copy(), 1]]
    for i in range(n):
        found.append([a * i, i])
    return found


def last(n):
    found = []
    for i in range(n):
        found.append([i, i * 0.5])
    return found[-1]


def orbit(y, n):
    """The size of ``y`` is found to be two after the list is made."""
    ys = [y]
    for _ in range(n):
        y = y + 0.1 * np.array([y[1], -y[0]])
        ys.append(y)
    return np.array(ys)


def two_opt(d):
    """A tour whose pieces are turned as long as it gets shorter."""
    n = len(d)
    tour, better = list(range(n)), True
    while better:
        better = False
        for i in range(1, n - 2):
            for j in range(i + 1, n - 1):
                a, b, e, f = tour[i - 1], tour[i], tour[j], tour[j + 1]
                if d[a, b] + d[e, f] > d[a, e] + d[b, f] + 1e-12:
                    tour[i : j + 1] = tour[i : j + 1][::-1]
                    better = True
    return tour


def slices(n, i, j):
    t, u = [], []
    for k in range(n):
        t.append(k * 0.5)
        if k % 2:
            u.append(k * 1.0)
    t[i:j] = u
    u[:] = t
    t[2:2] = [1.0, 7.0]
    return t, u


def beside_arrays(s, v):
    held = [x * 2 for x in v]
    s[1:] = held[1:]
    s += held
    return s, s > held, held < s, held * s


@pytest.mark.parametrize(("function", "calls"), [
    (two_opt, [(np.random.default_rng(3).random((9, 9)),), (np.eye(3),)]),
    (slices, [(9, 2, 6), (9, 6, 2), (9, -4, 20), (0, 1, 2)]),
    (beside_arrays, [(np.arange(5.0), np.arange(5.0)), (np.arange(5), np.arange(5))]),
    (path, [(1.5, 4), (1.5, 0), (2.0, 40)]),
    (of_some, [(A,), (-A,), (A[:0],)]),
    (halves, [(A,), (A[:1],)]),
    (table, [(7,), (12,)]),
    (with_arrays, [(Y, 3), (Y, 0)]),
    (last, [(5,), (9,)]),
    (orbit, [(Y, 5), (Y, 0), (Y * 2, 30)]),
])
def test_captured(function, calls):
    alike(function, *calls)


def test_slices_that_are_counted_from_the_end():
    alike(slices, (6, -3, -1), (7, -4, -2), captured=False)


# what would show that a list holds copies is left to Python


def kept_name(n):
    rows, row = [], [0, 1]
    for i in range(n):
        rows.append(row)
        row[0] = i
    return rows


def filled_later(n):
    rows = []
    for i in range(n):
        row = []
        rows.append(row)
        row.append(i)
    return rows


def written(n):
    rows = []
    for i in range(n):
        rows.append([i, i * i])
    rows[1][0] = 99
    return rows


def in_two_places(n):
    rows = []
    for i in range(n):
        rows.append([i, i * i])
    rows.append(rows[0])
    rows[-1][1] = 5
    return rows


def one_object(n):
    rows = []
    for i in range(n):
        rows.append([i, i * i])
    first, again = rows[0], rows[0]
    return first is again


def item_and_list(n):
    rows = []
    for i in range(n):
        rows.append([i, i * i])
    return rows[-1], rows


def repeated(n):
    rows = [[0, 1]] * n
    rows.append([2, 3])
    return rows


def slice_of_lists(n):
    rows = []
    for i in range(n):
        rows.append([i, i * i])
    return rows, rows[1:]


def slice_of_arrays(y, n):
    held = []
    for i in range(n):
        held.append(y * i)
    return held, held[1:]


def chosen_arrays(y, n):
    held = []
    for i in range(n):
        held.append(y * i)
    return held, [v for v in held if v[0] > 1]


def twice(y, n):
    held = []
    for i in range(n):
        held.append(y * i)
    return held + held


@pytest.mark.parametrize(("function", "args"), [
    (kept_name, (4,)), (filled_later, (4,)), (written, (4,)), (in_two_places, (4,)),
    (one_object, (4,)), (item_and_list, (4,)), (repeated, (4,)), (slice_of_lists, (4,)),
    (slice_of_arrays, (Y, 4)), (chosen_arrays, (Y, 4)), (twice, (Y, 4)),
])
def test_one_object_in_two_places(function, args):
    alike(function, args, args, captured=False)


def test_a_size_that_is_found_to_be_the_index_of_a_loop():
    def f(a, n):
        t = [[0.0] * len(a) for _ in a]
        u = [[i, n - i, 2] for i in range(n)]
        r = [0] * n
        for i in range(1, len(t)):
            for _ in range(n):
                k = i
            if t[i][0] > 1:
                r = t[k]
                b = np.array(t)
                del b, r
        return u

    alike(f, (np.arange(4.0), 4), (np.arange(6.0), 4), (np.arange(2.0), 4), captured=False)
