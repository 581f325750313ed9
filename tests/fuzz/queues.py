"""Random programs with heaps, queues, sets and dictionaries whose keys the run makes, compiled and
plain.
"""

from __future__ import annotations

import heapq
import random
from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.fuzz.framework import Grammar, Program

#: how a container is made, and numbers of the kind that it holds
INTS = ("i", "k", "int(b[i % 6])", "k * 7 % 11", "i - k", "len({c})")
FLOATS = ("float(a[i % 6])", "s", "s * 0.5")
NUMPYS = ("a[i % 6]", "a[k % 6] * 2.0")
PAIRS = ("(i, k)", "(k % 3, i)", "(int(b[k % 6]), k)")
MIXED = ("(float(a[i % 6]), i)", "(s, k)", "(0.5, k % 3)")
KEYS = (INTS, INTS, INTS, PAIRS, ("b[i % 6]", "b[k % 6]"))
MADE = {
    "heap": (("[]", "[]", "[{v}]"), (INTS, FLOATS, NUMPYS, PAIRS, MIXED)),
    "queue": (("deque()", "deque([{v}])", "deque()", "deque(maxlen=3)", "deque([{v}], 4)"),
              (INTS, FLOATS, NUMPYS, PAIRS, MIXED)),
    "set": (("set()",), KEYS),
    "dict": (("{}", "dict()", "{}", "{1: {v}, 2: {v}}", "defaultdict(int)", "defaultdict(float)"),
             KEYS),
}
CHANGES = {
    "heap": ("heappush({c}, {v})", "heappush({c}, {v})", "heappop({c})", "heapify({c})",
             "if {c}: heappop({c})", "if len({c}) > 2: heapreplace({c}, {v})",
             "heappushpop({c}, {v})", "{c}.append({v})"),
    "queue": ("{c}.append({v})", "{c}.append({v})", "{c}.appendleft({v})", "{c}.pop()",
              "{c}.popleft()", "if {c}: {c}.popleft()", "while len({c}) > 3: {c}.popleft()",
              "{c}.extend([{v}])", "{c}.rotate(k)", "{c}.rotate()", "{c}.clear()",
              "if len({c}) > 1: {c}[1] = {v}", "if {c}: {c}[-1] = {v}",
              "if {c}: {c}.append({c}.popleft())"),
    "set": ("{c}.add({v})", "{c}.add({v})", "{c}.add({v})", "if {v} not in {c}: {c}.add({v})",
            "k += {v} in {c}", "if {v} in {c}: k += 1", "{c}.discard({v})"),
    "dict": ("{c}[{v}] = {w}", "{c}[{v}] = {w}", "{c}[{v}] = {c}.get({v}, 0) + 1",
             "{c}[{v}] += 1", "k += {v} in {c}", "if {v} not in {c}: {c}[{v}] = {w}",
             "s += {c}.get({v}, 0.5)", "s += {c}[{v}]", "if {v} in {c}: s += {c}[{v}]",
             "{c}.setdefault({v}, {w})", "for u in {c}: k += 1", "del {c}[{v}]",
             "for u, w in {c}.items(): s = s * 0.5 + w", "for w in {c}.values(): s += w",
             "for u in {c}:\n{i}    {c}[{v}] = {w}", "s += sum({c}.values())"),
    "shrinking": (
        "{c}[{v}] = {w}", "{c}[{v}] = {w}", "if {v} in {c}: del {c}[{v}]",
        "{c}[{v}] = {c}.get({v}, 0) + 1", "del {c}[{v}]", "s += {c}.pop({v}, 0.5)",
        "if {v} in {c}: s += {c}.pop({v})", "u = {c}.pop({v}, None)", "k += {c}.pop({v}, 1) > k",
        "if len({c}) > 2: u = {c}.popitem()", "while len({c}) > 3: {c}.popitem()", "{c}.clear()",
        "if {c}:\n{i}    for u in {c}: break\n{i}    del {c}[u]",
        "for u, w in {c}.items(): s = s * 0.5 + w", "for w in {c}.values(): s += w",
        "t = iter({c})\n{i}{q}\n{i}u = list(t)", "t = iter({c}.values())\n{i}{q}\n{i}s += sum(t)",
        "t = {c}.{r}()\n{i}{q}\n{i}u = list(t)", "t = {c}.{r}()\n{i}u = list(t)\n{i}u = len(t)",
        "for u in {c}.{r}():\n{i}    {q}", "for u in {c}:\n{i}    {q}\n{i}    break",
        "for u in list({c}):\n{i}    {q}", "k += len({c})", "{c}.setdefault({v}, {w})",
        "for i in range(k % 40):\n{i}    {c}[i * 7] = {w}",
        "for i in range(n):\n{i}    if {v} in {c}: del {c}[{v}]"),
}
LOOKS = {
    "heap": ("if {c}: u = {c}[0]", "k += len({c})", "while {c}:\n{i}    u = heappop({c})",
             "if {c} and {c}[0] < {v}: k += 1"),
    "queue": ("if {c}: u = {c}[0]", "if {c}: u = {c}[-1]", "k += len({c})", "u = {c}[k % 3]",
              "while {c}:\n{i}    u = {c}.popleft()", "u = list({c})", "u = sorted({c})",
              "for w in {c}: k += 1", "k += {v} in {c}"),
    "set": ("k += len({c})", "if {c}: k += 2", "for u in {c}: k += 1", "u = sorted({c})"),
    "dict": ("k += len({c})", "if {c}: k += 2", "u = list({c})", "u = max({c}.values(), default=1)",
             "u = sorted({c})", "u = list({c}.items())"),
}
MADE["shrinking"], LOOKS["shrinking"] = MADE["dict"], LOOKS["dict"]
#: changes of a dictionary behind an iterator
BEHIND = ("{c}[{v}] = {w}", "{c}.pop({v}, 0)", "if {v} in {c}: {c}[{v}] = {w}", "s += len({c})")
OTHERS = (
    "k += 1", "s = s * 0.5 + a[k % 6]", "out[k % 6] += 1", "s = float(out[i % 6])", "s = a[k]",
    "if k > 30: break", "if s > 2: continue", "print(k)", "out[i % 6] = s", "u = i",
)
CONDITIONS = ("s > 1", "k % 2", "a[i % 6] > 0.5", "k < 9", "i % 3 == 1")


@dataclass
class Writer:
    """Writes one program, statement by statement."""

    rng: random.Random
    lines: list[str] = field(default_factory=list)
    kinds: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    def value(self, kinds: tuple[str, ...], name: str) -> str:
        return self.rng.choice(kinds).replace("{c}", name)

    def filled(self, text: str, which: int, indent: str) -> str:
        name = f"c{which}"
        text = text.replace("{q}", self.rng.choice(BEHIND))
        text = text.replace("{r}", self.rng.choice(("keys", "values", "items")))
        _, values = self.kinds[which]
        while "{v}" in text:
            text = text.replace("{v}", self.value(values, name), 1)
        pair = text.replace("{w}", self.rng.choice(("i", "k", "1", "s", "k * 2", "0.5")))
        return indent + pair.replace("{c}", name).replace("{i}", indent)

    def block(self, depth: int, indent: str, inside: bool) -> None:
        for _ in range(self.rng.randint(1, 4)):
            roll, which = self.rng.random(), self.rng.randrange(len(self.kinds))
            kind = self.kinds[which][0]
            if depth < 3 and roll < 0.15:
                self.lines.append(f"{indent}if {self.rng.choice(CONDITIONS)}:")
                self.block(depth + 1, indent + "    ", inside)
            elif depth < 2 and roll < 0.4:
                head = self.rng.choice(("for i in range(n):", "for i in range(n):",
                                        "for s in a.tolist():", "while k < n:"))
                self.lines.append(indent + head)
                self.lines.append(f"{indent}    k += 1")
                self.block(depth + 1, indent + "    ", True)
            elif roll < 0.8:
                text = self.rng.choice(CHANGES[kind])
                self.lines.append(self.filled(text, which, indent))
            elif roll < 0.9:
                self.lines.append(self.filled(self.rng.choice(LOOKS[kind]), which, indent))
            else:
                text = self.rng.choice(OTHERS)
                if not inside:
                    text = text.replace("break", "return k").replace("continue", "return s")
                self.lines.append(indent + text)


def write(seed: int) -> str:
    """The program with a number."""
    rng = random.Random(seed)
    writer = Writer(rng)
    made = []
    for _ in range(rng.randint(1, 2)):
        kind = rng.choice(tuple(MADE))
        ways, values = MADE[kind]
        writer.kinds.append((kind, rng.choice(values)))
        made.append(rng.choice(ways))
    for which, way in enumerate(made):
        text = f"c{which} = {way}".replace("len({c})", "3")
        line = writer.filled(text, which, "    ").replace(f"len(c{which})", "3")
        writer.lines.append(line)
    writer.block(0, "    ", False)
    names = [f"c{k}" for k in range(len(made))]
    shown = rng.choice((", ".join(names), f"len({names[0]})", "u"))
    lines = ["def f(a, b, out, n):", "    i = k = 0; s = 0.5; u = 0", *writer.lines,
             f"    return s, k, {shown}"]
    return "\n".join(lines) + "\n"


def arguments(seed: int) -> list[tuple[Any, ...]]:
    """Arguments of calls."""
    rng = np.random.default_rng(seed)
    found = []
    for n in (5, 5, 0, 1, 40, 9):
        a = rng.random(6).round(1)
        if rng.random() < 0.15:
            a[rng.integers(6)] = np.nan
        found.append((a, rng.integers(-3, 9, 6), np.zeros(6), n))
    return found


def program(seed: int) -> Program:
    """The program with its calls."""
    space = {"deque": deque, "defaultdict": defaultdict,
             **{name: getattr(heapq, name) for name in heapq.__all__}}
    return Program(write(seed), lambda call, space: arguments(seed)[call], seed, space=space,
                   calls=6)


GRAMMAR = Grammar(program)
