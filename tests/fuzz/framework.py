"""Random programs: what a program and a grammar are, how programs run, shrink and make a campaign.

A grammar gives the program of a seed.  `run` executes a program plainly and in other ways, call by
call, and compares everything that the oracle sees, the program's globals included.  `shrunk` takes
statements and operations away while the program still differs.  A grammar whose programs need more
than that (other processes, signals, devices) brings its own check.

``python -m tests.fuzz`` lists the grammars; ``python -m tests.fuzz NAME SEED COUNT`` runs programs.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import math
import random
import re
import time
import traceback
import types
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from npcompile import jit
from npcompile.core.errors import Refused
from tests.support import oracle
from tests.support.machine import casts_are_even

Counts = Counter[str]
Space = dict[str, Any]  # the globals of a program


@dataclass(frozen=True)
class Call:
    """The arguments of a call, by position and by keyword."""

    args: Sequence[Any]
    named: Mapping[str, Any] = field(default_factory=dict)


Arguments = Callable[[int, Space], Call | Sequence[Any] | None]


@dataclass(frozen=True)
class Program:
    """The source of a function ``f``, and what it is called with.

    Attributes
    ----------
    source
        Defines ``f``; this is what shrinks.
    args
        Makes the arguments of a call, by its number and the program's globals; None: no call.
    seed
        Gives the same program again.
    setup
        Comes before the source: classes and helpers that all programs share.
    space
        Names that the source finds: modules, functions.
    calls
        How often ``f`` is called.
    policy
        What need not be equal of these calls: fields of `Policy`.
    """

    source: str
    args: Arguments
    seed: int
    setup: str = ""
    space: Mapping[str, Any] = field(default_factory=dict)
    calls: int = 4
    policy: Mapping[str, Any] = field(default_factory=dict)

    def load(self) -> Space:
        """Executes the source; the globals, with ``f``."""
        space: Space = {"np": np, **self.space}
        exec(compile(self.setup, "<setup>", "exec"), space)
        exec(compile(self.source, f"<program {self.seed}>", "exec"), space)
        return space


@dataclass(frozen=True)
class Way:
    """One way of running a function, and how it is compared with Python's."""

    decorate: Callable[[Any], Any]
    policy: Mapping[str, Any] = field(default_factory=dict)


def jitted(**options: Any) -> Way:
    """Compiled with some options of ``jit``."""
    # these run calls on arrays of their own, whose views are views of views
    apart = options.get("backend") == "reference" or "device" in options
    return Way(lambda function: jit(function, **options), {"bases": False} if apart else {})


COMPILED = {"compiled": jitted()}
# the interpreter of programs tells floating-point errors of whole kernels
REFERENCE = Way(jitted(cache=False, backend="reference").decorate,
                {"warnings": "", "bases": False})
BOTH = {"machine code": jitted(cache=False), "reference": REFERENCE}


@dataclass(frozen=True)
class Grammar:
    """How the program of a seed is made and run.

    Attributes
    ----------
    write
        The program of a seed; None where ``check`` does all.
    ways
        The ways in which a program runs beside Python.
    check
        In place of `run`: what differs in the program of a seed, or an empty string.
    setting
        What holds while the program of a seed runs, for example for which work threads are used.
    note
        Counts what the compiled function of a program that agrees is made of.
    """

    write: Callable[[int], Program] | None = None
    ways: Mapping[str, Way] = field(default_factory=lambda: COMPILED)
    check: Callable[[int, Counts], str] | None = None
    setting: Callable[[int], contextlib.AbstractContextManager[Any]] = contextlib.nullcontext
    note: Callable[[Any, Program, Counts], None] = lambda compiled, program, counts: None

    def differs(self, seed: int, counts: Counts, shrinking: bool = False) -> str:
        """What differs in the program of a seed, with its source, or an empty string."""
        with self.setting(seed):
            if self.check is not None:
                return self.check(seed, counts)
            assert self.write is not None
            program = self.write(seed)
            text = run(program, self.ways, counts, self.note)
            if not text:
                return ""
            if shrinking:
                program = shrunk(program, lambda p: run(p, self.ways, Counter()))
                text = run(program, self.ways, Counter()) or text
            return f"seed {seed}, {text}\n{program.source}"


# ------------------------------------------------------------------ running


def run(
    program: Program, ways: Mapping[str, Way], counts: Counts,
    note: Callable[[Any, Program, Counts], None] | None = None
) -> str:
    """The first difference between a way and Python, or an empty string."""
    expected = list(observed(program, lambda function: function))
    for number, (name, way) in enumerate(ways.items()):
        made: list[Any] = []

        def decorate(function: Any, way: Way = way, made: list[Any] = made) -> Any:
            made.append(way.decorate(function))
            return made[-1]

        for call, (got, want) in enumerate(zip(observed(program, decorate), expected)):
            if got is None or want is None:
                continue
            counts["calls"] += 1
            if not casts_are_even() and any("in cast" in message for _, message, *_ in want.warned):
                return ""  # what follows may differ, too
            text = oracle.difference(got, want, **{**way.policy, **program.policy})
            if text:
                return f"call {call}, {name}: {text}"
        if not number:
            tally(made[0], program, counts)
            if note is not None:
                note(made[0], program, counts)
    return ""


def session(make: Callable[[Space], Iterator[Call | Sequence[Any]]]) -> Arguments:
    """Arguments of calls that follow each other on the same objects: one iterator a program."""

    def arguments(number: int, space: Space) -> Call | Sequence[Any]:
        if number == 0:
            space["__session__"] = make(space)
        return next(space["__session__"])

    return arguments


def observed(
    program: Program, decorate: Callable[[Any], Any]
) -> Iterator[oracle.Outcome | None]:
    """The outcome of each call, with the program's own globals."""
    space = program.load()
    function = decorate(space["f"])
    for number in range(program.calls):
        made = program.args(number, space)
        if made is None:
            yield None
            continue
        call = made if isinstance(made, Call) else Call(made)
        yield oracle.observe(
            function, *call.args, world=lambda: data(space, program), **call.named)


def data(space: Space, program: Program) -> Space:
    """The globals of a program that are data rather than code."""
    return {name: value for name, value in space.items()
            if name not in program.space and not name.startswith("__") and not isinstance(
                value, (type, types.ModuleType, types.FunctionType, np.ufunc))}


def tally(compiled: Any, program: Program, counts: Counts) -> None:
    """Counts what was compiled, and why the first call is left to Python."""
    info = getattr(compiled, "cache_info", lambda: None)()
    if info is None or not info.refused:
        counts["compiled"] += bool(info and info.compiled)
        return
    counts["refused"] += 1
    made = program.args(0, program.load())
    call = made if isinstance(made, Call) else Call(made or ())
    with contextlib.suppress(Refused):
        found = compiled.explain(*call.args, **call.named).refusal
        if found:
            counts[f"reason: {found.construct}: {found.reason}"[:100]] += 1


def checked(grammar: Grammar, seeds: Iterable[int]) -> Counts:
    """Asserts that no program of these seeds differs; what was counted."""
    counts: Counts = Counter()
    wrong = [text for seed in seeds if (text := grammar.differs(seed, counts))]
    assert not wrong, "\n".join(wrong)
    return counts


# ------------------------------------------------------------------ shrinking

KIND = re.compile(r"call \d+, [^:]+: \w+")


def shrunk(program: Program, differs: Callable[[Program], str], seconds: float = 60) -> Program:
    """The smallest program found that still differs in the same way and kind of fact."""
    end = time.monotonic() + seconds
    kind = KIND.match(differs(program))
    found = True
    while found:
        found = False
        for source in smaller(program.source):
            if time.monotonic() > end:
                return program
            trial = replace(program, source=source)
            try:
                text = differs(trial)
            except Exception:  # the smaller program is none, or shows another mistake
                continue
            found = bool(text and kind and text.startswith(kind[0]))
            if found:
                program = trial
                break
    return program


def smaller(source: str) -> Iterator[str]:
    """Sources with one statement or operation less, the largest steps first."""
    tree = ast.parse(source)
    blocks = ("body", "orelse", "finalbody")
    places = [(k, name) for k, node in enumerate(ast.walk(tree)) for name in blocks
              if isinstance(getattr(node, name, None), list)]
    for k, name in places:
        length = len(getattr(list(ast.walk(tree))[k], name))
        for at in range(length):
            for inside in (False, True):
                text = _without(tree, k, name, at, inside)
                if text is not None and text != source:
                    yield text
    for k, node in enumerate(ast.walk(tree)):
        for name in _parts(node):
            text = _replaced(tree, k, name)
            if text is not None and len(text) < len(source):
                yield text


def _without(tree: ast.Module, k: int, name: str, at: int, inside: bool) -> str | None:
    """Drops a statement, or puts what stands ``inside`` it in its place."""
    tree = copy.deepcopy(tree)
    node = list(ast.walk(tree))[k]
    block = getattr(node, name)
    statement = block[at]
    held = getattr(statement, "body", []) if inside else []
    if inside and (not held or isinstance(statement, (ast.FunctionDef, ast.ClassDef))):
        return None
    block[at:at + 1] = held
    if not block and name == "body":
        if isinstance(node, ast.Module):
            return None
        block.append(ast.Pass())
    return _text(tree)


def _parts(node: ast.AST) -> list[str]:
    match node:
        case ast.BinOp():
            return ["left", "right"]
        case ast.UnaryOp():
            return ["operand"]
        case ast.IfExp():
            return ["body", "orelse"]
        case ast.Call():
            return ["args"] if node.args else []
    return []


def _replaced(tree: ast.Module, k: int, name: str) -> str | None:
    """Puts a part of an operation in its place."""
    tree = copy.deepcopy(tree)
    nodes = list(ast.walk(tree))
    part = getattr(nodes[k], name)
    part = part[0] if isinstance(part, list) else part
    for parent in nodes:
        for key, value in ast.iter_fields(parent):
            if value is nodes[k]:
                setattr(parent, key, part)
                return _text(tree)
            if isinstance(value, list) and nodes[k] in value:
                value[value.index(nodes[k])] = part
                return _text(tree)
    return None


def _text(tree: ast.Module) -> str | None:
    try:
        return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    except ValueError:
        return None


# ------------------------------------------------------------------ texts by rules

NAME = re.compile(r"\{(\w+)\}")
Alternative = str | tuple[float, str]


@dataclass(frozen=True)
class Rules:
    """A weighted grammar of texts: ``{name}`` in an alternative stands for a text of that name.

    A text of several lines is indented as the place where it is put.  Below ``deepest`` levels only
    the alternatives that end soonest are taken.
    """

    rules: Mapping[str, Sequence[Alternative]]
    deepest: int = 6

    def text(self, rng: random.Random, name: str, depth: int = 0) -> str:
        """A random text of a name."""
        rows = [(1.0, row) if isinstance(row, str) else row for row in self.rules[name]]
        if depth >= self.deepest:
            least = min(self._height(text) for _, text in rows)
            rows = [row for row in rows if self._height(row[1]) == least]
        (pattern,) = rng.choices([text for _, text in rows], [weight for weight, _ in rows])

        def put(found: re.Match[str]) -> str:
            line = pattern[:found.start()].rpartition("\n")[2]
            text = self.text(rng, found[1], depth + 1)
            return text.replace("\n", "\n" + line) if not line.strip() else text

        return NAME.sub(put, pattern)

    def _height(self, pattern: str, below: frozenset[str] = frozenset()) -> float:
        """How many levels an alternative needs at least."""
        heights = [0.0]
        for name in set(NAME.findall(pattern)):
            rows = [row if isinstance(row, str) else row[1] for row in self.rules[name]]
            inner = below | {name}
            heights.append(math.inf if name in below else 1 + min(
                self._height(row, inner) for row in rows))
        return max(heights)


# ------------------------------------------------------------------ campaigns


def campaign(grammar: Grammar, first: int, count: int, shrinking: bool = True, shown: int = 3
             ) -> int:
    """Runs the programs of some seeds and prints the first that differ; how many do."""
    counts: Counts = Counter()
    differ = 0
    for seed in range(first, first + count):
        try:
            text = grammar.differs(seed, counts, shrinking and differ < shown)
        except Exception:
            text = f"seed {seed}: {traceback.format_exc()}"
        if text:
            differ += 1
            print(text if differ <= shown else text.splitlines()[0][:100], flush=True)
    reasons = {k: n for k, n in counts.items() if k.startswith("reason: ")}
    print(f"{count} programs, {differ} differ", dict(counts - Counter(reasons)))
    for reason, n in Counter(reasons).most_common(12):
        print(f"{n:6d} {reason.removeprefix('reason: ')}")
    return differ
