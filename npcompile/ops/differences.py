"""Differences of neighbours, slopes and areas, composed as NumPy composes them."""

from __future__ import annotations

import math
from collections.abc import Container

from npcompile.graph.types import BOOL, FLOAT
from npcompile.ops import arguments
from npcompile.ops.arguments import apply, as_array, program
from npcompile.ops.creation import filled, like_strides
from npcompile.ops.elementwise import run
from npcompile.ops.indexing import setitem
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.reductions import SUM, reduce_with
from npcompile.ops.selection import cut

DIFFERENCE = arguments.program_kind("difference")


def _of_first_order(count: int, names: Container[str]) -> bool:
    """Whether a call gives no order: of order 0 it gives the object that it got."""
    return count == 1 and "n" not in names


@program(DIFFERENCE, "diff", lists_are_arrays=_of_first_order)
def diff(ctx: Context, a: Operand, n: Operand = 1, axis: Operand = -1) -> ArrayRef:
    """Differences of neighbours along an axis, n times."""
    ref = as_array(ctx, a)
    place = arguments.axis_in(ctx, axis, ref.ndim, "diff")
    times = arguments.static_int(ctx, n, "diff")
    if times < 0 or (times == 0 and not isinstance(a, ArrayRef)):
        raise ctx.refuse("diff", "a negative order raises; order 0 gives the object itself")
    for _ in range(times):
        ends = cut(ctx, ref, place, slice(1, None)), cut(ctx, ref, place, slice(None, -1))
        name = "not_equal" if ref.dtype == BOOL else "subtract"
        ref = ctx.new(apply(ctx, name, *ends))
    return ref


@program(DIFFERENCE, "trapezoid")
def trapezoid(ctx: Context, y: Operand, x: Operand = None, dx: Operand = 1.0,
              axis: Operand = -1) -> Operand:
    """The area under samples, by the trapezoidal rule."""
    ref = as_array(ctx, y)
    place = arguments.axis_in(ctx, axis, ref.ndim, "trapezoid")
    width = dx
    if x is not None:
        at = as_array(ctx, x)
        width = gap = diff(ctx, at, 1, -1 if at.ndim == 1 else axis)
        if at.ndim == 1:
            after = ref.ndim - place - 1
            shape = (*[1] * place, *gap.shape, *[1] * after)
            width = arguments.view(gap, shape, (*[0] * place, *gap.strides, *[0] * after))
    ends = cut(ctx, ref, place, slice(1, None)), cut(ctx, ref, place, slice(None, -1))
    area = run(ctx, "multiply", width, run(ctx, "add", *ends))
    return reduce_with(SUM, "trapezoid", ctx, run(ctx, "divide", area, 2.0), axis)


@program(DIFFERENCE, "unwrap")
def unwrap(ctx: Context, p: Operand, discont: Operand = None, axis: Operand = -1, *,
           period: Operand = 2 * math.pi) -> ArrayRef:
    """Angles without jumps of more than half a period between neighbours."""
    ref, whole, jump = as_array(ctx, p), arguments.static(period), arguments.static(discont)
    if ref.dtype.kind != "f":
        raise ctx.refuse("unwrap", f"of {ref.dtype}")
    if type(whole) not in (int, float) or type(jump) not in (int, float, type(None)):
        raise ctx.refuse("unwrap", "period= or discont= that is no constant number")
    place, half = arguments.axis_in(ctx, axis, ref.ndim, "unwrap"), whole / 2
    gaps = diff(ctx, ref, 1, place)
    turned = run(ctx, "remainder", run(ctx, "subtract", gaps, -half), whole)
    turned = run(ctx, "add", turned, -half)
    up, lowest = run(ctx, "greater", gaps, 0), run(ctx, "equal", turned, -half)
    turned = run(ctx, "where.choose", run(ctx, "logical_and", lowest, up), half, turned)
    jumps = run(ctx, "subtract", turned, gaps)
    small = run(ctx, "less", run(ctx, "absolute", gaps), half if jump is None else jump)
    kept = ctx.new(apply(ctx, "cumsum", run(ctx, "where.choose", small, 0, jumps), place))
    rest = (*[slice(None)] * place, slice(1, None))
    out = filled(ctx, ref.shape, None, ref.dtype, like_strides(ctx, ref))
    setitem(ctx, out, ..., ref)
    setitem(ctx, out, rest, run(ctx, "add", cut(ctx, ref, place, slice(1, None)), kept))
    return out


@program(DIFFERENCE, "gradient")
def gradient(ctx: Context, f: Operand, *varargs: Operand, axis: Operand = None,
             edge_order: Operand = 1) -> Operand:
    """Slopes by central differences of evenly spaced samples, one-sided at the ends."""
    ref = as_array(ctx, f)
    axes = tuple(range(ref.ndim))
    if axis is not None:
        axes = arguments.axes_in(ctx, axis, ref.ndim, "gradient")
    steps = varargs * len(axes) if len(varargs) == 1 else varargs or (1.0,) * len(axes)
    known = [arguments.static(step) for step in steps]
    if arguments.static(edge_order) != 1 or len(known) != len(axes):
        raise ctx.refuse("gradient", "edge_order=, or not as many distances as axes")
    if not all(type(step) in (int, float) for step in known):
        raise ctx.refuse("gradient", "distances that are no constant numbers")
    if ref.dtype.kind == "b":
        raise ctx.refuse("gradient", "differences of truth values: Python raises")
    if ref.dtype.kind in "iu":
        ref = ctx.new(ctx.builder.cast(ctx.read(ref), FLOAT))
    slopes = tuple(_slope(ctx, ref, place, step) for place, step in zip(axes, known))
    return slopes[0] if len(slopes) == 1 else slopes


def _slope(ctx: Context, ref: ArrayRef, place: int, step: float) -> ArrayRef:
    arguments.require(ctx, "<=", 2, ref.shape[place], "gradient of fewer than two samples")
    out = filled(ctx, ref.shape, None, ref.dtype, like_strides(ctx, ref))
    for target, high, low, width in (
        (slice(1, -1), slice(2, None), slice(None, -2), 2.0 * step),
        (slice(None, 1), slice(1, 2), slice(None, 1), step),
        (slice(-1, None), slice(-1, None), slice(-2, -1), step),
    ):
        rise = run(ctx, "subtract", cut(ctx, ref, place, high), cut(ctx, ref, place, low))
        setitem(ctx, cut(ctx, out, place, target), Ellipsis, run(ctx, "divide", rise, width))
    return out
