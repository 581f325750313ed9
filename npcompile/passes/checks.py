"""Fewer checks: what has been checked on the way holds, and neighbours become one.

Two checks are neighbours if nothing but pure values that raise no flag lies between them and Python
goes on at the same place, with the same values: then it makes no difference which of them fails.
"""

from __future__ import annotations

from npcompile.graph.ir import Check, Frame, Graph, Node, Region
from npcompile.graph.primitives import PRIMITIVES
from npcompile.graph.types import BOOL, Scalar

_INTEGERS = frozenset({"add", "sub", "mul"})  # of integers they raise no flag


def merge_checks(graph: Graph) -> Graph:
    """The graph with fewer checks; its regions are changed, those of an earlier pass."""
    _merge(graph.region, set())
    return graph


def _merge(region: Region, passed: set[Node]) -> None:
    nodes: list[Node] = []
    last: Node | None = None  # a check with only pure values after it
    for node in region.nodes:
        if node.op == "check":
            condition = node.args[0]
            if condition in passed:
                continue
            passed.add(condition)
            if last is not None and _alike(last, node):
                nodes.remove(last)
                both = Node("bit_and", (last.args[0], condition), None, Scalar(BOOL, "np"),
                            node.line)
                node = Node("check", (both,), last.attrs, node.type, last.line)
                nodes.append(both)
            last = node
        elif not _quiet(node):
            last = None
            for inner in node.regions:
                _merge(inner, set(passed))
        nodes.append(node)
    region.nodes = nodes


def _quiet(node: Node) -> bool:
    """Whether a node may as well be computed where the check before it has failed."""
    if node.op in ("const", "size"):
        return True
    if not isinstance(node.type, Scalar) or node.op not in ("cast", *PRIMITIVES):
        return False
    if node.op == "cast" or node.op in _INTEGERS:
        return all(x.dtype.kind in "biu" for x in (*node.args, node))
    return not PRIMITIVES[node.op].flags


def _alike(one: Node, other: Node) -> bool:
    a, b = one.attrs, other.attrs
    assert isinstance(a, Check) and isinstance(b, Check)
    frames = a.resume.frames, b.resume.frames
    return (a.reason == b.reason and len(frames[0]) == len(frames[1])
            and all(map(_same, *frames)))


def _same(a: Frame, b: Frame) -> bool:
    return a.code is b.code and (a.offset, a.local, a.stack, a.owner) == (
        b.offset, b.local, b.stack, b.owner)
