"""The house in figures: limits that only fall.

Each figure of ``FIGURES`` is measured and compared with its limit.  A change that makes a figure
rise fails; one that makes it fall lowers the limit, so that it can't rise again.
``python -m tests.test_house`` prints the figures beside their limits and aims.
"""

from __future__ import annotations

import ast
import functools
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "npcompile"
TESTS = ROOT / "tests"
#: the most modules of ours that a module may import when it runs
FAN_OUT = 15
#: names by which a private comparison of calls or values goes
ORACLES = re.compile(r"_?(outcome|told|same|alike|agree|compare|bits|difference|differing)s?")


# ------------------------------------------------------------------ what is measured


@functools.cache
def modules() -> dict[str, ast.Module]:
    """The modules of the package by their names."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = ast.parse(path.read_text())
    return found


@functools.cache
def nodes(name: str, types: bool) -> tuple[ast.AST, ...]:
    """The nodes of a module; without ``types`` what only type checkers see is left out."""
    found: list[ast.AST] = []
    left: list[ast.AST] = [modules()[name]]
    while left:
        node = left.pop()
        found.append(node)
        if isinstance(node, ast.If) and not types and "TYPE_CHECKING" in ast.unparse(node.test):
            left += node.orelse
        else:
            left += ast.iter_child_nodes(node)
    return tuple(found)


@functools.cache
def imports(name: str, types: bool) -> frozenset[str]:
    """The modules of the package that a module imports, inside functions and when they are first
    used, too."""
    found: set[str] = set()
    known = modules()
    for node in nodes(name, types):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in known else node.module)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "defer":
            package, *names = (arg.value for arg in node.args if isinstance(arg, ast.Constant))
            found |= {f"{package}.{name}" for name in names}
    return frozenset(found & known.keys() - {name})


def cycles(types: bool) -> list[int]:
    """The sizes of the import cycles, the largest first (Tarjan, 1972)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[int] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(imports(name, types)):
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            at = stack.index(name)
            if len(stack) - at > 1:
                found.append(len(stack) - at)
            del stack[at:]

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)
    try:
        for name in modules():
            if name not in index:
                visit(name)
    finally:
        sys.setrecursionlimit(limit)
    return sorted(found, reverse=True)


def largest_cycle(types: bool) -> int:
    """The modules of the largest import cycle."""
    return max(cycles(types), default=0)


def many_imports() -> int:
    """The modules that import more than ``FAN_OUT`` others; packages that only gather are none."""
    wide = [name for name in modules() if len(imports(name, False)) > FAN_OUT]
    return len([name for name in wide if name.count(".") > 1])


@functools.cache
def types() -> frozenset[str]:
    """The classes that stand for Python's types: those in the union ``Value`` of their room, and
    those that are made of other values."""
    room = [tree for name, tree in modules().items() if name.startswith("npcompile.python")]
    classes = [node for tree in room for node in tree.body if isinstance(node, ast.ClassDef)]
    own = {node.name for node in classes} - {"Composite"}
    found = {node.name for node in classes
             if {ast.unparse(base) for base in node.bases} & {"Composite", "Showing"}} - {"Showing"}
    for tree in room:
        for node in tree.body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "Value":
                found |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} & own
    assert len(found) > 12, "there is no union of the classes of traced values"
    return frozenset(found)


def files_that_know_types() -> int:
    """Pairs of a module and a class of traced values that it names without defining it; the types'
    own room is left out, whose modules are the classes' owners."""
    found = 0
    room = {name.rpartition(".")[2] for name in modules() if name.startswith("npcompile.python.")}
    for name in modules():
        if name.startswith("npcompile.python."):
            continue
        own = {node.name for node in nodes(name, False) if isinstance(node, ast.ClassDef)}
        named = {alias.name for node in nodes(name, False) if isinstance(node, ast.ImportFrom)
                 and (node.module or "").startswith("npcompile.python") for alias in node.names}
        named |= {node.attr for node in nodes(name, False) if isinstance(node, ast.Attribute)
                  and isinstance(node.value, ast.Name) and node.value.id in room}
        found += len(named & types() - own)
    return found


def attributes_written_elsewhere() -> int:
    """Pairs of a module and an attribute that it writes, and that no class of its own has."""
    found = 0
    for name in modules():
        own, written = set(), set()
        for node in nodes(name, True):
            if isinstance(node, ast.ClassDef):
                own |= {part.target.id for part in node.body if isinstance(part, ast.AnnAssign)
                        and isinstance(part.target, ast.Name)}
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                owner = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
                (own if owner else written).add(node.attr)
        found += len(written - own)
    return found


WOKEN = """
import json, sys
import numpy as np
from npcompile import jit
f = jit(lambda x: x * 2 + 1)
f(np.ones(5))
assert f.cache_info().compiled == 1
print(json.dumps([m.__file__ for n, m in sys.modules.items()
                  if n.startswith("npcompile") and getattr(m, "__file__", None)]))
"""


@functools.cache
def woken() -> tuple[Path, ...]:
    """The modules that the first call of ``x * 2 + 1`` imports, with nothing on disk."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NPCOMPILE_")}
    environment |= {"NPCOMPILE_CACHE_DIR": "/dev/null/none", "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", WOKEN], env=environment, cwd="/", text=True,
                          capture_output=True, check=True)
    return tuple(map(Path, json.loads(done.stdout.splitlines()[-1])))


def lines_woken() -> int:
    """The lines of these modules, coefficients aside."""
    return sum(len(path.read_text().splitlines()) for path in woken()
               if "coefficients" not in path.parts)


def flat_tests() -> int:
    """The modules that lie directly in the folder of tests."""
    return len(list(TESTS.glob("*.py")))


def private_oracles() -> int:
    """Functions of tests named as comparisons of calls; `tests.support.oracle` has three."""
    return sum(isinstance(node, ast.FunctionDef) and ORACLES.fullmatch(node.name) is not None
               for path in TESTS.rglob("*.py") for node in ast.parse(path.read_text()).body)


def ambiguous_classes() -> int:
    """Names of classes that mean several things in the package."""
    names = Counter(node.name for tree in modules().values() for node in tree.body
                    if isinstance(node, ast.ClassDef))
    return sum(count > 1 for count in names.values())


# ------------------------------------------------------------------ the limits

@dataclass(frozen=True)
class Figure:
    """What is counted, the most that it may be, and what it is meant to become."""

    name: str
    count: Callable[[], int]
    limit: int
    aim: int


FIGURES = (
    Figure("modules in the largest import cycle", lambda: largest_cycle(False), 5, 6),
    Figure("the same with imports for types", lambda: largest_cycle(True), 7, 10),
    Figure("import cycles", lambda: len(cycles(False)), 3, 4),
    Figure(f"modules that import more than {FAN_OUT}", many_imports, 25, 0),
    Figure("modules beside classes of traced values that they name", files_that_know_types, 125, 0),
    Figure("attributes written from outside", attributes_written_elsewhere, 23, 0),
    Figure("modules that x * 2 + 1 imports", lambda: len(woken()), 178, 110),
    Figure("their lines", lines_woken, 32_520, 25_000),
    Figure("modules directly in tests/", flat_tests, 3, 12),
    Figure("private oracles of tests", private_oracles, 4, 6),
    Figure("names of several classes", ambiguous_classes, 0, 0),
)


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_figures_do_not_rise(figure: Figure) -> None:
    found = figure.count()
    assert found <= figure.limit, f"{figure.name}: {found}, which were {figure.limit}"


if __name__ == "__main__":
    for one in FIGURES:
        print(f"{one.name:55s} {one.count():6d}   at most {one.limit:6d}   aim {one.aim:6d}")
