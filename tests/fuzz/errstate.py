"""Random programs that ignore some floating-point errors in some of their operations and hear them
of others: arrays and numbers, in branches and loops, in place, nested.

Results, changed arguments, exceptions and warnings must be Python's; a call without warnings must
not leave compiled code for flags.
"""

from __future__ import annotations

import copy
import random
from collections import Counter
from typing import Any

import numpy as np

from npcompile import jit
from tests.fuzz.framework import Grammar
from tests.support import oracle

SPECIAL = (0.0, -0.0, 1.0, 2.0, -1.0, np.inf, np.nan, 1e200, -3.5, 1e-200)
ENDS = ("divide", "invalid", "over", "under")


class Writer:
    """Writes the program of a seed over arrays ``a``, ``b`` and numbers ``x``, ``y``."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.arrays, self.numbers, self.count = ["a", "b"], ["x", "y"], 0
        self.lines: list[str] = []
        for _ in range(self.rng.randint(2, 6)):
            self.statement("    ")

    def pick(self, *options: str) -> str:
        return self.rng.choice(options)

    def fresh(self, known: list[str], stem: str) -> str:
        if self.rng.random() < 0.3:
            return self.rng.choice(known[2:] or known)
        self.count += 1
        return f"{stem}{self.count}"

    def array(self, depth: int = 0) -> str:
        rng = self.rng
        if rng.random() < 0.3 or depth > 2:
            return rng.choice(self.arrays)
        one, other = self.array(depth + 1), self.array(depth + 1)
        if rng.random() < 0.25:
            other = self.number(depth + 1)
        return self.pick(
            f"{one} / {other}", f"({one}) / {other}", f"({one} * {other})", f"({one} + {other})",
            f"({one} - {other})", f"np.sqrt({one})", f"(np.log({one}) < 0) * 1.5",
            f"(np.exp({one}) > 1e300) * 0.5",
            f"np.where({one} > {other}, {one}, {other})", f"np.abs({one})", f"{one} * 1e200",
            f"np.maximum({one}, {other})", f"1 / ({one})", f"np.cumsum({one})", f"({one})[::-1]",
            f"np.add({one}, 1).astype('f4').astype('f8')", f"({one}) ** 2", f"({one}) % 2",
        )

    def number(self, depth: int = 0) -> str:
        rng = self.rng
        if rng.random() < 0.3 or depth > 2:
            return rng.choice(self.numbers)
        one, other = self.number(depth + 1), self.number(depth + 1)
        return self.pick(
            f"{one} / {other}", f"({one} * {other})", f"({one} - {other})", f"({one} + 1)",
            f"np.sqrt({one})", f"({self.array(depth + 1)}).sum()", "a[0]", "b[-1]", "a[0] / b[0]",
            f"({self.array(depth + 1)}).max()", f"({self.array(depth + 1)}).mean()",
        )

    def statement(self, pad: str, depth: int = 0) -> None:
        rng, roll, add = self.rng, self.rng.random(), self.lines.append
        if depth < 3 and roll < 0.4:
            names = rng.sample(ENDS, rng.randint(1, 3))
            some = ", ".join(f"{name}='ignore'" for name in names)
            add(pad + f"with np.errstate({some if rng.random() < 0.7 else 'all=' + some[-8:]}):")
            for _ in range(rng.randint(1, 3)):
                self.statement(pad + "    ", depth + 1)
        elif depth < 3 and roll < 0.55:
            known = self.arrays[:], self.numbers[:]
            add(pad + self.pick(
                f"if {self.number(2)} > 1:", "for k in range(3):",
                f"if {self.pick('a', 'b')}.size > 4:",
                "for k in range(min(len(a), 4)):", f"if ({self.array(2)}).any():"))
            for _ in range(rng.randint(1, 3)):
                self.statement(pad + "    ", depth + 1)
            self.arrays, self.numbers = known
        elif roll < 0.75:
            value = self.array()
            name = self.fresh(self.arrays, "t")
            add(f"{pad}{name} = {value}")
            self.arrays.append(name)
        elif roll < 0.88:
            value = self.number()
            name = self.fresh(self.numbers, "s")
            add(f"{pad}{name} = {value}")
            self.numbers.append(name)
        else:
            target = rng.choice(self.arrays)
            if target in "ab":
                add(f"{pad}{target} = {target} + 0")
            if rng.random() < 0.2:  # what is picked out in one place and put in another
                add(f"{pad}holds = {self.pick('a', 'b')} {self.pick('>', '!=')} 1")
                add(f"{pad}put = {rng.choice(self.arrays)}[holds] {self.pick('/', '*', '-')} "
                    f"{rng.choice(self.arrays)}[holds]")
                if rng.random() < 0.6:
                    add(f"{pad}with np.errstate({self.pick(*ENDS, 'all')}='ignore'):")
                    pad += "    "
                add(f"{pad}{target}[holds] = put{self.pick('', ' * 2', ' * 1e200')}")
                return
            add(pad + self.pick(
                f"{target} /= {self.array(2)}", f"{target}[0] = {self.number(1)}",
                f"{target}[np.isnan({target})] = 1", f"{target}[1:] = {self.array(1)}[:-1]",
                f"{target}[:] = {self.array(1)}", f"{target} += {self.number(1)}",
                f"{target}[:2] /= {self.number(2)}", f"{target} *= {self.array(2)}"))

    def source(self) -> str:
        results = ", ".join(dict.fromkeys([*self.arrays, *self.numbers]))
        body = "\n".join(self.lines)
        if self.rng.random() < 0.3:
            return f"def f(a, b, x, y):\n{body}\n    return {results}\n"
        return f"def f(a, b, x, y):\n    a, b = a.copy(), b.copy()\n{body}\n    return {results}\n"


def arguments(seed: int, call: int) -> list[Any]:
    rng = np.random.default_rng((seed, call))
    n = int(rng.integers(0, 20)) if call else 6
    if call % 3 == 1:
        values = rng.choice(SPECIAL, (2, n + 2))
    else:
        values = rng.random((2, n + 2)) + 0.5
        if call % 3 == 2:
            values[1, rng.random(n + 2) < 0.3] = 0
    return [values[0, 2:].copy(), values[1, 2:].copy(), values[0, 0], values[1, 1]]


def left(compiled: Any) -> int:
    """How many calls have left compiled code for floating-point flags."""
    past = [line.split() for line in compiled.explain().history if "floating-point" in line]
    return sum(int(words[0]) for words in past)


def check(seed: int, counts: Counter[str]) -> str:
    """Runs one program; what differs, or an empty string."""
    source = Writer(seed).source()
    scope: dict[str, Any] = {"np": np}
    exec(compile(source, f"<flags {seed}>", "exec"), scope)
    function = scope["f"]
    compiled = jit(function, cache=False)
    for call in range(6):
        args = arguments(seed, call)
        counts["calls"] += 1
        before = left(compiled)
        want = oracle.observe(function, *copy.deepcopy(args))
        text = oracle.difference(oracle.observe(compiled, *args), want, warnings="all")
        if text:
            return f"seed {seed}, call {call}: {text}\n{source}"
        counts["warned"] += bool(want.warned)
        if left(compiled) > before and not want.warned:
            return f"seed {seed}, call {call} left in vain\n{source}"
    counts["refused"] += bool(compiled.explain(*arguments(seed, 0)).refusal)
    return ""


GRAMMAR = Grammar(check=check)
