"""``with np.errstate(...)``, ``try`` around what does not raise."""

from __future__ import annotations

import numpy as np

from npcompile import jit
from tests.support.oracle import alike

A = np.array([-1.0, 0.0, 4.0, np.inf])
B = np.array([1.0, 2.0, 3.0, 4.0])


def test_ignored_errors():
    def f(a):
        with np.errstate(divide="ignore", invalid="ignore"):
            b = 1.0 / a + np.sqrt(a)
        return b

    alike(f, (A,), (B,))
    compiled = jit(f, fullgraph=True)
    for _ in range(3):
        compiled(A)
    assert "left compiled code" not in str(compiled.explain())


def test_errors_that_are_ignored_in_one_place_only():
    def f(a, b):
        with np.errstate(all="ignore"):
            c = np.log(a)
        return c + np.log(b)

    def g(a, b):
        c = np.log(b)
        with np.errstate(all="ignore"):
            return c + np.log(a) + np.log(b)

    for function in (f, g):
        alike(function, (A, B), (B, A), (A, A), (B, B))


def test_some_categories():
    def f(a):
        with np.errstate(divide="ignore"):
            return np.log(a)

    alike(f, (A,), (np.array([0.0, 1.0]),), (B,))


def test_in_loops_and_branches():
    def f(a, n):
        total = np.zeros_like(a)
        for k in range(n):
            with np.errstate(all="ignore"):
                b = a / (a - k)
                if b[0] > 0:
                    continue
                total += np.where(np.isfinite(b), b, 0.0)
        return total

    alike(f, (B, 4), (A, 3), (B, 0))


def test_nested():
    def f(a):
        with np.errstate(divide="ignore"):
            with np.errstate(invalid="ignore"):
                b = np.log(a)
            c = np.sqrt(a)
        return b, c

    alike(f, (A,), (B,))


def test_writes_inside():
    def f(a, b):
        with np.errstate(all="ignore"):
            a[:] = np.log(a)
            if b[0] > 1:
                a[1:] = np.sqrt(a[1:])
        a += 1
        return a

    alike(f, (A, B), (B, A), (B, B * 2))


def test_modes_that_python_handles():
    def f(a):
        with np.errstate(divide="raise"):
            return 1.0 / a

    alike(f, (A,), (B,), captured=False)


def test_try():
    def f(a):
        try:
            s = np.float64(0.0)
            for x in a:
                s += x
            if s > 100:
                raise ValueError("large")
        except ValueError:
            s = np.float64(-1.0)
        finally:
            a[0] = 7.0
        return s

    alike(f, (B,), (B * 100,))


def test_try_in_a_loop():
    def f(a, b):
        found = 0
        for k in range(len(a)):
            try:
                found += int(b[k]) // int(a[k])
            except ZeroDivisionError:
                found -= 1
            else:
                found += 2
        return found

    alike(f, (B, A[:3]), (A[:3], B))
