"""Random programs with lists of equally long lists that they write into, compiled and plain.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.fuzz.framework import Grammar, Program

INTS = ("i", "k", "k + 1", "len(t)", "j * 2", "len(t[i])")
FLOATS = ("s * 0.5", "float(a[j % 6])", "0.25", "a[j % 6]")
#: of the tables, one call after the other
SIZES = ((4, 4), (4, 4), (0, 2), (2, 0), (5, 5), (1, 1), (3, 2))
#: how a table is made, and what numbers of its kind may look like
MADE = (
    ("[[0] * (n + 1) for _ in range(m + 1)]", INTS), ("[[0.5] * n for _ in range(m)]", FLOATS),
    ("[[i * j for j in range(n)] for i in range(m)]", INTS), ("[[0, 0] for _ in range(m)]", INTS),
    ("[[False] * n for i in range(m)]", ("k > 2", "i == j")),
    ("[[i, n - i, 2] for i in range(n)]", INTS),
    ("[[x for x in a[:3]] for _ in range(n)]", ("a[0]", "a[j % 6]")),
    ("[[[0] * n for _ in range(2)] for _ in range(m)]", INTS),
    ("[list(range(n)) for _ in range(m)]", INTS), ("[a.tolist() for _ in range(n)]", FLOATS),
    ("[[0.0] * len(a) for _ in a]", FLOATS),
)


@dataclass
class Writer:
    """Writes one program, statement by statement."""

    rng: random.Random
    lines: list[str] = field(default_factory=list)
    like: tuple[str, ...] = ()
    rare: list[str] = field(default_factory=list)

    def pick(self, *options: str) -> str:
        return self.rng.choice(options)

    def row(self) -> str:
        return self.pick("i", "i", "i - 1", "0", "-1", "m - 1", "k", "k % max(len(t), 1)", "1")

    def value(self) -> str:
        return self.pick(
            "t[i - 1][0]", "t[i][j - 1]", "max(t[i][j], t[0][0])", "t[i][j] + t[0][j]",
            "sum(t[i])", "min(t[i - 1][j], t[i][j - 1])", *self.like, *self.like,
        )

    def statement(self, depth: int, indent: str) -> None:
        roll = self.rng.random()
        add = self.lines.append
        if roll < 0.2 and depth < 4:
            test = self.pick(
                "i > 0 and j > 0", "t[i][j] > 1", "a[j % 6] > 0.5", "k % 2", "t", "i < m"
            )
            add(f"{indent}if {test}:")
            self.block(depth + 1, indent + "    ")
            if self.rng.random() < 0.4:
                add(f"{indent}else:")
                self.block(depth + 1, indent + "    ")
            return
        if roll < 0.4 and depth < 4:
            head = self.pick(
                "for i in range(m):", "for j in range(n):", "for i in range(1, len(t)):",
                "for j in range(1, len(t[0])):", "for r in t:", "for i, r in enumerate(t):",
                "for j, x in enumerate(t[i]):", "for r, x in zip(t, a):", "for x in r:",
                "for i in range(m - 1, 0, -1):", "for r in t[1:]:", "for r in reversed(t):",
            )
            add(f"{indent}{head}")
            self.block(depth + 1, indent + "    ")
            if self.rng.random() < 0.1:
                add(f"{indent}    if {self.pick('k > 40', 't[i][j] > 2')}: break")
            return
        i, j, v = self.row(), self.row().replace("i", "j"), self.value()
        add(indent + self.rng.choice((
            f"t[{i}][{j}] = {v}", f"t[{i}][{j}] = {v}", f"t[{i}][{j}] = t[{j}][{i}]",
            f"t[{i}][{j}] += t[0][0]", f"u[{i}][{j}] = u[j][i]", f"r = t[{i}]", f"s = t[{i}][{j}]",
            "k += 1",
            "k = len(t)", "s = t[0][0] + u[0][0]", f"k = {self.pick('i', 'j', 'm', 'k * 2 % 7')}",
            *self.rare,
        )))

    def rarely(self) -> None:
        """Chooses what else the program does."""
        i, j, v = self.row(), self.row().replace("i", "j"), self.value()
        self.rare = self.rng.sample((
            f"r[{j}] = {v}", "r = t[0]; r[0] = r[1]", "t[i][j] = r[j]", f"t[{i}] = t[0][:]",
            "if len(t) < 9: t.append(t[0][:])",
            "if k == 7: t.pop()", "w = t[1:]", f"w[0][{j}] = {v}", f"r = t[{i}][:]",
            "s = max(max(r) for r in t)", "s = sum(map(sum, t))", "x, y = t[0]", "u = t",
            "if k == 8: t.reverse()", "u = [r[:] for r in t]", "b = np.array(t)",
            "b = np.array(t[0])", "r = [0] * n", f"t[{i}][0], t[{i}][1] = 1, 2",
            "k = t[0].count(0)", "k = int(1 in t[0])", "u = list(t)", "u = t[::-1]",
            "if len(r) < 9: r.append(1)", f"if k == 9: t[{i}].append({v})", "k = int(r is t[0])",
            "k = int(t[0] == t[1])", "e.append(t[0][0])", f"t[{i}][1:] = r[1:]", f"t[{i}].sort()",
            "u = [list(x) for x in zip(*t)]", f"r, q = t[0], t[{i}]", "q[0] = r[-1]",
            "assert k < 50", f"t[{i}][{j}] = {v}", "s = sum(r)", "q = r", "t, u = u, t",
        ), 2)

    def block(self, depth: int, indent: str) -> None:
        for _ in range(self.rng.randint(1, 3)):
            self.statement(depth, indent)


def write(seed: int) -> str:
    """The program with a number."""
    rng = random.Random(seed)
    (made, like), (other, _) = rng.choice(MADE), rng.choice(MADE[:6])
    writer = Writer(rng, like=like)
    writer.rarely()
    writer.lines += [
        "def f(a, m, n):",
        "    i = j = k = 0; s = 0.5; b = a; e = []",
        f"    t = {made}",
        f"    u = {rng.choice((made, other))}",
        "    r = q = [0] * n; w = t",
        "    for i in range(m):",
        "        for j in range(n):",
    ]
    writer.block(2, " " * 12)
    writer.block(0, "    ")
    shown = rng.choice(
        ("t", "t[0]", "t[-1][-1]", "np.array(t)", "t, u", "r", "sum(map(sum, u))", "w")
    )
    writer.lines.append(f"    return {shown}, k, s, b, e")
    return "\n".join(writer.lines) + "\n"


def arguments(seed: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng(seed)
    return [(rng.random(6).round(2), m, n) for m, n in SIZES]


def program(seed: int) -> Program:
    """The program with its calls."""
    return Program(write(seed), lambda call, space: arguments(seed)[call], seed, calls=len(SIZES))


GRAMMAR = Grammar(program)
