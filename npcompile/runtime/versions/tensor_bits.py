"""Whether a graph of torch tensors has torch's own bits, so that a clock may choose between them.

Torch adds up in an order of its own and fuses multiplications with additions here and there, so
floating-point numbers are the same for sure only where none is computed.
"""

from __future__ import annotations

from npcompile.graph.ir import CallSite, Extern, Graph, HostCall, Node, Reduction, walk
from npcompile.graph.types import Array, Scalar

#: what moves floating-point numbers, or chooses among them
MOVES = frozenset({
    "const", "cast", "read", "copy", "write", "empty", "full", "gather", "scatter", "where",
    "maximum", "minimum", "negative", "get", "pack",
})
CHOOSING = frozenset({"min", "max", "argmin", "argmax"})


def torchs(graph: Graph) -> bool:
    """Whether all numbers are torch's."""
    return all(map(_is_torchs, walk(graph.region)))


def _is_torchs(node: Node) -> bool:
    if isinstance(node.attrs, CallSite):
        return not node.attrs.effect and node.attrs.path.startswith("torch.")
    if isinstance(node.attrs, (HostCall, Extern)):
        return False
    if not isinstance(node.type, (Array, Scalar)) or node.type.dtype.kind not in "fc":
        return True
    if isinstance(node.attrs, Reduction):
        return node.attrs.kind in CHOOSING
    return node.op in MOVES
