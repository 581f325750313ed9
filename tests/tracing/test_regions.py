"""Branches and loops on data: results, mutations, warnings and exceptions are those of Python."""

from __future__ import annotations

import numpy as np
import pytest

from npcompile import jit
from tests.support import oracle

V = np.linspace(-1.0, 2.0, 150)
INPUTS = (V, V[::-1].copy(), V * 0.0)
BACKENDS = ("cpu", "reference")


def as_python(function, numbers, backend, arrays=INPUTS):
    """The compiled function, which does what the plain one does."""
    compiled = jit(function, backend=backend, fullgraph=True)
    for number in numbers:
        for array in arrays:
            oracle.check_calls(
                compiled, function, array, number, signs=False, bases=backend == "cpu")
    return compiled


# ------------------------------------------------------------------ branches


def in_place(a, k):
    if a.sum() > k:
        a[0] = 5.0
        s = a.max()
    else:
        a[1:] *= 2
        s = a.min()
    return a, s


def fresh_arrays(a, k):
    x = a * 2
    y = x + 1
    if a[0] > k:
        x[1] = 3
        z = y * x
    else:
        z = y - 1
        k = 2.5
    return x, y, z, k


def equal_arrays(a, k):
    x = np.zeros(a.shape[0])
    y = np.zeros(a.shape[0])
    if a[0] > k:
        x[1] = 3
    else:
        y += a
    return x, y


def nested(a, k):
    b = a + 1
    if k > 0:
        if a[0] > k:
            b = b * 2
        else:
            b = b - a
        a[0] = b[0]
    else:
        b = np.sqrt(np.abs(b))
    return b, a


def old_contents(a, k):
    old = a[1:].copy()
    t = old + 1
    if a[2] > k:
        a[:] = 0.0
        if a.shape[0] > 3:
            t[0] = k * k
    else:
        a[3] = a[0]
    return t, old, a


def reads_after_the_arms(a, k):
    x = a + 1
    y = x * 3
    z = x[1:] - 1
    if a[0] < k:
        x[2] = 7
    return x, y, z


def computed_windows(a, k):
    if a[0] > k:
        b = a[1:] * 2
        b[0] = 1
    else:
        b = a[:-1] / 2
    b += 1
    return b


def unneeded_but_warned_of(a, k):
    d = 1.0 / a
    if k > a[0]:
        e = np.sqrt(a)
        r = a + 1
        del e
    else:
        r = a + 2
    del d
    return r


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "function",
    [in_place, fresh_arrays, equal_arrays, nested, old_contents, reads_after_the_arms,
     computed_windows, unneeded_but_warned_of],
)
def test_branches(function, backend):
    as_python(function, (-30.0, 0.5, 3.0, -1e3), backend)


def test_an_arm_is_not_run_ahead():
    def f(a, k):
        if a[0] > k:
            r = 1.0 / a
        else:
            r = a + 1.0
        return r

    compiled = jit(f, fullgraph=True)
    with np.errstate(all="raise"):
        compiled(np.array([0.0, 1.0]), 5.0)
        with pytest.raises(FloatingPointError):
            compiled(np.array([0.0, 1.0]), -5.0)


# ------------------------------------------------------------------ loops


def total(a, k):
    s = 0.0
    for i in range(k):
        s += a[i] * 2
    return s


def recurrence(a, k):
    for i in range(1, k):
        a[i] = a[i - 1] * 0.5 + a[i]
    return a


def backwards(a, k):
    for i in range(k - 2, -1, -1):
        a[i] += a[i + 1]
    return a


def two_arrays(a, k):
    u = a.copy()
    v = a * 0
    for _ in range(k):
        v[1:-1] = u[2:] + u[:-2]
        u[1:-1] = v[1:-1] * 0.5
    return u, v


def swapped_numbers(a, k):
    x, y = 0.0, 1.0
    for i in range(k):
        x, y = y, x * 0.5 + a[i]
    return x, y


def swapped_arrays(a, k):
    u = a.copy()
    v = a + 1
    for _ in range(k):
        u, v = v, u * 0.5 + v
    return u, v


def made_anew(a, k):
    u = a * 1.0
    for _ in range(k):
        u = np.sqrt(np.abs(u)) + a
    return u


def tail_test(a, k):
    n = 0
    while a[n] < 1.0 and n < k:
        a[n] += 3
        n += 1
    return n, a


def overflows(a, k):
    m = 1
    for i in range(k):
        a[i] = i
        m = m * 3
    return m, a


def branch_inside(a, k):
    c = 0
    for i in range(k):
        if a[i] > 0:
            c += 1
            a[i] = -a[i]
        else:
            a[i] = a[i] * 2
    return c, a


def old_array(a, k):
    b = a.copy()
    c = b + 1
    for i in range(1, k):
        b[i] = b[i - 1] + c[i]
    return b, c


def same_start(a, k):
    x = np.zeros(a.shape[0])
    y = np.zeros(a.shape[0])
    for i in range(k):
        x[i] = a[i]
        y[i] = x[i] + 1
    return x, y


def loops_in_loops(a, k):
    s = a[0] * 0
    for i in range(k):
        for j in range(i):
            s += a[i] * a[j]
        a[i] = s
    return s, a


def starts_again(a, k):
    u = a + 1
    r = a * 0
    for _ in range(k // 16):
        w = u * 1.5
        for _ in range(k):
            w = w * 0.5 + u
        r += w
    return u, r


def breaks(a, k):
    found = -1
    for i in range(k):
        if a[i] > 0.5:
            found = i
            break
        a[i] = 9.0
    return found, a


def continues(a, k):
    c = 0
    for i in range(k):
        if a[i] < 0:
            continue
        c += 2
        a[i] = c
    return c, a


def rows_of_computed_length(a, k):
    s = a * 0
    for i in range(1, k):
        s[i:] += a[:-i]
    return s


def reductions(a, k):
    for i in range(1, k):
        a[i] = (a[:i] * 0.25).sum()
    return a


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "function",
    [total, recurrence, backwards, two_arrays, swapped_numbers, swapped_arrays, made_anew,
     tail_test, overflows, branch_inside, old_array, same_start, loops_in_loops, starts_again,
     continues, rows_of_computed_length, reductions],
)
def test_loops(function, backend):
    numbers = (100, 0, 1, 5, 149) if backend == "cpu" else (70, 1)
    as_python(function, numbers, backend, INPUTS if backend == "cpu" else INPUTS[:1])


# ------------------------------------------------------------------ early exits


def two_breaks(a, k):
    for i in range(k):
        if a[i] > 1.5:
            break
        a[i] = 7.0
        if a[i+1] > 1.0:
            a[i] = 8.0
            break
        a[i] += 1
    return i, a


def returns_inside(a, k):
    for i in range(k):
        if a[i] > 0.5:
            a[0] = i
            return i, a
        a[i] = 9.0
    a[1] = 4
    return -1, a


def breaks_and_returns(a, k):
    b = a.copy()
    c = a * 2
    for i in range(k):
        if a[i] > 0:
            b[i] = 3
            if a[i] > 1:
                c[i] = 5
                break
            if a[i] > 0.9:
                b[0] = 11
                return b, c, 1
        else:
            c[i] = b[i]
    c[0] = 17
    return b, c, 0


def inner_break(a, k):
    r = 0
    for i in range(k):
        for j in range(i):
            if a[j] > 0.3:
                a[j] = 0
                break
            a[i] += 0.001
        else:
            r += 1
    return r, a


def endless(a, k):
    i = 0
    while True:
        a[i] -= 1
        if a[i] < -1.5 or i >= k - 1:
            break
        i += 1
        if i % 7 == 5:
            a[i] = 2
            continue
        a[i] *= 0.5
    return i, a


def returns_in_an_arm(a, k):
    if a[0] < 0:
        a[1] = 5
        if a[2] > k:
            return a, 1
        a[3] = 6
    else:
        a[4] = 7
    return a, 2


def overflow_before_a_break(a, k):
    m = 1
    for i in range(k):
        a[i] = m
        if a[-1] * m > 50:
            break
        m = m * 3
    return m, a


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "function",
    [breaks, two_breaks, returns_inside, breaks_and_returns, inner_break, endless,
     returns_in_an_arm, overflow_before_a_break],
)
def test_early_exits(function, backend):
    arrays = (*INPUTS, V - 0.7, V + 0.6, np.sin(7 * V))
    as_python(function, (100, 1, 5, 140) if backend == "cpu" else (70,), backend, arrays)


def test_an_early_exit_copies_nothing():
    assert "alloc" not in str(jit(breaks).lower(V, 100).program)


@pytest.mark.parametrize("backend", BACKENDS)
def test_python_goes_on_inside_a_loop(backend):
    compiled = as_python(overflows, (20, 100), backend)
    (told,) = compiled.explain().history[1:]
    assert "left compiled code: line " in told and "a Python int wider than 64 bits" in told


def test_swapped_arrays_take_one_kernel():
    text = str(jit(swapped_arrays).lower(V, 100).program)
    body = text[text.index("  for ") :]
    assert body.count("kernel") == 1
    assert "alloc" not in body


def test_memory_of_iterations_is_allocated_once():
    def f(a, k):
        for i in range(k):
            a[1:] = a[:-1] * 2.0
            a[i] = 1.0
        return a

    text = str(jit(f).lower(V, 100).program)
    assert "alloc temp" in text[: text.index("  for ")]
    as_python(f, (0, 3, 100), "cpu")
