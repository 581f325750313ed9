"""Arrays that a mask shortens in each turn of a loop change places instead of being copied."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from npcompile import jit


def escape(c: Any, limit: int) -> Any:
    where, count, z = np.arange(c.size), np.zeros(c.size, int), np.zeros_like(c)
    for step in range(limit):
        if len(z) == 0:
            break
        z = z * z + c
        out = z.real * z.real + z.imag * z.imag > 4.0
        count[where[out]] = step + 1
        keep = ~out
        z, c, where = z[keep], c[keep], where[keep]
    return count, z, where


def sieve(n: int) -> Any:
    left, found = np.arange(2, n), []
    total = 0
    while len(left) > 0:
        total += left[0]
        left = left[left % left[0] != 0]
    return total, left, found


def both_kept(x: Any, turns: int) -> Any:
    """The array of the turn before is needed, too."""
    old = x
    total = 0.0
    for _ in range(turns):
        new = x[x > x.mean()]
        total += old.sum() + new.sum()
        old, x = x, new
    return total, old, x


def by_path(x: Any, turns: int) -> Any:
    """Only some turns shorten it; one writes into it."""
    y = x * 2
    for k in range(turns):
        if k % 3 == 0:
            x = x[x > k]
        elif k % 3 == 1:
            x = x[1:]
        else:
            x[0] = -5.0
        y = y[: len(x)] + x
    return x, y


def rows(a: Any, turns: int) -> Any:
    for k in range(turns):
        a = a[a[:, 0] > 0.1 * k]
        a[:, 1:] += 1.0
    return a, a.sum(axis=0)


def again(x: Any, turns: int) -> Any:
    """The inner loop begins anew with all of it."""
    total = np.zeros(turns)
    for k in range(turns):
        left = x + k
        while len(left) > 3:
            left = left[left > left.min()]
        total[k] = left.sum()
    return total


def leaves(x: Any, turns: int) -> Any:
    for k in range(turns):
        x = x[x > 0.1 * k]
        if x.sum() > 1e6:
            raise ValueError("large")
        x = np.sort(x)[::-1]
    return x


rng = np.random.default_rng(5)
PROGRAMS: list[tuple[Any, tuple[Any, ...]]] = [
    (escape, (np.array([0.0, 1 + 1j, 2.0, 0.3 + 0.5j, -1.0, 0.4j] * 40), 25)),
    (escape, (np.array([3.0 + 0j]), 5)),
    (sieve, (300,)),
    (sieve, (2,)),
    (both_kept, (rng.random(100), 4)),
    (by_path, (rng.random(90) * 9, 7)),
    (rows, (rng.random((50, 3)), 6)),
    (again, (rng.random(30), 5)),
    (leaves, (rng.random(64), 5)),
    (leaves, (np.full(64, 1e5), 3)),
]


@pytest.mark.parametrize("backend", ["cpu", "reference"])
@pytest.mark.parametrize(("function", "args"), PROGRAMS)
def test_equals_numpy(function: Any, args: tuple[Any, ...], backend: str) -> None:
    compiled = jit(function, backend=backend)
    for _ in range(2):
        mine, plain = ([x.copy() if isinstance(x, np.ndarray) else x for x in args]
                       for _ in range(2))
        found = []
        for f, given in ((compiled, mine), (function, plain)):
            try:
                found.append(f(*given))
            except ValueError as error:
                found.append(str(error))
        got, want = (list(r) if isinstance(r, tuple) else [r] for r in found)
        for a, b in zip([*got, *mine], [*want, *plain], strict=True):
            assert np.array_equal(a, b)
            assert np.asarray(a).dtype == np.asarray(b).dtype


def test_nothing_is_copied() -> None:
    program = jit(escape).lower(*PROGRAMS[0][1]).program
    assert program.count("swap") == 6


def test_what_is_repeated_does_not_give_its_memory_away() -> None:
    """The memory of a block that begins a fresh array holds it once."""
    def tiled(a):
        v = np.tile(np.hstack([a, a]), 2)
        v[v > 2] = 2
        return v

    compiled = jit(tiled)
    for a in (np.array([5.0]), np.arange(4.0), np.array([1.0, 7.0])):
        assert compiled(a).tolist() == tiled(a).tolist()


def test_memory_from_before_a_branch_keeps_its_place() -> None:
    """The same zeros stand in both turns: what an arm leaves does not change places with them."""
    def f(a: Any, n: int, m: int) -> Any:
        y, w = 1.0, np.zeros(6)
        for i in range(2, m):
            w = np.zeros(6)
            if i * (0.25 - w[i]) > a[i]:
                for _ in range(0, n, 2):
                    w = np.ones(n + 2)
                for _ in range(n, 0, -2):
                    y = 0.25
        return w, y

    a = np.array([0.0, 0.0, 2.0, 2.0])
    compiled = jit(f)
    for _ in range(3):
        want, got = f(a, 3, 4), compiled(a, 3, 4)
        assert got[0].tolist() == want[0].tolist() and got[1] == want[1]


def test_memory_that_is_needed_whole_keeps_its_place() -> None:
    """Only a slice of ``r`` would be copied where memories cannot change places."""
    def f(a: Any, b: Any, n: int, s: float) -> Any:
        if s > 1:
            r = b + 1
            new = np.zeros(r.size + 1)
            new[:n] = r[:n]
            new[n + 1 :] = r[n:]
            return new
        return a * s

    def g(a: Any, b: Any, n: int, s: float) -> Any:
        if s > 1:
            r = b[::-1].copy()
            new = np.empty(r.size + 1)
            new[:n] = r[:n]
            new[n] = s
            new[n + 1 :] = r[n:]
            return new
        return a * s

    a, b = np.ones((2, 9)), np.arange(30.0)
    for function in (f, g):
        compiled = jit(function)
        for s in (0.5, 2.0, 3.0):
            assert compiled(a, b, 3, s).tolist() == function(a, b, 3, s).tolist()
