"""Random programs whose floating-point warnings come and go: several operations on several lines,
of two files, may raise the same flags; the numbers, the filters of warnings and ``np.errstate``
change from call to call.

The sequence of warnings, with texts, files and lines, what modules remember of warnings that were
shown, exceptions, results and changed arguments must be Python's.  Nobody asks for underflow
here, which elementary functions tell of in other places than NumPy's, nor for a remainder of what
such a function gives: last bits of a divisor make any number of it.
"""

from __future__ import annotations

import logging
import os
import random
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from npcompile import jit
from tests.fuzz.framework import Grammar
from tests.support import oracle

MODES = ("warn", "warn", "ignore", "raise", "call", "log", "print")
ACTIONS = ("default", "always", "ignore", "once", "module", "error")
TEXTS = ("divide", "over", "invalid", ".*scalar", "under")


class Writer:
    """Writes the two modules of a seed: ``f(a, b, x, y, out)`` calls functions of both."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.helpers = [self.function(f"h{k}", "a, b, x, y", 2) for k in range(2)]
        self.local = self.function("g", "a, b, x, y", 2)
        self.main = self.function("f", "a, b, x, y, out", 4, calls=True)

    def pick(self, *options: str) -> str:
        return self.rng.choice(options)

    def function(self, name: str, parameters: str, size: int, calls: bool = False) -> str:
        self.arrays, self.numbers, self.count, self.calls = ["a", "b"], ["x", "y"], 0, calls
        self.lines = [f"def {name}({parameters}):"]
        for _ in range(self.rng.randint(1, size)):
            self.statement("    ", calls)
        results = self.arrays[2:] + self.numbers[2:] or ["a"]
        return "\n".join([*self.lines, f"    return {', '.join(dict.fromkeys(results))}", "\n"])

    def array(self, depth: int = 0) -> str:
        rng = self.rng
        if rng.random() < 0.45 or depth > 1:
            return rng.choice(self.arrays)
        one, other = self.array(depth + 1), self.array(depth + 1)
        if rng.random() < 0.3:
            other = self.number(depth + 1)
        return self.pick(
            f"({one} / {other})", f"({one} / {other})", f"({one} * {other})", f"({one} - {other})",
            f"({one} + {other})", f"np.log({one})", f"np.exp({one})", f"np.sqrt({one})",
            f"({one} * 1e200)", f"np.divide({one}, {other})", f"({one} ** 2)", "(a % x)",
            f"np.reciprocal({one})", f"({one} ** -1)", f"np.power({one}, 3.5)", f"({one} ** 0.5)",
            f"np.where({one} > {other}, {one}, {other})", f"np.add({one}, {other}, where=b > 0, "
            f"out=np.zeros(len(a)))", f"np.abs({one})", "(a // b)",
            f"{one}.astype('f4').astype('f8')", f"np.log1p({one})", f"np.arcsin({one})",
            f"np.float_power({one}, 2.5)", f"np.expm1({one})", f"np.sinh({one})",
            f"np.maximum({one}, {other})", f"np.square({one})", f"np.cumsum({one})",
            "np.mod(b, a)", f"np.sin({one})", f"np.hypot({one}, {other})",
        )

    def number(self, depth: int = 0) -> str:
        rng = self.rng
        if rng.random() < 0.5 or depth > 1:
            return rng.choice(self.numbers)
        one, other = self.number(depth + 1), self.number(depth + 1)
        return self.pick(
            f"({one} / {other})", f"({one} * 1e200)", f"np.sqrt({one})", f"np.log({one})", "a[0]",
            "b[-1]", f"{self.array(depth + 1)}.sum()", f"{self.array(depth + 1)}.mean()",
            f"({one} ** 2)", f"np.divide({one}, {other})", f"({one} - {other})",
            f"{self.array(depth + 1)}.max()", f"({one} ** {other})", "(a[0] / b[0])",
            f"np.exp({one})", f"{self.array(depth + 1)}.std()",
        )

    def statement(self, pad: str, calls: bool, depth: int = 0) -> None:
        rng, roll, add = self.rng, self.rng.random(), self.lines.append
        if depth < 2 and roll < 0.3:
            known = self.arrays[:], self.numbers[:]
            add(pad + self.pick(
                "for k in range(2):", f"if {self.number(1)} > 1:", "if a.size > 4:",
                "for k in range(min(len(a), 3)):", f"if {self.array(1)}.any():",
                "with np.errstate(divide='ignore'):", "with np.errstate(all='ignore'):",
                "with np.errstate(over='raise'):", "with np.errstate(invalid='warn'):"))
            for _ in range(rng.randint(1, 2)):
                self.statement(pad + "    ", calls, depth + 1)
            self.arrays, self.numbers = known
        elif calls and roll < 0.45:
            name = self.pick("g", "h0", "h1")
            arguments = f"{self.array(1)}, {self.array(1)}, {self.number(1)}, {self.number(1)}"
            add(f"{pad}{name}({arguments})")
        elif calls and roll < 0.6:
            add(pad + self.pick(
                f"out[:] = {self.array()}", f"out /= {self.array(1)}", f"out *= {self.number(1)}",
                f"out[0] = {self.number()}", f"np.log({self.array(1)}, out=out)",
                f"out[1:] = {self.array(1)}[:-1]", f"a[0] = {self.number()}"))
        elif roll < 0.85:
            self.count += 1
            value = self.array()
            add(f"{pad}t{self.count} = {value}")
            self.arrays.append(f"t{self.count}")
        else:
            self.count += 1
            value = self.number()
            add(f"{pad}s{self.count} = {value}")
            self.numbers.append(f"s{self.count}")

    def source(self) -> str:
        return "".join([*self.helpers, self.local, self.main])

    def modules(self, seed: int, wrap: Callable[[Any], Any]) -> list[dict[str, Any]]:
        """The globals of both modules, ``f`` wrapped."""
        spaces: list[dict[str, Any]] = []
        for name, text in (("helpers", "".join(self.helpers)), ("main", self.local + self.main)):
            space = {"np": np, "__name__": f"{name}_{seed}"}
            exec(compile("\n" * (3 * len(spaces)) + text, f"<{name} {seed}>", "exec"), space)
            spaces.append(space)
        spaces[1].update(h0=spaces[0]["h0"], h1=spaces[0]["h1"])
        spaces[1]["f"] = wrap(spaces[1]["f"])
        return spaces


def arguments(rng: np.random.Generator) -> list[Any]:
    n = int(rng.choice([3, 6, 6, 6, 40, 1000]))
    a, b, out = rng.random((3, n)) * 0.5 + 0.25
    for _ in range(rng.integers(0, 3)):
        where = int(rng.integers(n))
        rng.choice([a, b])[where] = rng.choice([0.0, 0.0, -1.0, 1e200, 800.0, np.inf, np.nan])
    x, y = (float(rng.choice([0.5, 1.5, 0.0, -1.0, 1e200])) for _ in range(2))
    return [a, b, np.float64(x) if rng.random() < 0.7 else x, np.float64(y), out]


def filters(rng: random.Random, seed: int) -> Callable[[], None]:
    """One change of the filters."""
    action: Any = rng.choice(ACTIONS)
    kind = rng.random()
    if kind < 0.15:
        return warnings.resetwarnings
    if kind < 0.6:
        return lambda: warnings.simplefilter(action)
    if kind < 0.75:
        text = rng.choice(TEXTS)
        return lambda: warnings.filterwarnings(action, message=text)
    if kind < 0.9:
        module = rng.choice(["main", "helpers"]) + f"_{seed}"
        return lambda: warnings.filterwarnings(action, module=module)
    line = rng.randint(1, 12)
    return lambda: warnings.filterwarnings(action, lineno=line)


class Log:
    """What ``np.errstate`` calls."""

    def __init__(self, events: list[Any]) -> None:
        self.events = events

    def write(self, text: str) -> None:
        self.events.append(("log", text))

    def __call__(self, what: str, flag: int) -> None:
        self.events.append(("call", what, flag))


@contextmanager
def printed(events: list[Any]) -> Iterator[None]:
    """Notes what is written to the streams of the process."""
    with tempfile.TemporaryFile() as file:
        saved = os.dup(1), os.dup(2)
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
        try:
            yield
        finally:
            for stream, old in zip((1, 2), saved, strict=True):
                os.dup2(old, stream)
                os.close(old)
        file.seek(0)
        events.append(file.read())


def session(seed: int, spaces: list[dict[str, Any]]) -> list[list[Any]]:
    """What each call of one history of calls gives, tells and leaves behind."""
    rng, numbers = random.Random(seed + 1), np.random.default_rng(seed)
    found: list[list[Any]] = []
    events: list[Any] = []

    def show(message: Any, category: Any, filename: str, lineno: int, *_: Any) -> None:
        events.append((category.__name__, str(message), filename, lineno))

    with warnings.catch_warnings(), np.errstate(call=Log(events)):
        warnings.resetwarnings()
        warnings.onceregistry.clear()  # type: ignore[attr-defined]
        warnings.showwarning = show
        for _ in range(rng.randint(3, 6)):
            for _ in range(rng.choice([0, 1, 1, 2])):
                filters(rng, seed)()
            if rng.random() < 0.1:
                rng.choice(spaces).pop("__warningregistry__", None)
            chosen = [rng.choice(MODES) for _ in range(3)] if rng.random() < 0.25 else []
            modes: Any = dict(zip(("divide", "over", "invalid"), chosen))
            with np.errstate(**modes):
                many = 25 if rng.random() < 0.1 else 1  # so that calls may be left to Python
                for _ in range(many * rng.randint(1, 4)):
                    args = arguments(numbers)
                    events.clear()
                    if "print" in chosen:
                        with printed(events):
                            result = called(spaces[1]["f"], args)
                    else:
                        result = called(spaces[1]["f"], args)
                    found.append([list(events), result, args, *map(remembered, spaces)])
    return found


def called(function: Any, args: list[Any]) -> Any:
    try:
        return function(*args)
    except (ArithmeticError, Warning) as error:
        return type(error).__name__, str(error)


def remembered(space: dict[str, Any]) -> list[Any]:
    """What a module remembers under the filters of now."""
    registry, now = space.get("__warningregistry__", {}), dict[Any, Any]()
    with suppress(UserWarning):
        warnings.warn_explicit("now", UserWarning, "", 0, registry=now)
    if registry.get("version") != now["version"]:
        return []
    return sorted((k, v) for k, v in registry.items() if k != "version")


def check(seed: int, counts: Counter[str]) -> str:
    """Runs one program; what differs, or an empty string."""
    told = logging.getLogger("npcompile")  # its own warnings are not printed among NumPy's
    told.addHandler(logging.NullHandler())
    writer = Writer(seed)
    made: list[Any] = []

    def compiled(function: Any) -> Any:
        made.append(jit(function, cache=False))
        return made[0]

    want = session(seed, writer.modules(seed, lambda function: function))
    got = session(seed, writer.modules(seed, compiled))
    for call, (expected, found) in enumerate(zip(want, got, strict=True)):
        counts["calls"] += 1
        counts["told"] += bool(expected[0])
        with np.errstate(all="ignore"):
            text = oracle.difference(found, expected, close=(1e-6, 0.0))
        if text:
            return f"seed {seed}, call {call}: {text}\n{found}\n{expected}\n{writer.source()}"
    past = [line.split() for line in made[0].explain().history if "floating-point" in line]
    counts["again"] += sum(int(words[0]) for words in past)
    return ""


GRAMMAR = Grammar(check=check)
