"""Which nodes raise floating-point flags."""

from __future__ import annotations

from npcompile.graph.ir import Node
from npcompile.graph.primitives import PRIMITIVES
from npcompile.graph.types import Array, Scalar


def raises(node: Node) -> bool:
    """Whether a node may raise flags by itself; Python's own numbers raise exceptions instead."""
    type_ = node.type
    if not isinstance(type_, (Array, Scalar)) or getattr(type_, "origin", "np") == "py":
        return False
    if node.op == "cast":
        return node.args[0].dtype.kind in "fc"
    primitive = PRIMITIVES.get(node.op)
    return primitive is not None and bool(primitive.flags)
