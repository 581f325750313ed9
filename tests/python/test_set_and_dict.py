"""Sets and dictionaries whose keys the run makes: the same keys, values and order as Python's."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from tests.support.oracle import as_python


def counts(x):
    found = {}
    for v in x:
        found[v] = found.get(v, 0) + 1
    return found


def counts_of_ints(x):
    found = defaultdict(int)
    for v in x:
        found[int(v)] += 1
    return found, len(found), found[12345], found


def first_pair(x, wanted):
    seen = {}
    for i in range(len(x)):
        v = int(x[i])
        if wanted - v in seen:
            return seen[wanted - v], i
        seen[v] = i
    return None


def longest_chain(n):
    steps, best = {1: 1}, 0
    for start in range(2, n):
        k, more = start, 0
        while k not in steps:
            k = k // 2 if k % 2 == 0 else 3 * k + 1
            more += 1
        steps[start] = steps[k] + more
        best = max(best, steps[start])
    return best, steps


def walk(x):
    seen = set()
    i = j = 0
    seen.add((i, j))
    for v in x:
        i += v % 3 - 1
        j += v % 2
        seen.add((int(i), int(j)))
    return seen, len(seen)


def totals(x):
    found = {}
    for i in range(len(x)):
        found[int(x[i]) * 1024] = i
    total = 0
    for k in found:
        total += k
    for k, v in found.items():
        total += k * v
    return total + sum(found.values()), found


def common_keys(x):
    index = {int(v): i for i, v in enumerate(x)}
    return index, 3 in index, x[0] in index, True in index


@pytest.mark.parametrize("function", [counts, counts_of_ints, walk, totals, common_keys])
def test_the_same_items(function: Callable[..., Any]) -> None:
    rng = np.random.default_rng(0)
    for high in (9, 10**6):
        as_python(function, rng.integers(-high, high, 300), compiled=True)
    if function is not common_keys:
        as_python(function, rng.integers(0, 9, 0), compiled=True)


def test_searches() -> None:
    as_python(first_pair, np.arange(200), 250, compiled=True)
    as_python(first_pair, np.arange(200), 2500, compiled=True)
    as_python(longest_chain, 300, compiled=True)


def test_a_key_that_is_not_there() -> None:
    def last(x):
        found = {}
        for v in x:
            found[int(v)] = 1
        return found[99]

    for call in (jit(last), last):
        with pytest.raises(KeyError, match="99"):
            call(np.arange(5))


def test_a_dictionary_that_grows_in_a_loop_over_it() -> None:
    def grows(x):
        found = {}
        for v in x:
            found[int(v)] = 1
        for k in found:
            found[k + 50] = 2

    for call in (jit(grows), grows):
        with pytest.raises(RuntimeError, match="dictionary changed size during iteration"):
            call(np.arange(5))


def test_sets_in_pythons_order() -> None:
    as_python(lambda x: set(x), np.random.default_rng(0).integers(0, 10**9, 999), compiled=True)


def test_writes_beside_a_dictionary() -> None:
    def relabel(x, out):
        labels = {}
        for i in range(len(x)):
            out[i] = x[i]
            if x[i] not in labels:
                labels[x[i]] = len(labels)
            out[i] = labels[x[i]]
        return labels

    as_python(relabel, np.arange(20) % 7, np.zeros(20), compiled=False)
    for call in (jit(relabel), relabel):
        out = np.zeros(3)
        with pytest.raises(IndexError):
            call(np.arange(20) % 7, out)
        assert out.tolist() == [0, 1, 2]


def test_keys_that_are_pythons() -> None:
    def of_floats(x):
        found = {}
        for v in x:
            found[float(v)] = found.get(float(v), 0) + 1
        return found

    nan = np.array([np.nan, 1.0, np.nan, -0.0, 0.0])
    assert repr(jit(of_floats)(nan)) == repr(of_floats(nan))

    def of_bools(x):
        found = {}
        for v in x:
            found[int(v)] = 1
            found[bool(v > 3)] = 2
        return found, 1.0 in found

    x = np.arange(5)
    assert repr(jit(of_bools)(x)) == repr(of_bools(x))


def test_views_are_no_iterators() -> None:
    def views(x):
        found = {}
        for v in x:
            found[int(v)] = int(v)
        values = found.values()
        found[99] = 1
        return sum(values), sum(values), bool(values)

    assert jit(views)(np.arange(3)) == (4, 4, True)
    assert jit(lambda n: bool(range(n)))(0) is False


def test_python_goes_on_with_no_iterator_over_a_table() -> None:
    def grows(x):
        found = {}
        for v in x:
            found[int(v)] = 1
        it = iter(found.items())
        first = next(it)
        found[99] = 1
        return first, next(it)

    def leaves(x):
        found = {}
        for v in x:
            found[int(v)] = 1
        it = iter(found)
        next(it)
        found[99] = 2
        return list(it)

    for function in (grows, leaves):
        for call in (jit(function), function):
            with pytest.raises(RuntimeError, match="dictionary changed size during iteration"):
                call(np.arange(5))


def test_a_set_of_a_dictionary_has_its_order() -> None:
    """CPython makes room for all keys at once, which shows in the order."""
    def both(x: Any) -> Any:
        d: dict[int, int] = {}
        for v in x:
            d[int(v)] = 1
        s = set(d)
        return list(s), list(set(s)), list(set(d.keys()))

    compiled = jit(both)
    for n in (5, 60, 1000):
        x = np.random.default_rng(n).integers(-10**6, 10**6, n)
        assert compiled(x) == both(x)


def test_keys_are_no_attributes() -> None:
    """``hasattr`` and ``getattr`` of a dictionary that the program made do not find its keys."""
    def f(x):
        held = {"a": x, "keys": x}
        return hasattr(held, "a"), hasattr(held, "keys"), getattr(held, "a", x * 2)

    compiled = jit(f)
    have, want = compiled(np.ones(3)), f(np.ones(3))
    assert have[:2] == want[:2] == (False, True)
    assert (have[2] == want[2]).all()
    assert compiled.cache_info().compiled == 1
