"""Loops of scalar code whose turns run side by side: the bits of Python for any number of threads,
and what must stay in order stays so."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import npcompile
from npcompile import prange
from npcompile.backends.cpu.kernels import kernel_functions
from npcompile.program.ir import For, flat
from npcompile.runtime.threads import pool
from tests.fuzz import parallel_loops
from tests.fuzz.framework import checked
from tests.support import oracle


@pytest.fixture(autouse=True)
def eager(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Threads are woken for the smallest work."""
    monkeypatch.setattr(kernel_functions, "PARALLEL_WORK", 0)
    before = pool.get_num_threads()
    yield
    pool.set_num_threads(before)


def runs_on_threads(compiled: Any, args: tuple[Any, ...]) -> bool:
    program = compiled.lower(*copy.deepcopy(args)).executable.program
    return any(isinstance(s, For) and s.parallel for s in flat(program.body))


def as_plain(function: Callable[..., Any], *args: Any, parallel: bool | None = True) -> Any:
    """The compiled function; ``parallel``: whether a loop runs on threads (None: no matter)."""
    compiled = npcompile.jit(function, cache=False)
    for threads in (1, 2, 3):
        pool.set_num_threads(threads)
        text = oracle.unlike(compiled, function, *args, policy=oracle.EXACT)
        assert not text, f"{threads} threads: {text}"
    if parallel is not None:
        assert runs_on_threads(compiled, args) == parallel, compiled.explain(*copy.deepcopy(args))
    return compiled


def rand(*shape: int) -> np.ndarray:
    return np.random.default_rng(5).standard_normal(shape)


# ------------------------------------------------------------------ turns that are independent


def product(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s


def columns(a, c):
    for j in range(a.shape[1]):
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i, j]
            c[i, j] = s


def escape(n, m, limit):
    out = np.zeros((n, m), np.int64)
    for i in prange(n):
        for j in range(m):
            cr, ci = -2.0 + 3.0 * j / m, -1.5 + 3.0 * i / n
            zr = zi = 0.0
            k = 0
            while k < limit and zr * zr + zi * zi < 4.0:
                zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
                k += 1
            out[i, j] = k
    return out


def triangle(a):
    n = len(a)
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1, n):
            t = 0.0
            for k in range(a.shape[1]):
                t += abs(a[i, k] - a[j, k])
            out[i, j] = t
    return out


def downwards(a, c):
    for i in range(len(a) - 1, 0, -2):
        s = 1.0
        for j in range(a.shape[1]):
            s = s * 0.5 + a[i, j]
        c[i, 0] = s
        c[i - 1, 1] = -s


def pairs(a, c):
    for i in range(len(a)):
        x, y = 0.0, 0.0
        for j in range(a.shape[1]):
            x += a[i, j]
            y -= a[i, j]
        c[2 * i] = x
        c[2 * i + 1] = y


def flattened(a, c):
    n, m = a.shape
    for i in range(n):
        for j in range(m):
            s = 0.0
            for k in range(m):
                s += a[i, k] * a[i, j]
            c[i * m + j] = s


def boxes(a, out):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            for k in range(1, a.shape[2] - 1):
                s = 0.0
                for d in range(-1, 2):
                    s += a[i + d, j, k] + a[i, j + d, k] + a[i, j, k + d]
                out[i, j, k] = s


def convolution(x, w, out):
    for n in range(out.shape[0]):
        for f in range(out.shape[1]):
            for i in range(out.shape[2]):
                for j in range(out.shape[3]):
                    s = 0.0
                    for c in range(x.shape[1]):
                        for p in range(w.shape[2]):
                            for q in range(w.shape[3]):
                                s += x[n, c, i + p, j + q] * w[f, c, p, q]
                    out[n, f, i, j] = s


def workspace(a):
    out = np.empty(len(a))
    for i in range(len(a)):
        seen = np.zeros(a.shape[1])
        for j in range(a.shape[1]):
            seen[j] = a[i, j] + seen[j - 1]
        s = 0.0
        for j in range(a.shape[1]):
            s += seen[j] * seen[-1]
        out[i] = s
    return out


def shared_workspace(a):
    out = np.empty(len(a))
    seen = np.empty(a.shape[1])
    for i in range(len(a)):
        seen[:] = a[i] * 0.5
        s = 0.0
        for j in range(1, a.shape[1]):
            seen[j] += seen[j - 1]
            s += seen[j]
        out[i] = s
    return out


def in_place(a, k):
    for i in range(len(a)):
        for step in range(k):
            for j in range(1, a.shape[1]):
                a[i, j] = 0.5 * (a[i, j] + a[i, j - 1])


def roots(a):
    out = np.empty(len(a))
    for i in range(len(a)):
        x = a[i]
        for _ in range(20):
            if abs(x * x - 2.0) < 1e-12:
                break
            x = 0.5 * (x + 2.0 / x)
        out[i] = x
    return out


def growing(a):
    out = np.zeros(len(a))
    for i in range(1, len(a)):
        w = np.zeros(i)
        for j in range(i):
            w[j] = a[i, j % 3] + w[j - 1]
        s = 0.0
        for j in range(i):
            s += w[j]
        out[i] = s
    return out


def time_steps(u, v, steps):
    for t in range(steps):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                if u[i, j] > 0.0:
                    v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
                else:
                    v[i, j] = u[i, j]
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                if v[i, j] > 0.0:
                    u[i, j] = v[i, j] * 0.5


@pytest.mark.parametrize("size", [0, 1, 2, 5, 20])
def test_independent_iterations(size):
    a, sure = rand(size, 7), True if size > 4 else None
    as_plain(product, a, rand(7, 4), np.zeros((size, 4)), parallel=sure)
    as_plain(columns, rand(3, size + 1), np.zeros((3, size + 1)), parallel=sure)
    as_plain(escape, size, 9, 30, parallel=sure)
    as_plain(triangle, a, parallel=sure)
    as_plain(pairs, a, np.zeros(2 * size), parallel=sure)
    as_plain(flattened, a, np.zeros(size * 7), parallel=None)
    as_plain(workspace, a, parallel=sure)
    as_plain(shared_workspace, a, parallel=sure)
    as_plain(in_place, a, 3, parallel=sure)
    as_plain(roots, np.abs(rand(size)) + 0.5, parallel=sure)
    as_plain(time_steps, rand(size + 2, 6), rand(size + 2, 6), 3, parallel=sure)


@pytest.mark.parametrize("size", [3, 8])
def test_more_axes(size):
    sure = True if size > 4 else None
    as_plain(boxes, rand(size, 4, 6), np.zeros((size, 4, 6)), parallel=sure)
    as_plain(convolution, rand(size, 2, 6, 5), rand(3, 2, 3, 2), np.zeros((size, 3, 4, 4)))
    as_plain(downwards, rand(2 * size, 4), np.zeros((2 * size, 2)), parallel=None)


def test_memory_of_another_size_in_each_iteration():
    as_plain(growing, rand(9, 3), parallel=None)


def test_orders_of_memory():
    a = np.asfortranarray(rand(9, 5))
    as_plain(columns, a, np.zeros((9, 5), order="F"), parallel=None)
    as_plain(in_place, np.asfortranarray(rand(9, 5)), 2, parallel=None)


def chain(d):
    n = len(d) - 1
    cost = np.zeros((n, n), np.int64)
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            least = -1
            for k in range(i, j):
                total = cost[i, k] + cost[k + 1, j] + d[i] * d[k + 1] * d[j + 1]
                if least < 0 or total < least:
                    least = total
            cost[i, j] = least
    return cost


def test_diagonals():
    as_plain(chain, np.random.default_rng(2).integers(1, 9, 12))


# ------------------------------------------------------------------ numbers that turns share


def tau(x, y):
    more = less = 0
    for i in range(len(x)):
        for j in range(i):
            product = (x[i] - x[j]) * (y[i] - y[j])
            if product > 0:
                more += 1
            elif product < 0:
                less += 2
    return more - less, more


def extremes(a):
    most, least, some, all_ = -5, 99, False, True
    for i in range(a.shape[0]):
        count = 0
        for j in range(a.shape[1]):
            if a[i, j] > 0.5:
                count += 1
        most = max(most, count)
        if count < least:
            least = count
        if count == 3:
            some = True
        if count > 5:
            all_ = False
    return most, least, some, all_


def first_of_the_longest(a):
    best, at = -1, -1
    for i in range(len(a)):
        count = 0
        for j in range(a.shape[1]):
            if a[i, j] > 0.0:
                count += 1
        if count > best:
            best, at = count, i
    return best, at


def used_on_the_way(a):
    total = 0
    out = np.zeros(len(a), np.int64)
    for i in range(len(a)):
        for j in range(a.shape[1]):
            if a[i, j] > 0.0:
                total += 1
        out[i] = total
    return out


def wrapping(a):
    total = np.int64(0)
    for i in range(len(a)):
        for j in range(a.shape[1]):
            total = total + a[i, j]
    return total


@pytest.mark.parametrize("size", [0, 1, 6, 30])
def test_integers_in_any_order(size):
    sure = True if size > 4 else None
    as_plain(tau, rand(size), rand(size), parallel=sure)
    as_plain(extremes, rand(size, 9), parallel=sure)
    as_plain(first_of_the_longest, rand(size, 9), parallel=None if size < 5 else False)
    as_plain(used_on_the_way, rand(size, 9), parallel=None)
    as_plain(wrapping, np.full((size, 9), 2**60), parallel=None)


# ------------------------------------------------------------------ turns that are not


def recurrence(a):
    for i in range(1, len(a)):
        s = a[i, 0]
        for j in range(a.shape[1]):
            s = 0.5 * s + a[i - 1, j]
        a[i, 0] = s


def float_sum(a):
    s = 0.0
    for i in prange(len(a)):
        t = 1.0
        for j in range(a.shape[1]):
            t *= a[i, j]
        s += t
    return s


def anywhere(a, at, out):
    for i in prange(len(a)):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j]
        out[at[i]] = s


def half(a, out):
    for i in prange(len(a)):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j]
        out[i // 2] = s


def kept(a):
    out = np.zeros(len(a))
    seen = np.zeros(a.shape[1])
    for i in range(len(a)):
        for j in range(a.shape[1]):
            if a[i, j] > 0.0:
                seen[j] = a[i, j]
        s = 0.0
        for j in range(a.shape[1]):
            s += seen[j]
        out[i] = s
    return out


def last_one(a):
    s = 0.0
    out = np.zeros(len(a))
    for i in range(len(a)):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j]
        out[i] = s
    return out, s


def upper(a):
    n = len(a)
    for i in range(n):
        for j in range(i + 1, n):
            a[i, j] = a[j, i] * 0.5 + a[i, j]
            a[j, i] = -a[i, j]


def neighbours(u):
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


@pytest.mark.parametrize("size", [3, 12])
def test_dependent_iterations(size):
    a = rand(size, 5)
    as_plain(recurrence, a, parallel=False)
    as_plain(float_sum, a, parallel=False)
    as_plain(anywhere, a, np.arange(size)[::-1].copy() % 3, np.zeros(size), parallel=False)
    as_plain(half, a, np.zeros(size), parallel=False)
    as_plain(kept, a, parallel=None)
    as_plain(last_one, a, parallel=None)
    as_plain(upper, rand(size, size), parallel=None)
    as_plain(neighbours, rand(size, size), parallel=None)


def test_overlapping_arguments():
    def shifted(a, b):
        for i in range(len(a)):
            s = 0.0
            for j in range(a.shape[1]):
                s += a[i, j]
            b[i, 0] = s

    whole = rand(12, 4)
    compiled = npcompile.jit(shifted, cache=False)
    for first, second in ((whole[1:], whole[:-1]), (whole[:-1], whole[1:]), (whole, whole)):
        want = whole.copy()
        at = [int((x.ctypes.data - whole.ctypes.data) // 32) for x in (first, second)]
        views = [want[k : k + len(first)] for k in at]
        shifted(*views)
        mine = whole.copy()
        compiled(*(mine[k : k + len(first)] for k in at))
        assert (mine == want).all()


# ------------------------------------------------------------------ leaving in the middle


def lengths(a):
    out = np.empty(len(a))
    for i in range(len(a)):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j]
        out[i] = math.sqrt(s)
    return out


def looked_up(a, at):
    out = np.empty(len(at))
    for i in range(len(at)):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[at[i], j]
        out[i] = s
    return out


def changed(a, at, out):
    for i in range(len(at)):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[at[i], j]
        out[i] = s


def forces(position, velocity, reach):
    n = len(position)
    for i in range(n):
        fx = fy = 0.0
        for j in range(n):
            dx = position[j, 0] - position[i, 0]
            dy = position[j, 1] - position[i, 1]
            r = math.sqrt(reach[i] + dx * dx + dy * dy)
            if i != j:
                fx += dx / r
                fy += dy / r
        velocity[i, 0] += 0.5 * fx
        velocity[i, 1] += 0.5 * fy


def refusing(a, limit):
    out = np.empty(len(a))
    for i in range(len(a)):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j] * a[i, j]
        if s > limit:
            raise ValueError(f"too much in row {i}")
        out[i] = s
    return out


def endless(a, at):
    out = np.zeros(len(a))
    for i in range(len(a)):
        s = a[i, at[i]]
        while s < 1.0:
            s = s * 2.0 + a[i, 0]
        out[i] = s
    return out


@pytest.mark.parametrize("bad", [0, 7, 19])
def test_exceptions_in_the_middle(bad):
    a = np.abs(rand(20, 5))
    a[bad] = -1.0
    at = np.arange(20)
    at[bad] = 99
    as_plain(lengths, a)
    as_plain(looked_up, a, at)
    wide = np.abs(rand(20, 300))
    as_plain(changed, wide, at, np.zeros(20))
    at[bad] = 3
    as_plain(changed, wide, at, np.zeros(20))
    as_plain(refusing, rand(20, 5), 12.0, parallel=None)


@pytest.mark.parametrize("bad", [0, 30, 59, None])
def test_exceptions_after_effects(bad):
    position, velocity, reach = 10.0 * rand(60, 2), np.zeros((60, 2)), np.full(60, 0.1)
    if bad is not None:
        reach[bad] = -1.0
        position[59] = position[58]  # a later turn would divide by zero
        reach[59] = min(reach[59], 0.0)
    as_plain(forces, position, velocity, reach)


def test_no_iteration_goes_on_for_ever():
    a = np.ones((20, 3))
    a[11:] = 0.0  # turns that would never end
    at = np.zeros(20, np.int64)
    at[10] = 77
    as_plain(endless, a, at)


def divided(a, b):
    out = np.empty(a.shape)
    for i in range(len(a)):
        for j in range(a.shape[1]):
            s = a[i, j]
            for k in range(3):
                s = s / b[i]
            out[i, j] = s
    return out


def test_floating_point_warnings_of_all_threads():
    a, b = rand(30, 3), np.ones(30)
    as_plain(divided, a, b)
    b[29] = 0.0
    as_plain(divided, a, b)
    a[3] = 0.0
    b[3] = 0.0
    as_plain(divided, a, b)


# ------------------------------------------------------------------ what is said of them


def test_explanations():
    compiled = npcompile.jit(product, cache=False)
    notes = compiled.explain(rand(4, 4), rand(4, 4), rand(4, 4)).notes
    assert any("run in parallel on threads" in note for note in notes)
    compiled = npcompile.jit(recurrence, cache=False)
    notes = compiled.explain(rand(4, 4)).notes
    assert any("one after the other: they may access the same elements of a" in n for n in notes)


@pytest.mark.parametrize("seed", [9, 37, 7033])
def test_random_nests(seed):
    checked(parallel_loops.GRAMMAR, [seed])


def test_a_single_thread_if_asked_for():
    compiled = npcompile.jit(product, parallel=False, cache=False)
    assert not runs_on_threads(compiled, (rand(4, 4), rand(4, 4), rand(4, 4)))
