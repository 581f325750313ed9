"""Prints graphs: one line per node, with the user's line at the right."""

from __future__ import annotations

from npcompile.core.records import field_names
from npcompile.graph.ir import (
    Check,
    Graph,
    Items,
    NewArray,
    Node,
    NumberOf,
    ObjectOf,
    Region,
    SameParam,
    StaticObject,
    Tree,
    ViewOf,
)


def show(graph: Graph) -> str:
    """The text of a graph, for people."""
    names: dict[Node, str] = {}
    lines = [f"graph {graph.name}:"]
    lines += _region(graph.region, names, "  ")
    for index, node in graph.finals.items():
        lines.append(f"  final param {index} = {_name(node, names)}")
    lines.append(f"  return {_tree(graph.result, names)}")
    lines += [f"  valid where {guard!r}" for guard in graph.facts.guards]
    return "\n".join(lines)


def _name(node: Node, names: dict[Node, str]) -> str:
    if node not in names:
        names[node] = f"%{len(names)}"
    return names[node]


def _region(region: Region, names: dict[Node, str], indent: str) -> list[str]:
    lines = []
    inner = [p for p in region.params if p not in region.nodes]
    if inner:
        shown = ", ".join(f"{_name(p, names)}: {p.type!r}" for p in inner)
        lines.append(f"{indent}params {shown}")
    for node in region.nodes:
        args = ", ".join(_name(a, names) for a in node.args)
        attrs = _attrs(node)
        text = f"{indent}{_name(node, names)}: {node.type!r} = {node.op}({args}){attrs}"
        lines.append(f"{text:<78}  # line {node.line}" if node.line else text)
        for inner_region in node.regions:
            lines += _region(inner_region, names, indent + "  | ")
    if region.results:
        lines.append(indent + "yield " + ", ".join(_name(r, names) for r in region.results))
    return lines


def _attrs(node: Node) -> str:
    attrs = node.attrs
    if attrs is None:
        return ""
    if isinstance(attrs, Check):
        return f" {attrs.reason!r}" + ("" if attrs.resume.frames else " else rerun")
    fields = field_names(attrs)
    if fields is not None:
        shown = [f"{name}={getattr(attrs, name)!r}" for name in fields]
        return " [" + ", ".join(shown) + "]"
    return f" {attrs!r}"


def _tree(tree: Tree, names: dict[Node, str]) -> str:
    match tree:
        case SameParam(index):
            return f"param {index}"
        case NewArray(cell, node):
            return f"new array {cell} of {_name(node, names)}"
        case ViewOf(_, base, geometry, dtype):
            return f"view of ({_tree(base, names)}) {dtype} {geometry!r}"
        case ObjectOf(node):
            return f"object {_name(node, names)}"
        case NumberOf(node):
            return f"{node.type!r} {_name(node, names)}"
        case StaticObject():
            return repr(tree.value)
        case Items():
            return tree.kind.__name__ + "(" + ", ".join(_tree(i, names) for i in tree.items) + ")"
