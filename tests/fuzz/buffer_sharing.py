"""Random loops whose turns make arrays that nothing can fuse: they share memory where they may.

Names are bound before loops, in turns, in branches and in inner loops; some live across turns, some
are returned, held by exits, or swapped.  Each program is compiled and compared with plain Python,
on the reference backend as well: results, changed arguments, exceptions, warnings.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from tests.fuzz.framework import BOTH, Grammar, Program

SHAPES = ((6, 7), (9, 40))


class Writer:
    """Writes the program of a seed over arrays ``a``, ``b`` and a number ``n``."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.lines = ["def f(a, b, n):", "    x, y = a + 1.0, b * 2.0", "    total = 0.0"]
        self.block(["a", "b", "x", "y"], "    ", 0)
        self.lines.append("    return x, y, total")
        self.source = "\n".join(self.lines) + "\n"

    def value(self, names: list[str]) -> str:
        one, two = (self.rng.choice(names) for _ in range(2))
        return self.rng.choice((
            f"np.cumsum({one} * 0.5, axis={self.rng.randint(0, 1)})",
            f"np.cumsum({one} - {two}, axis={self.rng.randint(0, 1)}) * 0.25",
            f"np.sort({one}, axis={self.rng.randint(0, 1)})",
            f"np.roll({one}, {self.rng.choice((1, -1, 2))}, {self.rng.randint(0, 1)}) - {two}",
            f"{one} * {two} / {two}.max()",
            f"np.where({one} > {two}, {one}, {one}.min())",
            f"{one}.copy()",
        ))

    def block(self, names: list[str], pad: str, depth: int) -> None:
        """``names`` are bound; what a block binds anew is known in it only."""
        names = list(names)
        for _ in range(self.rng.randint(2, 6)):
            self.statement(names, pad, depth)

    def statement(self, names: list[str], pad: str, depth: int) -> None:
        rng, add = self.rng, self.lines.append
        kind = rng.random()
        if kind < 0.45:
            name = f"t{rng.randint(0, 5)}"
            add(f"{pad}{name} = {self.value(names)}")
            if name not in names:
                names.append(name)
        elif kind < 0.55:
            add(f"{pad}{rng.choice(('x', 'y'))} = {self.value(names)}")
        elif kind < 0.62:
            add(f"{pad}{rng.choice(names)}[1:] {rng.choice(('=', '+='))} "
                f"{rng.choice(names)}[:-1] * 0.5")
        elif kind < 0.7:
            add(f"{pad}total += {rng.choice(names)}.{rng.choice(('sum', 'max', 'min'))}()")
        elif kind < 0.74:
            add(f"{pad}x, y = y, x")
        elif kind < 0.78 and depth:
            add(f"{pad}if {rng.choice(names)}[0, 0] > {rng.choice(('3.0', '0.2', '50.0'))}:")
            add(f"{pad}    {rng.choice(('break', 'continue', 'raise ValueError(total)'))}")
        elif kind < 0.88:
            add(f"{pad}if {rng.choice(names)}[0, 0] > {rng.choice(names)}[-1, -1]:")
            self.block(names, pad + "    ", depth)
            if rng.random() < 0.6:
                add(f"{pad}else:")
                self.block(names, pad + "    ", depth)
        elif depth < 2:
            add(f"{pad}for k{depth} in range({rng.choice(('n', '3', '2'))}):")
            self.block(names, pad + "    ", depth + 1)
        else:
            add(f"{pad}total -= {rng.choice(names)}[0, 0]")


def program(seed: int) -> Program:
    """The program with its calls."""

    def arguments(call: int, space: dict[str, Any]) -> list[Any]:
        return [*np.random.default_rng(seed).uniform(0.1, 1.0, (2, *SHAPES[call])), 3]

    return Program(Writer(seed).source, arguments, seed, calls=len(SHAPES))


GRAMMAR = Grammar(program, BOTH)
