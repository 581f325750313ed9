"""Random structured programs (`tests.fuzz.control_flow`) that call unknown functions at places."""

from __future__ import annotations

import random
from typing import Any

from tests.fuzz import control_flow
from tests.fuzz.external_calls import worth_the_way
from tests.fuzz.framework import Counts, Grammar, Program, jitted

PROBES = ("probe(k)", "x = probe(y)", "probe(a)", "probe(c)", "i = probe(i)", "c[1] = probe(x)",
          "if probe(m) > 1: k += 1", "probe(k + m * 2)", "y = probe(y) + b[0]", "changed(a)")
SETUP = """
SEEN = []
def probe(value):
    SEEN.append(repr(value))
    return eval("value", {"value": value})
def changed(a):
    a[0] = eval("0.25")
    SEEN.append(repr(a))
"""


def write(seed: int) -> str:
    """A program with loops, and some lines more."""
    rng = random.Random(seed)
    lines = control_flow.write(seed).split("\n")
    for _ in range(rng.randint(1, 3)):
        places = [k for k, line in enumerate(lines) if k > 1 and line.strip()]
        k = rng.choice(places)
        indent = lines[k][: len(lines[k]) - len(lines[k].lstrip())]
        if not lines[k].lstrip().startswith(("else", "elif")):
            lines.insert(k, indent + rng.choice(PROBES))
    return "\n".join(lines)


def program(seed: int) -> Program:
    """The program with two calls of each kind."""
    return Program(
        write(seed), lambda call, space: control_flow.arguments(control_flow.KINDS[call // 2]),
        seed, control_flow.HELPERS + SETUP, calls=2 * len(control_flow.KINDS),
        policy={"nans": True, "warnings": ""})


def note(compiled: Any, program: Program, counts: Counts) -> None:
    """Counts the places where Python is left again, and what was compiled for them."""
    parts = compiled._dispatcher.regions
    if parts is not None:
        counts["places"] += len(parts.continuations)
        counts["regions"] += sum(len(c.versions) for c in parts.continuations.values())


GRAMMAR = Grammar(program, {"compiled": jitted(cache=False)}, setting=worth_the_way, note=note)
