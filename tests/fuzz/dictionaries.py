"""Random programs that take items out of dictionaries, their own and external ones, and put others
in, enter contexts of users' classes and go through small sets, compiled and plain.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from tests.fuzz.framework import Grammar, Program

CLASS = """
from contextlib import nullcontext
from operator import attrgetter, itemgetter, methodcaller

class Timer:
    def __init__(self):
        self.n, self.log = 0, {}

    def __enter__(self):
        self.n += 1
        return self

    def __exit__(self, kind, value, trace):
        self.n += 10 if kind is None else 100
        return kind is KeyError

class Guard(Timer):
    def __enter__(self):
        self.old = self.log.get('a', 0)
        self.log['a'] = 5
        return self.n

    def __exit__(self, *rest):
        self.log['a'] = self.old

class Both:
    def __init__(self, d):
        self.d = d

    def __enter__(self):
        return self.d.pop('b', 4)

    def __exit__(self, *rest):
        self.d['z'] = len(rest)

"""
KEYS = ("'a'", "'a'", "'b'", "'c'", "1", "'z'")
NUMBERS = ("s", "k", "x[k]", "x.sum()", "len({d})", "{d}.get({k}, 2)", "i", "0.5", "t.n")
CONDITIONS = ("{k} in {d}", "k > 1", "x[0] > 0.5", "{d}", "len({d}) > 2", "s > 3", "d is e",
              "{d}.get({k}) is None", "list({d})[0] == {k}", "x[k] > s")
STATEMENTS = (
    "del {d}[{k}]", "s += {d}.pop({k}, {n})", "s = {d}.pop({k})", "{d}.pop({k}, None)",
    "if {k} in {d}: del {d}[{k}]", "{d}[{k}] = {n}", "{d}[{k}] = x * {n}",
    "r.append({d}.popitem())", "r.append(list({d}))", "r.append(len({d}))", "r.append({k} in {d})",
    "if {k} in {d}: s = {d}.pop({k})", "if {k} in {d}: r.append({d}.pop({k}))",
    "x[k] = s", "x *= 0.5", "s = s + x[k]", "x[1:] = s", "y = x + s\n{i}r.append(y)",
    "r += {d}.items()", "s = s * 0.5 + sum(j == {k} for j in {d})",
    "for u in list({d}):\n{i}    if u != {k}: del {d}[u]",
    "for u in {d}:\n{i}    r.append({d}.pop(u, 0))\n{i}    break",
    "for u in {d}:\n{i}    if u == {k}: {d}.pop(u)",
    "for u, v in list({d}.items()):\n{i}    r.append((u, {d}.pop(u)))",
    "w = {d}.keys()\n{i}{d}.pop({k}, 0)\n{i}r.append(list(w))",
    "w = (len({d}) + j for j in range(2))\n{i}{d}.pop({k}, 0)\n{i}r += w",
    "{d}.setdefault({k}, {n})", "{d}.update(a={n})", "x[k] = {n}", "x += {n}", "k = len({d}) % 3",
    "o.log.pop({k}, 0)", "o.__dict__.pop('old', 0)", "{d}, h = h, {d}", "h = dict({d})",
    "v = {d}.get({k})\n{i}{d}.pop({k}, 0)\n{i}r.append(v)",
    "h = h | {d}", "h |= {d}", "d |= h", "e |= {{'b': {n}}}", "r.append({d} | {{{k}: {n}}})",
    "o.log |= {{{k}: {n}}}", "h = {d} | e",
    "s = itemgetter({k})({d})", "r.append(itemgetter({k}, 'a')({d}))",
    "w = itemgetter({k}) if {c} else itemgetter('a')\n{i}r.append(w({d}))",
    "r.append(attrgetter('n')(t))", "r.append(methodcaller('get', {k}, {n})({d}))",
    "for j in {s}: s = s * 0.5 + j * x[k]", "r += [j * k for j in {s}]",
    "for j in {s}:\n{i}    if {c}: break\n{i}    s += j",
)
SETS = ("{{3, 1, 2}}", "{{2, 4}}", "{{0, 1, 2}}", "{{6, 1}}", "{{0, 7, 5}}",
        "{{1, 8}}", "{{5}}", "{{1.5}}", "{{1, 2, 3, 4, 5, 20}}", "{{True, 0, 3}}", "{{1, 1.0}}")
CONTEXTS = ("t", "t as u", "Timer() as u", "Guard() as u", "o", "Both({d}) as u", "t, o as u",
            "np.errstate(all='ignore')",
            "nullcontext(k) as u", "nullcontext({d}) as u", "nullcontext(), t as u")


def filled(rng: random.Random, text: str, indent: str) -> str:
    """A rule with its parts chosen."""
    while "{" in text.replace("{{", ""):
        before = text
        for name, options in (("{c}", CONDITIONS), ("{n}", NUMBERS), ("{k}", KEYS),
                              ("{d}", ("d", "d", "d", "d", "h", "h", "e", "G")), ("{s}", SETS)):
            while name in text:
                text = text.replace(name, rng.choice(options), 1)
        text = text.replace("{i}", indent)
        if text == before:
            break
    return text.replace("{{", "{").replace("}}", "}")


def block(rng: random.Random, depth: int, indent: str) -> list[str]:
    lines = []
    inner = indent + "    "
    for _ in range(rng.randint(1, 3)):
        roll = rng.random()
        if depth < 3 and roll < 0.12:
            lines.append(filled(rng, f"{indent}if {rng.choice(CONDITIONS)}:", indent))
            lines += block(rng, depth + 1, inner)
        elif depth < 3 and roll < 0.22:
            head = rng.choice(("for i in range(n):", "for i in range(2):", "for i in (1, 2):"))
            lines += [indent + head, *block(rng, depth + 1, inner)]
        elif depth < 3 and roll < 0.4:
            lines.append(filled(rng, f"{indent}with {rng.choice(CONTEXTS)}:", indent))
            lines += block(rng, depth + 1, inner)
            if rng.random() < 0.3:
                lines.append(filled(rng, inner + rng.choice((
                    "if {c}: raise KeyError", "if {c}: raise ValueError", "if {c}: return s, r",
                    "s = x[k + 3]", "if {c}: x[k + n] = 2",
                )), inner))
        else:
            lines.append(filled(rng, indent + rng.choice(STATEMENTS), indent))
    return lines


def write(seed: int) -> str:
    """The program with a number."""
    rng = random.Random(seed)
    lines = ["G = {'a': 1.5, 'b': 2}", "def f(d, e, o, x, n):",
             "    s = 0.5; k = 1; r = []; i = 0; u = v = w = None; t = Timer()",
             "    h = {'a': 1, 'c': x[0], 1: 2.5}", *block(rng, 0, "    "),
             "    return s, k, r, h, t.n, x"]
    return "\n".join(lines) + "\n"


def arguments(space: dict[str, Any], seed: int) -> list[tuple[Any, ...]]:
    """Arguments of calls, some of which share dictionaries."""
    rng = np.random.default_rng(seed)
    found: list[tuple[Any, ...]] = []
    for call, n in enumerate((2, 2, 0, 3, 2)):
        d: dict[Any, Any] = {"a": 1.0, "b": 2, "c": rng.random(4).round(1), 1: 3}
        if call % 3 == 2:
            del d["b"]
        e = d if (seed + call) % 5 == 3 else {"b": 0.5, "a": 4}
        held = space[("Timer", "Guard", "Timer")[seed % 3]]()
        if (seed + call) % 4 == 1:
            held.log = d
        found.append((d, e, held, rng.random(4).round(1), n))
    return found


def program(seed: int) -> Program:
    """The program with its calls."""
    return Program(
        write(seed), lambda call, space: arguments(space, seed)[call], seed, CLASS, calls=5)


GRAMMAR = Grammar(program)
