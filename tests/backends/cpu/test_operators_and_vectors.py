"""The same bits of every operator of floats, from the table: with vectors of either width, one
lane at a time; as Triton code in ``test_gpu_operators``."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest

import npcompile
from npcompile.ops.elementwise import ELEMENTWISE
from npcompile.ops.record import OPERATORS, Domain, Op
from tests.support.oracle import bits

LIBRARIES = ("numpy", "scipy.special", "scipy.special._ufuncs")
POINTS = 150
GROUP = 6  # functions that are compiled together


def operands(op: Op, char: str) -> int:
    """How many floats of this kind the operator takes; 0 if it has no such loop."""
    for loop in op.signatures.split():
        taken, _, given = loop.partition("->")
        if taken == char * len(taken) and len(given) == 1:
            return len(taken)
    return 0


def names(char: str) -> list[str]:
    """Operators that a function of a library stands for, in the table's order; float32 only
    where it is not computed in float64."""
    return [name for name, op in sorted(OPERATORS.items())
            if op.kind is ELEMENTWISE and operands(op, char) and any(map(path, op.aliases))
            and (char == "d" or "e" in op.ulp)]


def path(alias: str) -> str:
    """``library.function`` of an alias that can be called."""
    library, _, name = alias.partition(":")
    return f"{library}.{name}" if library in LIBRARIES and "." not in name else ""


@cache
def points(name: str, char: str) -> tuple[np.ndarray, ...]:
    """Random ones of each operand's domain, near and far from 0, and special ones in all
    combinations."""
    op = OPERATORS[name]
    count = operands(op, char)
    rng = np.random.default_rng([len(name), ord(char)])
    domains = op.domains or (Domain(),) * count
    found = []
    with np.errstate(over="ignore"):
        for k in range(count):
            domain = domains[min(k, len(domains) - 1)]
            x = rng.uniform(max(domain.low, -1e3), min(domain.high, 1e3), POINTS)
            x[::3] *= 10.0 ** rng.integers(-8, 1, x[::3].size)
            if domain.high > 1e8:
                x[1::3] *= 10.0 ** rng.integers(0, 37 if char == "f" else 290, x[1::3].size)
            found.append(x.astype(char))
    edges = np.array([0.0, -0.0, 1.0, -1.0, 0.75, np.inf, -np.inf, np.nan], char)
    crossed = np.meshgrid(*[edges] * count) if count < 3 else [edges] * count
    return tuple(np.append(x, e.ravel()) for x, e in zip(found, crossed, strict=True))


def groups(char: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    for count in (1, 2, 3, 4):
        chosen = [name for name in names(char) if operands(OPERATORS[name], char) == count]
        for first in range(0, len(chosen), GROUP):
            yield count, tuple(chosen[first : first + GROUP])


def calls(count: int, chosen: Sequence[str], place: str) -> tuple[list[str], dict[str, Any]]:
    """Expressions that call each function with operands of its own."""
    space = {"numpy": np, "scipy": importlib.import_module("scipy"),
             "special": importlib.import_module("scipy.special")}
    texts = []
    for at, name in enumerate(chosen):
        given = ", ".join(f"{'xyzw'[k]}{at}{place}" for k in range(count))
        texts.append(f"{next(filter(None, map(path, OPERATORS[name].aliases)))}({given})")
    return texts, space


def parameters(count: int, chosen: Sequence[str]) -> list[str]:
    return [f"{'xyzw'[k]}{at}" for at in range(len(chosen)) for k in range(count)]


def given(count: int, chosen: Sequence[str], char: str) -> list[np.ndarray]:
    return [x for name in chosen for x in points(name, char)[:count]]


@cache
def by_vectors(count: int, chosen: tuple[str, ...], char: str) -> tuple[np.ndarray, ...]:
    texts, space = calls(count, chosen, "")
    exec(f"def f({', '.join(parameters(count, chosen))}):\n    return {', '.join(texts)},", space)
    with np.errstate(all="ignore"):
        return npcompile.jit(space["f"])(*given(count, chosen, char))


def one_by_one(count: int, chosen: Sequence[str], like: tuple[np.ndarray, ...],
               char: str) -> tuple[np.ndarray, ...]:
    """The same by a loop over scalars."""
    texts, space = calls(count, chosen, "[i]")
    outs = [np.zeros_like(x) for x in like]
    lines = [f"def f({', '.join(parameters(count, chosen))}, n, outs):"]
    lines += [f"    o{k} = outs[{k}]" for k in range(len(chosen))]
    lines += ["    for i in range(n):"]
    lines += [f"        if i < o{k}.size: o{k}[i] = {text}" for k, text in enumerate(texts)]
    exec("\n".join(lines), space)
    most = max(x.size for x in like)
    with np.errstate(all="ignore"):
        npcompile.jit(space["f"])(*given(count, chosen, char), most, tuple(outs))
    return tuple(outs)


def digests() -> dict[str, str]:
    return {f"{name}.{char}": hashlib.sha256(bits(x)).hexdigest()
            for char in "df" for count, chosen in groups(char)
            for name, x in zip(chosen, by_vectors(count, chosen, char), strict=True)}


@pytest.mark.parametrize("char", "df")
def test_one_lane(char: str) -> None:
    for count, chosen in groups(char):
        wide = by_vectors(count, chosen, char)
        for name, a, b in zip(chosen, wide, one_by_one(count, chosen, wide, char), strict=True):
            assert bits(a) == bits(b), (name, char)


def test_vector_width() -> None:
    """Another process, because the width is chosen once."""
    code = ("import json, tests.backends.cpu.test_operators_and_vectors as t;"
            " print(json.dumps(t.digests()))")
    environment = {**os.environ, "NPCOMPILE_CPU_CAPABILITY": "avx2"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True,
                          text=True, check=True)
    assert json.loads(done.stdout) == digests()
