"""``with`` of ``np.errstate`` and of users' classes, ``try`` around what does not raise."""

from __future__ import annotations

import contextlib

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


# ---------------------------------------------------------------------- classes of users


class Counter:
    """A context that counts; ``quiet``: it lets no exception pass."""

    def __init__(self, quiet: bool = False) -> None:
        self.n, self.quiet = 0, quiet

    def __enter__(self) -> Counter:
        self.n += 1
        return self

    def __exit__(self, kind, value, trace):
        self.n += 10 if kind is None else 100
        return self.quiet


class Kept:
    """Puts an array's first item back."""

    def __init__(self, x: np.ndarray) -> None:
        self.x = x

    def __enter__(self) -> np.ndarray:
        self.old = self.x[0]
        self.x[0] = 7.0
        if self.x[1] > 50.0:
            raise KeyError("large")
        return self.x

    def __exit__(self, *rest):
        self.x[0] = self.old


def local_context(x):
    t = Counter()
    with t as u:
        y = x * u.n
    return y, t.n


def external_context(t, x):
    with t as u:
        y = x * 2 + u.n
        if y[0] > 5:
            return y, t.n
        x[0] = -1.0
        y = y + x[1]
    return y, t.n


def context_in_a_loop(t, x):
    s = 0.0
    for k in range(len(x)):
        with t as u:
            if x[k] < 0:
                continue
            s += x[k] * u.n
    return s, t.n


def nested_contexts(x):
    t = Counter()
    with t, Kept(x) as y, np.errstate(all="ignore"):
        z = np.log(y - 7.0)
    return z, x, t.n


def raising(t, x):
    s = 0.0
    for k in range(len(x)):
        with t as u:
            x[k] += 1.0
            if x[k] > 4.0:
                raise ValueError("large")
            s += x[k] * u.n
    return s, t.n


def raising_on_entry(x):
    x[2] += 1.0
    with Kept(x) as y:
        s = y.sum()
    return s


def test_contexts_of_users():
    alike(local_context, (B,), (A,))
    for function in (external_context, context_in_a_loop):
        alike(function, (Counter(), B.copy()), (Counter(), B * 4), (Counter(), B - 2.0))
    alike(nested_contexts, (B.copy(),), (B * 4,))


def test_exceptions_inside_contexts():
    for quiet in (False, True):
        alike(raising, *((Counter(quiet), B + k) for k in (-3.0, -1.0, 0.0, 5.0)))
    alike(raising_on_entry, (B.copy(),), (B * 100,), (B.copy(),))


class WithoutExit:
    def __enter__(self):
        return 1


class OwnEntry(Counter):
    def __init__(self):
        super().__init__()
        self.__enter__ = lambda: 5


def without_exit(x):
    with WithoutExit() as k:
        return x * k


def entry_of_the_instance(x):
    with OwnEntry() as u:
        return x * u.n


def suppressed(x):
    with contextlib.suppress(ValueError):
        y = x * 2
    return y


def array_as_context(x):
    with x as y:
        return y


def one_of_two(x):
    with Counter() if x[0] > 1 else Kept(x) as u:
        y = x * 2
    return y, type(u)


def test_contexts_that_are_left_to_python():
    for function in (
        without_exit, entry_of_the_instance, suppressed, array_as_context, one_of_two
    ):
        alike(function, (B.copy(),), (B + 1.0,), captured=False)


def nothing_done(x, n):
    with contextlib.nullcontext(x) as y, contextlib.nullcontext() as z:
        if n > 2:
            raise ValueError(n)
        y[0] = n
        x = y * 2
    return x, z, y[n]


def in_a_loop(x, n):
    total = 0.0
    for v in x:
        with contextlib.nullcontext(enter_result=v) as w:
            total += w
    return total


def test_null_contexts():
    for function in (nothing_done, in_a_loop):
        alike(function, (B.copy(), 1), (B + 1.0, 2))
        alike(function, (B.copy(), 3), (B[:2], 2), captured=False)  # raises
