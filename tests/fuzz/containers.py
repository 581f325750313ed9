"""Random programs with lists, dictionaries and objects in loops, compiled and plain.
"""

from __future__ import annotations

import math
import random
from collections import namedtuple
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.fuzz.framework import Grammar, Program

CLASS = """
class Thing:
    def __init__(self, n):
        self.n = n
        self.x = 0.5

    def move(self, x):
        self.x = self.x * 0.5 + x
        self.n += 1
        return self.n

class Pair:
    def __init__(self, s, t):
        self.s, self.t = s, t

    def __add__(self, other):
        return Pair(self.s + other.s, self.t + other.t)

    def __mul__(self, k):
        if isinstance(k, Pair):
            return NotImplemented
        return Pair(self.s * k, self.t)

    __rmul__ = __mul__

    def __isub__(self, other):
        self.t -= other.t
        return self

    def __lt__(self, other):
        return self.s < other.s

    def __getitem__(self, k):
        return (self.s, self.t)[k]

    def __bool__(self):
        return self.t > 0

"""
#: what a class of tuples may do unlike other named tuples
UNLIKE = (
    "    def both(self): return self.left + self.right",
    "    def __new__(cls, left, right=0): return super().__new__(cls, left + 1, right)",
    "    def __init__(self, left, right): self.more = left",
    "    def __getitem__(self, place): return 7.0",
    "    def __iter__(self): return iter((self.right, self.left))",
    "    def __len__(self): return 5",
    "    def __bool__(self): return False",
    "    left = property(lambda self: 3)",
)


@dataclass
class Writer:
    """Writes one program, statement by statement."""

    rng: random.Random
    lines: list[str] = field(default_factory=list)
    count: int = 0

    def pick(self, *options: str) -> str:
        return self.rng.choice(options)

    def integer(self) -> str:
        return self.pick("i", "m", "len(p)", "len(q)", "n", "3", "1", "0",
                         "int(b[m % 6])", "d['k']", "o.n", "len(r)", "(m + i) % 4", "i * 2 - m")

    def number(self) -> str:
        return self.pick("a[i % 6]", "a[m % 6] * 0.5", "a[-1] + a[i % 6]", "a[0]")

    def condition(self) -> str:
        return self.pick(
            "a[i % 6] > 0.5", "a[m % 6] < a[i % 6]", "len(p) > 3", "p", "not q", "i % 3 == 1",
            "len(q) < n", "m > 2", "o.n % 2 == 0", "len(r) > 1 and r[-1][0] < i", "q or m < 2",
            "b[i % 6] > 2", "len(p) > 1 and p[0] < p[-1]", "f2 < f3", "f2",
        )

    def statement(self, depth: int, indent: str) -> None:
        roll = self.rng.random()
        add = self.lines.append
        if roll < 0.3 and depth < 3:
            add(f"{indent}if {self.condition()}:")
            self.block(depth + 1, indent + "    ")
            if self.rng.random() < 0.5:
                add(f"{indent}else:")
                self.block(depth + 1, indent + "    ")
            return
        if roll < 0.4 and depth < 3:
            self.loop(depth, indent)
            return
        i, x = self.integer(), self.number()
        add(indent + self.pick(
            f"p.append({i})", f"p.append({i})", f"q.append({x})", f"q.append({x})",
            f"q.append({x} if {self.condition()} else 0.5)",
            f"r.append(({i}, {x}))", f"r.append(({i}, {x}))",
            f"m = p[{i}]" if self.rng.random() < 0.3 else "m = p[-1] if p else 0",
            "if p: p.pop()", "if q: q.pop()", "if r: m, y = r.pop()", "m = len(p) + len(q)",
            f"if len(p) > {self.rng.randint(1, 3)}: p[{self.rng.randint(-2, 1)}] = {i}",
            f"if q: q[m % len(q)] = {x}", f"d['k'] = {i}", "d['k'] += 1", f"d['x'] = {x}",
            f"m = o.move({x})", f"o.n = {i}", "m += 1", f"m = {i}", "a[i % 6] = a[m % 6] * 0.5",
            "if len(p) > 2: p.pop(0)", "s = np.array(q)", "m = min(m, 5)", f"z[{i} % 3] += 1",
            f"q.append(a[{i}])" if self.rng.random() < 0.3 else "pass", "c = p[1:]", "c = q[:2]",
            "m = len(c)", f"y = {x}", "p.clear()" if self.rng.random() < 0.3 else "pass",
            "b[i % 6] = m", "assert len(p) < 30", "m = sum(p) % 7", "m = max(p) if p else 1",
            "with np.errstate(all='ignore'): y = np.log(a[i % 6] - 0.5)",
            "with np.errstate(invalid='ignore'): y = np.sqrt(a[m % 6] - 0.5) / a[i % 6]",
            "p.reverse()", "if m in p: p.remove(m)", "q.sort()", "p.sort(reverse=True)",
            "p.insert(0, m)", "q.insert(1, y)",
            "p.insert(m % 3, 2)", "if len(p) < 12: p += [m]", "if len(q) < 12: q.extend(a[:2])",
            "m = p.count(1)", "m = int(m in p)", "m = p.index(m) if m in p else 0",
            "x, m = ((0.5, 1), (1.5, 2), (2.5, 0))[m % 3]", "if len(p) < 9: p = p + p[:2]",
            "c = sorted(p)", "c = p[::-1]", "m = math.gcd(m, 6) if m > 0 else 1", "bump()",
            "for v in reversed(p): m = v - m",
            "g.append(a[:3] * 0.5)", "g.append(a[:3] + i)", "g.append(a[1:4].copy())",
            "if g: y = g[-1][0]", "if g: y = g.pop()[1]", "for v in g: y = v.max()",
            "if len(g) > 1: g[0] = a[:3] - m", "s = np.array(g)", "y = sum(v[0] for v in g) + y",
            "m = 2 ** (m % 5)", "y = max(y, 0.5, 1)", "m = round(float(a[i % 6]), 1) > 0.3",
            f"h.append([{i}, {x}])", f"h.append([{i}, {x}])", "if h: m, y = h[-1]",
            "if h: y = h.pop()[1]", "for u in h: y = u[1] - y", "m = sum(u[0] for u in h) % 9",
            "if len(h) > 1: h[0] = [m, a[0]]", "s = np.array(h)",
            "l = h[1:]" if self.rng.random() < 0.2 else "m = len(h)",
            "k = g[:1]" if self.rng.random() < 0.2 else "m = len(g)",
            "u = [m]; u.append(a[i % 6]); h.append(u)", "if h and m == 99: u = h[0]; u[0] = 3",
            "if h and len(h) < 9: h.append(h[0])", "e = [u[1] for u in h]",
            "if len(p) < 12: p[m % 3:3] = [i, m]", "q[:2] = q[::-1][:2]", "p[1:3] = p[2:4]",
            "a[:2] = [v for v in a if v > 0][:2]" if self.rng.random() < 0.3 else "s = a - 1",
            "f2 = f2 + f3", f"f3 = f2 * {x}", "f2 -= f3", "f2 = 0.5 * f2", f"f3 = Pair({x}, {i})",
            "y = f2[0] + f3[1]", "f2 = f3 + Pair(y, m)",
            f"cp = Couple({i}, {x})", f"cp = Couple(m, {x})", "m = int(cp.left) % 7", "y = cp[1]",
            "m = len(cp)", "for v in cp: y = y * 0.5 + v", "m = 1 if cp else 2", "y, _ = cp",
            "e = [v for v in a if v > 0.4]", "m = sum([int(v > 0.5) for v in a])",
        ))

    def loop(self, depth: int, indent: str) -> None:
        self.count += 1
        k = self.count
        kind = self.rng.random()
        inner = indent + "    "
        if kind < 0.5:
            self.lines.append(f"{indent}for i in range({self.pick('n', 'len(a)', '5', 'm % 4')}):")
        elif kind < 0.65:
            self.lines.append(f"{indent}for y in {self.pick('q', 'a', 'a[::-1]')}:")
            self.lines.append(f"{inner}i = int(y * 4)")
            self.lines.append(f"{inner}if len(q) > 40: break")
        elif kind < 0.8:
            pairs = self.pick("r", "enumerate(q)", "enumerate(a)")
            self.lines.append(f"{indent}for i, y in {pairs}:")
            self.lines.append(f"{inner}if len(q) + len(r) > 40: break")
        else:
            self.lines.append(f"{indent}t{k} = 0")
            more = self.pick("", " and p", " and len(q) < 5")
            self.lines.append(f"{indent}while t{k} < 6{more}:")
            self.lines.append(f"{inner}t{k} += 1")
        self.block(depth + 1, inner)
        if self.rng.random() < 0.15:
            self.lines.append(f"{inner}if {self.condition()}: break")

    def block(self, depth: int, indent: str) -> None:
        for _ in range(self.rng.randint(1, 3)):
            self.statement(depth, indent)


def write(seed: int) -> str:
    """The program with a number."""
    rng = random.Random(seed)
    writer = Writer(rng)
    writer.lines += [
        "def f(a, b, n):",
        "    i = 0; m = 1; y = a[0]; s = a; c = []; e = []; k = l = []",
        f"    p = {rng.choice(['[]', '[1]', '[0] * n', '[3, 1, 2]'])}; q = []; r = []",
        "    def bump():",
        "        nonlocal w",
        "        w += 1",
        "    w = 0; x = 0.5; g = []; h = []; f2 = f3 = Pair(0.5, 1)",
        "    cp = Couple(1, a[0])",
        "    z = [0, 0, 0]; d = {'k': 0, 'x': a[0]}; o = Thing(2)",
    ]
    writer.loop(0, "    ")
    writer.block(0, "    ")
    writer.loop(0, "    ")
    numbers = "o.n, o.x, m, y, s, c, e, w, x, f2.s, f2.t, f3.s, f2 is f3, cp"
    writer.lines.append(f"    return p, q, r, z, d, g, h, k, l, {numbers}")
    unlike = rng.choice(UNLIKE) if rng.random() < 0.25 else ""
    couple = f"class Couple(namedtuple('Couple', 'left right')):\n{unlike}\n    pass\n\n"
    return CLASS + couple + "\n".join(writer.lines) + "\n"


def arguments(seed: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng(seed)
    return [
        (rng.random(6).round(2), rng.integers(-3, 6, 6), n) for n in (3, 3, 0, 5)
    ]


def program(seed: int) -> Program:
    """The program with its calls."""
    return Program(write(seed).removeprefix(CLASS), lambda call, space: arguments(seed)[call],
                   seed, CLASS, {"math": math, "namedtuple": namedtuple})


GRAMMAR = Grammar(program)
