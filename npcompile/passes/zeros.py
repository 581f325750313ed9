"""Minima and maxima on machines whose loops of NumPy's have -0 < +0."""

from __future__ import annotations

from npcompile.graph.builder import Builder
from npcompile.graph.ir import Graph, Node
from npcompile.ops.record import OPERATORS
from npcompile.passes.rewrite import rewrite


def order_zeros(graph: Graph) -> Graph:
    """Operators that have a record for this order become it."""
    return rewrite(graph, _rule)


def _rule(builder: Builder, node: Node, args: tuple[Node, ...]) -> Node | None:
    ordered = f"{node.op}.ordered"
    if ordered not in OPERATORS or node.dtype.char not in "fd":
        return None
    return builder.emit(ordered, args, node.attrs, node.type)
