"""Loops over ranges, indices, slices whose ends and steps only the run knows."""

from __future__ import annotations

import numpy as np
import pytest

from npcompile import jit, prange
from tests.fuzz import iterators
from tests.fuzz.framework import checked
from tests.support.oracle import alike

R = np.random.default_rng(5)
A = R.random((3, 4))
V = R.random(9)


def test_range_that_begins_with_an_item():
    def f(p, x):
        y = np.zeros(len(p) - 1)
        for i in range(len(p) - 1):
            total = 0.0
            for k in range(p[i], p[i + 1]):
                total += x[k]
            y[i] = total
        return y

    alike(f, (np.array([0, 2, 2, 5]), V), (np.array([3, 1, 9, 11]), V))


def test_items_of_a_range_of_large_numbers():
    def f(p):
        last = 0
        for k in range(p[0], p[1]):
            last = k + k
        return last

    alike(f, (np.array([5, 9]),), (np.array([5, 5]),), (np.array([2**62 - 1, 2**62 + 2]),))


def test_slices_by_a_loop_index():
    def f(n):
        prime = np.ones(n + 1, dtype=bool)
        prime[:2] = False
        for i in range(2, int(n**0.5) + 1):
            if prime[i]:
                prime[i * i :: i] = False
        return prime

    alike(f, (50,), (3,), (1000,))


def test_slices_with_steps_of_any_sign():
    def f(a, i, j, k):
        s = 0.0
        for n in range(3):
            s += a[i + n : j : k].sum()
        return s, a[i:j:k]

    alike(f, (V, 1, 8, 2), (V, 8, 1, -2), (V, 0, 100, 1), (V, 2, 5, 0), captured=False)


def test_slices_with_steps_from_data():
    def f(a, steps):
        s = 0.0
        for step in steps:
            a[::step] += 1.0
            s += a[1::step].sum()
        return s

    alike(f, (V, np.array([1, 2, 5])), (V, np.array([3, -2, 1])), (V, np.array([3, 0, 1])))


def test_indices():
    def f(a):
        s = 0.0
        for i, j in np.ndindex(a.shape):
            s += a[i, j] * i
        for index in np.ndindex(*a.shape[::-1]):
            s += index[0] * 2 - index[1]
        for (i, j), v in np.ndenumerate(a):
            s += v * i - j
        return s

    alike(f, (A,), (A[:, :0],), (A.T,), (A[::-1, ::2],))


def test_static_indices():
    def f():
        found = [i * j for i, j in np.ndindex(2, 3)]
        count = 0
        for index in np.ndindex():
            count += 1 + len(index)
        return found, count, list(np.ndenumerate(np.eye(2)))

    alike(f, ())


def test_leaving_in_the_middle_of_indices():
    def f(a, d):
        c = 0
        for i, j in np.ndindex(a.shape):
            a[i, j] = i * 10 + j
            c += 7 // int(d[i])
        for index, v in np.ndenumerate(a):
            a[index] = v + c
            c += 7 // int(d[index[1]])
        return c

    alike(f, (A, np.array([5, 2, 4, 1])), (A, np.array([5, 2, 0, 1])), (A, np.array([5, 2, 1, 0])))


def test_methods_of_ufuncs():
    def f(i, x):
        return np.add.outer(i, i), np.subtract.outer(x, i), np.add.reduce(x)

    alike(f, (np.arange(5), V))


def test_kinds_of_sorting():
    def f(x):
        return np.argsort(x, kind="stable"), np.sort(x, kind="mergesort"), x.argsort(stable=True)

    alike(f, (V,))


def test_unknown_kinds_of_sorting():
    def f(x):
        return np.sort(x, kind="none")

    alike(f, (V,), captured=False)


def test_the_variables_of_a_iteration_that_raises():
    def f(a, n, i):
        m = int(a[3] > 1)
        a[0] = 2.0
        for j in range(i % 3, n):
            m += int(a[j])
            for k in range(n, -1, -1):
                m += k
                raise ValueError(m)
        return m

    alike(f, (V, 3, 3), (V, 3, 2), (V, 1, 2))


def test_leaving_in_a_loop_over_a_reversed_list():
    def f(a, n):
        p, found = [3, 1, 2], 0
        for v in reversed(p):
            a[v] = 7.0
            found += 6 // (n - v)
        return found

    alike(f, (V, 5), (V, 2), (V, 3))


def test_prange():
    def f(a):
        out = np.empty(len(a))
        for i in prange(len(a)):
            out[i] = a[i] * 2
        for i in prange(1, len(a), 2):
            out[i] += a[i - 1]
        return out

    alike(f, (V,), (V[:1],))


@pytest.mark.parametrize(("step", "error"), [(0, ValueError), (2.0, TypeError)])
def test_a_range_that_nobody_goes_through(step, error):
    def f(n, step):
        range(0, n, step)
        return n

    with pytest.raises(error):
        jit(f)(3, step)
    assert jit(f)(3, -1) == 3


def test_steps_that_only_the_run_knows():
    """The likelier direction is taken, and checked."""

    def sieve(n):
        found = np.ones(n + 1, bool)
        i = 2
        while i * i <= n:
            if found[i]:
                for j in range(i * i, n + 1, i):
                    found[j] = False
            i += 1
        return np.flatnonzero(found)

    def both_ways(a):
        total = 0
        for step in a:
            if step:
                for j in range(0, 5 * step, step):
                    total = 2 * total + j
                for j in range(7, 0, -step):
                    total = 3 * total - j
        return total

    alike(sieve, (50,), (4,))
    up = np.array([1, 3, 2])
    alike(both_ways, (up,), (np.array([1, 0, 4]),), (-up,), (np.array([2, -2]),), captured=False)


def test_a_map_that_ends_behind_others():
    """``zip`` takes an item of each before it finds that a later one has none."""

    def known():
        calls, total = [], 0

        def noted(x):
            calls.append(x)
            return x

        for pair in zip(map(noted, (1, 2, 3)), (1, 2)):
            total += pair[0]
        return calls, total

    def inside(a, n):
        calls, total = [], 0

        def noted(x):
            calls.append(float(x))
            return x

        for (_, x), k in zip(enumerate(map(noted, a)), range(n)):
            total += x * k
        return calls, total

    alike(known, (), captured=False)
    alike(inside, (V, 2), (V, len(V)), (V, 9), captured=False)


@pytest.mark.parametrize("over", [
    "found", "iter(found)", "reversed(found)", "[x for x, _ in zip(found, a)]",
])
def test_python_goes_on_in_a_list_that_changes(over):
    """Numbers grow too large in the middle; what is left is the list's, as it is by then."""
    source = f"""
def f(a, n):
    found, total, product = [], 0, 1
    for k in range(n):
        found.append(k)
    for x in {over}:
        a[0] += 1
        product *= 10**6
        found[-1] += 1
        found[0] += 1
        total += x
    for k, (x, y) in enumerate(zip(found, found[1:])):
        product *= 10**6
        found[-1] += k
        total += x * y
    return total, product, found
"""
    space: dict = {}
    exec(source, space)
    alike(space["f"], (V, 6), (V, 2), (V, 8), captured=False)


# ---------------------------------------------------------------------- iterators with names


def taken_before(x):
    it = iter(x)
    first = next(it)
    return first, sum(v * first for v in it), next(it, 7)


def taken_in_its_loop(x):
    it, total = iter(x), 0.0
    for v in it:
        total += v - next(it, 0.0)
    return total


def taken_in_an_arm(x):
    pairs, total = zip(x, x[::-1]), 0.0
    for a, b in pairs:
        if a > b:
            next(pairs, None)
        total += a * b
    return total


def left_and_gone_on(x):
    it, total = iter(x), 0.0
    for v in it:
        if v > 0.5:
            break
    for v in it:
        total += v
    return total


def gone_on_by_turns(x):
    it, total = iter(x), 0.0
    for k in range(30):
        total += sum(it) * (k + 1)
    return total


def left_by_any(x):
    it = iter(x)
    return any(v > 0.9 for v in it), list(it)


def left_while_python_writes(x):
    it = iter(x)
    for v in it:
        if v > 0.5:
            print(end="")
            break
    return list(it)


def in_pairs(x):
    it = iter(x)
    return [a - b for a, b in zip(it, it)], [a * b for a, b in zip(iter(it), it)]


def under_two_names(x):
    it = iter(x)
    both, total = [it, it], 0.0
    for v in both[0]:
        total += v
        print(end="")
        if v > 0.5:
            break
    return total, sum(both[1])


def taken_by_what_its_loop_makes(x):
    it, total = iter((1, 2, 3, 4)), 0
    for w in it:
        it = zip(it, x)
        total += w
    return total, list(it)


def one_of_two(x):
    one, two = iter(x), iter(x[::-1])
    it = one if x.sum() > 3 else two
    return list(it), list(one), list(two)


@pytest.mark.parametrize("function", [
    taken_before, taken_in_its_loop, taken_in_an_arm, left_and_gone_on, gone_on_by_turns,
    left_by_any, left_while_python_writes, in_pairs, under_two_names, one_of_two,
    taken_by_what_its_loop_makes,
])
def test_iterators_with_names(function):
    """Whoever takes an item takes it from all who know the iterator."""
    calls = (R.random(9),), (R.random(20),), (np.array([0.75, 0.5]),), (np.array([0.25]),)
    alike(function, *calls, captured=False)


def test_random_iterators():
    checked(iterators.GRAMMAR, range(60))


class Doubled(str):
    """Text whose loops go through something else."""

    def __iter__(self):
        return iter("zz")


class Counted(bytes):
    def __len__(self):
        return 1


def test_loops_over_text_of_a_class_with_iterators_of_its_own():
    def f(v):
        return [c * 2 for c in v], list(enumerate(v)), max(v)

    for v in (Doubled("abc"), Counted(b"abc"), "abc", b"abc"):
        alike(f, (v,), captured=False)
