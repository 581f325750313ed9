"""Subscripts of tensors: views, even where every axis has an integer."""

from __future__ import annotations

from npcompile.core.sizes import Size
from npcompile.ops import arguments, slices
from npcompile.ops.operands import ArrayRef, Context, Operand, Tensor, same_elements
from npcompile.tensors import elementwise


def view_of(ctx: Context, ref: ArrayRef, key: Operand) -> ArrayRef:
    """The view that a basic key selects."""
    shape: list[Size] = []
    strides: list[Size] = []
    offset: Size = 0
    axis = 0
    for item in slices.expanded(ctx, key, ref.ndim):
        if item is None:
            last = axis == ref.ndim
            shape.append(1)
            strides.append(1 if last else ref.shape[axis] * ref.strides[axis])
            continue
        n, stride = ref.shape[axis], ref.strides[axis]
        axis += 1
        if isinstance(item, slice):
            start, count, step = slices.bounds(ctx, item, n)
            if ctx.facts.prove("<", 0, step) is not True:
                raise ctx.refuse("slice", "a step that is not positive: Python raises")
            shape.append(count)
            strides.append(stride * step)
            offset = offset + stride * start
        elif isinstance(item, Tensor):
            raise ctx.refuse("index", "a tensor of indices")
        else:
            offset = offset + stride * slices.position(ctx, item, n)
    return arguments.view(ref, shape, strides, offset)


def getitem(ctx: Context, x: Tensor, key: Operand) -> Tensor:
    """``x[key]``"""
    return Tensor(view_of(ctx, x.memory, key))


def setitem(ctx: Context, x: Tensor, key: Operand, value: Operand) -> None:
    """``x[key] = value``"""
    target = Tensor(view_of(ctx, x.memory, key))
    if not isinstance(value, Tensor):
        elementwise.writes(ctx, target, (), "assignment")
        number = elementwise.number(ctx, value, target.memory.dtype)
        ctx.write(target.memory, number)
        return
    if same_elements(target.memory, value.memory):
        return  # the end of ``x[key] += value``
    elementwise.writes(ctx, target, (value,), "assignment")
    elementwise.store(ctx, target, value, "assignment")
