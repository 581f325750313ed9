"""Random programs that append to lists from outside, compiled and plain.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from tests.fuzz.framework import Grammar, Program

CLASS = """
class Log:
    def __init__(self, kept):
        self.kept, self.other, self.n, self.w = kept, [], 0, np.arange(1.0, 5.0)

    def note(self, value):
        self.kept.append(value)
        self.n += 1

    def last(self):
        return self.kept[-1] if self.kept else 0.0

    def __iter__(self):
        for k in range(len(self.w)):
            yield self.w[k] * 0.5

    def __len__(self):
        return 7

class Items(Log):
    def __iter__(self):
        return iter(self.kept)

class Pairs(Log):
    def __iter__(self):
        for value in self.w:
            yield value, self.n

class Wrong(Log):
    def __iter__(self):
        return self.kept

class Grown(Log):
    def __iter__(self):
        for value in self.kept:
            self.n += 1
            yield value

"""
NUMBERS = ("i", "s", "a[i % 4]", "float(a[k % 4])", "k", "s * 0.5", "a.sum()", "self.n", "i + k",
           "self.w[0]")
OBJECTS = ("a * s", "a.copy()", "(i, s)", "[k, s]", "a[:2]", "a", "self.w", "'word'", "None")
CONDITIONS = ("s > 2", "i % 2", "a[i % 4] > 0.5", "k < 3", "self.n > 2", "len(p) > 2", "q",
              "p is q", "self.kept")
OTHERS = (
    "s = s * 0.5 + a[i % 4]", "k += 1", "self.w[i % 4] += s", "a[k % 4] = s", "self.n += 1",
    "s += len(p)", "s = p[-1] if p else s", "for v in p[:2]: s += 1", "s += sum(1 for _ in q)",
    "if k == 5: raise ValueError(k)", "s = a[k]", "s = 1.0 / (a[i % 4] - a[0])", "print(k, s)",
    "p = self.other", "q = p", "self.kept = q", "self.other = []", "k = self.kept is q",
    "if k > 4: break", "s = self.last() * 1.0", "p.extend(a)", "q.extend([k, s])", "p += [s]",
    "if len(p) < 40: p.extend(q)", "p.pop()", "q.clear()", "p.insert(0, k)",
    "s = np.log(a[i % 4] - 0.5)",
    "for u in q:\n{i}    p.append(k)\n{i}    if len(p) > 20: break",
    "for u in (v for v in q):\n{i}    k += 1\n{i}    if k < 9: q.append(k)",
    "for u in self:\n{i}    s = s * 0.5 + u", "for k, u in enumerate(self): p.append(u)",
    "for u in self:\n{i}    self.w[k % 4] += 1\n{i}    k += 1", "s = sum(v for v in self)",
    "for u in self:\n{i}    self.n += 1\n{i}    k += 1\n{i}    if k > 9: return k",
    "for u in self:\n{i}    if len(p) < 9: self.kept.append(k)", "s = max(self)", "k = len(self)",
    "s = list(self)[0]", "k = 0.5 in self", "s, k = self", "it = [u for u in self]",
    "for u in a.flat:\n{i}    a[k % 4] += s\n{i}    s = s * 0.5 + u", "s = self.w.flat[k]",
    "self.w.flat[::2] = s", "a.flat[k] += s", "s = sum(a.flat)", "a.flat[k - 3] = k * 0.5",
    "it = iter(p)", "s += sum(1 for _ in it)",
)


def block(rng: random.Random, depth: int, indent: str) -> list[str]:
    lines = []
    for _ in range(rng.randint(1, 3)):
        roll = rng.random()
        if depth < 3 and roll < 0.2:
            lines.append(f"{indent}if {rng.choice(CONDITIONS)}:")
            lines += block(rng, depth + 1, indent + "    ")
            if rng.random() < 0.4:
                lines += [f"{indent}else:", *block(rng, depth + 1, indent + "    ")]
        elif depth < 3 and roll < 0.4:
            head = rng.choice(("for i in range(n):", "for i in range(3):", "for s in a:",
                               "for i, s in enumerate(a):"))
            lines += [indent + head, *block(rng, depth + 1, indent + "    ")]
        elif roll < 0.8:
            value = rng.choice(NUMBERS) if rng.random() < 0.8 else rng.choice(OBJECTS)
            target = rng.choice(("p.append", "p.append", "q.append", "self.kept.append",
                                 "self.note", "self.other.append"))
            lines.append(f"{indent}{target}({value})")
        else:
            lines.append(indent + rng.choice(OTHERS).format(i=indent))
    return lines


def write(seed: int) -> str:
    """The program with a number."""
    rng = random.Random(seed)
    body = [line.replace("break", "return s") for line in block(rng, 0, "    ")]
    lines = ["def f(self, p, q, a, n):", "    i = k = 0; s = a[0]; it = ()", *body,
             f"    return s, k, {rng.choice(('p', 'q', 'self.kept', 'a', 'len(p)', 'p is q'))}"]
    return "\n".join(lines) + "\n"


def arguments(space: dict[str, Any], seed: int) -> list[tuple[Any, ...]]:
    """Arguments of calls, some of which share lists."""
    rng = np.random.default_rng(seed)
    found: list[tuple[Any, ...]] = []
    for k, n in enumerate((3, 3, 0, 2, 4)):
        p: list[Any] = [0.5] * (k % 3)
        q = p if (seed + k) % 4 == 3 else [1, 2]
        kind = ("Log", "Log", "Log", "Items", "Pairs", "Wrong", "Grown")[seed % 7]
        log = space[kind](q if (seed + k) % 5 == 4 else [])
        found.append((log, p, q, rng.random(4).round(1), n))
    return found


def program(seed: int) -> Program:
    """The program with its calls."""
    return Program(
        write(seed), lambda call, space: arguments(space, seed)[call], seed, CLASS, calls=5)


GRAMMAR = Grammar(program)
