"""Parts of arrays as views: flipped, turned, on the diagonal, split."""

from __future__ import annotations

from itertools import pairwise

from npcompile.core.sizes import Size, floordiv, hint, is_known, largest, mod, smallest
from npcompile.ops.arguments import (
    an_array,
    as_array,
    axes_in,
    axis_in,
    no_call,
    program,
    static_int,
    view,
)
from npcompile.ops.indexing import getitem
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.reductions import SUM, reduce_with
from npcompile.ops.views import VIEW, permuted

ALL = slice(None)
BACK = slice(None, None, -1)


def cut(ctx: Context, ref: ArrayRef, axis: int, item: slice) -> ArrayRef:
    """One axis sliced."""
    found = getitem(ctx, ref, (*[ALL] * axis, item))
    assert isinstance(found, ArrayRef)
    return found


def flipped(ctx: Context, ref: ArrayRef, axes: tuple[int, ...]) -> ArrayRef:
    for axis in axes:
        ref = cut(ctx, ref, axis, BACK)
    return ref


@program(VIEW, "flip")
def flip(ctx: Context, m: Operand, axis: Operand = None) -> ArrayRef:
    """Axes in reverse."""
    ref = as_array(ctx, m)
    if not ref.ndim:
        raise ctx.refuse("flip", "of what has no axes")
    axes = tuple(range(ref.ndim)) if axis is None else axes_in(ctx, axis, ref.ndim, "flip")
    return flipped(ctx, ref, axes)


@program(VIEW, "flipud")
def flipud(ctx: Context, m: Operand) -> ArrayRef:
    """The first axis in reverse."""
    return flip(ctx, m, 0)


@program(VIEW, "fliplr")
def fliplr(ctx: Context, m: Operand) -> ArrayRef:
    """The second axis in reverse."""
    return flip(ctx, m, 1)


@program(VIEW, "rot90")
def rot90(ctx: Context, m: Operand, k: Operand = 1, axes: Operand = (0, 1)) -> ArrayRef:
    """A quarter turn, k times."""
    ref = as_array(ctx, m)
    iterations = static_int(ctx, k, "rot90") % 4
    first, second = axes_in(ctx, axes, ref.ndim, "rot90")
    order = list(range(ref.ndim))
    order[first], order[second] = second, first
    if iterations == 0:
        return permuted(ref, range(ref.ndim))
    if iterations == 2:
        return flipped(ctx, ref, (first, second))
    if iterations == 1:
        return permuted(flipped(ctx, ref, (second,)), order)
    return flipped(ctx, permuted(ref, order), (second,))


# ------------------------------------------------------------------ diagonals


def diagonal_of(ctx: Context, ref: ArrayRef, offset: int, axes: tuple[int, int]) -> ArrayRef:
    """The diagonal as the last axis of a view."""
    i, j = axes
    rows, columns = ref.shape[i], ref.shape[j]
    rows, columns = (rows, columns - offset) if offset >= 0 else (rows + offset, columns)
    if is_known(rows - columns):
        count = rows if ctx.facts.at_most(rows, columns) else columns
        count = count if ctx.facts.at_most(0, count) else 0
    else:
        count = largest(smallest(rows, columns), 0)
    start: Size = ref.strides[j] * offset if offset >= 0 else ref.strides[i] * -offset
    rest = [k for k in range(ref.ndim) if k not in axes]
    return view(ref, [*(ref.shape[k] for k in rest), count],
                [*(ref.strides[k] for k in rest), ref.strides[i] + ref.strides[j]], start)


def _diagonal_axes(ctx: Context, ref: ArrayRef, axis1: Operand, axis2: Operand) -> tuple[int, int]:
    if ref.ndim < 2:
        raise ctx.refuse("diagonal", "needs two axes: Python raises")
    i, j = axes_in(ctx, (axis1, axis2), ref.ndim, "diagonal")
    return i, j


@program(VIEW, "diagonal", "ndarray.diagonal")
def diagonal(ctx: Context, a: Operand, offset: Operand = 0, axis1: Operand = 0,
             axis2: Operand = 1) -> ArrayRef:
    """A read-only view of a diagonal."""
    ref = as_array(ctx, a)
    axes = _diagonal_axes(ctx, ref, axis1, axis2)
    found = diagonal_of(ctx, ref, static_int(ctx, offset, "diagonal"), axes)
    return ArrayRef(found.storage, found.geometry, found.dtype, False)


@program(VIEW, "trace", "ndarray.trace")
def trace(ctx: Context, a: Operand, offset: Operand = 0, axis1: Operand = 0, axis2: Operand = 1,
          dtype: Operand = None, out: Operand = None) -> Operand:
    """The sum of a diagonal."""
    found = diagonal(ctx, a, offset, axis1, axis2)
    return reduce_with(SUM, "trace", ctx, found, -1, dtype, out)


# ------------------------------------------------------------------ pieces


def _pieces(ctx: Context, ref: ArrayRef, sections: Operand, axis: int, even: bool,
            what: str) -> list[ArrayRef]:
    n = ref.shape[axis]
    if isinstance(sections, (tuple, list)):
        ends: list[Operand] = [0, *sections]
        points = zip(ends, [*sections, None])
        return [cut(ctx, ref, axis, slice(start, stop)) for start, stop in points]
    count = static_int(ctx, sections, what)
    if count <= 0:
        raise ctx.refuse(what, "no sections: Python raises")
    extra = mod(n, count)
    left = extra if isinstance(extra, int) else hint(extra)
    if (even and left) or not ctx.facts.equal(extra, left):
        raise ctx.refuse(what, "sections of unequal length: Python raises")
    each = floordiv(n - left, count)
    starts: list[Size] = [each * k + min(k, left) for k in range(count + 1)]
    return [_piece(ref, axis, start, stop - start) for start, stop in pairwise(starts)]


def _piece(ref: ArrayRef, axis: int, start: Size, count: Size) -> ArrayRef:
    shape = list(ref.shape)
    shape[axis] = count
    return view(ref, shape, ref.strides, ref.strides[axis] * start)


@program(VIEW, "array_split")
def array_split(ctx: Context, ary: Operand, indices_or_sections: Operand,
                axis: Operand = 0) -> list[ArrayRef]:
    """Pieces along an axis, the first ones longer by one where they must be."""
    ref = as_array(ctx, ary)
    place = axis_in(ctx, axis, ref.ndim, "array_split")
    return _pieces(ctx, ref, indices_or_sections, place, False, "array_split")


@program(VIEW, "split", lists_are_arrays=no_call)
def split(ctx: Context, ary: Operand, indices_or_sections: Operand,
          axis: Operand = 0) -> list[ArrayRef]:
    """Pieces of equal length along an axis, or between given places."""
    ref = an_array(ctx, ary, "split")
    place = axis_in(ctx, axis, ref.ndim, "split")
    return _pieces(ctx, ref, indices_or_sections, place, True, "split")


def _split_along(name: str, least: int, axis: int) -> None:
    def pieces(ctx: Context, ary: Operand, indices_or_sections: Operand) -> list[ArrayRef]:
        ref = an_array(ctx, ary, name)
        if ref.ndim < least:
            raise ctx.refuse(name, "too few axes: Python raises")
        place = min(axis, ref.ndim - 1)
        return _pieces(ctx, ref, indices_or_sections, place, True, name)

    program(VIEW, name, lists_are_arrays=no_call, doc=f"Pieces along axis {axis}.")(pieces)


_split_along("vsplit", 2, 0)
_split_along("hsplit", 1, 1)
_split_along("dsplit", 3, 2)
