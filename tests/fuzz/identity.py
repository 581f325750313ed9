"""Random programs that hand numbers on, compiled and plain: what they return, store and give to
Python are the same objects, and ``is`` says the same.
"""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np

from tests.fuzz.framework import Counts, Grammar, Program

NUMBERS: tuple[Any, ...] = (
    2.5e7, math.inf, math.nan, -0.0, 0.0, 1 << 40, -300, 1.5 + 2j, np.float64(2.5), np.float32(1.5),
    np.int64(1 << 40), np.float64("nan"),
)
NAMES = ("p", "q", "r", "s")
CALLS = 9


class Holder:
    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y


class Writer:
    """Writes one function.  ``joins``: only the run knows which objects some variables hold."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.joins = self.rng.random() < 0.4
        self.marks = 0

    def number(self) -> str:
        known = (*NAMES, "x", "y", "h.x", "h.y", "items[0]", "items[1]", "table['k']", "OUT")
        return self.rng.choice(known)

    def new(self) -> str:
        name = self.rng.choice(("p", "q", "x", "h.x"))
        return self.rng.choice((
            f"{name} * 1.5", f"{name} + 7.0", f"-{name}", "a[1]", "a[2] * 2.0", "a.sum()",
            f"{name} * {name}", "float(a[1])", self.number(), self.number(),
        ))

    def verdict(self) -> str:
        return f"{self.number()} is {self.rng.choice(('', 'not '))}{self.number()}"

    def statement(self, depth: int) -> list[str]:
        rng, name = self.rng, self.rng.choice(NAMES)
        kind = rng.randrange(14 if depth else 12)
        if kind < 3:
            return [f"{name} = {self.number()}"]
        if kind < 5:
            return [f"{name} = {self.new()}"]
        if kind == 5:
            return [f"a *= 1.5{'' if rng.random() < 0.5 else ' + 0.0'}"]
        if kind == 6:
            return [f"h.{rng.choice('xy')} = {self.number()}"]
        if kind == 7:
            return [f"found.append({self.verdict()})"]
        if kind == 8:
            return [f"{name}, {rng.choice(NAMES)} = {self.number()}, {self.number()}"]
        if kind < 11:  # which Python does
            self.marks += 1
            return [f"log[f'{{a.size}} {self.marks}'] = ({self.number()}, {self.number()})"]
        if kind == 11:
            return [f"del items[{rng.randrange(2)}:]" if rng.random() < 0.1 else f"{name} = +x"]
        body = [f"    {line}" for _ in range(rng.randint(1, 4)) for line in self.statement(0)]
        if kind == 12 and self.joins:
            return [f"if a[{rng.randrange(3)}] > {rng.choice((1.0, 4.0))}:", *body]
        return [f"for k in range({rng.randint(0, 3)}):", *body, "    a[0] += k"]

    def text(self) -> str:
        rng = self.rng
        lines = ["def f(x, y, h, items, table, log, a):", "    found = []", "    p = q = x",
                 "    r, s = h.y, items[0]"]
        for _ in range(rng.randint(4, 10)):
            lines += [f"    {line}" for line in self.statement(1)]
        lines += [f"    found.append({self.verdict()})" for _ in range(rng.randrange(3))]
        loops = any(line.lstrip().startswith("for") for line in lines)
        self.joins |= loops
        held = ", ".join(self.new() for _ in range(3))
        return "\n".join([*lines, f"    return found, ({held}), [p, q], {{'r': r}}"]) + "\n"


def write(seed: int) -> str:
    return Writer(seed).text()


def arguments(rng: random.Random) -> tuple[Any, ...]:
    """Numbers some of which are one object."""
    pool = [rng.choice(NUMBERS) for _ in range(rng.randint(1, 3))]
    x, y, *held = (rng.choice(pool) for _ in range(7))
    a = np.arange(3000.0) + rng.choice((0.0, 3.0))
    return x, y, Holder(*held[:2]), held[2:4], {"k": held[4]}, {}, a


def program(seed: int) -> Program:
    """The program with its calls, whose numbers are one object here and there."""
    writer, rng = Writer(seed), random.Random(seed)
    text = writer.text()
    kinds = [rng.randrange(3) for _ in range(CALLS)]
    return Program(
        text, lambda call, space: arguments(random.Random(1000 * seed + kinds[call])), seed,
        space={"OUT": float("3.5e7")}, calls=CALLS, policy={"numbers": not writer.joins})


def note(compiled: Any, program: Program, counts: Counts) -> None:
    """Counts what runs whole, in parts and in Python."""
    shown = str(compiled.explain())
    for word in ("compiled whole", "in regions", "runs in Python"):
        counts[word] += word in shown.partition("\n")[0]


GRAMMAR = Grammar(program, note=note)
