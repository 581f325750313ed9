"""Random programs that name iterators and take items here and there, compiled and plain.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from tests.fuzz.framework import Grammar, Program

SOURCES = (
    "iter(a)", "iter(p)", "iter(range(n + 4))", "enumerate(a)", "zip(a, p)", "reversed(p)",
    "map(abs, a)", "(v * 2 for v in a)", "iter([1.5, s, 2.0, k])", "iter((1, 2, 3, 4))", "iter(it)",
    "iter('abcd')", "iter({1: 2, 3: 4})", "enumerate(it)", "zip(it, it)", "zip(it, a)", "jt",
    "iter(a[a > 0.5])", "iter([v for v in a if v > 0.3])", "np.ndenumerate(a)", "iter(range(5))",
    "islice(a, 3)", "islice(p, 1, n + 3)", "islice(enumerate(a), k, 4)", "islice(count(k), 4)",
    "islice((v * 2 for v in a), 4)", "islice(map(abs, a), 2)", "repeat(s, 3)", "zip(repeat(s), a)",
    "zip(count(), a)", "zip(count(n), repeat(k), p)", "islice(it, 2)",
    "starmap(lambda u, v: u * 2 - v, zip(a, p))", "starmap(max, ((k, n), (2, s), (k, k)))",
    "starmap(lambda u, v: p.append(v) or u, enumerate(a))", "islice(starmap(pow, zip(a, a)), 3)",
)
TAKEN = (
    "k += 1 if next({t}, None) is not None else 0", "w = next({t}, None)", "w = next({t})",
    "r.append(next({t}, -1))", "r += list({t})", "r.append(sum(1 for _ in {t}))",
    "r.append(len(list(zip({t}, (1, 2)))))", "k += any(k > 3 for _ in {t})", "first, *w = {t}",
    "w = [u for u in {t}]", "k += max((k for _ in {t}), default=0)", "w = take({t})",
    "r.append(2 in {t})", "k += 1.5 in {t}", "r.append('b' in {t})",
)
OTHERS = (
    "s = s * 0.5 + a[k % 4]", "k += 1", "print(k, s)", "a[k % 4] += 1", "r.append(k)", "s += k",
    "if k == 7: raise ValueError(k)", "if s > 3: break", "if k > 4: break",
    "if len(p) < 60: p.append(k)",  # which may be what the loop goes through
    "it, jt = jt, it", "jt = it", "if k % 3 == 2: continue", "s = a[k]",
)
CONDITIONS = ("s > 2", "k % 2", "a[k % 4] > 0.5", "k < 3", "it is jt", "n > 2", "len(r) < 3")


def block(rng: random.Random, depth: int, indent: str, inside: bool = False) -> list[str]:
    lines = []
    for _ in range(rng.randint(1, 3)):
        roll, name = rng.random(), rng.choice(("it", "it", "jt"))
        if depth < 3 and roll < 0.35:
            lines += loop(rng, depth, indent, name)
        elif depth < 3 and roll < 0.5:
            lines.append(f"{indent}if {rng.choice(CONDITIONS)}:")
            lines += block(rng, depth + 1, indent + "    ", inside)
            if rng.random() < 0.4:
                lines += [f"{indent}else:", *block(rng, depth + 1, indent + "    ", inside)]
        elif roll < 0.65:
            lines.append(f"{indent}{name} = {rng.choice(SOURCES)}")
        elif roll < 0.8:
            lines.append(indent + rng.choice(TAKEN).format(t=name))
        else:
            text = rng.choice(OTHERS)
            lines.append(indent + (text if inside else text.replace("break", "return s")
                                   .replace("continue", "return k")))
    return lines


def loop(rng: random.Random, depth: int, indent: str, name: str) -> list[str]:
    head = rng.choice((
        f"for w in {name}:", f"for w in {name}:", f"for w in {name}:", f"for w in iter({name}):",
        f"for k, w in enumerate({name}):", f"for w, s in zip({name}, a):", "for s in a:",
        "for k in range(n):", "for k in range(12):", f"for w in [u for u in {name}]:",
    ))
    lines = [indent + head, f"{indent}    k += 1",
             *block(rng, depth + 1, indent + "    ", True)]
    if rng.random() < 0.3:
        lines += [f"{indent}else:", *block(rng, depth + 1, indent + "    ")]
    return lines


def write(seed: int) -> str:
    """The program with a number."""
    rng = random.Random(seed)
    lines = [
        "from itertools import count, islice, repeat, starmap",
        "def take(it):", "    for v in it:", "        return v", "    return 0",
        "def f(a, p, n):", "    k = 0; s = a[0]; w = None; r = []",
        f"    it = {rng.choice(SOURCES[:10])}",
        f"    jt = {rng.choice((*SOURCES[:10], 'it'))}", *block(rng, 0, "    "),
        "    return s, k, r, w if isinstance(w, (int, float)) else 0, list(it)[:5]",
    ]
    return "\n".join(lines) + "\n"


def arguments(seed: int) -> list[tuple[Any, ...]]:
    """Arguments of calls."""
    rng = np.random.default_rng(seed)
    return [(rng.random(m), [0.5, 1.5, 2.5][: m % 4], m - 4) for m in (9, 9, 5, 4, 7)]


def program(seed: int) -> Program:
    """The program with its calls."""
    return Program(write(seed), lambda call, space: arguments(seed)[call], seed, calls=5)


GRAMMAR = Grammar(program)
