"""Generators of the program, run to their end where they are made."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from npcompile import jit


def scaled(a, k=2):
    for i in range(len(a)):
        yield a[i] * k


def rows(a):
    for row in a:
        yield row * 2, row.sum()


def views(a):
    for row in a:
        yield row[:]


def reused(a):
    buffer = np.zeros(3)
    for x in a:
        buffer[:] = x
        yield buffer


def forever():
    i = 0
    while True:
        yield i
        i += 1


def pairs(n):
    for i in range(n):
        for j in range(i):
            yield i, j


def writing(a):
    for i in range(3):
        a[i] = 9
        yield i


def some(a):
    for x in a:
        if x > 1:
            yield x
        elif x < -1:
            return


def delegating(a):
    yield from a
    yield 1.0


def logged(log, a):
    for x in a:
        log.append(x)
        yield x


def test_loop():
    def f(a):
        s = 0.0
        for x in scaled(a):
            s += x
        return s

    check(f, captured=True)


def test_all_items():
    check(lambda a: (sum(scaled(a)), list(scaled(a, 3)), max(scaled(a))), captured=True)


def test_rows():
    def f(a):
        s = 0.0
        for row, total in rows(a.reshape(2, -1)):
            s += row.sum() * total
        return s

    check(f, captured=True)


def test_views_are_views():
    def f(a):
        for row in views(a.reshape(2, -1)):
            row += 1
        return a

    check(f, captured=True)


def test_several():
    def f(a):
        s = 0.0
        for i, j in pairs(len(a)):
            s += a[i] * a[j]
        for x, y in zip(scaled(a), scaled(a, 5)):
            s += x * y
        return s + sum(some(a))

    check(f, captured=True)


def test_left_early():
    def f(a):
        last = 0
        for k, x in enumerate(scaled(a)):
            last = k
            if x > 3:
                break
        return last

    check(f, captured=True)


def test_writes_after_the_end():
    def f(a):
        for k in range(3):
            a[k] = sum(scaled(a))
        return a

    def g(a):
        out = np.zeros(6)
        for k, x in enumerate(scaled(a)):
            out[k] = x
        a[0] = 1
        return out

    check(f, captured=True)
    check(g, captured=True)


def test_writes_meanwhile():
    def during(a):
        s = 0.0
        for x in scaled(a):
            s += x
            a[3] = 100
        return s

    def before(a):
        items = scaled(a)
        a[0] = 5
        return sum(items)

    def zipped(a):
        both = zip(scaled(a), a)
        a[1] = 7
        return [x for x, _ in both]

    def again(a):
        items = iter(scaled(a))
        a[1] = 7
        return sum(items)

    def branch(a):
        s = 0.0
        for x in scaled(a):
            if x > 2:
                a[4] = 50
            s += x
        return s

    def same_kind(a):
        s = a[0] * 0  # the first turn is like the others
        for x in scaled(a):
            s += x
            a[3] = 100
        return s

    for f in (during, before, zipped, again, branch, same_kind):
        check(f)


def test_generator_expressions_read_when_they_are_asked():
    def before(a):
        items = (a[i] for i in range(3))
        a[0] = 50
        return sum(items)

    def during(a):
        items = (x for x in a)
        a[1] = 50
        s = 0.0
        for x in items:
            s += x
            a[2] = 7
        return s

    def in_the_loop(a):
        s = 0.0
        for x in (a[i] * 2 for i in range(5)):
            s += x
            a[3] = 100
        return s

    def after(a):
        s = sum(a[i] for i in range(3))
        a[0] = s
        return sum(a[i] for i in range(3))

    for f in (before, during, in_the_loop):
        check(f)
    check(after, captured=True)


@pytest.mark.parametrize("f", [
    lambda a: [b.sum() for b in reused(a)],
    lambda a: list(zip(forever(), a)),
    lambda a: sum(a[i] for i in writing(a)),
    lambda a: sum(delegating(a)),
])
def test_left_to_python(f):
    check(f)


def test_lists_that_change():
    def f(a):
        log = []
        for x in logged(log, a):
            log.append(-x)
            log[0] += 1
        return log

    check(f)


def test_errors():
    def f(a):
        a[0] = 3
        s = 0.0
        for x in scaled(a):
            if x > 6:
                raise ValueError(s)
            s += x
        return s

    check(f)

    def g(a):
        return [a[int(i)] for i in scaled(a)]

    check(g)


def check(f: Any, captured: bool = False) -> None:
    compiled = jit(f)
    for size in (6, 6, 4):
        outcomes = []
        for function in (f, compiled):
            a = np.arange(float(size))
            try:
                result = function(a)
            except (ValueError, IndexError) as error:
                result = type(error), str(error)
            outcomes.append((_plain(result), a.tolist(), type(result)))
        assert outcomes[0] == outcomes[1]
    if captured:
        info = compiled.cache_info()
        assert info.compiled and not info.fallbacks, str(compiled.explain(np.arange(6.0)))


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(map(_plain, value))
    return value.tolist() if isinstance(value, np.ndarray) else (type(value), value)


class Holder:
    def __init__(self, value):
        self.value = value


def of_a_variable(x, n):
    k, found = 1, 0.0
    for v in (k * u for u in x):
        k += n
        found += v
    return found, k


def of_an_instance(x, n):
    held, found = Holder(1), 0.0
    for v in (held.value * u for u in x):
        held.value += n
        found += v
    return found


def of_a_list(x, n):
    held, found = [1.0, 2.0], 0
    for v in (u for u in held):
        found += 1
        if found < n:
            held.append(v)
    return held, found


def of_a_list_that_grows(x, n):
    held, found = [], 0
    for u in x:
        held.append(u + 1)  # noqa: PERF401
    for v in (u * 2 for u in held):
        found += 1
        if found < n:
            held.append(v)
    return held, found


def of_an_object(x, n):
    found = 0.0
    for v in (x.value * k for k in range(4)):
        x.value += n
        found += v
    return found


def by_zip(x, n):
    held, found = [1.0, 2.0, 3.0], 0.0
    for v, u in zip((v for v in held), x):
        held[2] = n
        found += u * v
    return found


@pytest.mark.parametrize("function", [
    of_a_variable, of_an_instance, of_a_list, of_a_list_that_grows, of_an_object, by_zip,
])
def test_what_a_generator_looks_at_changes_before_it_is_done(function):
    compiled = jit(function)
    for n in (3, 9, 0, 3):
        given = [Holder(2) if function is of_an_object else np.arange(4.0) for _ in "ab"]
        assert repr(compiled(given[0], n)) == repr(function(given[1], n))


def told_of(x, k):
    n = 0

    def above(v):
        nonlocal n
        n += 1
        return v > k

    return (any(above(v) for v in x), n), (all(map(above, x)), n), sum(above(v) for v in x), n


def told_by_walrus(x, k):
    return any((last := v) > k for v in x), last


def told_in_a_list(x, k):
    told = []
    pairs = list(zip((1, 2), (told.append(v) or v for v in x)))
    first = next(filter(lambda v: told.append(v) or v > k, x), None)
    return pairs, first, told


def printed(x, k):
    for v in (print(v) or v for v in x):
        if v > k:
            return v
    return None


def filtered(x, k):
    found = []
    for v in filter(None, x):
        found.append(v)
        x[-1] = k
    return found


def added_up(x, k):
    found = []
    for v in itertools.accumulate(x):
        found.append(v)
        x[-1] = k
    return found


@pytest.mark.parametrize("make", [list, np.array])
@pytest.mark.parametrize("function", [
    told_of, told_by_walrus, told_in_a_list, printed, filtered, added_up,
])
def test_items_that_nobody_takes_are_not_computed(function, make, capsys):
    compiled = jit(function)
    for k in (9, 1, 2, 0):
        told = []
        for f in (compiled, function):
            x = make([1, 2, 0, 3])
            told.append((repr(f(x, k)), repr(x), capsys.readouterr().out))
        assert told[0] == told[1]


def test_a_generator_whose_items_are_all_taken_may_change_things():
    def f(a):
        n, found = 0.0, []

        def running(v):
            nonlocal n
            n += v
            found.append(n)
            return n

        return sum(running(v) for v in a), list(running(v) for v in a), n, found  # noqa: C400 (what is tested)

    check(f, captured=True)
