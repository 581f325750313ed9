"""Random functions of which a program replaces parts between calls: code, defaults, closure cells,
globals, builtins of that name, methods and attributes of a class, entries of a table.

Whoever replaces holds the plain function or the jitted one.  Results, exceptions and arguments are
compared with plain Python's after each change.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from npcompile import jit
from tests.fuzz.framework import Grammar

BODIES = (
    "return x * k + a - b",
    "return helper(x, a) + SCALE",
    "return [x.sum(), len(TABLE), TABLE.get('b', a), THING.twice(x), THING.least]",
    "t = a * 1.0\n    for i in range(len(x)):\n        t += x[i] * k - b\n    return t",
    "y = x + a\n    note(len(y))\n    z = y * SCALE\n    return z + k",
    "def inner(v, w=a):\n        return v * w + k\n    return inner(x), inner(x, b)",
    "return abs(x).sum() + max(a, b) + len(x) + k",
    "x[0] = a\n    return helper(x, b=b) if k else (x, k)",
    "return np.where(x > a, x, SCALE) * THING.factor + k",
    "try:\n        return x / a + TABLE['c'] + k\n    except KeyError:\n        return note(k)",
)
HEADS = ("x, a=1, b=2", "x, a=3, *, b=4", "x, b=1, a=2", "x, a, b=5", "x, /, a=2, b=0")
HELPERS = (
    "lambda v, b=1: v + b", "lambda v, b=2: v * b", "np.multiply", "lambda v, b: 7",
    "lambda v, b=0: np.sin(v)", "lambda v, c=1: v", "scaled",
)
NUMBERS = ("1", "2", "-3", "2.5", "True", "10", "np.float32(1.5)", "np.arange(3.0)", "'text'", "0")
#: what may be done to the function ``f`` or to its surroundings; ``g`` is another one
CHANGES = (
    "f.__code__ = g.__code__", "f.__defaults__ = g.__defaults__", "f.__defaults__ = ({n}, {n})",
    "f.__defaults__ = None", "f.__kwdefaults__ = dict(b={n})", "f.__kwdefaults__ = None",
    "cell(f, {n})", "SCALE = {n}", "helper = {h}", "TABLE['b'] = {n}", "TABLE['c'] = {n}",
    "TABLE.pop('b', None)", "TABLE = dict(b={n})", "len = lambda v: {n}", "max = min",
    "abs = lambda v: v * 2", "globals().pop('len', None)", "Thing.least = {n}",
    "Thing.twice = lambda self, v: v * {n}", "THING.twice = lambda v: v - {n}",
    "THING = Thing({n})", "THING.factor = {n}", "vars(THING).pop('twice', None)",
    "globals().pop('SCALE', None)", "Thing.least = property(lambda self: self.factor)",
    "helper = scaled",
)
CALLS = ("x", "x, 2", "x, 2, 3", "x, b=1", "x, a=4", "x[:2], 1", "x, 1.5")
START = """
import numpy as np
SCALE, TABLE, notes = 3.0, {'b': 1}, []
def note(what):
    notes.append(what)
    return what
def scaled(v, b=2):
    return v * b
helper = scaled
class Thing:
    least = 1
    def __init__(self, factor):
        self.factor = factor
    def twice(self, v):
        return v * 2 + self.least
THING = Thing(2)
def cell(function, value):
    for one in function.__closure__ or ():
        one.cell_contents = value
"""


class Writer:
    """Writes one program: two functions, and what is done between calls."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        self.source = START + "".join([
            f"def make{i}(k):\n  def f({rng.choice(HEADS)}):\n    {rng.choice(BODIES)}\n"
            f"    return k\n  return f\n" for i in range(2)])
        self.factor = rng.choice(NUMBERS[:5])
        self.steps = [self.step() for _ in range(rng.randint(3, 8))]

    def step(self) -> tuple[str, int, list[str]]:
        """A change, who is changed (the plain function or the jitted one), and calls."""
        change = self.rng.choice(CHANGES)
        for _ in range(2):
            change = change.replace("{n}", self.rng.choice(NUMBERS), 1)
        change = change.replace("{h}", self.rng.choice(HELPERS))
        calls = [self.rng.choice(CALLS) for _ in range(self.rng.randint(1, 4))]
        return change, self.rng.randrange(2), calls

    def text(self) -> str:
        """The program as a reader wants it."""
        lines = [f"f = jit(make0({self.factor}))"]
        for change, which, calls in self.steps:
            lines.append(f"{change}  # {('plain', 'jitted')[which]}")
            lines += [f"f({call})" for call in calls]
        return self.source + "\n".join(lines)

    def run(self, compiler: Callable[[Any], Any]) -> list[str]:
        """What the calls give."""
        names: dict[str, Any] = {}
        exec(compile(self.source, "<replacements>", "exec"), names)
        plain = eval(f"make0({self.factor})", names)
        other = eval(f"make1({self.factor})", names)
        compiled, told = compiler(plain), []
        for change, which, calls in self.steps:
            names.update(f=(plain, compiled)[which], g=other)
            told.append(shown(exec, change, names))
            for call in calls:
                names["x"] = np.arange(3.0)
                names["called"] = compiled
                told.append(shown(eval, f"called({call})", names) + repr(names["x"]))
        return [*told, repr(names["notes"])]


def shown(action: Callable[[str, dict[str, Any]], Any], text: str, names: dict[str, Any]) -> str:
    """What a text gives or raises."""
    try:
        with np.errstate(all="ignore"):
            return repr(action(text, names))
    except Exception as error:
        return f"{type(error).__name__}{error.args}"


def check(seed: int, counts: Counter[str]) -> str:
    """What differs in a program, and where."""
    writer = Writer(seed)
    want, made = writer.run(lambda f: f), []

    def compiler(function: Any) -> Any:
        made.append(jit(function))
        return made[0]

    got = writer.run(compiler)
    counts["calls"] += len(got)
    counts["compiled"] += bool(made[0].cache_info().compiled)
    for place, (mine, theirs) in enumerate(zip(got, want, strict=True)):
        if mine != theirs:
            return f"{writer.text()}\nplace {place}: {mine} instead of {theirs}"
    return ""


GRAMMAR = Grammar(check=check)
