"""Arrays that a list holds beside a variable."""

from __future__ import annotations

import numpy as np
import pytest

from npcompile import CompileError, jit
from tests.support.oracle import alike

Y = np.array([1.0, 0.5])
M = np.arange(12.0).reshape(4, 3)


def path_from_the_argument(y, n):
    out = [y]
    for _ in range(n):
        y = y + 0.1 * y
        out.append(y)
    return np.array(out)


def path(y, n):
    out = []
    for _ in range(n):
        y = y + 0.1 * y
        out.append(y)
    return np.array(out), len(out)


def times_and_states(y, n):
    out = []
    t = 0.0
    for _ in range(n):
        y = np.array([y[1], -y[0]]) * 0.1 + y
        t += 0.1
        out.append((t, y))
    return [s for s, _ in out], y[0]


def rows(a):
    held = []
    for row in a:
        held.append(row)  # noqa: PERF402
    return np.array(held) * 2


def last_of_list(y, n):
    out = [y * 1]
    while len(out) < n:
        y = out[-1] * 2
        out.append(y)
    return np.stack(out)


@pytest.mark.parametrize("function", [path_from_the_argument, path, times_and_states, last_of_list])
def test_captured(function) -> None:
    alike(function, (Y, 5), (Y, 1), (Y[::-1], 3))


def test_rows() -> None:
    alike(rows, (M,), (M.T,))


def written_later(y, n):
    out = []
    for _ in range(n):
        y = y + 1
        out.append(y)
    y[0] = 99
    return np.array(out)


def written_in_the_next_turn(y, n):
    out = []
    for k in range(n):
        if k % 2:
            y[0] = -1
        else:
            y = y + 1
        out.append(y)
    return np.array(out)


def in_place(y, n):
    out = []
    y = y * 2
    for _ in range(n):
        y += 1
        out.append(y)
    return np.array(out)


def both_returned(y, n):
    out = []
    for _ in range(n):
        y = y + 1
        out.append(y)
    return out, y


def one_object(y, n):
    out = []
    for _ in range(n):
        y = y + 1
        out.append(y)
    return out[-1] is y


def argument_in_the_list(y, n):
    out = [y]
    for _ in range(n):
        y = y + 1
        out.append(y)
    return out


def argument_written(y, n):
    out = [y]
    z = y
    for _ in range(n):
        z = z + 1
        out.append(z)
    y[0] = 5
    return np.array(out)


def views_of_an_argument(a):
    held = []
    for row in a:
        held.append(row)  # noqa: PERF402
    a[0] = 7
    return np.array(held)


@pytest.mark.parametrize("function", [
    written_later, written_in_the_next_turn, in_place, both_returned, one_object,
    argument_in_the_list, argument_written,
])
def test_shared_memory(function) -> None:
    compiled = jit(function)
    for n in (1, 2, 5):
        mine, theirs = Y.copy(), Y.copy()
        got, want = compiled(mine, n), function(theirs, n)
        if isinstance(want, (tuple, list)):
            assert len(got) == len(want)
        np.testing.assert_array_equal(mine, theirs)
        if function is both_returned:
            assert got[0][-1] is got[1]
            got, want = got[0], want[0]
        if function is argument_in_the_list:
            assert got[0] is mine
        np.testing.assert_array_equal(np.array(got), np.array(want))
    with pytest.raises(CompileError):
        jit(function, fullgraph=True)(Y.copy(), 4)


def test_views_of_an_argument() -> None:
    alike(views_of_an_argument, (M,), captured=False)


@pytest.mark.parametrize("function", [
    np.stack, np.vstack, np.hstack, np.concatenate, np.array,
])
def test_joined(function) -> None:
    def f(y, n):
        out = []
        for _ in range(n):
            y = y + 1
            out.append(y)
        return function(out)

    alike(f, (Y, 5), (Y, 1))
    alike(f, (Y, 0), captured=False)


@pytest.mark.parametrize("function", [
    np.stack, np.vstack, np.hstack, np.concatenate, np.dstack, np.column_stack,
])
def test_arrays_as_lists_of_rows(function) -> None:
    alike(lambda a: function(a), (M,), (M.T,), (M.reshape(2, 2, 3),), (Y,), captured=False)


def in_two_lists(y, n):
    out, more = [], []
    for k in range(n):
        z = y + k
        out.append(z)
        more.append(z)
    return out, more


def twice_in_one(y, n):
    out = [y + k for k in range(n)]
    z = y * 2
    out.append(z)
    out.append(z)
    return out, []


def in_each_turn(y, n):
    z = y * 2
    return [z for _ in range(n)], []


def with_the_one_before(y, n):
    out, more = [], []
    before = y * 2
    for k in range(n):
        more.append(before)
        z = y + k
        out.append(z)
        before = z
    return out, more


def kept_in_some_turns(y, n):
    out = []
    z = y + 1
    for k in range(n):
        if k % 2:
            z = y * k
        out.append(z)
    return out, []


def before_and_in_the_loop(y, n):
    out, more = [y + k for k in range(n)], []
    z = y * 2
    out.append(z)
    for _ in range(n):
        more.append(z)
        z = z + 1
    return out, more


def each_once(y, n):
    out, more = [], []
    z = y * 2
    for _ in range(n):
        out.append(z)
        more.append(z * 2)
        z = z + 1
    out.append(z)
    return out, more


def in_either_arm(y, n):
    out, more = [], []
    for k in range(n):
        z = y + k
        if z[0] > 2:
            out.append(z)
        elif z[1] > 2:
            more.append(z)
        else:
            out.append(z)
    return out, more


def in_an_arm_and_after_it(y, n):
    out, more = [], []
    for k in range(n):
        z = y + k
        if z[0] > 2:
            out.append(z)
        more.append(z)
    return out, more


def in_an_arm_that_goes_on(y, n):
    out, more = [], []
    for k in range(n):
        z = y + k
        if z[0] > 2:
            out.append(z)
            if k == 3:
                continue
        else:
            out.append(z)
        if k % 2:
            more.append(z)
    return out, more


@pytest.mark.parametrize("function", [
    in_two_lists, twice_in_one, in_each_turn, with_the_one_before, kept_in_some_turns,
    before_and_in_the_loop, each_once, in_either_arm,
    in_an_arm_and_after_it, in_an_arm_that_goes_on,
])
def test_items_are_one_object_where_python_has_one(function) -> None:
    compiled = jit(function, fullgraph=function in (each_once, in_either_arm))
    for n in (3, 1, 5):
        got, want = ([*out, *more] for out, more in (compiled(Y.copy(), n), function(Y.copy(), n)))
        np.testing.assert_array_equal(np.array(got), np.array(want))
        for found, expected in zip(got, want, strict=True):
            assert [found is x for x in got] == [expected is x for x in want]
