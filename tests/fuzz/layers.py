"""Random programs with objects that keep arrays for later, as layers of networks and simulations.

Attributes, and items of dictionaries and lists, are there before, or a turn of a loop makes them;
arrays have several names, change them, and are written in place; calls end in the middle.  Results,
all attributes in their order, and which names mean one array are compared with plain Python, call
after call on the same objects.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.fuzz.framework import Counts, Grammar, Program, session

CALLS = 9
SPACE = """
class Part:
    kept = None
    def __init__(self, x):
        self.u, self.v, self.n, self.log, self.d = x + 1.0, np.ones(5), 0, [], {"m": x * 2.0}
        self.ws = [x * 0.25, x + 2.0]
    @property
    def first(self):
        if self.kept is None:
            self.kept = self.u * 2.0
        return self.kept
    def again(self, x):
        self.last = x
        return x * 0.5 + self.u
    def step(self):
        self.u = self.u * 0.5 + self.last
        self.n += 1
"""
NAMES = ["a", "b", "x", "y", "p.u", "p.v", "q.u", "q.v", "p.w", "q.w", "p.z", "p.d['m']",
         "q.d['m']", "p.ws[0]", "q.ws[1]", "p.d['n']"]
TARGETS = ["a", "b", "p.u", "p.v", "q.u", "p.w", "q.w", "p.z", "self.v", "self.w", "p.d['m']",
           "q.d['m']", "q.d['n']", "p.ws[-1]", "q.ws[0]", "self.d['m']", "self.ws[0]"]
ARRAYS = ["{o}", "{o}", "{o} * 0.5 + {o}", "{o} + 1.0", "np.maximum({o}, {o})", "{o}.copy()",
          "{o}[::-1]", "p.first", "q.again({o})", "p.forward({o})", "np.zeros(5)"]
STATEMENTS = [
    *["{t} = {e}"] * 6, "{t} = {t2} = {e}", "{t}, {t2} = {t2}, {t}", "{t}, {t2} = {e}, {t}",
    "{t}, {t2} = {t2}, {t}", "{t} += {e}", "{t}[{i} % 5] = {o}[1]", "{t}[1:] = {o}[:-1]",
    "{t} *= 0.5", "p.n += 1", "s += float({o}[0])", "p.log.append(s)", "q.step()",
    "a = q.forward({o})", "b = p.forward(a)", "p.forward({o})",
    "for part in parts:\n{d}    a = part.forward(a)",
    "for part in reversed(parts):\n{d}    b = part.again(b)\n{d}    part.step()",
    "x[{i} % 7] += 1.0", "p.n = 1 // (4 - {i})", "if {o}[0] > 9.0:\n{d}    raise ValueError(s)",
    "if {o}[1] > 2.0:\n{d}    {t} = {e}", "if {i} > k:\n{d}    {t} = {e}",
    "p.d['m'] = {e}", "p.d['n'] = {e}", "if 'n' not in p.d:\n{d}    p.d['n'] = {e}",
    "for key in p.d:\n{d}    q.d[key] = p.d[key] * 0.5 + q.d['m']",
    "for key, v in p.d.items():\n{d}    p.d[key] = v + {o}\n{d}    q.d['m'] = {e}",
    "for k2, v in enumerate(p.ws):\n{d}    q.ws[k2] = v * 0.5 + {o}",
    "for v, u in zip(p.ws, q.ws):\n{d}    p.ws[1] = u * 0.5\n{d}    a = a + v",
    "p.ws[0], p.ws[1] = p.ws[1], p.ws[0]", "p.ws.append({e})", "q.d['c' + str({i} % 2)] = {e}",
    "s += float(sum([v.sum() for v in q.d.values()]))", "p.d.update(m={e})",
    "b = q.d.get('n', {o}) + len(p.d)", "a = p.d.setdefault('n', {e})",
]


def statement(rng: random.Random, indent: str, index: str, names: list[str]) -> str:
    """One statement; ``index`` names a number."""
    targets = [t for t in TARGETS if t.split(".")[0] in names]
    given = [o for o in (*NAMES, "self.v", "self.w", "self.u") if o.split(".")[0] in names]

    def array() -> str:
        text = rng.choice(ARRAYS)
        if "self" in names and ("p." in text.replace("np.", "") or "q." in text):
            text = "{o}"
        while "{o}" in text:
            text = text.replace("{o}", rng.choice(given), 1)
        return text

    while True:
        text = rng.choice(STATEMENTS)
        if "self" not in names or not any(w in text for w in ("p.", "q.", "s ", "(s", "a =", "b =",
                                                              "part", "k:", "x[")):
            break
    while "{e}" in text:
        text = text.replace("{e}", array(), 1)
    return indent + text.format(o=rng.choice(given), t=rng.choice(targets), t2=rng.choice(targets),
                                i=index, d=indent)


def write(seed: int) -> str:
    rng = random.Random(seed)
    lines = ["    def forward(self, x):"]
    lines += [statement(rng, " " * 8, "self.n", ["self", "x"]) for _ in range(rng.randint(1, 2))]
    lines.append(f"        return {rng.choice(['x', 'self.v', 'x * 0.5', 'self.u + x'])}")
    lines.append("def f(p, q, parts, x, y, n, k):")
    names = ["a", "b", "x", "y", "p", "q"]
    lines += ["    a, b, s = x * 0.5, y, 0.0"]
    lines += [statement(rng, " " * 4, "k", names) for _ in range(rng.randint(0, 2))]
    lines.append(rng.choice(["    for i in range(n):"] * 4 + ["    for i in range(1, n, 2):"]))
    lines += [statement(rng, " " * 8, "i", names) for _ in range(rng.randint(2, 4))]
    if rng.random() < 0.2:
        lines += [f"        if {rng.choice(['s', 'a[0]'])} > 5.0:", "            break"]
    lines += [statement(rng, " " * 4, "k", names) for _ in range(rng.randint(0, 1))]
    found = [rng.choice(NAMES) for _ in range(2)]
    lines.append(f"    return s, a, b, {', '.join(found)}")
    return "\n".join(lines) + "\n"


def arguments(part: Callable[[Any], Any], seed: int) -> list[Any]:
    rng = random.Random(seed)
    x, y = np.arange(5.0) / 4, np.arange(5.0)[::-1] * 0.5
    p, q = part(x), part(y)
    match rng.randint(0, 7):
        case 0:
            q = p
        case 1:
            p.u = q.u
        case 2:
            q.u = x
        case 3:
            p.w = p.v
            p.d, q.ws[0] = q.d, p.v
        case 6:
            p.ws = q.ws
            p.d["m"], q.d["n"] = x, p.ws[0]
        case 4:
            p.w, q.w, p.z, q.last = np.ones(5), x, x[::-1], y
        case 5:
            p.w, q.w, p.z = np.ones(5), np.zeros(5), np.arange(5.0)
            p.last, q.last = p.u + 1.0, q.u + 1.0
    return [p, q, [p, q], x, y, 3, rng.randint(0, 4)]


def program(seed: int) -> Program:
    """The program with calls on the same objects, now and then on others."""

    def calls(space: dict[str, Any]) -> Iterator[list[Any]]:
        rng, args = random.Random(seed), arguments(space["Part"], seed)
        for call in range(CALLS):
            yield args
            args[5], args[6] = rng.choice([0, 1, 2, 3, 4, 5, 6]), rng.randint(0, 4)
            if rng.random() < 0.3:
                args = arguments(space["Part"], seed + (call if rng.random() < 0.5 else 0))

    return Program(SPACE + write(seed), session(calls), seed, calls=CALLS, policy={"warnings": ""})


def note(compiled: Any, program: Program, counts: Counts) -> None:
    """Counts programs that never go back to Python."""
    counts["whole" if not compiled.cache_info().fallbacks else "part"] += 1


GRAMMAR = Grammar(program, note=note)
