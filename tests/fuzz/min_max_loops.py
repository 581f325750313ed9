"""Random loops that look for the smallest or largest integer, beside other things that turns do.

Each is compiled once and compared with plain Python for ranges of many lengths, as machine code and
on the reference backend: results, changed arguments, exceptions, warnings.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from tests.fuzz.framework import BOTH, Counts, Grammar, Program

LENGTHS = (24, 0, 1, 2, 3, 4, 5, 8, 9, 17)
PART = ".part"


class Writer:
    """Writes the program of a seed over a matrix ``t`` and vectors ``a``, ``b`` and ``x``."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        self.bests = [f"best{k}" for k in range(rng.choice((1, 1, 1, 2)))]
        self.nested = rng.random() < 0.85
        outer = "    " if self.nested else ""
        lines = ["total = count = last = 0", "r = np.zeros(n, np.int64)"]
        if self.nested:
            lines.append(f"for i in range({self.pick('n', '1, n', 'n - 1, -1, -1')}):")
        starts = ("0", "a[0]", "-5", "t[i, 0]" if self.nested else "t[1, 0]", "9")
        lines += [f"{outer}{best} = {self.pick(*starts)}" for best in self.bests]
        rows = ("n", "1, n", "n - 1, -1, -1", *(("i", "i + 1, n", "i, 0, -1") * self.nested))
        self.rows = f"range({self.pick(*rows)})"
        lines.append(f"{outer}for k in {self.rows}:")
        for _ in range(rng.choice((0, 0, 0, 1))):
            lines += self.other(outer + "    ")
        for best in self.bests:
            lines += self.look(outer + "    ", best)
        for _ in range(rng.choice((0, 0, 0, 1))):
            lines += self.other(outer + "    ")
        if self.nested:
            lines.append(f"    {self.pick('r[i]', 'r[i]', 't[i, n - 1]')} = {self.bests[-1]}")
        seen = [] if self.nested and rng.random() < 0.7 else self.bests
        lines.append(f"return {', '.join([*seen, 'r', 'total', 'count', 'last'])}")
        if self.nested:
            lines.insert(1, " = ".join(self.bests) + " = 1")
        self.lines = lines

    def pick(self, *options: Any) -> Any:
        return self.rng.choice(options)

    def value(self) -> str:
        place = self.pick("t[i, k]", "t[k, i]") if self.nested else self.pick("t[2, k]", "t[k, 0]")
        return self.pick(
            "a[k]", place, f"{place} + b[k]", "a[k] * b[k]", f"{place} - a[n - 1 - k]",
            "a[k] + 2 ** 62" if self.rng.random() < 0.2 else "a[k] - 7", "k - 3", "abs(a[k])")

    def look(self, margin: str, best: str) -> list[str]:
        which, sign = self.pick(("max", ">"), ("min", "<"))
        kind = self.rng.random()
        value = self.value()
        if kind < 0.5:
            order = self.pick(f"{best}, {value}", f"{value}, {best}")
            return [f"{margin}{best} = {which}({order})"]
        if kind < 0.6:
            return [f"{margin}{best} = {which}({which}({best}, {value}), {self.value()})"]
        found = [f"{margin}value = {value}", f"{margin}if value {sign} {best}:",
                 f"{margin}    {best} = value"]
        if kind < 0.7:
            found.append(f"{margin}    last = k")
        elif kind < 0.8:
            found.insert(0, f"{margin}if b[k] > 2:")
            found[1:] = ["    " + line for line in found[1:]]
        return found

    def other(self, margin: str) -> list[str]:
        best = self.rng.choice(self.bests)
        found: list[str] = self.pick(
            [f"{margin}total += a[k]"], [f"{margin}x[k] = x[k] * 0.5 + k"],
            [f"{margin}if a[k] > {best}:", f"{margin}    count += 1"], [f"{margin}last = {best}"],
            [f"{margin}b[k] = {best}"], [f"{margin}x[k] = 1.0 / x[k]"],
            [f"{margin}last = a[k] // b[k]"], [f"{margin}if a[k] == 11:", f"{margin}    break"],
        )
        return found


def write(seed: int) -> str:
    lines = Writer(seed).lines
    return "def f(t, a, b, x, n):\n" + "".join(f"    {line}\n" for line in lines)


def arguments(seed: int, length: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    n = max(length, 3)
    t, a, b = (rng.integers(-12, 12, shape) for shape in ((n, n), n, n))
    if rng.random() < 0.3:
        t[rng.integers(n), rng.integers(n)] = rng.choice((2**63 - 1, -2**63, 2**63 - 5))
    return [t, a, b, rng.integers(-2, 3, n) / 2, length]


def program(seed: int) -> Program:
    """The program with ranges of all lengths."""
    return Program(write(seed), lambda call, space: arguments(seed + call, LENGTHS[call]), seed,
                   calls=len(LENGTHS), policy={"nans": True})


def note(compiled: Any, program: Program, counts: Counts) -> None:
    """Counts loops that look for an extreme in parts."""
    lowered = compiled.lower(*program.args(0, {})).executable.program
    counts["in parts"] += any(PART in buffer.name for buffer in lowered.buffers)


GRAMMAR = Grammar(program, BOTH, note=note)
