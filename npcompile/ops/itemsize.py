"""``array.view(dtype)`` of another item size: elements that are cut up, or put together.

What is made is a copy, in the place of a view: the context makes sure that nobody can tell.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from npcompile.core.sizes import floordiv
from npcompile.graph.builder import Builder
from npcompile.graph.ir import Geometry, Node
from npcompile.graph.types import c_strides, contiguous
from npcompile.ops.arguments import view
from npcompile.ops.bits import as_dtype
from npcompile.ops.operands import ArrayRef, Context

Dtype = np.dtype[Any]


def resized(ctx: Context, ref: ArrayRef, want: Dtype) -> ArrayRef:
    """A C-contiguous array of at least one axis as one of a dtype of another size."""
    have = ref.dtype
    complexes = have.kind + want.kind in ("cf", "fc") and 2 * min(
        have.itemsize, want.itemsize) == max(have.itemsize, want.itemsize)
    if not complexes and not (have.kind in "biuf" and want.kind in "iuf"):
        raise ctx.refuse("view", f"of {have} as {want}")
    if not ref.ndim or ref.geometry.part:
        raise ctx.refuse("view", f"of {have} without axes, or of parts, as {want}")
    made = _cut(ctx, ref, want) if have.itemsize > want.itemsize else _joined(ctx, ref, want)
    return ctx.stand_in(made, ref)


def _unsigned(dtype: Dtype) -> Dtype:
    return np.dtype(f"u{dtype.itemsize}")


def _bits(b: Builder, node: Node) -> Node:
    """The bits of a real number as an unsigned one."""
    return as_dtype(b, node, _unsigned(node.dtype))


def _cut(ctx: Context, ref: ArrayRef, want: Dtype) -> ArrayRef:
    """Each element as several, the low-order one first."""
    b, node, count = ctx.builder, ctx.read(ref), ref.dtype.itemsize // want.itemsize
    if ref.dtype.kind == "c":
        parts = [b.map(name, (node,), want) for name in ("real", "imag")]
    else:
        bits, width = _bits(b, node), 8 * want.itemsize
        shifts = [b.const(bits.dtype.type(k * width)) for k in range(count)]
        shifted = [b.map("shr", (bits, shift), bits.dtype) for shift in shifts]
        parts = [as_dtype(b, b.cast(x, _unsigned(want)), want) for x in shifted]
    shape = (*ref.shape[:-1], ref.shape[-1] * count)
    made = b.emit("empty", (), None, contiguous(want, shape))
    steps = tuple(step * count for step in c_strides(ref.shape))
    for k, part in enumerate(parts):
        made = b.write(made, part, Geometry(k, ref.shape, steps))
    return ctx.new(made)


def _joined(ctx: Context, ref: ArrayRef, want: Dtype) -> ArrayRef:
    """Several elements as one."""
    b, count = ctx.builder, want.itemsize // ref.dtype.itemsize
    length = floordiv(ref.shape[-1], count)
    if not ctx.facts.equal(length * count, ref.shape[-1]):
        raise ctx.refuse("view", "the last axis does not fit: Python raises")
    shape, steps = (*ref.shape[:-1], length), (*ref.strides[:-1], count)
    parts = [ctx.read(view(ref, shape, steps, k)) for k in range(count)]
    if want.kind == "c":
        return ctx.new(b.map("complex", parts, want))
    whole = _unsigned(want)
    wide = [b.cast(_bits(b, part), whole) for part in parts]
    width = 8 * ref.dtype.itemsize
    placed = [
        b.map("shl", (x, b.const(whole.type(k * width))), whole) for k, x in enumerate(wide)
    ]
    bits = reduce(lambda x, y: b.map("bit_or", (x, y), whole), placed)
    return ctx.new(as_dtype(b, bits, want))
