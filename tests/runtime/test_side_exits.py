"""Compiled code is left after arguments have been changed: Python goes on where the check failed,
with the same result, exception, line, warnings and half-done mutations."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from npcompile import jit, passes
from tests.support import oracle

BACKENDS = ("cpu", "reference")
HUGE = 2**40


@pytest.fixture(autouse=True)
def checks_stay(monkeypatch):
    """Checks of arguments are not moved to the front, so that they fail in the middle."""
    kept = tuple(step for step in passes.PASSES if step.name != "hoist")
    monkeypatch.setattr(passes, "PASSES", kept)


def leaves_as_python(function, first, *later, backend, captured=True):
    """Compiles with the first arguments; with the later ones compiled code is left."""
    compiled = jit(function, backend=backend, fullgraph=captured)
    for args in (first, *later):
        oracle.check_calls(compiled, function, *args, bases=backend == "cpu")
    history = str(compiled.explain())
    assert ("left compiled code" in history) == bool(later), history
    return history


V = np.linspace(-1.0, 2.0, 7)


ASSERTS = """
def f(a, k):
    a += k
    assert a.max() < 10, "too large"
    a *= 2
    return a * k
"""


@pytest.mark.parametrize("backend", BACKENDS)
class TestLeaving:
    def test_overflow_of_an_int(self, backend):
        def f(a, n):
            b = a * 2
            a[0] = 5.0
            c = b + 1
            c[2] = 3.0
            return c[1], n * n + 1, a, c, b

        leaves_as_python(f, (V, 3), (V, HUGE), backend=backend)

    def test_raise_after_writes(self, backend):
        def f(a, limit):
            a[1:] *= 2.0
            total = a.sum()
            if total > limit:
                raise ValueError(f"limit of {total}")
            a -= 1.0
            return a

        leaves_as_python(f, (V, 1e9), (V, 1.0), backend=backend)

    def test_assert_after_writes(self, backend):
        scope = {}
        exec(ASSERTS, scope)  # so that pytest leaves the assertion alone
        leaves_as_python(scope["f"], (V, 1.0), (V, 100.0), (V, 1.0), backend=backend)

    def test_inlined_helpers(self, backend):
        def inner(v, n, *, scale=2):
            v[0] = n
            w = v * scale
            return (w,
                    n * n * n)

        def outer(v, n):
            v[-1] = -1.0
            got, cube = inner(v, n)
            return got + 1, cube

        def f(a, n):
            b = a.copy()
            r = outer(a, n)
            b[0] = 7
            return r, a, b

        leaves_as_python(f, (V, 3), (V, HUGE), backend=backend)

    def test_unrolled_loops(self, backend):
        def f(a, n):
            out = np.zeros(a.shape[0])
            for k in range(4):
                a[k] = n
                out += a * k
                n = n * n
            return out, n, a

        leaves_as_python(f, (V, 1), (V, 1000), (V, HUGE), (V, 2), backend=backend)

    def test_views_of_fresh_arrays_stay_views(self, backend):
        def f(a, n):
            x = a * 2
            v = x[1:]
            w = v[::-1]
            a[0] = 1.0
            m = n * n
            v[0] = 9.0
            return x, v, w, m, w is not v

        leaves_as_python(f, (V, 3), (V, HUGE), backend=backend)

    def test_one_object_stays_one(self, backend):
        def f(a, n):
            x = np.zeros_like(a)
            pair = [x, x]
            a[0] = 1.0
            pair.append(n * n)
            pair[0][1] = 4.0
            return pair, x, a

        leaves_as_python(f, (V, 3), (V, HUGE), backend=backend)

    def test_views_of_arguments(self, backend):
        def f(a, n):
            v = a[::2]
            v[0] = 7.0
            v[1] = n * n
            return v, a

        leaves_as_python(f, (V, 3), (V, HUGE), backend=backend)

    def test_two_dimensions_and_layouts(self, backend):
        def f(a, n):
            t = a.T * 2
            u = t.reshape(-1)
            a[0] = 5
            return t, u, n * n, t.T[0]

        A = np.arange(12.0).reshape(3, 4)
        leaves_as_python(f, (A, 3), (A, HUGE), backend=backend)

    def test_values_that_memory_held_before(self, backend):
        def f(a, n):
            old = a + 1
            first = a[0]
            a[:] = 0.0
            m = n * n
            return old, first, m, a

        leaves_as_python(f, (V, 3), (V, HUGE), backend=backend)

    def test_handlers_catch_what_python_raises(self, backend):
        def f(a, k):
            a[0] = 3.0
            try:
                m = math.sqrt(k)
            except ValueError:
                m = -1.0
            a[1] = m
            return a

        leaves_as_python(f, (V, 4.0), backend=backend, captured=False)

    def test_exhausted_iterators(self, backend):
        def f(a, n):
            for x, y in zip((1, 2, 3), [4.0, 5.0, 6.0]):
                a[x] = y
                n = n * x * n
            return n, a

        leaves_as_python(f, (V, 2), (V, 2**20), backend=backend)

    def test_division_by_zero(self, backend):
        def f(a, x, y):
            a *= 2.0
            return a, x / y

        leaves_as_python(f, (V, 1.0, 2.0), (V, 1.0, 0.0), backend=backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_warnings_of_what_was_computed(backend):
    def f(a, n):
        b = 1.0 / a
        a[0] = 1.0
        m = n * n
        return b, m

    zero = np.array([0.0, 1.0])
    leaves_as_python(f, (V, 3), (zero, HUGE), (zero, 3), (zero, HUGE), backend=backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_warnings_of_what_nobody_needs(backend):
    def f(a, n):
        b = 1.0 / a
        c = b[0] + 1
        a[0] = 1.0
        del b, c
        m = n * n
        return m

    zero = np.array([0.0, 1.0])
    leaves_as_python(f, (V, 3), (zero, HUGE), backend=backend)


def test_warnings_that_raise():
    def f(a, n):
        b = 1.0 / a
        a[0] = 1.0
        return b, n * n

    compiled = jit(f)
    compiled(V.copy(), 2)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        compiled(np.array([0.0, 1.0]), HUGE)


def test_warnings_before_a_call_that_raises():
    def f(a, b):
        a /= a[::-1].copy()
        return np.gradient(b)

    leaves_as_python(f, (np.ones(2), V), (np.array([1.0, 0.0]), V[:1]), backend="cpu")


def test_no_spurious_warning():
    def f(a, n):
        a[0] = 1.0
        return a, n * n

    compiled = jit(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in (3, HUGE, 3, HUGE):
            assert compiled(V.copy(), n)[1] == n * n
    line = f.__code__.co_firstlineno + 2
    told = f"2 times left compiled code: line {line}: a Python int wider than 64 bits"
    assert told in str(compiled.explain())


def test_nothing_leaks():
    import gc
    import sys

    def f(a, n):
        x = a * 2
        a[0] = 1.0
        return x, n * n

    compiled = jit(f)
    v = V.copy()
    for n in (2, HUGE):
        compiled(v, n)
    gc.collect()  # what compiling has left behind
    before = sys.getrefcount(v)
    for _ in range(50):
        x, _ = compiled(v, HUGE)
        assert sys.getrefcount(x) == 2
        compiled(v, 2)
    assert sys.getrefcount(v) == before


def test_the_fast_path_pays_nothing():
    def f(a, n):
        x = a * 2
        y = x + 1
        a[0] = 1.0
        n = n * n
        return y, n

    text = str(jit(f).lower(V, 3).program)
    ahead, _, rest = text.partition("  check ")
    leaving = [line for line in rest.splitlines() if line.startswith("    ")]
    assert ahead.count("alloc") == 1
    assert any("alloc result" in line for line in leaving)


def test_numbers_after_arrays_that_are_kept():
    def f(a, b):
        a += 1
        b *= 2
        a[:] = b + a
        return a

    compiled, x = jit(f), np.ones(4)
    assert compiled(x, x).tolist() == [8, 8, 8, 8]
    for b in (2.0, np.float32(2)):
        assert compiled(np.ones(4), b).tolist() == f(np.ones(4), b).tolist()
