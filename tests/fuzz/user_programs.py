"""Random programs as users write them: objects, tables, words, sets, counters, work queues.

Each is called many times, as objects and tables change between calls, so that what machine code
reads of them, what is tried beside Python and what is left to Python takes turns.
"""

from __future__ import annotations

import functools
import heapq
import random
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.fuzz.framework import Grammar, Program, session

CALLS = 44
SPACE = """
class Model:
    rate = 0.5
    def __init__(self, n):
        self.w, self.b, self.n, self.on = np.arange(1.0, 6.0), 0.5, n, True
        self.table, self.log, self.name = {"a": 1.5, "b": n}, [], "mean"
    @property
    def half(self):
        return self.b * 0.5
    @property
    def level(self):
        self.n += 1
        return self.w[self.n]
    @level.setter
    def level(self, v):
        self.w[0] += v
        self.n -= 1
        self.w[self.n] = v
    def __getitem__(self, i):
        self.b += 1
        return self.w[i]
    def __setitem__(self, i, v):
        self.w[i] += v
        self.n += 1
    def twice(self, v):
        return 2 * v + self.b

class Slots:
    __slots__ = ("k", "v")
    def __init__(self, k, v):
        self.k, self.v = k, v

class Other(Model):
    rate = 2
    def twice(self, v):
        return super().twice(v) - self.n
    @property
    def level(self):
        parent = super()
        return parent.level + 1
    @level.setter
    def level(self, v):
        Model.level.fset(self, v * 0.5)

@functools.lru_cache(maxsize=4)
def cached(n, k):
    return n * (k + 0.5) if k % 3 else n

@functools.cache
def ways(n):
    return 1 if n < 2 else ways(n - 1) + ways(n - 2)

"""
NUMBERS = [
    "self.b", "self.n", "self.rate", "self.half", "self.table['a']", "self.table['b']", "pair[0]",
    "pair[1]", "slots.k", "x[k]", "self.w[k]", "cached(k, 2)", "ways(k)", "len(words)", "s", "k",
    "sizes[1]", "nested[1][0]", "self.level", "self[k]",
]
ARRAYS = ["x", "self.w", "slots.v", "self.w * x", "self.twice(x)", "x[::-1]", "y"]
CONDITIONS = [
    "self.on", "how == 'mean'", "how in ('max', 'sum')", "self.name == how", "x[k] > 0.5",
    "self.b > 1", "k > 1", "slots.k is None", "words", "s > 2.0", "'a' in self.table",
]
STATEMENTS = [
    "s += {n}", "y = {a} * {n} + {a}", "y = y + {n}", "self.b = {n}", "self.n += 1",
    "for i in range(k + 2):\n{i}    self.b = self.b * 0.5 + {n}",
    "for i in range(k):\n{i}    self.w = self.w * 0.5 + {a}\n{i}    self.n += 1",
    "while self.n < 6:\n{i}    self.n += 2\n{i}    s += self.b",
    "for i in range(9):\n{i}    if x[i % 5] > 0.4:\n{i}        self.on, self.b = i, s + i",
    "self.level = {n}", "self.level += {n}", "self[k] = {n}", "self[1] += {n}",
    "self.w *= 0.5", "self.w = {a} + {n}", "self.w[k] = {n}", "self.on = not self.on",
    "self.log.append({n})", "out.append({n})", "out.append({a}.sum())", "self.table['b'] = {n}",
    "seen = set(x.astype(int).tolist())\n{i}s += len(seen)",
    "counts = {{}}\n{i}for w in words:\n{i}    counts[w] = counts.get(w, 0) + 1\n"
    "{i}s += len(counts)",
    "counts = defaultdict(int)\n{i}for v in sizes:\n{i}    counts[v] += 1\n"
    "{i}s += max(counts.values())",
    "s += Counter(words).most_common(1)[0][1]",
    "memo = {{}}\n{i}for i in range(k + 2):\n{i}    memo[(i, k)] = memo.get((i - 1, k), 1) + i\n"
    "{i}s += memo[(k, k)]",
    "for i, v in enumerate(sizes):\n{i}    s += i * v",
    "for u, v in zip(sizes, x):\n{i}    s += u * v",
    "for u, v in sorted(nested, key=lambda p: p[1]):\n{i}    s = s * 0.5 + u",
    "queue = deque(sizes)\n{i}while queue:\n{i}    s = s * 0.5 + queue.popleft()",
    "heap = list(sizes)\n{i}heapq.heapify(heap)\n{i}s += heapq.heappop(heap)",
    "view = range(0, k + 3, 2)\n{i}s += len(set(words)) + view[-1] * len(view)",
    "view = self.table.keys()\n{i}s += len(set(view)) + len(view)",
    "for i in view:\n{i}    s = s * 0.5 + sizes[i % 3]\n{i}    y = y + len(set(view))",
    "for row in nested:\n{i}    for v in row:\n{i}        s += v",
    "if {n} > 50:\n{i}    raise ValueError(f'{{how}} is {{k}}')",
]


def block(rng: random.Random, depth: int, indent: str) -> list[str]:
    lines = []
    for _ in range(rng.randint(1, 3)):
        if depth < 2 and rng.random() < 0.3:
            lines.append(f"{indent}if {rng.choice(CONDITIONS)}:")
            lines += block(rng, depth + 1, indent + "    ")
            if rng.random() < 0.5:
                lines += [f"{indent}else:", *block(rng, depth + 1, indent + "    ")]
        else:
            text = rng.choice(STATEMENTS)
            text = text.replace("{n}", "{n}", 1).format(
                n=rng.choice(NUMBERS), a=rng.choice(ARRAYS), i=indent)
            lines.append(indent + text)
    return lines


def write(seed: int) -> str:
    rng = random.Random(seed)
    lines = ["def f(self, x, how, pair, slots, words, sizes, nested, out, k):",
             "    s = 0.0; y = x; view = range(k)", *block(rng, 0, "    "),
             f"    return s, y, {rng.choice(NUMBERS)}, {rng.choice(ARRAYS)}"]
    return "\n".join(lines) + "\n"


def arguments(space: dict[str, Any], seed: int) -> list[Any]:
    rng = random.Random(seed)
    model = space[rng.choice(["Model", "Model", "Other"])](rng.randint(0, 3))
    return [model, np.arange(5.0) / 4, rng.choice(["mean", "max", "none"]), (1.5, 2),
            space["Slots"](rng.choice([1, 2.5]), np.ones(5)), ["a", "b", "a"][: rng.randint(1, 3)],
            [3, 1, 2], [[2.0, 1.0], [0.5, 3.0]], [], 1]


def changed(args: list[Any], rng: random.Random) -> None:
    """Something is other than before."""
    model, slots = args[0], args[4]
    names = {
        0: ("b", [0.5, 2, np.float32(1.5), True, 1.25]), 10: ("n", [0, 1]),
        1: ("w", [np.ones(5), np.arange(10.0)[::2], np.ones(5, "f4")]),
        2: ("table", [{"b": 1, "a": 2.0}, {"a": 2, "b": 0.5, "c": 1}]),
    }
    places = {
        3: (3, [(1, 2), (0.5, 1.5), [1.5, 2]]), 5: (5, [["a"], ["b", "c"], ["a", "a", "b", "c"]]),
        6: (9, [0, 1, 2, 3]), 7: (2, ["mean", "".join(["me", "an"]), "max", "sum"]),
        8: (1, [args[1] + 0.5]), 9: (8, [[]]),
    }
    what = rng.randint(0, 11)
    if what in names:
        setattr(model, names[what][0], rng.choice(names[what][1]))
    elif what in places:
        args[places[what][0]] = rng.choice(places[what][1])
    elif what == 4:
        slots.k = rng.choice([3, 0.5, 2])


def program(seed: int) -> Program:
    """The program with many calls, between which objects and tables change."""

    def calls(space: dict[str, Any]) -> Iterator[list[Any]]:
        rng, args = random.Random(seed), arguments(space, seed)
        for _ in range(CALLS):
            yield args
            if rng.random() < 0.3:
                changed(args, rng)

    space = {"Counter": Counter, "defaultdict": defaultdict, "deque": deque, "heapq": heapq,
             "functools": functools}
    return Program(write(seed), session(calls), seed, SPACE, space, CALLS)


GRAMMAR = Grammar(program)
