"""A module of LLVM text in two parts of about the same work, to be compiled side by side.

Functions that only the module itself calls may go to the second part; what the two parts call of
each other is hidden from everybody else.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from npcompile.core.records import record

LEAST = 200  # lines that are worth a second module, whose own cost is that of some 40
HASTY, WELL = 0.4, 2.0  # work for a line of functions that are compiled in haste, or with passes

_DEFINED = re.compile(r"^define (internal )?(.*?)@([\w.$-]+)\((.*?)\)")
_VARIABLE = re.compile(r"^@[^=]+ = (?!external|private)")  # which there must be only one of
_NAME = re.compile(r"@([\w.$-]+)")


@record
class Parts:
    """The texts, and the functions that one has and the other one may call."""

    first: str
    second: str
    shared: frozenset[str]


@record(eq=False)
class _Function:
    name: str
    internal: bool
    lines: list[str]
    work: float

    def declared(self) -> str:
        head = _DEFINED.match(self.lines[0])
        assert head is not None
        types = ", ".join(param.rpartition(" ")[0] for param in head[4].split(", "))
        return f"declare hidden {head[2]}@{self.name}({types})"

    def text(self, shown: Collection[str]) -> str:
        lines = self.lines
        if self.name in shown:
            lines = [lines[0].replace("define internal ", "define hidden ", 1), *lines[1:]]
        return "\n".join(lines)

    def names(self) -> set[str]:
        """What it refers to."""
        return {name for line in self.lines[1:] if "@" in line for name in _NAME.findall(line)}


def split(text: str, optimise: Collection[str]) -> Parts | None:
    """Two parts, the first one with all that is called from outside; None: it is not worth it."""
    rest, functions = _functions(text, optimise)
    halves = _halves(functions)
    if halves is None or any(map(_VARIABLE.match, rest)):
        return None
    names = [{f.name for f in half} for half in halves]
    asked: list[set[str]] = [set().union(*(f.names() for f in half)) for half in halves]
    shared = frozenset((asked[0] & names[1]) | (asked[1] & names[0]))
    known = {f.name: f for f in functions}
    texts = [
        "\n".join([*(known[name].declared() for name in sorted(ask & shared - own)),
                   *_needed(rest, ask), *(f.text(shared) for f in half)])
        for half, own, ask in zip(halves, names, asked, strict=True)
    ]
    return Parts(texts[0] + "\n", texts[1] + "\n", shared)


def _functions(text: str, optimise: Collection[str]) -> tuple[list[str], list[_Function]]:
    """The lines outside of functions, and these."""
    rest: list[str] = []
    functions: list[_Function] = []
    inside: list[str] = []
    for line in text.split("\n"):
        if line.startswith("define "):
            inside = [line]
        elif not inside:
            rest.append(line)
        else:
            inside.append(line)
            if line == "}":
                functions.append(_function(inside, optimise))
                inside = []
    return rest, functions


def _function(lines: list[str], optimise: Collection[str]) -> _Function:
    head = _DEFINED.match(lines[0])
    assert head is not None, lines[0]
    pace = HASTY if "optnone" in lines[0] else WELL if head[3] in optimise else 1.0
    return _Function(head[3], head[1] is not None, lines, pace * len(lines))


def _halves(functions: list[_Function]) -> tuple[list[_Function], list[_Function]] | None:
    """Large ones first, each to where there is less to do."""
    first = [f for f in functions if not f.internal]
    second: list[_Function] = []
    work = [sum(f.work for f in first), 0.0]
    for f in sorted((f for f in functions if f.internal), key=lambda f: f.work, reverse=True):
        lighter = work[1] < work[0]
        (second if lighter else first).append(f)
        work[lighter] += f.work
    return (first, second) if min(work) >= LEAST else None


def _needed(rest: Iterable[str], asked: set[str]) -> list[str]:
    """The lines outside of functions that these names need, and metadata."""
    return [line for line in rest if not (found := _NAME.search(line)) or found[1] in asked]
