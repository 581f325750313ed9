"""Lists from outside that are read where they are."""

from __future__ import annotations

import copy
import subprocess
import sys

import numpy as np
import pytest

from npcompile import jit
from npcompile.runtime.unsafe import object_memory
from npcompile.tracing import unboxed_lists
from tests.fuzz import external_lists
from tests.fuzz.framework import checked

pytestmark = pytest.mark.skipif(not object_memory.readable(), reason="another Python's objects")


def total(p):
    s = 0
    for x in p:
        s += x
    return s


@pytest.mark.parametrize("held", [
    [k / 4 for k in range(50)], list(range(-25, 25)), [2**30 - 1, -(2**30), 2**59, -5] * 20,
    [k % 3 == 0 for k in range(50)], [0, 0.5, 1] * 20, [np.float64(0.25)] * 40, [-0.0] * 40,
], ids=["floats", "ints", "large", "bools", "both", "numpy", "zeros"])
def test_numbers_keep_their_types(held):
    compiled = jit(total)
    for some in (held, held * 9, held[:33]):
        got, want = compiled(some), total(some)
        assert (type(got), repr(got)) == (type(want), repr(want))
    assert compiled.cache_info().compiled == 1
    assert not compiled.cache_info().fallbacks


def test_what_is_no_such_item_is_pythons():
    """Python goes on in the turn that finds it."""
    def f(p, a):
        for i, x in enumerate(p):
            a[i % 3] += x
        return a

    compiled = jit(f)
    for odd in (None, "word", 2**70, 2**61, True, np.float64(3.5)):
        p = [k / 4 for k in range(40)]
        for place in (0, 17, 39):
            held = [*p[:place], odd, *p[place:]]
            results = []
            for g in (f, compiled):
                a = np.zeros(3)
                try:
                    g(held, a)
                except Exception as error:
                    results.append((repr(error), a.tolist()))
                else:
                    results.append(a.tolist())
            assert results[0] == results[1], (odd, place)


def test_tuples_of_another_length():
    def f(e, a):
        for u, v, w in e:
            a[u] += w
            a[v] -= w
        return a

    e = [(k % 5, k % 3, k / 8) for k in range(60)]
    compiled = jit(f)
    assert compiled(e, np.zeros(5)).tolist() == f(e, np.zeros(5)).tolist()
    for odd in ((1, 2), (1, 2, 3), [1, 2, 0.5], (1, 2, 3.0, 4)):
        results = []
        for g in (f, compiled):
            a, told = np.zeros(5), ""
            try:
                g([*e, odd, *e], a)
            except ValueError as error:
                told = str(error)
            results.append((told, a.tolist()))
        assert results[0] == results[1]


def test_ragged_lists():
    def nearest(graph, start):
        far = [-1] * len(graph)
        far[start] = 0
        queue, head = [start], 0
        while head < len(queue):
            u = queue[head]
            head += 1
            for v in graph[u]:
                if far[v] < 0:
                    far[v] = far[u] + 1
                    queue.append(v)
        return far

    rng = np.random.default_rng(1)
    compiled = jit(nearest)
    for n in (300, 40, 60):
        graph = [rng.integers(0, n, rng.integers(0, 5)).tolist() for _ in range(n)]
        assert compiled(graph, 2) == nearest(graph, 2)
    assert not compiled.cache_info().refused


def test_matrices_of_any_size():
    def product(a, b):
        n, m = len(a), len(b[0])
        c = [[0.0] * m for _ in range(n)]
        for i in range(n):
            for j in range(m):
                for k in range(len(b)):
                    c[i][j] += a[i][k] * b[k][j]
        return c

    rng = np.random.default_rng(1)
    compiled = jit(product)
    for n, m, k in ((40, 41, 42), (50, 3, 2)):
        a, b = rng.random((n, k)).tolist(), rng.random((k, m)).tolist()
        assert compiled(a, b) == product(a, b)
    assert compiled.cache_info().compiled == 1


def test_lists_in_lists_stay_themselves():
    def f(graph, k):
        row = graph[k]
        n = 0
        for v in row:
            n += v
        return n, row

    graph = [[k, 2 * k] for k in range(40)]
    compiled = jit(f)
    for k in (3, -1, 0):
        n, row = compiled(graph, k)
        assert row is graph[k]
        assert n == sum(row)


def test_one_list_for_two_names():
    """What one name appends, the other one must not miss."""
    def f(p, q):
        s = 0.0
        for x in p:
            q.append(x * 2)
            s += x
            if s > 40:
                break
        return s, p[-1], len(q)

    compiled = jit(f)
    for _ in range(3):
        p, again = [k / 4 for k in range(40)], [k / 4 for k in range(40)]
        assert compiled(p, []) == f(again, [])
        assert compiled(p, p) == f(again, again)
        assert p == again


def test_attributes():
    class Net:
        pass

    def f(net):
        for u in range(len(net.near)):
            for v in net.near[u]:
                net.heat += net.weight[v]
        return net.heat

    compiled = jit(f)
    for n in (40, 60, 50):
        net = Net()
        net.heat, net.weight = 0.0, [k / 8 for k in range(n)]
        net.near = [[k * 7 % n, k // 2] for k in range(n)]
        other = copy.deepcopy(net)
        assert compiled(net) == f(other)
        assert vars(net) == vars(other)
    assert compiled.cache_info().compiled == 1
    assert not compiled.cache_info().refused


def test_attributes_that_are_more_than_items_of_a_dictionary():
    class Counting:
        looked = 0
        shared = [k / 4 for k in range(40)]  # noqa: RUF012 -- what is tested

        @property
        def computed(self):
            self.looked += 1
            return self.numbers

    class Slotted:
        __slots__ = ("numbers",)

    def f(a, n):
        s = 0.0
        for i in range(n):
            for x in a.numbers:
                s += x * i
        return s

    def g(a):
        s = 0.0
        for x in a.computed:
            s += x
        for x in a.shared:
            s += x
        return s, a.looked

    for kind in (Counting, Slotted):
        compiled = jit(f)
        for n in (40, 1000, 1030, 2):
            a = kind()
            a.numbers = [k / 8 for k in range(n)]
            assert compiled(a, 5) == f(a, 5)
    compiled = jit(g)
    for _ in range(3):
        for own in (None, [1.5] * 50):
            a, b = Counting(), Counting()
            a.numbers = b.numbers = [k / 8 for k in range(40)]
            if own is not None:
                a.shared = b.shared = own
            assert compiled(a) == g(b)


def test_one_list_as_the_attribute_of_two_objects():
    class Node:
        pass

    def f(a, b):
        s = 0.0
        for x in a.p:
            b.p.append(x)
            s += x
            if s > 40:
                break
        b.p = [s]
        return s + len(a.p)

    compiled = jit(f)
    for same in (0, 1, 2, 0, 1, 2):
        results = []
        for call in (f, compiled):
            a, b = Node(), Node()
            a.p = [k / 4 for k in range(40)]
            b.p = a.p if same == 1 else [1.0]
            if same == 2:
                b = a
            results.append((call(a, b), a.p, b.p))
        assert results[0] == results[1]


def test_lists_that_could_be_looked_at_item_by_item_are_read_where_they_are():
    """Loops over few items can be written out, one version for each length."""
    def f(near, heat):
        s = 0.0
        for u in range(len(near)):
            for v in near[u]:
                s += heat[v]
        return s

    compiled = jit(f)
    for n in (40, 50, 60):
        near = [[k * 7 % n, k // 2] for k in range(n)]
        heat = [k / 8 for k in range(n)]
        assert compiled(near, heat) == f(near, heat)
    assert compiled.cache_info().compiled == 1


def test_lists_are_found_in_the_next_process(tmp_path, monkeypatch):
    """Addresses of classes are one process's."""
    monkeypatch.setenv("NPCOMPILE_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "summed.py").write_text(
        "import npcompile\n@npcompile.jit\ndef f(p):\n    s = 0\n    for x in p: s += x\n"
        "    return s\nprint(f([k / 4 for k in range(99)]), f.cache_info().fallbacks)\n"
    )
    for _ in range(3):
        done = subprocess.run([sys.executable, "summed.py"], cwd=tmp_path, check=True, text=True,
                              capture_output=True)
        assert done.stdout == "1212.75 0\n"


def nested(p, n):
    """Reads a list in a loop in a loop: it is copied, if it is short."""
    best = [0] * n
    for i in range(n):
        for j in range(min(i, len(p))):
            best[i] = max(best[i], p[j] + best[i - j - 1])
    return best, p


@pytest.mark.parametrize("held", [
    [k / 4 for k in range(50)], list(range(-25, 25)), [2**30 - 1, -(2**30), 2**59, -5] * 20,
    [k % 3 == 0 for k in range(50)], [0, 0.5, 1] * 20, [np.float64(0.25)] * 40, [-0.0] * 40,
], ids=["floats", "ints", "large", "bools", "both", "numpy", "zeros"])
def test_lists_are_copied_where_loops_in_loops_read_them(held):
    compiled = jit(nested)
    for some in (held, held * (unboxed_lists.PACKED // len(held)), held * 30, [held[0]], []):
        for n in (0, 1, 2, 40):
            got, want = compiled(some, n), nested(some, n)
            assert got[1] is some
            assert repr(got) == repr(want)


def test_only_short_lists_are_copied():
    def f(p, q):
        n = 0
        for x in p:
            for y in q:
                n += x > y
        return n

    compiled = jit(f, cache=False)  # the version for long lists serves all, if it is on disk
    p = [k * 7 % 50 / 4 for k in range(50)]
    for count in (unboxed_lists.PACKED, unboxed_lists.PACKED - 1, 40):
        assert compiled(p, p * 20 + [1.5] * (count - 1000) if count > 999 else p) > 0
    assert compiled.cache_info().compiled == 1
    assert f"q has at most {unboxed_lists.PACKED} items" in str(compiled.explain(p, p))
    assert "p has at most" not in str(compiled.explain(p, p))
    q = [0.5] * (unboxed_lists.PACKED + 1)
    assert compiled(p, q) == f(p, q)
    assert compiled(p, p) == f(p, p)
    assert compiled.cache_info().compiled == 2


@pytest.mark.parametrize("odd", [None, "word", 2**70, True, np.float64(3.5), 7], ids=repr)
def test_odd_items_of_lists_that_are_copied(odd):
    def f(p, a, n):
        for i in range(n):
            for j in range(i):
                a[j % 3] += p[j]
        return a

    compiled = jit(f)
    p = [k / 4 for k in range(40)]
    for place in (0, 17, 40):
        for n in (5, 30, 41, 42, 50):
            held = [*p[:place], odd, *p[place:]]
            results = []
            for g in (f, compiled):
                a = np.zeros(3)
                try:
                    g(held, a, n)
                except Exception as error:
                    results.append((repr(error), a.tolist()))
                else:
                    results.append(a.tolist())
            assert results[0] == results[1], (place, n)
            assert repr(compiled(p, np.zeros(3), 9)) == repr(f(p, np.zeros(3), 9))


def test_tuples_are_copied():
    def shortest(n, edges):
        far = [1e9] * n
        far[0] = 0.0
        for _ in range(n):
            for u, v, w in edges:
                if far[u] + w < far[v]:
                    far[v] = far[u] + w
        return far

    rng = np.random.default_rng(1)
    compiled = jit(shortest, cache=False)  # the disk may have the second first
    for n in (60, 40, 2000):
        ends = rng.integers(0, 30, (n, 2)).tolist()
        edges = [(u, v, w) for (u, v), w in zip(ends, rng.random(n).tolist())]
        assert compiled(30, edges) == shortest(30, edges)
    for odd in ((1, 2), (1, 2, 3.0, 4)):
        with pytest.raises(ValueError, match="unpack"):
            compiled(30, [*edges[:50], odd])
    assert compiled.cache_info().compiled == 2
    assert not compiled.cache_info().refused


def test_short_lists_of_places_get_one_version():
    """Places that a loop reads from a short list could be told by their values."""
    def f(net):
        s = 0.0
        for u in range(len(net.near)):
            for v in net.near[u]:
                s += net.heat[v]
        return s

    class Net:
        pass

    rng = np.random.default_rng(1)
    compiled = jit(f)
    for n in (20, 20, 9, 30, 20):
        net = Net()
        net.near = [rng.integers(0, n, k % 4).tolist() for k in range(n)]
        net.heat = rng.random(n).tolist()
        assert compiled(net) == f(net)
    assert compiled.cache_info().compiled == 1


def test_random_programs() -> None:
    checked(external_lists.GRAMMAR, range(6))
