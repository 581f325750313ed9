"""Random programs over lists from outside, which are long, nested, mixed or ragged, compiled and
plain.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import numpy as np

from npcompile.tracing import unboxed_lists
from tests.fuzz.framework import Grammar, Program

HEADS = (
    "for x in p:", "for k, x in enumerate(p):", "for u in g:", "for x in g[k % len(g)]:",
    "for i in range(len(p)):", "for i in range(len(g)):", "for i, u in enumerate(g):",
    "for j in range(len(g[i])):", "for x, y in zip(p, q):", "for b, c, w in e:",
    "for i, (b, c, w) in enumerate(e):", "for x in reversed(p):", "for x in u:", "for x in p[1:]:",
    "for i in range(len(e) - 1, -1, -1):", "for x, y in zip(q, a):", "for t in e:",
    "for u, x in zip(g, p):", "for x in set_of(q):", "for i in range(n):", "for x in self.p:",
    "for i in range(len(self.p)):", "for u in self.g:", "for i, x in enumerate(self.p):",
    "for i in range(len(self.g)):",
)
STATEMENTS = (
    "s += x", "s = s * 0.5 + x", "s += p[i]", "k += 1", "a[k % 5] += x", "a[i % 5] = p[i]",
    "s += g[i][j]", "k = g[i][0]", "s = p[-1]", "s += len(u)", "u = g[k % len(g)]", "s += w",
    "if x > s: s = x", "if x: k += 1", "k += len(p) + len(g)", "a[b % 5] += w", "s = e[i][2]",
    "if w > 0.5: return w", "if k > 60: return u", "h.append(x)", "h.append(i)", "h.append((i, s))",
    "s = sum(p)", "s = max(q)", "s += sum(u)", "k += u.count(1)", "k += 2 in u", "s = p[k]",
    "b, c, w = e[k % len(e)]", "if len(o) < 99: o.append(s)", "self.s += x", "s += self.p[i]",
    "k += len(self.p)", "u = self.g[k % len(self.g)]", "s += self.g[i][j]", "k += self.g[i][0]",
    "q = self.p", "self.p = q", "k += self.p is p", "self.p[0] = x", "self.s = self.p[i] + s",
    "if len(self.p) < 99: self.p.append(s)", "if k == 3: raise ValueError(s)", "print(s)",
    "y = p[i] + q[i]",
    "s = np.array(p).sum()", "s = np.log(x + 3.0)", "v = u", "k += v is u", "k += p is q",
    "y = list(p)", "y = p[1:4]", "y = sorted(q)", "p[0] = 1",
    "if len(g[0]) < 9: g[0].append(1)", "a[0] += y",
    "t = e[0]", "s += t[2]", "y = [z * 2 for z in p]", "y = u[0] if u else 0", "q = p",
    "y = p + q", "s = min(p[k % 7], q[0])", "k = k * 3 % 11", "s = s / (x - 2)", "if not u: k += 1",
    "u, v = v, u", "k = int(p[k % len(p)])", "y = g[0] == g[1]", "k = x // 2", "k = k << 1 & 63",
)
RESULTS = ("s", "k", "y", "u", "x", "a", "(s, k, x)", "h", "g[k % 3]", "t", "(u, v)", "p[2]", "i")


def block(rng: random.Random, depth: int, indent: str) -> list[str]:
    lines = []
    for _ in range(rng.randint(1, 3)):
        roll = rng.random()
        if depth < 3 and roll < 0.3:
            lines += [indent + rng.choice(HEADS), *block(rng, depth + 1, indent + "    ")]
        elif depth < 3 and roll < 0.4:
            test = rng.choice(("s > 2", "k % 2", "p[i] > q[0]", "x < 3", "u", "i < len(p)"))
            lines += [f"{indent}if {test}:", *block(rng, depth + 1, indent + "    ")]
        else:
            lines.append(indent + rng.choice(STATEMENTS))
    return lines


def write(seed: int) -> str:
    """The program with a number."""
    rng = random.Random(seed)
    body = block(rng, 0, "    ")
    return "\n".join([
        "def set_of(q): return q", "def f(self, p, q, g, e, a, o, n):",
        "    i = j = k = b = c = 0; s = x = w = y = 0.5; h = []; u = v = g[0]; t = e[0]",
        *body, f"    return {rng.choice(RESULTS)}",
    ]) + "\n"


class Held:
    """Holds a list."""


def arguments(seed: int) -> list[tuple[Any, ...]]:
    """Arguments of calls: their lists are of other lengths and kinds, and may be shared."""
    rng = random.Random(seed)

    def real() -> float:
        return rng.randrange(-20, 20) / 4

    def whole() -> int:
        return rng.randrange(9)

    def large() -> int:
        return rng.choice((1, -1)) * rng.randrange(2 ** rng.randrange(1, 66))

    kinds = (real, whole, real, lambda: rng.choice((real, whole))(), lambda: rng.random() < 0.5,
             large, lambda: np.float64(real()), lambda: rng.choice((real(), None, 2, "x")))
    first, second = rng.choice(kinds[:6]), rng.choice(kinds)
    found = []
    for n in rng.choice(((40, 36, 3, 0, 90), (20, 25, 3, 0, 70))):
        if rng.random() < 0.15:
            first = rng.choice(kinds)
        p, q = ([make() for _ in range(n)] for make in (first, second))
        g = [[whole() for _ in range(rng.randrange(5))] for _ in range(max(n, 3))]
        e = [(whole(), whole(), real()) for _ in range(max(n, 2))]
        if rng.random() < 0.15:
            g.insert(rng.randrange(len(g)), rng.choice(([1.5], ["a"], (1, 2), [2**70])))
        if rng.random() < 0.15:
            e.insert(rng.randrange(len(e)), rng.choice(((1, 2), (1, 2, 3), [1, 2, 0.5])))
        held = Held()
        held.p, held.s = rng.choice((p, q, [real() for _ in range(n)], g[0])), 0.5
        held.g = rng.choice((g, [[whole()] for _ in range(max(n, 3))]))
        o = rng.choice((p, q, [], [], [], g[1]))
        q = p if rng.random() < 0.1 else q
        found.append((held, p, q, g, e, np.arange(5.0), o, n % 7))
    return found


def program(seed: int) -> Program:
    """The program with its calls."""
    return Program(write(seed), lambda call, space: arguments(seed)[call], seed,
                   calls=len(arguments(seed)))


@contextlib.contextmanager
def packed(seed: int) -> Iterator[None]:
    """The longest lists are not copied."""
    with patch.object(unboxed_lists, "PACKED", 64):
        yield


GRAMMAR = Grammar(program, setting=packed)
