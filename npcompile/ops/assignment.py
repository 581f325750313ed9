"""What ``array[...] = value`` makes of a value."""

from __future__ import annotations

from npcompile.core.sizes import Size
from npcompile.graph.ir import Node
from npcompile.graph.layout import broadcast_shapes
from npcompile.ops import arguments
from npcompile.ops.operands import ArrayRef, Context, Operand


def assigned(ctx: Context, target: ArrayRef, value: Operand) -> Node:
    """A value as ``target[...] = value`` takes it: cast, and of a shape that broadcasts."""
    if arguments.is_number(value):
        return arguments.scalar_to(ctx, value, target.dtype)
    if isinstance(value, (list, tuple)):
        value = arguments.as_array(ctx, value, target.dtype)
    if not isinstance(value, ArrayRef):
        raise ctx.refuse("assignment", f"a value of type {type(value).__name__}")
    if value.ndim and not target.ndim:
        raise ctx.refuse("assignment", "an array for one element: Python raises, or warns")
    return arguments.converted(ctx, fitted(ctx, value, target.shape), target.dtype)


def fitted(ctx: Context, value: ArrayRef, shape: tuple[Size, ...]) -> ArrayRef:
    """``value`` without leading axes of length 1 that ``shape`` lacks; refuses what does not
    broadcast to ``shape``."""
    extra = max(value.ndim - len(shape), 0)
    if not all(ctx.facts.equal(n, 1) for n in value.shape[:extra]):
        raise ctx.refuse("assignment", "the value has too many axes: Python raises")
    if extra:
        value = arguments.view(value, value.shape[extra:], value.strides[extra:])
    wide = broadcast_shapes(ctx.facts, value.shape, shape)
    if not all(map(ctx.facts.equal, wide, shape)):
        raise ctx.refuse("assignment", "the value does not broadcast: Python raises")
    return value


def picked_out(ctx: Context, ref: ArrayRef, shape: tuple[Size, ...], value: Operand) -> Node:
    """A value as ``ref[mask] = value`` and ``ref[indices] = value`` take it, for elements of this
    shape: NumPy's numbers wrap here, where a basic index would raise."""
    if isinstance(value, Node) and value.scalar.origin == "np":
        if value.dtype.kind == "c" and ref.dtype.kind not in "cb":
            raise ctx.refuse("assignment", "complex to real warns")
        return ctx.builder.cast(value, ref.dtype)
    target = ArrayRef(ref.storage, arguments.geometry(shape, (0,) * len(shape)), ref.dtype)
    return assigned(ctx, target, value)
