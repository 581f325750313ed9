"""float16 is stored only: each operation on it is one in float32, rounded once."""

from __future__ import annotations

from npcompile.graph.builder import Builder
from npcompile.graph.ir import Graph, Node
from npcompile.graph.primitives import PRIMITIVES
from npcompile.graph.types import Array, Scalar, Type
from npcompile.passes.decompose import SINGLE, is_half, widen
from npcompile.passes.rewrite import rewrite

#: primitives that move bits and don't compute
MOVES = frozenset({"where", "rare", "to_bits", "from_bits"})


def widen_halves(graph: Graph) -> Graph:
    """Double rounding is harmless for ``+ - * / sqrt``: 24 >= 2 * 11 + 2 digits."""
    if not any(is_half(node) for node in graph.region.nodes):
        return graph
    return rewrite(graph, _rule)


def _rule(builder: Builder, node: Node, args: tuple[Node, ...]) -> Node | None:
    if node.op not in PRIMITIVES or node.op in MOVES or not any(map(is_half, args)):
        return None
    wide = tuple([widen(builder, a) for a in args])
    if not is_half(node):
        return builder.emit(node.op, wide, node.attrs, node.type)
    made = builder.emit(node.op, wide, node.attrs, _single(node.type))
    return builder.emit("cast", (made,), None, node.type)


def _single(type_: Type) -> Type:
    if isinstance(type_, Array):
        return Array(SINGLE, type_.shape, type_.strides)
    return Scalar(SINGLE, "np")


