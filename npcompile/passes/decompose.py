"""Operator records become programs over primitives."""

from __future__ import annotations

import numpy as np

from npcompile.core.errors import refuse
from npcompile.graph.builder import Builder
from npcompile.graph.expression import apply
from npcompile.graph.ir import GRAMMAR, Graph, Node
from npcompile.graph.layout import packed_strides
from npcompile.graph.primitives import PRIMITIVES
from npcompile.graph.types import Array, Scalar, Type
from npcompile.ops.elementwise import Ufunc
from npcompile.ops.record import OPERATORS
from npcompile.passes.rewrite import rewrite

HALF, SINGLE = np.dtype(np.float16), np.dtype(np.float32)


def decompose(graph: Graph) -> Graph:
    """Every node whose op is a record is replaced by the record's lowering."""
    return rewrite(graph, _rule)


def _rule(builder: Builder, node: Node, args: tuple[Node, ...]) -> Node | None:
    record = None if node.op in GRAMMAR else OPERATORS.get(node.op)
    if record is None or (record.lower is None and node.op in PRIMITIVES):
        return None
    if isinstance(record.lower, str):
        return builder.emit(record.lower, args, node.attrs, node.type)
    if record.lower is None:
        raise refuse(node.op, "has no lowering", node.line)
    # a float16 loop of NumPy computes in float32 and rounds once, at its end
    half = isinstance(record.data, Ufunc) and any(map(is_half, args)) and record.data.half
    lower = half or record.lower
    args = tuple([widen(builder, a) for a in args])
    if record.kind.name == "elementwise":
        made = apply(lower, builder, args, node.type)
    else:
        made = lower(builder, *args)
    assert isinstance(made, Node), f"{node.op} lowers to several nodes"
    return retype(builder, made, node.type)


def is_half(node: Node) -> bool:
    return isinstance(node.type, (Array, Scalar)) and node.dtype == HALF


def widen(builder: Builder, node: Node) -> Node:
    """A float16 value in float32; others as they are."""
    return convert(builder, node, SINGLE) if is_half(node) else node


def convert(builder: Builder, node: Node, dtype: np.dtype) -> Node:
    """A cast that keeps the layout."""
    if isinstance(node.type, Array):
        return builder.emit("cast", (node,), None, fresh(builder, node, dtype))
    return builder.cast(node, dtype)


def fresh(builder: Builder, node: Node, dtype: np.dtype) -> Array:
    """The type of what is computed of an array, element by element: no view's strides."""
    assert isinstance(node.type, Array)
    shape = node.type.shape
    return Array(dtype, shape, packed_strides(builder.facts, shape, node.type.strides))


def retype(builder: Builder, node: Node, type_: Type) -> Node:
    """The node with exactly this type: dtype, origin, layout."""
    return node if node.type == type_ else builder.emit("cast", (node,), None, type_)
