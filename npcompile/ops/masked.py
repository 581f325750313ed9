"""Reductions with ``where=``: elements that are left out.

Where the order of the elements does not show, and in sums that take them one by one, an element
left out is replaced by what changes no accumulator: adding -0.0 gives every number back.  Pairwise
sums go from run to run of elements that are not left out; those are left to NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.graph import layout
from npcompile.graph.ir import HostCall, Node
from npcompile.graph.types import BOOL, Array, Scalar
from npcompile.ops import arguments, canonical
from npcompile.ops.arguments import apply, as_array
from npcompile.ops.operands import ArrayRef, Context, Operand

#: what an element left out is replaced by
NEUTRAL: dict[str, int | bool] = {
    "sum": 0, "prod": 1, "all": True, "any": False, "bit_and": -1, "bit_or": 0, "bit_xor": 0,
}


def taken(ctx: Context, where: Operand, ref: ArrayRef, name: str) -> ArrayRef | None:
    """``where=`` over an operand's shape, or None if every element is taken."""
    if where is True or arguments.static(where) is True:
        return None
    mask = as_array(ctx, where)
    if mask.dtype != BOOL or not ref.ndim:
        raise ctx.refuse(name, "where= is not of bools, or the operand is a number")
    shape = layout.broadcast_shapes(ctx.facts, mask.shape, ref.shape)
    if len(shape) != ref.ndim or not all(map(ctx.facts.equal, shape, ref.shape)):
        raise ctx.refuse(name, "where= has more elements than the operand")
    strides = layout.broadcast_strides(ctx.facts, mask.shape, mask.strides, ref.shape)
    return arguments.view(mask, ref.shape, strides)


def _neutral(kind: str, loop: np.dtype[Any]) -> complex:
    if kind == "sum" and loop.kind in "fc":
        return -0.0 if loop.kind == "f" else complex(-0.0, -0.0)
    return np.iinfo(loop).max if kind == "bit_and" and loop.kind == "u" else NEUTRAL[kind]


def filled(ctx: Context, node: Node, mask: ArrayRef, kind: str, loop: np.dtype[Any],
           start: Node | None, name: str) -> Node:
    """The operand with neutral values where elements are left out."""
    if kind in NEUTRAL:
        neutral = ctx.builder.const(loop.type(_neutral(kind, loop)))
    elif start is not None:
        neutral = ctx.builder.cast(start, loop)
    else:
        raise ctx.refuse(name, "where= without initial=: Python raises")
    values = (ctx.read(mask), ctx.builder.cast(node, loop), neutral)
    return ctx.builder.map("where", values, loop)


def fillable(ctx: Context, ref: ArrayRef, mask: ArrayRef, kind: str, axes: tuple[int, ...],
             loop: np.dtype[Any]) -> bool:
    """Whether neutral values leave the bits of the result alone."""
    if loop.kind not in "fc" or kind not in ("sum", "prod"):
        return True
    own = layout.axis_order(ctx.facts, ref.shape, [ref.strides])
    if own != layout.axis_order(ctx.facts, ref.shape, [ref.strides, mask.strides]):
        return False
    order = canonical.plan(ctx.facts, ref.shape, ref.strides, axes, ref.dtype != loop)
    return kind == "prod" or order.mode == "sequential"


def of_complex(ctx: Context, ref: ArrayRef, kind: str, axes: tuple[int, ...], keepdims: bool,
               type_: Array | Scalar) -> Operand:
    """NumPy's own reduction of complex numbers, in lexicographic order."""
    axis: int | tuple[int, ...] | None = axes
    if kind.startswith("arg"):
        axis = None if len(axes) == ref.ndim else axes[0]
    call = HostCall(f"numpy:{kind}", (), (("axis", axis), ("keepdims", keepdims)))
    kind_of = type_ if isinstance(type_, Array) else Array(type_.dtype, (), ())
    result = ctx.host_call(call, (ref,), kind_of)
    return result if isinstance(type_, Array) else arguments.element(ctx, result)


def replaced_nan(ctx: Context, ref: ArrayRef, value: float) -> tuple[Node, Node | None]:
    """A copy with NaN replaced, and where NaN was; integers have none."""
    node = ctx.read(ref)
    if ref.dtype.kind not in "fc":
        return node, None
    mask = apply(ctx, "isnan", node)
    fill = arguments.scalar_to(ctx, value, ref.dtype)
    return ctx.builder.map("where", (mask, fill, node), ref.dtype), mask
