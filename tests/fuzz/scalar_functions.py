"""Random functions of numbers, as ufuncs, as C functions and called by compiled functions.

``python -m tests.fuzz scalar_functions SEED COUNT``.
"""

from __future__ import annotations

import math
import random
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from npcompile import cfunc, jit, vectorize
from tests.fuzz.framework import Counts, Grammar
from tests.support.oracle import observe, unlike

#: what a function may compute from two numbers; the same in every library that is correctly rounded
FLOATS = ["{a} + {b}", "{a} - {b}", "{a} * {b}", "{a} / {b}", "abs({a})", "-{a}", "min({a}, {b})",
          "max({a}, {b})", "math.sqrt(abs({a}))", "np.floor({a})", "{a} ** 2",
          "float(int({a}) % 7)",
          "np.maximum({a}, {b})", "{a} if {a} < {b} else {b}", "{a} + 1", "2.5 * {a}",
          "np.sqrt({a})", "{a} % {b}", "{a} // {b}", "round({a})"]
INTEGERS = ["{a} + {b}", "{a} - {b}", "{a} * {b}", "{a} // {b}", "{a} % {b}", "{a} & {b}",
            "{a} ^ {b}", "{a} | {b}", "{a} << 2", "{a} >> 1", "abs({a})", "-{a}",
            "min({a}, {b})", "~{a}", "max({a}, 3)", "{a} if {a} < {b} else {b}"]
TESTS = ["{a} < {b}", "{a} >= 0.5", "{a} == {b}", "not {a} > 1", "{a} < {b} and {b} < 2"]
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e300, -1e300, 1e-310, math.inf, -math.inf, math.nan]


class Text:
    """A random function of ``x`` and ``y``."""

    def __init__(self, rng: random.Random, operations: list[str]) -> None:
        self.rng, self.operations, self.names = rng, operations, ["x", "y"]
        self.lines: list[str] = []
        self.block("    ", 2)
        self.lines.append(f"    return {self.one()}")
        self.text = "def f(x, y):\n" + "\n".join(self.lines) + "\n"

    def one(self) -> str:
        return self.rng.choice(self.names)

    def value(self) -> str:
        return self.rng.choice(self.operations).format(a=self.one(), b=self.one())

    def block(self, indent: str, depth: int) -> None:
        for _ in range(self.rng.randint(1, 3)):
            kind = self.rng.random()
            if depth and kind < 0.25:
                test = self.rng.choice(TESTS).format(a=self.one(), b=self.one())
                self.lines.append(f"{indent}if {test}:")
                self.inner(indent, depth)
                if self.rng.random() < 0.5:
                    self.lines.append(f"{indent}else:")
                    self.inner(indent, depth)
            elif depth and kind < 0.35:
                self.lines.append(f"{indent}for k in range({self.rng.randint(1, 4)}):")
                self.inner(indent, depth)
            elif depth and kind < 0.42:
                test = self.rng.choice(TESTS).format(a=self.one(), b=self.one())
                self.lines.append(f"{indent}if {test}:")
                self.lines.append(f"{indent}    return {self.value()}")
            else:
                name = self.rng.choice([*self.names, f"t{len(self.names)}"])
                self.lines.append(f"{indent}{name} = {self.value()}")
                if name not in self.names and indent == "    ":
                    self.names.append(name)

    def inner(self, indent: str, depth: int) -> None:
        known = list(self.names)
        self.lines.append(f"{indent}    {self.one()} = {self.value()}")
        self.block(indent + "    ", depth - 1)
        self.names = known


def made(text: str) -> Callable[..., Any]:
    scope: dict[str, Any] = {"math": math, "np": np}
    exec(text, scope)
    found: Callable[..., Any] = scope["f"]
    return found


def operands(rng: random.Random, dtype: type, count: int) -> list[Any]:
    if dtype is float:
        return [rng.choice(EDGES) if rng.random() < 0.2 else rng.uniform(-4, 4)
                for _ in range(count)]
    return [rng.choice([rng.randint(-9, 9), rng.randint(-2**62, 2**62)]) for _ in range(count)]


def by_elements(f: Callable[..., Any], x: np.ndarray, y: np.ndarray) -> Any:
    """The plain function's results, or the class of what it raises."""
    try:
        return np.array([f(a, b) for a, b in zip(x, y)])
    except Exception as error:
        return type(error)


def attempt(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:
        return type(error)


def equal(got: Any, wanted: Any) -> bool:
    if isinstance(got, type) or isinstance(wanted, type):
        return got is wanted
    wanted = np.asarray(wanted)
    return bool(np.array_equal(got, wanted, equal_nan=wanted.dtype != object))


def run(seed: int) -> str | None:
    """One random function; what differs, or None."""
    rng = random.Random(seed)
    dtype = rng.choice([float, float, int])
    text = Text(rng, FLOATS if dtype is float else INTEGERS).text
    f = made(text)
    x, y = (np.array(operands(rng, dtype, 24)) for _ in "xy")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        wanted, u = by_elements(f, x, y), vectorize(f)
        for a, b in ((x, y), (x[::-1], y[::-1])):
            expected = wanted if a is x or isinstance(wanted, type) else wanted[::-1]
            got = attempt(lambda a=a, b=b: u(a, b))
            if isinstance(expected, type) and a is not x:
                expected = by_elements(f, a, b)
            if not equal(got, expected):
                return f"seed {seed}\n{text}vectorize({a!r}, {b!r})\n  {got!r}\n  {expected!r}"
        if dtype is float:
            return _in_c(seed, text, f, x, y)
    return None


def _in_c(seed: int, text: str, f: Any, x: np.ndarray, y: np.ndarray) -> str | None:
    """The same numbers through the C function; exceptions give NaN."""
    before, sys.unraisablehook = sys.unraisablehook, lambda told: None
    try:
        called = cfunc("float64(float64, float64)")(f).ctypes
        for a, b in zip(x.tolist(), y.tolist()):
            wanted = attempt(lambda a=a, b=b: float(f(a, b)))
            wanted = math.nan if isinstance(wanted, type) else wanted
            got = called(a, b)
            if not (got == wanted or (got != got and wanted != wanted)):
                return f"seed {seed}\n{text}cfunc({a!r}, {b!r})\n  {got!r}\n  {wanted!r}"
    finally:
        sys.unraisablehook = before
    return None


CALLERS = ["u(x, y)", "u(x, {n})", "u({n}, y) + 1", "u(u(x, y), y)", "u(x, y), x * {n}",
           "[u(a, b) for a, b in zip(x, y)]", "u(x[0], y)", "u(x[0], {n})", "u(x[:, None], y[:3])",
           "u(x[::-1], y[::-1])", "u(x, y) if u(x[0], y[0]) > 1 else u(y, x)"]


def in_compiled(seed: int) -> str:
    """A function that calls a ufunc, compiled and plain: all that can be seen."""
    rng = random.Random(seed)
    dtype = rng.choice([float, float, int])
    text = Text(rng, FLOATS if dtype is float else INTEGERS).text
    number = rng.choice([2, -3, 0.5, True, 300, 0, 1e300, "x[1]", "np.float32(2)"])
    line = f"def used(x, y): return {rng.choice(CALLERS).format(n=number)}\n"
    scope: dict[str, Any] = {"np": np, "u": vectorize(made(text))}
    exec(line, scope)
    plain = scope["used"]
    compiled = jit(plain)
    chars = "dddfe" if dtype is float else "llbBi"
    for kind in rng.choice(["", "", rng.choice(chars)]), "":
        with np.errstate(all="ignore"):
            x, y = (np.array(operands(rng, dtype, 6)).astype(kind or dtype) for _ in "xy")
        observe(plain, x.copy(), y.copy())  # a ufunc's first call may warn while it finds its dtype
        told = "" if unlike(plain, plain, x, y) else "lines"
        found = unlike(compiled, plain, x, y, warnings=told)
        if found:
            return f"seed {seed}\n{text}{line}{found}"
    return ""


def check(seed: int, counts: Counts) -> str:
    """Where a function differs, or an empty string."""
    return run(seed) or in_compiled(seed)


GRAMMAR = Grammar(check=check)
