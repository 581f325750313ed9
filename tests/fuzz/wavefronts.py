"""Random nests of two loops whose turns wait for each other's elements, many of which run two rows
at a time.

Each is compiled for large arrays and compared with plain Python for arrays of all sizes, as machine
code and on the reference backend: results, changed arguments, exceptions, warnings.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from tests.fuzz.framework import BOTH, Counts, Grammar, Program

MARGIN = 3
DTYPES = ("f8", "f8", "f4", "i8", "i4")
SIZES = ((30, 40), (4, 6), (7, 6), (7, 7), (8, 8), (9, 9), (9, 10), (10, 11), (11, 9),
         (12, 13), (13, 24), (40, 8))


class Writer:
    """Writes the program of a seed over matrices ``a``, ``c`` and vectors ``x``, ``y``."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        self.dtype = rng.choice(DTYPES)
        self.turned = rng.random() < 0.15  # the inner loop runs over rows
        self.lines: list[str] = []
        rows = self.pick("3, n - 3", "3, n - 3", "3, n - 3", "n - 4, 2, -1", "r, n - 3")
        columns = "3, m - 3" if rng.random() < 0.85 else self.pick("r, m - 3", "3, i")
        self.lines += [f"for i in range({rows}):"]
        if rng.random() < 0.7:
            self.lines.append(f"    s = {self.pick('0', 'x[i]', 'a[i, 2]', 'a[i - 1, 5]')}")
        else:
            self.lines.insert(0, "s = x[0]")
        self.lines.append(f"    for j in range({columns}):")
        for _ in range(rng.randint(0, 2)):
            self.statement("        ")
        before = "a[j - 1, i]" if self.turned else "a[i, j - 1]"
        how = self.pick("{} + {}", "min({}, {})", "{} - {}", "({} + s) * 0.5 + {}", "max({1}, {0})")
        if self.dtype[0] == "i":
            how = how.replace(" * 0.5", "")
        self.lines.append("        " + before.replace("j - 1", "j") + " = "
                          + how.format(before, self.value()))
        if rng.random() < 0.3:
            self.statement("        ")
        if rng.random() < 0.05:
            self.lines.append("    y[i] = s")

    def pick(self, *options: str) -> str:
        return self.rng.choice(options)

    def place(self, near: bool = False) -> str:
        rng = self.rng
        row, column = rng.choice((-2, -1, -1, -1, 0, 0, 1)), rng.randint(-2, 2)
        if near and rng.random() < 0.8:
            row = column = 0
        name = "a" if rng.random() < 0.8 else "c"
        at = [f"i + {row}" if row else "i", f"j + {column}" if column else "j"]
        if rng.random() < 0.04:
            at = [self.pick(at[0], "3", "n - i"), self.pick("4", "m - j", "at[j]")]
        return f"{name}[{', '.join(at[::-1] if self.turned else at)}]".replace("+ -", "- ")

    def value(self, depth: int = 0) -> str:
        roll = self.rng.random()
        if roll < 0.5 or depth > 2:
            return self.place()
        if roll < 0.65:
            return self.pick("x[i]", "y[j]", "s", "3", "y[j - 1]", "c[i, j]")
        left, right = self.value(depth + 1), self.value(depth + 1)
        if roll < 0.75:
            return f"{self.pick('min', 'max')}({left}, {right})"
        floating = ["/"] if self.dtype[0] == "f" else []
        return f"({left} {self.pick('+', '-', '*', '+', *floating)} {right})"

    def statement(self, pad: str) -> None:
        roll = self.rng.random()
        if roll < 0.55:
            self.lines.append(f"{pad}{self.place(near=True)} = {self.value()}")
        elif roll < 0.75:
            self.lines.append(f"{pad}s {self.pick('', '', '+')}= {self.value()}")
        else:
            self.lines.append(f"{pad}if {self.value(1)} < {self.value(1)}:")
            self.lines.append(f"{pad}    {self.place(near=True)} = {self.value()}")
            if self.rng.random() < 0.5:
                self.lines.append(f"{pad}else:")
                self.lines.append(f"{pad}    {self.place(near=True)} = {self.value()}")

    def source(self) -> str:
        body = "\n".join(f"    {line}" for line in self.lines)
        names = "m, n" if self.turned else "n, m"
        made = self.pick("a = a + x[0]; c = a * 2", "c = a.copy()", "a, c = a.copy(), a - 1")
        vectors = "a[1], a[:, 1]" if self.turned else "a[:, 1], a[1]"
        head = f"    {names} = a.shape\n    {made}\n    x, y = {vectors}\n"
        head += "    x, y = x + 1, y * 2\n"
        return f"def f(a, c, x, y, at, n, m, r):\n{head}{body}\n    return a, c\n"


def arguments(size: tuple[int, int], seed: int, dtype: str, turned: bool) -> list[Any]:
    rng = np.random.default_rng(seed % 101)
    n, m = size
    shape = (m, n) if turned else (n, m)

    def numbers(*shape: int) -> Any:
        if dtype[0] == "f":
            return rng.standard_normal(shape).astype(dtype)
        most = 2**30 if seed % 7 == 0 and n % 2 else 4
        return rng.integers(-most, most, shape).astype(dtype)

    return [numbers(*shape), numbers(*shape), numbers(n + 1), numbers(m + 1),
            rng.integers(0, max(m, 1), m), n, m, MARGIN]


def program(seed: int) -> Program:
    """The program with arrays of all sizes."""
    writer = Writer(seed)
    source = writer.source()
    return Program(
        source,
        lambda call, space: arguments(SIZES[call], seed, writer.dtype, writer.turned), seed,
        calls=len(SIZES), policy={"nans": True})


def note(compiled: Any, program: Program, counts: Counts) -> None:
    """Counts nests that run two rows at a time."""
    lowered = compiled.lower(*program.args(0, {})).executable.program
    counts["rows in pairs"] += any("run at a time" in note for note in lowered.notes)


GRAMMAR = Grammar(program, BOTH, note=note)
