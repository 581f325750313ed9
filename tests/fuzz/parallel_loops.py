"""Random nests of loops over elements, of which many could run side by side and many must not.

Each is compared with plain Python: on the reference backend, which runs the turns of a parallel
loop backwards, and as machine code on three threads; results, changed arguments, exceptions,
warnings.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np

from npcompile.backends.cpu.kernels import kernel_functions
from npcompile.program.ir import For, flat
from npcompile.runtime.threads import pool
from npcompile.schedule.loops import interruptible_loops
from tests.fuzz.framework import BOTH, Counts, Grammar, Program

LONG = 10  # lines from which on no further block begins


@dataclass
class Writer:
    """Writes the loops of one program over ``a`` (vector), ``b``, ``c`` (matrices), ``t`` (three
    axes), ``at`` (indices) and numbers ``n``, ``m``."""

    rng: random.Random
    lines: list[str] = field(default_factory=list)
    indices: list[str] = field(default_factory=list)
    count: int = 0
    own: str = ""  # a place, with gaps, that only one turn of the outermost loop writes to

    def pick(self, *options: str) -> str:
        return self.rng.choice(options)

    # ------------------------------------------------------------------ indices

    def index(self) -> str:
        """Mostly the index of a loop around, or something that depends on it."""
        if not self.indices or self.rng.random() < 0.08:
            return self.pick("0", "1", "-1", "n - 1", "m")
        i = self.rng.choice(self.indices[-3:])
        if self.rng.random() < 0.75:
            return i
        other = self.rng.choice(self.indices)
        return self.pick(f"{i} + 1", f"{i} - 1", f"n - 1 - {i}", f"2 * {i}", f"2 * {i} + 1",
                         f"{i} // 2", f"{i} % 3", f"{i} + {other}", f"at[{i}]", f"-{i}",
                         f"{i} * m + {other}", f"min({i}, 2)", f"abs({i} - 2)")

    def place(self) -> str:
        roll = self.rng.random()
        if self.own and self.rng.random() < 0.97:
            return self.pick(f"a[{self.index()}]", f"c[{self.index()}, {self.index()}]",
                             self.target(), f"w[{self.index()}]")
        if roll < 0.25:
            return f"a[{self.index()}]"
        if roll < 0.55:
            return f"b[{self.index()}, {self.index()}]"
        if roll < 0.8:
            return f"c[{self.index()}, {self.index()}]"
        if roll < 0.9:
            return f"t[{self.index()}, {self.index()}, {self.index()}]"
        return f"w[{self.index()}]"

    def target(self) -> str:
        if not self.own or self.rng.random() < 0.03:
            return self.place()
        if self.rng.random() < 0.2:
            return f"w[{self.index()}]"
        return self.own.replace("?", self.index())

    def value(self) -> str:
        roll = self.rng.random()
        if roll < 0.3:
            return self.place()
        if roll < 0.5:
            return self.pick("x", "y", "1.5", "0.5", "z")
        if roll < 0.58 and self.indices:
            return f"float({self.rng.choice(self.indices)})"
        if roll < 0.62:
            return f"math.sqrt({self.pick('abs', '')}({self.place()}))"
        return f"({self.value()} {self.pick('+', '-', '*', '+', '/')} {self.value()})"

    def condition(self) -> str:
        """Of numbers, or of the index of a loop around, which may split its turns."""
        if not self.indices or self.rng.random() < 0.4:
            return f"{self.value()} > {self.value()}"
        i = self.rng.choice(self.indices[-2:])
        end = self.pick("0", "n - 1", "0", "m", "1", "3", "len(a) - 1", *self.indices)
        simple = f"{i} {self.pick('>', '<', '==', '!=', '>=', '<=')} {end}"
        if self.rng.random() < 0.7:
            return simple
        return f"{simple} {self.pick('and', 'or')} {self.condition()}"

    # ------------------------------------------------------------------ statements

    def simple(self, pad: str) -> str:
        rng = self.rng
        roll = rng.random()
        if roll < 0.35:
            return f"{pad}{self.target()} = {self.value()}"
        if roll < 0.5:
            return f"{pad}{self.target()} {self.pick('+=', '-=', '*=')} {self.value()}"
        if roll < 0.7:
            return f"{pad}{self.pick('x', 'y')} = {self.value()}"
        if roll < 0.85:
            return f"{pad}{self.pick('x', 'y')} {self.pick('+=', '*=')} {self.value()}"
        if roll < 0.9:
            return f"{pad}w = np.{self.pick('zeros', 'ones')}({self.pick('6', 'n + 2', 'm + 2')})"
        if roll < 0.93:
            return f"{pad}w[:] = {self.pick('0.0', 'x', 'b[0, 0]')}"
        if roll < 0.96 and not self.own:
            return f"{pad}k += {self.pick('1', *self.indices)}"
        return f"{pad}if {self.value()} > 1e6: raise ValueError(k)"

    def bounds(self) -> str:
        i = self.rng.choice(self.indices) if self.indices else "1"
        return self.pick("n", "m", "n", "m", "1, n", "n - 1", "n - 1, -1, -1", "0, n, 2", "4",
                         f"{i}, n", f"{i} + 1, m", f"{i}", "n, 0, -2", "k, n", "len(a)",
                         "b.shape[1]")

    def block(self, depth: int) -> None:
        rng, pad = self.rng, "    " * (depth + 1)
        for _ in range(rng.randint(1, 2)):
            roll, more = rng.random(), depth < 3 and len(self.lines) < LONG
            if more and rng.random() < 0.15:
                self.edges(pad)
            elif more and roll < (0.9 if depth == 0 else 0.5):
                self.loop(depth)
            elif more and roll < 0.6:
                self.lines.append(f"{pad}if {self.condition()}:")
                self.block(depth + 1)
                if rng.random() < 0.6:
                    self.lines.append(f"{pad}else:")
                    self.lines.append(self.simple(pad + "    "))
            else:
                self.lines.append(self.simple(pad))

    def edges(self, pad: str) -> None:
        """A loop, or two, with other branches in the first, the last or one of the turns."""
        self.count += 1
        i = j = f"i{self.count}"
        self.lines.append(f"{pad}for {i} in range({self.edge_bounds()}):")
        pad += "    "
        if self.rng.random() < 0.3:
            j = f"j{self.count}"
            self.lines.append(f"{pad}for {j} in range({self.edge_bounds()}):")
            pad += "    "
        if self.rng.random() < 0.4:
            value = (
                f"{self.of_turn(i, j)} if {self.at_edge(i, j)} else {self.of_turn(i, j)}"
            )
            self.lines.append(f"{pad}v = {value}")
        self.lines.append(f"{pad}if {self.at_edge(i, j)}: {self.made_of_turn(i, j)}")
        if self.rng.random() < 0.3:
            self.lines.append(f"{pad}elif {self.at_edge(i, j)}: {self.made_of_turn(i, j)}")
        if self.rng.random() < 0.8:
            self.lines.append(f"{pad}else: {self.made_of_turn(i, j)}")

    def edge_bounds(self) -> str:
        return self.pick("n", "n", "m", "1, n", "n - 1", "n - 1, -1, -1", "k, n", "5", "1, m + 1")

    def at_edge(self, i: str, j: str) -> str:
        i = self.pick(i, j)
        return self.pick(f"{i} > 0", f"{i} == 0", f"{i} != 2", f"{i} < n - 1", f"{i} >= m - 1",
                         f"{i} == 0 or {j} == n - 1", f"0 < {i} < m - 1", f"{i} != {j}",
                         f"not {i} <= 1", f"{i} == n - 1 and {j} > 0")

    def of_turn(self, i: str, j: str) -> str:
        """A number, or a row or column, of arrays."""
        if i != j:
            return self.pick(f"b[{i}, {j}]", f"c[{i} + 1, {j}]", f"c[{j}, {i} + 1]",
                             f"t[{i}, {j}, 1]", f"a[{i} + 9]")
        return self.pick(f"b[:, {i}]", f"c[:, {i} + 1]", f"b[:, {i} - 1]", f"c[:, 0] * a[{i}]",
                         "np.zeros(len(b))", f"a[{i}]", "x", f"a[{i} + 9]")

    def made_of_turn(self, i: str, j: str) -> str:
        value, by = self.of_turn(i, j), self.pick("* 0.5", "+ x", "- y", "/ 3.0")
        if i != j:
            return self.pick(f"b[{i}, {j}] = {value} {by}", f"c[{i}, {j}] = {value} {by}",
                             f"t[{j}, {i}, 0] = {value} {by}", f"k += {i}")
        return self.pick(f"b[:, {i}] = {value} {by}", f"c[:, {i} + 1] = {value} {by}",
                         f"a[{i}] = b[0, {i}] {by}", f"a[{i}] = a[{i} + 1] {by}",
                         f"b[1, {i}] = c[2, {i} + 1] {by}", f"k += {i}", f"w = w {by}",
                         f"b[:, {i}] = b[:, {i} - 1] {by}")

    def loop(self, depth: int) -> None:
        rng, pad = self.rng, "    " * (depth + 1)
        self.count += 1
        if rng.random() < 0.12:
            name = f"u{self.count}"
            self.lines.append(f"{pad}{name} = 0")
            self.lines.append(f"{pad}while {name} < 4 and {self.value()} < 3.0:")
            self.lines.append(f"{pad}    {name} += 1")
            self.block(depth + 1)
            return
        name = f"i{self.count}"
        self.lines.append(f"{pad}for {name} in {self.pick('range', 'prange')}({self.bounds()}):")
        self.indices.append(name)
        outermost = depth == 0 and rng.random() < 0.8
        if outermost:
            self.own = self.pick("b[{0}, ?]", "b[?, {0}]", "t[{0}, ?, ?]", "t[?, ?, {0}]",
                                 "t[?, {0}, ?]", "b[{0} - 1, ?]", "b[n - 1 - {0}, ?]").format(name)
            self.lines.append(f"{pad}    x = 0.5; y = a[{name}]; w = np.zeros(6)")
        elif rng.random() < 0.6:
            reset = self.pick("x = 0.0", "x = 1.0; y = 0.5", "w = np.zeros(6)", "w[:] = 0.5")
            self.lines.append(f"{pad}    {reset}")
        self.block(depth + 1)
        if rng.random() < 0.06:
            self.lines.append(f"{pad}    if {self.value()} > 4.0: {self.pick('break', 'continue')}")
        self.indices.pop()
        self.own = "" if outermost else self.own


def write(seed: int) -> str:
    """The source of the program of a seed."""
    rng = random.Random(seed)
    writer = Writer(rng)
    fresh = [name for name in ("b", "c") if rng.random() < 0.4]
    head = "".join(f"    {name} = np.zeros((7, 8))\n" for name in fresh)
    for _ in range(rng.randint(1, 2)):
        writer.block(0)
    body = "\n".join(writer.lines)
    more = ", w, x, y, k" if rng.random() < 0.3 else ""
    return ("def f(a, b, c, t, at, n, m, z):\n"
            f"    x = 0.0; y = 1.0; k = 0; w = np.empty(6); w[:] = 0.0\n{head}{body}\n"
            f"    return a, b, c, t{more}\n")


def arguments(q: int, seed: int) -> list[Any]:
    rng = np.random.default_rng(seed % 7)
    size = (7, 8, 9)[q % 3]
    matrix = rng.standard_normal((size, size + 1))
    other = rng.standard_normal((size, size + 1))
    if seed % 5 == 0:
        other = matrix  # one array by two names
    if seed % 11 == 0:
        matrix = np.asfortranarray(matrix)
    at = np.arange(size) if q % 2 else rng.integers(0, size, size)
    return [rng.standard_normal(2 * size), matrix, other, rng.standard_normal((size, size, size)),
            at, (5, 6, 1, 3)[q], (4, 6, 3)[q % 3], 0.25]


def program(seed: int) -> Program:
    """The program with its calls."""
    return Program(write(seed), lambda call, space: arguments(call, seed), seed,
                   "import math\nfrom npcompile import prange\n", policy={"nans": True})


def note(compiled: Any, program: Program, counts: Counts) -> None:
    """Counts loops, and those that run on threads."""
    if not compiled.cache_info().refused:
        body = compiled.lower(*program.args(0, {})).executable.program.body
        loops = [s for s in flat(body) if isinstance(s, For)]
        counts["loops"] += len(loops)
        counts["on threads"] += sum(loop.parallel for loop in loops)


@contextlib.contextmanager
def threads(seed: int) -> Iterator[None]:
    """Three threads, and for the smallest work."""
    before = pool.get_num_threads()
    pool.set_num_threads(3)
    with (patch.object(kernel_functions, "PARALLEL_WORK", 0),
          patch.object(interruptible_loops, "LEAST", 0),
          patch.object(interruptible_loops, "TIMES", 0)):
        yield
    pool.set_num_threads(before)


GRAMMAR = Grammar(program, BOTH, setting=threads, note=note)
