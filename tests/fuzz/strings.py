"""Random programs that look into strings and bytes beside arrays, compiled and plain.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.fuzz.framework import Grammar, Program

#: what one call after the other gets; the last ones are no plain strings
STRINGS: tuple[tuple[Any, Any], ...] = (
    ("GATTACA", "ACCGT"), ("ACGTACGT", "TTAGGA"), ("", "A"), ("A", ""), ("CAT", "CAT"), ("", ""),
    ("a\U0001f600b", "\ud800\udc00x"), ("\x00AB\x00", "7\u0663a9Z"), ("AAAAAAAAAAAAAAAA", "CG"),
    (b"GATTACA", b"\x00\xffAC"), (np.str_("ACG"), "GCA"), (bytearray(b"ACG"), b"GC"),
    (["A", "C"], "AC"), (("A", "G"), ("A",)),
)
CONSTANTS = '''
CODES = {"A": 0, "C": 1, "G": 2, "T": 3}
PAIRED = {"A": "T", "C": "G", "G": "C", "T": "A"}
SCORES = {"A": 0.5, "C": 0.25, "G": 2.0, "T": -1.0, "AC": 7.0}
WEIGHTS = {65: 3, 67: 5, 1: 8, 0: 2}
LETTERS = "ACGT"
'''


@dataclass
class Writer:
    """Writes one program, statement by statement."""

    rng: random.Random
    lines: list[str] = field(default_factory=list)

    def pick(self, *options: str) -> str:
        return self.rng.choice(options)

    def index(self) -> str:
        return self.pick("i", "i", "j", "i - 1", "-1", "0", "k", "k % 5", "len(t) - 1 - i", "-k")

    def letter(self) -> str:
        return self.pick(
            "c", "c", "d", f"s[{self.index()}]", f"t[{self.index()}]", "'A'", "LETTERS[k % 4]",
            "PAIRED[c]", "PAIRED.get(c, c)", "PAIRED.get(d, 'N')",
        )

    def test(self) -> str:
        a, b = self.letter(), self.letter()
        return self.pick(
            f"{a} == {b}", f"{a} == {b}", f"{a} != {b}", f"{a} < {b}", f"{a} in 'ACG'",
            f"{a} in ('A', 'C')", f"{a} in CODES", f"{a} not in t", f"'A' <= {a} <= 'Z'",
            "s[i:j] == t[:2]", "s[i:] != t[j:]", f"{a} == 'AC'", "s == t", "t", "not s", "k > 3",
            "c == 65", "k in WEIGHTS", f"{a} in {{'G', 'T', 'x'}}", f"{a}",
        )

    def number(self) -> str:
        a = self.letter()
        return self.pick(
            f"ord({a})", f"CODES[{a}]", f"CODES.get({a}, -1)", f"SCORES[{a}]", "len(s)",
            "len(t[i:])", "WEIGHTS.get(k, 1)", "WEIGHTS[k % 2]", f"int({a})", "x[i % 4]",
            f"SCORES.get({a}, 0.0)", f"len({a})", f"n[{a}]", "k", f"({self.test()}) + 1",
        )

    def statement(self, depth: int, indent: str) -> None:
        roll = self.rng.random()
        add = self.lines.append
        if roll < 0.3 and depth < 4:
            add(f"{indent}if {self.test()}:")
            self.block(depth + 1, indent + "    ")
            if self.rng.random() < 0.4:
                add(f"{indent}else:")
                self.block(depth + 1, indent + "    ")
        elif roll < 0.45 and depth < 3:
            head = self.pick(
                "for d in t:", "for j, d in enumerate(t):", "for c, d in zip(s, t):",
                "for j in range(len(t)):", "for d in reversed(t):", "for c in s[1:]:",
                "for j in range(1, len(s)):", "for d in LETTERS:", "for d, y in zip(t, x):",
            )
            add(f"{indent}{head}")
            self.block(depth + 1, indent + "    ")
            if self.rng.random() < 0.2:
                add(f"{indent}    if {self.test()}: break")
        else:
            add(indent + self.pick(
                f"k = (k + {self.number()}) % 1000", f"y = y * 0.5 + {self.number()}",
                f"x[{self.pick('i % 4', 'k % 5', '0')}] = {self.number()}", "k += 1",
                f"c = {self.letter()}", f"d = {self.letter()}", f"n[{self.letter()}] += 1",
                f"z = {self.number()}", "t = t[1:]", "s, t = t, s", "k = sum(c == d for d in t)",
                f"assert {self.test()}", f"if {self.test()}: return c, k",
                "k = sum(map(ord, t)) % 999", f"p = {self.letter()}", "c = p",
                "print(c, k)", f"if {self.test()}: print(d)",
            ))

    def block(self, depth: int, indent: str) -> None:
        for _ in range(self.rng.randint(1, 3)):
            self.statement(depth, indent)


def write(seed: int) -> str:
    """The program with a number."""
    writer = Writer(random.Random(seed))
    writer.lines += [
        "def f(s, t, x):",
        "    i = j = k = 0; y = z = 0.5; c = d = p = 'A'",
        "    n = {'A': 0, 'C': 1, 'G': 0, 'T': 0, 'N': 5}",
        writer.pick("    for i, c in enumerate(s):", "    for c in s:",
                    "    for i in range(len(s)):", "    for i, (c, d) in enumerate(zip(s, t)):"),
    ]
    writer.block(1, " " * 8)
    writer.block(0, "    ")
    writer.lines.append(f"    return {writer.pick('c', 't', 's', 's[1:]', 'n', 'd')}, k, y, z, x")
    return "\n".join(writer.lines) + "\n"


def arguments(seed: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng(seed)
    return [(s, t, rng.random(4).round(2)) for s, t in STRINGS]


def program(seed: int) -> Program:
    """The program with its calls."""
    return Program(write(seed), lambda call, space: arguments(seed)[call], seed, CONSTANTS,
                   calls=len(STRINGS))


GRAMMAR = Grammar(program)
