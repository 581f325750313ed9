"""Functions that read or write elements by arrays of indices."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from npcompile.core.sizes import Size
from npcompile.graph import layout
from npcompile.graph.ir import Node
from npcompile.graph.types import BOOL, FLOAT, INT, c_strides
from npcompile.ops import arguments, elementwise, masks, places, views
from npcompile.ops.arguments import an_array, as_array, axis_in, operand_dtype, program, view
from npcompile.ops.creation import filled
from npcompile.ops.indexing import getitem
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.record import define
from npcompile.ops.reductions import reduce_node
from npcompile.ops.slices import Axes

GATHER = arguments.program_kind("gather")


# ------------------------------------------------------------------ along one axis


@program(GATHER, "take")
def take(ctx: Context, a: Operand, indices: Operand, axis: Operand = None, out: Operand = None,
         mode: Operand = "raise") -> Operand:
    """Elements at indices along an axis."""
    if out is not None:
        raise ctx.refuse("take", "out=")
    ref = as_array(ctx, a)
    if axis is None:
        ref, axis = views.ravel(ctx, ref), 0
    place = axis_in(ctx, axis, ref.ndim, "take")
    if not isinstance(indices, (ArrayRef, list, tuple)):
        integer = arguments.is_number(indices) and operand_dtype(indices).kind in "iu"
        if mode != "raise" or not integer:
            raise ctx.refuse("take", "of one index with mode=, or that is no integer")
        found = getitem(ctx, ref, (*[slice(None)] * place, indices))
        return views.copied(ctx, found) if isinstance(found, ArrayRef) else found
    index = places.as_indices(ctx, list(indices) if isinstance(indices, tuple) else indices)
    at = _within(ctx, ctx.read(index), ref.shape[place], mode)
    at = places.offsets(ctx, at, ref.strides[place])
    left = Axes(0, [*ref.shape[:place], *ref.shape[place + 1 :]],
                [*ref.strides[:place], *ref.strides[place + 1 :]])
    picks = places.laid(ref, at, left, place, (index.strides,))
    return places.gathered(ctx, ref, picks, c_strides(picks.geometry.shape))


@program(GATHER, "ndarray.take")
def take_method(ctx: Context, a: Operand, indices: Operand, axis: Operand = None,
                out: Operand = None, mode: Operand = "raise") -> Operand:
    """Elements at indices along an axis."""
    return take(ctx, a, indices, axis, out, mode)


def _within(ctx: Context, index: Node, n: Size, mode: Operand) -> Node:
    """Indices from 0 to below a length: checked, clipped or wrapped around."""
    if mode == "raise":
        return places.from_front(ctx, index, n)
    arguments.require(ctx, "<", 0, n, "take from an empty axis")
    b = ctx.builder
    if mode == "wrap":
        return b.map("int_mod", (index, b.size(n)), INT)
    if mode != "clip":
        raise ctx.refuse("take", "mode=")
    return b.map("minimum", (b.map("maximum", (index, b.const(0)), INT), b.size(n - 1)), INT)


def _along(ctx: Context, ref: ArrayRef, indices: Operand, axis: Operand, what: str) -> Any:
    """What an array of indices of the same rank picks along an axis."""
    index = an_array(ctx, indices, what)
    place = axis_in(ctx, axis, ref.ndim, what)
    if index.dtype.kind not in "iu" or index.ndim != ref.ndim:
        raise ctx.refuse(what, "indices of another rank, or no integers: Python raises")
    index = as_array(ctx, index, INT)
    shape = tuple(n if k == place else m for k, (n, m) in enumerate(zip(index.shape, ref.shape)))
    shape = layout.broadcast_shapes(ctx.facts, index.shape, shape)
    at = places.from_front(ctx, ctx.read(index), ref.shape[place])
    at = places.offsets(ctx, at, ref.strides[place])
    rest = [places.offsets(ctx, masks.along(ctx, shape, k), ref.strides[k])
            for k in range(ref.ndim) if k != place]
    order = layout.broadcast_strides(ctx.facts, index.shape, index.strides, shape)
    return places.laid(ref, places.total(ctx, [at, *rest]), Axes(), 0, (order,)), order


@program(GATHER, "take_along_axis", lists_are_arrays=arguments.no_call)
def take_along_axis(ctx: Context, arr: Operand, indices: Operand,
                    axis: Operand = -1) -> ArrayRef:
    """Elements at indices along an axis, for each place along the others."""
    ref = an_array(ctx, arr, "take_along_axis")
    picks, order = _along(ctx, ref, indices, axis, "take_along_axis")
    strides = layout.k_strides(ctx.facts, picks.picked, [order])
    return places.gathered(ctx, ref, picks, strides)


@program(GATHER, "put_along_axis", lists_are_arrays=arguments.no_call)
def put_along_axis(ctx: Context, arr: ArrayRef, indices: Operand, values: Operand,
                   axis: Operand) -> None:
    """Writes elements at indices along an axis, for each place along the others."""
    picks, _ = _along(ctx, arr, indices, axis, "put_along_axis")
    places.assign(ctx, arr, picks, values)


@program(GATHER, "put", "ndarray.put", lists_are_arrays=arguments.no_call)
def put(ctx: Context, a: ArrayRef, ind: Operand, v: Operand, mode: Operand = "raise") -> None:
    """Writes elements at indices that count in C order."""
    if not isinstance(a, ArrayRef) or not views.is_contiguous(ctx, a):
        raise ctx.refuse("put", "into what is no C-contiguous array")
    index = views.ravel(ctx, places.as_indices(ctx, ind if isinstance(ind, list) else [ind]
                                               if arguments.is_number(ind) else ind))
    at = _within(ctx, ctx.read(index), views.a_size(a), mode)
    value = as_array(ctx, v, a.dtype)
    if value.ndim:
        value = views.ravel(ctx, value)
        if not ctx.facts.must("==", value.shape[0], index.shape[0]):
            raise ctx.refuse("put", "values that are repeated")
    places.assign(ctx, a, places.laid(a, at, Axes(), 0, (index.strides,)), value)


@program(GATHER, "choose")
def choose(ctx: Context, a: Operand, choices: Operand, out: Operand = None,
           mode: Operand = "raise") -> Operand:
    """For each element the one of the choice that it names."""
    if out is not None or mode != "raise" or not isinstance(choices, (list, tuple)) or not choices:
        raise ctx.refuse("choose", "out=, mode= or choices that are no list")
    b, refs = ctx.builder, [as_array(ctx, choice) for choice in choices]
    dtype = np.result_type(*(ref.dtype for ref in refs))
    lifted = [elementwise.lift(ctx, choice, "choose") for choice in choices]
    if np.result_type(*(choice.sample for choice in lifted)) != dtype:
        raise ctx.refuse("choose", "Python numbers among choices of other dtypes")
    index = ctx.read(places.as_indices(ctx, as_array(ctx, a)))
    axes = tuple(range(len(index.shape)))
    for pair in ((b.const(0), index), (index, b.const(len(refs) - 1))):
        inside = b.map("le", pair, BOOL)
        holds = reduce_node(ctx, inside, "all", axes, False, BOOL)
        b.check(holds, "choose: an index is out of range")
    nodes = [b.cast(ctx.read(ref), dtype) for ref in refs]
    found = nodes[-1]
    for k, node in reversed(list(enumerate(nodes[:-1]))):
        found = b.map("where", (b.map("eq", (index, b.const(k)), BOOL), node, found), dtype)
    shape = layout.broadcast_shapes(ctx.facts, index.shape, *(ref.shape for ref in refs))
    made = filled(ctx, shape, None, dtype)
    ctx.write(made, found)
    return made if shape else arguments.element(ctx, made)


# ------------------------------------------------------------------ ufunc.at


#: the primitive of old and new element, and the kinds of dtypes that it is for
_COMBINED = {
    "add": ("add", "iuf"), "subtract": ("sub", "iuf"), "multiply": ("mul", "iuf"),
    "divide": ("div", "f"), "maximum": ("maximum", "iu"), "minimum": ("minimum", "iu"),
    "bitwise_and": ("bit_and", "biu"), "bitwise_or": ("bit_or", "biu"),
    "bitwise_xor": ("bit_xor", "biu"), "logical_and": ("bit_and", "b"),
    "logical_or": ("bit_or", "b"), "logical_xor": ("bit_xor", "b"),
}


def _at(ctx: Context, a: Operand, indices: Operand, b: Operand, *, name: str) -> None:
    primitive, kinds = _COMBINED[name]
    if not isinstance(a, ArrayRef) or not a.writeable:
        raise ctx.refuse(f"{name}.at", "into what is no writeable array: Python raises")
    if isinstance(b, (list, tuple)):
        b = as_array(ctx, b)
    same = np.result_type(a.dtype, _like(b)) == a.dtype
    if not same or a.dtype.kind not in kinds or a.dtype == np.float16:
        raise ctx.refuse(f"{name}.at", f"of {a.dtype} and another dtype")
    if isinstance(b, ArrayRef) and b.storage is a.storage:
        raise ctx.refuse(f"{name}.at", "an array into itself")
    items = indices if isinstance(indices, tuple) else (indices,)
    if not places.is_advanced(items):
        raise ctx.refuse(f"{name}.at", "at places that are no array")
    picks = places.of_key(ctx, a, masks.as_places(ctx, a, items))
    if isinstance(b, ArrayRef) and b.ndim > len(picks.geometry.shape):
        raise ctx.refuse(f"{name}.at", "an array of more axes than there are places: Python raises")
    places.assign(ctx, a, picks, b, primitive)


def _like(b: Operand) -> Any:
    """What promotes as an operand does."""
    dtype = arguments.operand_dtype(b)
    return dtype.type(0).item() if arguments.is_weak(b) else dtype


for _name in _COMBINED:
    define(f"{_name}.at", GATHER, reference=f"numpy:{_name}.at", lower=partial(_at, name=_name),
           doc=f"{_name} into elements at indices, one after the other.")


# ------------------------------------------------------------------ counting


@program(GATHER, "bincount")
def bincount(ctx: Context, x: Operand, /, weights: Operand = None,
             minlength: Operand = 0) -> ArrayRef:
    """How often each number occurs, or the sum of its weights."""
    ref = as_array(ctx, x)
    if ref.ndim != 1 or ref.dtype.kind not in "iu" or ref.dtype.char in "QL":
        raise ctx.refuse("bincount", f"of {ref.ndim} axes or of {ref.dtype}")
    least = arguments.length(ctx, minlength, "bincount")
    b, index = ctx.builder, ctx.read(as_array(ctx, ref, INT))
    smallest, largest = places.span(index)
    top = reduce_node(ctx, index, "max", (0,), False, INT, b.const(np.int64(-1)))
    if smallest < 0:
        low = reduce_node(ctx, index, "min", (0,), False, INT, b.const(np.int64(0)))
        b.check(b.map("le", (b.const(0), low), BOOL), "bincount of a negative number")
    if least == 0:
        # more than memory holds would be Python's to refuse
        b.check(b.map("lt", (top, b.const(2**40)), BOOL), "bincount of large numbers")
        count = b.size_of(b.map("add", (top, b.const(np.int64(1))), INT), 0)
    else:  # who gives a least length gives the length
        if not (isinstance(least, int) and largest < least):
            why = "bincount of a number that is minlength= or more"
            b.check(b.map("lt", (top, b.size(least)), BOOL), why)
        count = least
    weighed = weights is not None and ctx.facts.less(0, ref.shape[0])
    dtype = FLOAT if weighed else INT  # NumPy counts nothing as integers
    out = filled(ctx, (count,), 0, dtype)
    picks = places.laid(out, index, Axes(), 0, (ref.strides,))
    value: Operand = 1
    if weighed:
        value = as_array(ctx, weights)
        if value.ndim != 1 or not np.can_cast(value.dtype, FLOAT, "safe"):
            raise ctx.refuse("bincount", "weights that are no row of floats")
        if not ctx.facts.must("==", value.shape[0], ref.shape[0]):
            raise ctx.refuse("bincount", "weights of another length: Python raises")
    places.assign(ctx, out, picks, value, "add")
    return out


def repeated(ctx: Context, ref: ArrayRef, counts: ArrayRef, place: int) -> ArrayRef:
    """``np.repeat`` with a count for each index along an axis."""
    b, n = ctx.builder, ref.shape[place]
    if counts.ndim != 1 or counts.dtype.kind not in "iu" or counts.dtype.char in "QL":
        raise ctx.refuse("repeat", f"by counts of {counts.ndim} axes or of {counts.dtype}")
    if not ctx.facts.must("==", counts.shape[0], n):
        raise ctx.refuse("repeat", "by as many counts as there are no elements")
    times = as_array(ctx, counts, INT)
    low = reduce_node(ctx, ctx.read(times), "min", (0,), False, INT, b.const(np.int64(0)))
    b.check(b.map("le", (b.const(0), low), BOOL), "repeat: a negative count")
    ends = elementwise.run(ctx, "cumsum", views.copied(ctx, times))
    assert isinstance(ends, ArrayRef)
    total = reduce_node(ctx, ctx.read(times), "sum", (0,), False, INT)
    size = b.size_of(total, 0)
    # one step up where each element's run ends: their running sum is the element's index
    steps = filled(ctx, (size + 1,), 0, INT)
    picks = places.laid(steps, ctx.read(ends), Axes(), 0, ((1,),))
    places.assign(ctx, steps, picks, 1, "add")
    starts = elementwise.run(ctx, "cumsum", steps)
    assert isinstance(starts, ArrayRef)
    index = ctx.read(view(starts, (size,), (1,)))
    at = places.offsets(ctx, index, ref.strides[place])
    left = Axes(0, [*ref.shape[:place], *ref.shape[place + 1 :]],
                [*ref.strides[:place], *ref.strides[place + 1 :]])
    found = places.laid(ref, at, left, place, ((1,),))
    return places.gathered(ctx, ref, found, c_strides(found.geometry.shape))
