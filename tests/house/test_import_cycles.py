"""Modules that import one another, function-level imports counted: few, and small groups."""

from __future__ import annotations

import ast
import graphlib
from collections.abc import Iterator
from pathlib import Path

import npcompile

ROOT = Path(npcompile.__file__).parent.parent
LARGEST, MOST = 5, 4  #: modules of one cycle, and cycles; these numbers may only fall


def _modules() -> dict[str, Path]:
    found = {}
    for path in (ROOT / "npcompile").rglob("*.py"):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    return found


def _at_run_time(node: ast.AST) -> Iterator[ast.AST]:
    """A node and what is inside it, but for what only type checkers see."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)):
            yield from _at_run_time(child)


def _imports(path: Path, modules: dict[str, Path]) -> set[str]:
    found: set[str] = set()
    for node in _at_run_time(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in modules else node.module for name in names}
    return {name for name in found if name in modules and modules[name] != path}


def cycles(graph: dict[str, set[str]]) -> list[set[str]]:
    """The groups of nodes that reach one another."""
    found = []
    left = {node: set(after) for node, after in graph.items()}
    while True:
        try:
            graphlib.TopologicalSorter(left).prepare()
        except graphlib.CycleError as error:
            group = set(error.args[1])
            forward, backward = _reached(graph, group), _reached(_turned(graph), group)
            found.append(forward & backward)
            left = {n: after - found[-1] for n, after in left.items() if n not in found[-1]}
        else:
            return found


def _reached(graph: dict[str, set[str]], begin: set[str]) -> set[str]:
    found, waiting = set(begin), list(begin)
    while waiting:
        new = graph[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def _turned(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    return {node: {n for n, after in graph.items() if node in after} for node in graph}


def test_cycles_are_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": {"d"}, "f": {"a"}}
    assert sorted(map(sorted, cycles(graph))) == [["a", "b", "c"], ["d", "e"]]


def test_import_cycles() -> None:
    modules = _modules()
    found = cycles({name: _imports(path, modules) for name, path in modules.items()})
    assert max(map(len, found), default=0) <= LARGEST, max(found, key=len)
    assert len(found) <= MOST, found
