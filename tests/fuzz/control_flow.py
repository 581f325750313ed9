"""Random structured programs: loops, branches, early exits, two names for one array, helpers.

Each program is traced, its graph interpreted, and compared with plain Python: results, changed
arguments, exceptions.  Where a check fails, Python goes on from the place that the graph tells.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np

from npcompile.core.config import Config
from npcompile.core.errors import Refused
from npcompile.graph.interpret import CheckFailed, _GraphRun
from npcompile.graph.ir import StaticObject
from npcompile.graph.verify import verify
from npcompile.python.values import NULL
from npcompile.runtime.versions.resume import Activation, resume
from npcompile.schedule.loops import vector_loops
from npcompile.tracing.retries import trace
from tests.fuzz.framework import Counts, Grammar, Program, Way, jitted
from tests.support.arrays import meaning

INTS, FLOATS = ("i", "k", "m"), ("x", "y")


@dataclass
class Writer:
    """Writes one program, statement by statement."""

    rng: random.Random
    mixed: bool  # values of other types on other paths
    lines: list[str] = field(default_factory=list)
    count: int = 0

    def pick(self, *options: str) -> str:
        return self.rng.choice(options)

    def integer(self, depth: int = 0) -> str:
        roll = self.rng.random()
        if roll < 0.35:
            return self.pick(*INTS)
        if roll < 0.6 or depth > 2:
            return str(self.rng.randint(-2, 4))
        if roll < 0.7:
            return f"int(a[{self.rng.randint(0, 4)}] > b[{self.rng.randint(0, 4)}])"
        if roll < 0.75:
            return self.pick("len(a)", "n", "abs(k)", "min(i, k)", "max(m, 1)")
        op = self.pick("+", "-", "*", "%", "+", "//", "&")
        right = str(self.rng.randint(1, 5)) if op in ("%", "//", "&") else self.integer(depth + 1)
        return f"({self.integer(depth + 1)} {op} {right})"

    def real(self) -> str:
        at = self.integer(2)
        number = "float(k)" if self.mixed else f"np.float64({at})"
        return self.pick("x * 0.5 + 1.0", f"a[{self.rng.randint(0, 4)}] * 0.25", "x + 0.5", "y",
                         f"a[({at}) % 5] - y", "x if x < y else y", number, "x - y",
                         "a[1:].sum()", "c.max()", "abs(x) + b[k % 5]",
                         f"c[{self.rng.randint(-5, 4)}] + 1.0")

    def condition(self, depth: int = 0) -> str:
        roll = self.rng.random()
        if roll < 0.45 or depth > 1:
            op = self.pick("<", ">", "==", "!=", "<=", ">=")
            return f"{self.integer(1)} {op} {self.integer(1)}"
        if roll < 0.65:
            return self.pick(f"a[{self.rng.randint(0, 4)}] > x", "x > y", "b[i % 5] <= 1.0",
                             "a[0] < b[0]")
        if roll < 0.9:
            joint = self.pick("and", "or")
            return f"({self.condition(depth + 1)} {joint} {self.condition(depth + 1)})"
        return f"not ({self.condition(depth + 1)})"

    def change(self) -> str:
        """A statement that changes an array, or which array a name means."""
        rng, at = self.rng, self.integer(2)
        if rng.random() < 0.06:
            return self.pick("a, b = b, a", "a = b.copy()", "b = a")
        grows = "k = k + int(x)" if self.mixed else "k += 1"
        return self.pick(
            f"a[({at}) % 5] = x", f"b[({at}) % 5] += 1.0", "a[1:] *= 0.5", "b[:-1] = a[1:]",
            f"v = a[1:4]; v[({at}) % 3] -= 2.0",
            "h(a, x)", f"c[({at}) % 5] = a[0]", "x = g(x, k)", "c = c + 1.0", "c = a * 0.5",
            "c += b", f"a[{at}] = y", f"x = b[{at}]", "c[:k % 5] = 2.0", "b[1:] = b[:-1] * 0.5",
            f"c[{rng.randint(0, 3)}:i % 5] += 1.0", "v = c[::2]; v[:] = x", "a[c > 1.0] = 0.0",
            self.anew(), self.anew(), grows, "t = (k, x); k, x = t", "m, k = k, m", "k *= 3",
        )

    def anew(self) -> str:
        """A statement that makes an array, writes into it and may bind another name to it."""
        at = self.integer(2)
        return self.pick(
            f"w = np.zeros(5); w[({at}) % 5] = x; c = w", "c = c * 0.5; c[0] = x",
            "u = c.copy(); u[1:] = c[:-1]; c = u", f"w = np.ones(5); w[({at}) % 5] += y; x = w[2]",
            "w = np.empty_like(c); w[1:] = c[:-1]; w[0] = x; c = w", "c = g2(c, x)",
            "u, c = c, np.zeros(5); c[1:] = u[1:]; c[0] = k", "c = a.copy(); c[k % 5] -= 1.0",
            "u = a * 2.0; u[1] = k; c += u", "u = np.full(5, 0.5); u += c; c = u",
        )

    def leaving(self) -> str:
        same = "return i, k, m, x, y, a, b, c"
        if not self.mixed:
            return same
        return self.pick("return i, k, m, x, a + b", same, "return k, c", "return x")

    def statement(self, depth: int, loop: bool, indent: int) -> None:
        rng, pad = self.rng, "    " * indent
        roll = rng.random()
        if roll < 0.18:
            self.lines.append(f"{pad}{self.pick(*INTS)} = ({self.integer()}) % 50")
        elif roll < 0.28:
            self.lines.append(f"{pad}{self.pick(*INTS)} += {rng.randint(1, 3)}")
        elif roll < 0.38:
            self.lines.append(f"{pad}{self.pick(*FLOATS)} = {self.real()}")
        elif roll < 0.56:
            self.lines.append(pad + self.change())
        elif roll < 0.74 and depth < 4:
            self.branch(depth, loop, indent)
        elif roll < 0.90 and depth < 3:
            self.loop(depth, loop, indent)
        elif roll < 0.96 and loop:
            leave = self.pick("break", "continue", "break", self.leaving())
            self.lines.append(f"{pad}if {self.condition()}: {leave}")
        elif roll < 0.975 and depth:
            self.lines.append(pad + self.pick(self.leaving(), "raise ValueError(k)"))
        else:
            self.lines.append(pad + "m = m - 1")

    def branch(self, depth: int, loop: bool, indent: int) -> None:
        pad = "    " * indent
        self.lines.append(f"{pad}if {self.condition()}:")
        self.block(depth + 1, loop, indent + 1)
        if self.rng.random() < 0.3:
            self.lines.append(f"{pad}elif {self.condition()}:")
            self.block(depth + 1, loop, indent + 1)
        if self.rng.random() < 0.5:
            self.lines.append(f"{pad}else:")
            self.block(depth + 1, loop, indent + 1)

    def loop(self, depth: int, loop: bool, indent: int) -> None:
        rng, pad = self.rng, "    " * indent
        self.count += 1
        number = self.count
        roll = rng.random()
        if roll < 0.45:
            j = f"j{number}"
            what = self.pick(f"range({rng.randint(0, 7)})", "range(n)", "range(k % 4)", "range(5)",
                             "range(n, -1, -1)", "range(1, len(a))", "range(i % 3, n)",
                             "range(0, 9, 2)", "reversed(range(n + 1))", "range(len(a) - 1)")
            self.lines.append(f"{pad}for {j} in {what}:")
            for _ in range(rng.randint(0, 2)):
                self.lines.append(pad + "    " + self.pick(
                    f"{self.pick(*INTS)} += {j}", f"x += a[{j} % 5]", f"c[{j} % 5] = x + {j}",
                    f"a[{j} - 1] = b[{j} % 5]", f"b[{j}] += 0.5", f"y = a[{j}]",
                    f"c[{j}:] *= 0.5", f"if {j} == k: x = y"))
        elif roll < 0.6:
            e, j = f"e{number}", f"j{number}"
            head = self.pick(f"for {e} in a:", f"for {j}, {e} in enumerate(b):",
                             f"for {e}, {j} in zip(a, range(n)):", f"for {e} in reversed(c):",
                             f"for {e}, {j} in zip(c, b[1:]):", f"for {e} in a[k % 5:]:",
                             f"for {j}, {e} in enumerate(zip(a, c), 1):")
            self.lines.append(pad + head)
            inner = f"{e}[0]" if "enumerate(zip" in head else e
            self.lines.append(pad + "    " + self.pick(
                f"x += {inner}", f"if {inner} > x: y = {inner}", f"y = {inner} * 0.5", "pass"))
        else:
            self.lines.append(f"{pad}w{number} = 0")
            self.lines.append(f"{pad}while {self.condition()} and w{number} < {rng.randint(2, 6)}:")
            self.lines.append(f"{pad}    w{number} += 1")
        self.block(depth + 1, True, indent + 1)
        if rng.random() < 0.3:
            self.lines.append(f"{pad}else:")
            self.block(depth + 1, loop, indent + 1)

    def block(self, depth: int, loop: bool, indent: int) -> None:
        for _ in range(self.rng.randint(1, 4)):
            self.statement(depth, loop, indent)


HELPERS = """
def h(z, y):
    if y > 1.0: z[2] += y
    else: z[::2] = 0.5
def g2(z, y):
    u = np.zeros_like(z)
    u[1:-1] = z[2:] - z[:-2]
    if y > 1.0: u[0] = y
    return u
def g(y, q):
    for r in range(6):
        if r == q: return y + 1.0
    return y * 0.5
"""


def write(seed: int) -> str:
    """The source of the program of a seed."""
    rng = random.Random(seed)
    writer = Writer(rng, rng.random() < 0.3)
    for _ in range(rng.randint(3, 7)):
        writer.statement(0, False, 1)
    start = rng.choice(["x = 1.5; y = 0.25", "x = 0.0; y = 2.0", "x = 1; y = 0.5"])
    if not writer.mixed:
        start = "x = a[0] * 1.5; y = b[1]"
    body = "\n".join(writer.lines)
    return (f"def f(a, b, n, i):\n    k = 1; m = 0; {start}; c = np.zeros(5)\n{body}\n"
            "    return i, k, m, x, y, a, b, c\n")


KINDS = (0, 1, 2, 3, 6, 2**62)  # of calls


def arguments(q: int) -> list[Any]:
    return [np.array([1.0, -2.0, 3.0, 0.5, 4.0]), np.array([2.0, 1.0, -1.0, 5.0, 0.0]), q % 5, q]


class Run(_GraphRun):
    """Interprets a graph, and knows what memory holds where a check fails."""

    def __init__(self, graph: Any, args: list[Any]) -> None:
        super().__init__(graph, args, meaning, graph.bound)
        self.kept = [self.values[p] for p in graph.params]
        self.owners = {id(value): k for k, value in enumerate(self.kept)}
        self.latest = dict(enumerate(self.kept))

    def _op_write(self, node: Any, memory: Any, value: Any, mask: Any = None) -> Any:
        fresh = super()._op_write(node, memory, value, mask)
        owner = self.owners.get(id(memory))
        if owner is not None:
            self.kept.append(fresh)
            self.owners[id(fresh)] = owner
            self.latest[owner] = fresh
        return fresh

    def tree(self, tree: Any) -> Any:
        if isinstance(tree, StaticObject) and tree.value is NULL:
            return NULL
        return super().tree(tree)


def _captured(function: Any, args: list[Any]) -> Any:
    names = inspect.signature(function).parameters
    found = trace(function, dict(zip(names, args)), Config())
    verify(found.graph)
    return found


def _interpreted(function: Any, found: Any, args: list[Any]) -> Any:
    """What a call gives: by the graph, and by Python from where a check fails."""
    picked = [args[leaf.source.position] for leaf in found.leaves]
    run = Run(found.graph, picked)
    try:
        run.region(found.graph.region)
    except CheckFailed as left:
        if not left.resume.frames:
            return function(*args)
        for k, value in run.latest.items():
            if isinstance(picked[k], np.ndarray):
                picked[k][...] = value
        return resume([_activation(run, frame, function) for frame in left.resume.frames])
    result = run.tree(found.graph.result)
    for index, node in found.graph.finals.items():
        picked[index][...] = run.values[node]
    return result


def _activation(run: Run, frame: Any, function: Any) -> Activation:
    variables = {name: run.tree(tree) for name, tree in frame.local}
    stack = [run.tree(tree) for tree in frame.stack]
    return Activation(frame.code, function.__globals__, (), frame.offset, variables, stack)


def _valid(found: Any, args: list[Any]) -> bool:
    """Whether the guards of a trace hold for other arguments of the same types."""
    run = Run(found.graph, [args[leaf.source.position] for leaf in found.leaves])
    return all(guard.holds(run._symbol) for guard in found.graph.facts.guards)


class Interpreted:
    """A function that runs by its graph, where it can be traced."""

    def __init__(self, function: Any) -> None:
        self.function, self.traces = function, list[Any]()

    def __call__(self, *args: Any) -> Any:
        given = list(args)
        found = next((t for t in self.traces if _valid(t, given)), None)
        if found is None:
            try:
                found = _captured(self.function, copy.deepcopy(given))
            except Refused:
                return self.function(*args)
            self.traces.append(found)
        return _interpreted(self.function, found, given)


def program(seed: int, times: int = 2) -> Program:
    """The program, called so many times with arguments of each kind."""
    return Program(
        write(seed), lambda call, space: arguments(KINDS[call // times]), seed, HELPERS,
        calls=times * len(KINDS), policy={"nans": True, "warnings": "", "lines": False})


@contextlib.contextmanager
def short_kernels(seed: int) -> Iterator[None]:
    """Kernels run on short arrays, too; floating-point errors are quiet."""
    with patch.object(vector_loops, "MANY", seed % 3 * 8), np.errstate(all="ignore"):
        yield


def note(made: Any, program: Program, counts: Counts) -> None:
    """Counts what was traced."""
    counts["traced"] += len(made.traces)


GRAPHS = Grammar(lambda seed: program(seed, 1), {"graph": Way(Interpreted)},
                 setting=short_kernels, note=note)
GRAMMAR = Grammar(program, {"graph": Way(Interpreted), "machine code": jitted(cache=False)},
                  setting=short_kernels, note=note)
