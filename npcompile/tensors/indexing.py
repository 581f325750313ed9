"""Subscripts of tensors: views, even where every axis has an integer; copies, where tensors are
indices or masks."""

from __future__ import annotations

from npcompile.core.sizes import Size
from npcompile.graph import layout
from npcompile.graph.types import BOOL
from npcompile.ops import arguments, indexing, slices
from npcompile.ops.operands import ArrayRef, Context, Operand, Tensor, same_elements
from npcompile.tensors import elementwise
from npcompile.tensors.tensor_functions import NAMED, result


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
        else:
            offset = offset + stride * slices.position(ctx, item, n)
    return arguments.view(ref, shape, strides, offset)


def _split(
    ctx: Context, ref: ArrayRef, key: Operand
) -> tuple[tuple[Operand, ...], tuple[Operand, ...]]:
    """A key as torch applies it: first numbers, slices and new axes, then tensors, in the places of
    whole axes; without tensors the second key is empty."""
    items = list(key) if isinstance(key, tuple) else [key]
    items = [_index(ctx, item) for item in items]
    taken = sum(_axes(item) for item in items)
    if any(item is Ellipsis for item in items):
        at = next(k for k, item in enumerate(items) if item is Ellipsis)
        items[at : at + 1] = [slice(None)] * (ref.ndim - taken)
    basic: list[Operand] = []
    picks: list[Operand] = []
    for item in items:
        if isinstance(item, ArrayRef):
            basic += [slice(None)] * _axes(item)
            picks.append(item)
        else:
            basic.append(item)
            picks += [slice(None)] if item is None or isinstance(item, slice) else []
    if not any(isinstance(item, ArrayRef) for item in picks):
        return tuple(basic), ()
    return tuple(basic), tuple(picks)


def _axes(item: Operand) -> int:
    """How many axes an item of a key is for."""
    if item is None or item is Ellipsis:
        return 0
    return item.ndim if isinstance(item, ArrayRef) and item.dtype == BOOL else 1


def _index(ctx: Context, item: Operand) -> Operand:
    """A tensor as an array, without axes as a number."""
    if isinstance(item, Tensor):
        ref = item.memory
        if ref.dtype.kind not in "bi" or (ref.dtype == BOOL and not ref.ndim):
            raise ctx.refuse("index", f"a tensor of {ref.dtype}, or of bool without axes")
        return ref if ref.ndim else arguments.element(ctx, ref)
    if isinstance(item, (bool, list, ArrayRef)):
        raise ctx.refuse("index", "a list, an array or a truth value")
    return item


def getitem(ctx: Context, x: Tensor, key: Operand) -> Tensor:
    """``x[key]``"""
    basic, picks = _split(ctx, x.memory, key)
    found = view_of(ctx, x.memory, basic)
    if not picks:
        return Tensor(found)
    if layout.stride_order(ctx.facts, found.strides) != [*range(found.ndim)]:
        raise ctx.refuse("index", "tensors of indices, of axes that lie in another order")
    return result(ctx, indexing.getitem(ctx, found, picks))


NAMED["Tensor.__getitem__"] = getitem


def setitem(ctx: Context, x: Tensor, key: Operand, value: Operand) -> None:
    """``x[key] = value``"""
    basic, picks = _split(ctx, x.memory, key)
    target = Tensor(view_of(ctx, x.memory, basic))
    if not isinstance(value, Tensor):
        elementwise.writes(ctx, target, (), "assignment")
        number = elementwise.number(ctx, value, target.memory.dtype)
        if picks:
            indexing.setitem(ctx, target.memory, picks, number)
        else:
            ctx.write(target.memory, number)
        return
    if picks:
        elementwise.writes(ctx, target, (value,), "assignment")
        if value.memory.dtype != target.memory.dtype:
            raise ctx.refuse("assignment", "at tensors of indices, of another dtype")
        held: Operand = value.memory
        if not value.memory.ndim:
            held = arguments.element(ctx, value.memory)
        indexing.setitem(ctx, target.memory, picks, held)
        return
    if same_elements(target.memory, value.memory):
        return  # the end of ``x[key] += value``
    elementwise.writes(ctx, target, (value,), "assignment")
    elementwise.store(ctx, target, value, "assignment")
