"""Lists, dictionaries and objects in captured loops."""

# ruff: noqa: PERF401, PERF402
from __future__ import annotations

from collections import deque

import numpy as np
import pytest

from npcompile import jit
from tests.support.oracle import alike

R = np.random.default_rng(3)
V = R.random(9)
NONE = np.zeros(0)
INTS = np.array([4, 2, 7, 1, 9, 3, 3, 8])
MAZE = (R.random((6, 7)) < 0.3).astype(int)


def run_lengths(data):
    values, counts = [], []
    i = 0
    while i < len(data):
        j = i
        while j < len(data) and data[j] == data[i]:
            j += 1
        values.append(data[i])
        counts.append(j - i)
        i = j
    return np.array(values), np.array(counts), values, counts


def breadth_first(maze):
    rows, columns = maze.shape
    distance = np.full((rows, columns), -1, dtype=np.int64)
    distance[0, 0] = 0
    queue = [(0, 0)]
    head = 0
    while head < len(queue):
        i, j = queue[head]
        head += 1
        for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            x, y = i + di, j + dj
            if 0 <= x < rows and 0 <= y < columns and maze[x, y] == 0 and distance[x, y] < 0:
                distance[x, y] = distance[i, j] + 1
                queue.append((x, y))
    return distance, queue


def depth_first(maze):
    seen = np.zeros(maze.shape, dtype=bool)
    stack = [(0, 0)]
    count = 0
    while stack:
        i, j = stack.pop()
        if i < 0 or j < 0 or i >= maze.shape[0] or j >= maze.shape[1]:
            continue
        if seen[i, j] or maze[i, j]:
            continue
        seen[i, j] = True
        count += 1
        stack.append((i + 1, j))
        stack.append((i - 1, j))
        stack.append((i, j + 1))
        stack.append((i, j - 1))
    return seen, count


def heap(a):
    h = []
    for x in a:
        h.append(int(x))
        i = len(h) - 1
        while i > 0 and h[(i - 1) // 2] > h[i]:
            h[i], h[(i - 1) // 2] = h[(i - 1) // 2], h[i]
            i = (i - 1) // 2
    return h


def queue(a):
    waiting, out = [], []
    for x in a:
        waiting.append(x)
        if len(waiting) > 2:
            out.append(waiting.pop(0))
    return out, waiting


def counted(a, n):
    f = [0] * n
    for x in a:
        f[x] += 1
    return f, sum(f), max(f), min(f), any(f), all(f), f[1:-1], list(f)


def of_pairs(a):
    pairs = []
    for i, x in enumerate(a):
        pairs.append((i, x))
    total = np.float64(0.0)
    for i, x in pairs:
        total += i * x
    return np.array(pairs), total, len(pairs), pairs[-1]


def comprehensions(a):
    big = [x for x in a if x > 0.5]
    return [x * x for x in a], big, np.array(big).mean(), [i for i in range(len(a)) if a[i] < 0.2]


def same_object(a):
    one = []
    two = one
    for x in a:
        one.append(x)
        if x > 0.5:
            two.append(x * 2)
    return one, two, one is two


@pytest.mark.parametrize("function, calls", [
    (run_lengths, [(INTS,), (INTS[:1],), (np.array([1, 1, 2, 2, 2]),), (INTS[:0],)]),
    (breadth_first, [(MAZE,), (MAZE[:1, :1],)]),
    (depth_first, [(MAZE,), (MAZE * 0,)]),
    (heap, [(INTS,), (INTS[:0],), (INTS[::-1],)]),
    (queue, [(V,), (NONE,), (V[:2],)]),
    (counted, [(INTS % 4, 4), (INTS % 4 - 2, 4), (INTS, 9), (INTS, 5)]),
    (of_pairs, [(V,), (V[:1],)]),
    (comprehensions, [(V,)]),
    (same_object, [(V,), (NONE,)]),
], ids=lambda x: getattr(x, "__name__", ""))
def test_lists(function, calls):
    alike(function, *calls)


def test_popping_an_empty_list():
    def f(a, n):
        found = []
        for x in a:
            found.append(x)
        for _ in range(n):
            found.pop()
        return found

    alike(f, (V, 3), (V, 9), (V, 10))


def test_indices_out_of_range():
    def f(a, i, j):
        found = []
        for x in a:
            found.append(x)
        found[i] = found[j]
        return found

    alike(f, (V, 3, -1), (V, -9, 8), (V, 9, 0), (V, 0, -10))


def test_writes_before_a_check_that_fails():
    def f(a, n):
        found = []
        for k, x in enumerate(a):
            a[k] = 2 * x
            found.append(k)
            if k == n:
                found.pop()
                found.pop()
        return found

    alike(f, (V, 3), (V, 0), (V, 12))


def test_more_items_than_the_columns_have_room_for(monkeypatch):
    monkeypatch.setattr("npcompile.tracing.vectors.CAPACITY", 4)

    def f(a):
        found = []
        for x in a:
            found.append(x)
        return found

    alike(f, (V[:4],), (V,), (V[:5],))


def test_a_list_that_grows_while_a_loop_runs_over_it():
    def f(a):
        found = []
        for x in a:
            found.append(x)
        for x in found:
            if x > 0.9:
                found.append(x * 0.5)
        return found

    alike(f, (V,), captured=False)


def test_items_of_several_types():
    def f(a):
        found = [0]
        for x in a:
            found.append(x)
        return found

    alike(f, (V,), captured=False)


def test_dictionaries():
    def f(a):
        d = {"n": 0, "s": 0.0, "last": (0, 0.0)}
        for k, x in enumerate(a):
            d["n"] += 1
            d["s"] = d["s"] + float(x)
            d["last"] = (k, float(x))
        return d

    alike(f, (V,), (NONE,))


class Particle:
    def __init__(self, x):
        self.x = x
        self.steps = 0

    def step(self, v):
        self.x = self.x + v
        self.steps += 1


def test_objects():
    def f(a):
        p = Particle(0.0)
        for x in a:
            p.step(float(x))
            if x > 0.5:
                p.x = -p.x
        return p.x, p.steps

    alike(f, (V,), (NONE,))


def test_consumers_of_iterables():
    def f(a):
        squares = sum(x * x for x in a), max(x - 0.5 for x in a), min(a), max(a), sum(a)
        return squares, any(x > 0.9 for x in a), all(x > 0.0 for x in a), list(a)

    alike(f, (V,), (V[:1],), (NONE,), captured=False)


def test_an_index_into_a_list_display():
    def f(a):
        found = [0, 0, 0]
        for x in a:
            found[x] = found[x] + 1
        return found

    alike(f, (INTS % 3,), (INTS % 5,))


def test_lists_that_each_iteration_makes_anew():
    def common(a, b):
        previous = [0] * (len(b) + 1)
        for x in a:
            current = [0] * (len(b) + 1)
            for j in range(len(b)):
                if x == b[j]:
                    current[j + 1] = previous[j] + 1
                else:
                    current[j + 1] = max(current[j], previous[j + 1])
            previous = current
        return previous[-1]

    def reached(following):
        seen = np.zeros(len(following), bool)
        front, level = [0], 0
        while front:
            new = []
            for v in front:
                if not seen[v]:
                    seen[v] = True
                    new.append((v + 1) % len(following))
                    new.append(int(following[v]))
            front = new
            level += 1
        return seen, level

    def swapped(a):
        p, q = [], []
        for x in a:
            p.append(x)
            p, q = q, p
        return p, q

    def two_names(a):
        p = [0.5]
        q = p
        for _ in a:
            q = p
            p = [float(a[0])]
            for y in a:
                p.append(float(y))
        return p, q

    alike(common, (INTS, INTS[::-1]), (INTS[:0], INTS), (INTS, INTS[:0]))
    alike(reached, (INTS % 8,), (INTS[:3] % 3,))
    alike(swapped, (V,), (V[:4],), (NONE,))
    alike(two_names, (V,), (V[:1],))


def test_objects_that_each_iteration_makes_anew():
    def f(a):
        p = Particle(a[0])
        for x in a:
            q = Particle(p.x + x)
            q.steps = p.steps + 1
            p = q
        a[0] = p.x
        if p.steps >= 8:
            raise ValueError(p.steps)
        return p.x, p.steps

    alike(f, (V,), (V[:5],))


def test_objects_that_python_goes_on_with():
    def f(a, n):
        p = Particle(0.0)
        pair = [p, {"p": p}]
        for k, x in enumerate(a):
            a[k] = p.x
            p.step(float(x))
            if k == n:
                p.x = -1.0
                raise ValueError(p.x, p.steps, pair[1]["p"].x, pair[0].x)
        return p.x, pair[0].steps

    def g(a, n):  # which might look at what objects its numbers are
        p = Particle(0.0)
        pair = [p, {"p": p}]
        for k, x in enumerate(a):
            a[k] = p.x
            p.step(float(x))
            if k == n:
                raise ValueError(p.x, p.steps, pair[1]["p"] is p)
        return p.x, pair[0].steps

    alike(f, (V, 20), (V, 3), (V, 0))
    alike(g, (V, 20), (V, 3), (V, 0), captured=False)


def test_methods_of_lists():
    def f(a, b):
        found = []
        for x in a:
            found.insert(0, x)
        found.extend(b)
        found += [a[0]]
        twice = found + found
        place = found.index(a[2])
        found.reverse()
        return found, twice, place, found.count(a[0]), a[1] in found, a[1] * 3 not in found

    alike(f, (V, V[:2]), (V[:3], NONE), (V[:4], V))

    def g(a):
        p = [int(x) for x in a]
        q = [x for x in a if x != 2]
        r = sorted(p)
        q.sort()
        p.sort(reverse=True)
        return p, q, r, p[::-1], p[1:5:2], list(reversed(p))

    alike(g, (INTS,), (INTS[:1],), (INTS[:0],))

    def h(a):
        p = [float(x) for x in a]
        p.sort()
        p.insert(3, 0.5)
        return p

    alike(h, (V,), (-V * 0,), (np.array([1.0, np.nan, 0.5]),), (np.array([0.0, -0.0, 1.0, -0.0]),))


def test_tables_of_tuples():
    def f(a):
        moves = ((1, 0), (0, 1), (-1, 0), (0, -1))
        x = y = 0
        for k in a:
            dx, dy = moves[k]
            x, y = x + dx, y + dy * (3, 5, 7)[k % 3]
        return x, y

    alike(f, (INTS % 4,), (INTS % 4 - 4,), (INTS,))


def test_closures():
    def f(a):
        n, total = 0, 0.0

        def add(v):
            nonlocal n, total
            n += 1
            total += float(v)

        for v in a:
            add(v)
        return n, total

    alike(f, (V,), (V[:1],))


def test_objects_whose_truth_changes():
    def f(held, a):
        count = 0
        while held:
            held.popleft()
            count += 1
        return count, len(held), a + 1

    for items in ([1, 2], [], [1]):
        alike(f, (deque(items), V), captured=False)


def test_arrays_of_empty_lists():
    def f(a):
        p, q, r = [], [], []
        for k, x in enumerate(a):
            if x > 0.5:
                p.append(k)
                q.append(x)
                r.append((k, x))
        return np.array(p), np.array(q), np.array(r), np.mean(q)

    alike(f, (V,), (V * 0,), (V[:1],))


def test_lists_of_arrays():
    def f(a, n):
        held = []
        u = a.copy()
        for _ in range(n):
            u = u * 0.5 + 1
            held.append(u.copy())
        return np.array(held), len(held)

    def g(a, n):
        held = [a.copy()]
        for k in range(n):
            held.append(held[-1] * 0.5 + k)
        return held

    def h(a, n):
        held = []
        for k in range(n):
            held.append((k, a * k))
        s = np.zeros_like(a)
        for k, x in held:
            s += k * x
        return s, held.pop()[1].sum()

    alike(f, (V, 4), (V, 0), (V[:2], 9))
    alike(g, (V, 4), (V, 0), (np.eye(3), 70))
    alike(h, (V, 4), (np.eye(3), 2))


def test_arrays_with_other_names_in_lists():
    def f(a, n):
        held = []
        u = a.copy()
        for _ in range(n):
            held.append(u)
            u[0] += 1
        held[0][1] = 5.0
        return held

    def g(a, n):
        held = []
        for k in range(n):
            held.append(a * k)
        last = held[-1]
        held[0][0] = 7.0
        return held, last

    for function in (f, g):
        alike(function, (V, 4), (V, 9), captured=False)


def test_warnings_of_consumers_of_iterables():
    def f(a):
        a[0] = a[1]
        return (
            1.0,
            sum(a),
            max(a),
        )

    alike(f, (V,), (np.full(5, 1e308),))


LISTS_BY_PATH = '''
def one(a, k):
    c = [1.0]
    for y in a:
        if y > k:
            break
        c = [y]
    return len(c), c


def two(a, k):
    c, p, q = [], [3, 1], []
    for y in a:
        if len(q) > k:
            break
        c = sorted(p)
        q.append(y)
    if a[0] > 2:
        a = a * 2
    return len(c), a, q


def three(a, k):
    c = []
    for y in a:
        if y > k:
            break
        c = [y, y + 1]
    for y in a:
        if c:
            c[0] += y
    return c, len(c)
'''


@pytest.mark.parametrize("name", ["one", "two", "three"])
def test_lists_that_one_path_makes_in_a_loop_with_a_break(name):
    scope = {}
    exec(LISTS_BY_PATH, scope)
    compiled = jit(scope[name])
    for k in (-1, 0, 2, 3, 99):
        for a in (np.arange(6.0), np.arange(6.0)[::-1] + 1, np.zeros(1)):
            got, want = compiled(a, k), scope[name](a, k)
            assert repr(got) == repr(want)
