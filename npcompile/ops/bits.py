"""Memory whose bits an array takes for another dtype: ``array.view(dtype)``.

A cell keeps the dtype that it was made with; what is read from it and written to it is converted
bit for bit, which machine code does for nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.graph.builder import Builder
from npcompile.graph.ir import Node
from npcompile.ops.operands import ArrayRef, Context


def memory_dtype(ref: ArrayRef) -> np.dtype[Any]:
    """What the array's memory holds, whatever the array takes it for."""
    dtype = ref.storage.type.dtype
    return np.dtype(dtype.char.lower()) if ref.geometry.part else dtype


def as_dtype(b: Builder, node: Node, dtype: np.dtype[Any]) -> Node:
    """The value of another dtype of the same size that has the same bits."""
    if node.dtype == dtype:
        return node
    if node.dtype.kind == "f":
        node = b.map("to_bits", (node,), np.dtype(f"i{dtype.itemsize}"))
    if dtype.kind == "f":
        return b.map("from_bits", (b.cast(node, f"i{dtype.itemsize}"),), dtype)
    return b.cast(node, dtype)


def written(ctx: Context, ref: ArrayRef, value: Node) -> Node:
    """A value of the array's dtype as its memory holds it."""
    dtype = memory_dtype(ref)
    if dtype.kind == "b" and value.dtype.kind != "b":
        raise ctx.refuse("assignment", "of a byte that is no bool, to a view of bools")
    return as_dtype(ctx.builder, value, dtype)
