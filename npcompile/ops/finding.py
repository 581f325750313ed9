"""Where something holds: ``nonzero`` and its relatives, whose sizes only the run can tell."""

from __future__ import annotations

from npcompile.core.sizes import Size
from npcompile.graph.ir import Node
from npcompile.graph.types import BOOL, INT, c_strides
from npcompile.ops import arguments, gathers, masks, places, views
from npcompile.ops.arguments import as_array, program, view
from npcompile.ops.creation import filled
from npcompile.ops.operands import ArrayRef, Context, Operand

FINDING = arguments.program_kind("finding")


def _holds(ctx: Context, a: Operand, what: str) -> Node:
    """Which elements are not zero."""
    ref = as_array(ctx, a)
    if not ref.ndim:
        raise ctx.refuse(what, "of what has no axes: Python raises")
    return ctx.builder.cast(ctx.read(ref), BOOL)


def _columns(ctx: Context, holds: Node, strides: tuple[Size, Size]) -> tuple[ArrayRef, ...]:
    """The indices along each axis, as columns of one array."""
    found = masks.coordinates(ctx, holds)
    (count,) = found[0].shape
    whole = filled(ctx, (count, len(found)), None, INT, strides)
    columns = tuple(
        view(whole, (count,), strides[:1], strides[1] * axis) for axis in range(len(found))
    )
    for column, node in zip(columns, found):
        ctx.write(column, node)
    return columns


def _column(ctx: Context, found: Node) -> ArrayRef:
    """Indices as the only column of an array: NumPy's are a view, too."""
    whole = ctx.new(found)
    return view(whole, whole.shape, whole.strides)


@program(FINDING, "nonzero", "ndarray.nonzero")
def nonzero(ctx: Context, a: Operand) -> tuple[ArrayRef, ...]:
    """The indices of elements that are not zero, along each axis."""
    holds = _holds(ctx, a, "nonzero")
    if len(holds.shape) == 1:
        return (_column(ctx, masks.coordinates(ctx, holds)[0]),)
    return _columns(ctx, holds, (len(holds.shape), 1))


@program(FINDING, "argwhere")
def argwhere(ctx: Context, a: Operand) -> ArrayRef:
    """A row of indices for each element that is not zero."""
    holds = _holds(ctx, a, "argwhere")
    count = masks.count_of(ctx, holds)
    first = _columns(ctx, holds, (1, count))[0]
    return view(first, (count, len(holds.shape)), (1, count))


@program(FINDING, "ix_")
def ix_(ctx: Context, *args: Operand) -> tuple[ArrayRef, ...]:
    """Arrays of one axis as an open mesh; those of bools as the places where they are true."""
    made = []
    for k, item in enumerate(args):
        if isinstance(item, (list, tuple)) and not item:
            raise ctx.refuse("ix_", "of an empty list")
        ref = as_array(ctx, item)
        if ref.ndim != 1:
            raise ctx.refuse("ix_", "of an array of other than one axis: Python raises")
        ref = nonzero(ctx, ref)[0] if ref.dtype == BOOL else ref
        shape = (*[1] * k, ref.shape[0], *[1] * (len(args) - k - 1))
        made.append(views.reshaped(ctx, ref, shape))
    return tuple(made)


@program(FINDING, "flatnonzero")
def flatnonzero(ctx: Context, a: Operand) -> ArrayRef:
    """The indices of elements that are not zero, counted in C order."""
    holds, b = _holds(ctx, a, "flatnonzero"), ctx.builder
    shape = holds.shape
    steps = [places.offsets(ctx, masks.along(ctx, shape, axis), stride)
             for axis, stride in enumerate(c_strides(shape))]
    found = b.pack(places.total(ctx, steps), holds, masks.count_of(ctx, holds))
    b.below[found] = views.a_size(as_array(ctx, a))
    return _column(ctx, found)


@program(FINDING, "extract")
def extract(ctx: Context, condition: Operand, arr: Operand) -> Operand:
    """The elements where a condition holds."""
    return gathers.take(ctx, views.ravel(ctx, arr), flatnonzero(ctx, condition))


@program(FINDING, "compress")
def compress(ctx: Context, condition: Operand, a: Operand, axis: Operand = None,
             out: Operand = None) -> Operand:
    """What is at the indices along an axis where a condition holds."""
    return gathers.take(ctx, a, flatnonzero(ctx, condition), axis, out)


@program(FINDING, "ndarray.compress")
def compress_method(ctx: Context, a: Operand, condition: Operand, axis: Operand = None,
                    out: Operand = None) -> Operand:
    """What is at the indices along an axis where a condition holds."""
    return compress(ctx, condition, a, axis, out)
