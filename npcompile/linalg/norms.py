"""Norms, as ``numpy/linalg/_linalg.py`` composes them, step by step."""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.core.sizes import product
from npcompile.graph.ir import Node
from npcompile.graph.types import FLOAT
from npcompile.linalg.factorisations import real, svdvals
from npcompile.ops import arguments, complexes, views
from npcompile.ops.arguments import as_array, axes_in, program, truth
from npcompile.ops.contraction import dot
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.record import OPERATORS

NORM = arguments.program_kind("norm")


def of(ctx: Context, name: str, *args: Operand, **kwargs: Operand) -> Operand:
    """The result of another operator."""
    op = OPERATORS[name]
    return op.kind.call(op, ctx, args, kwargs)


def _inexact(ctx: Context, x: Operand) -> ArrayRef:
    ref = as_array(ctx, x)
    if ref.dtype.kind not in "fc":
        return ctx.new(ctx.builder.cast(ctx.read(ref), FLOAT))
    return ref


def flat(ctx: Context, ref: ArrayRef) -> ArrayRef:
    """All elements in the order in which they lie in memory: ``ravel(order="K")``."""
    size = product(ref.shape)
    if not (views.is_contiguous(ctx, ref) or views.is_fortran(ctx, ref)):
        ref = views.copied(ctx, ref, "K")
    return arguments.view(ref, (size,), (1,))


def squares(ctx: Context, ref: ArrayRef) -> Operand:
    """``(x.conj() * x).real``."""
    found = of(ctx, "multiply", of(ctx, "conjugate.method", ref), ref)
    return complexes.real_part(ctx, found) if ref.dtype.kind == "c" else found


def _euclidean(ctx: Context, ref: ArrayRef, keepdims: bool) -> Operand:
    run = flat(ctx, ref)
    if run.dtype.kind == "c":
        re, im = (getattr(complexes, f"{part}_part")(ctx, run) for part in ("real", "imag"))
        total = of(ctx, "add", dot(ctx, re, re), dot(ctx, im, im))
    else:
        total = dot(ctx, run, run)
    found = of(ctx, "sqrt", total)
    return _shaped(ctx, found, ref, tuple(range(ref.ndim))) if keepdims else found


def _shaped(ctx: Context, found: Operand, ref: ArrayRef, axes: tuple[int, ...]) -> ArrayRef:
    """With axes of length 1 in place of those that were reduced."""
    shape = tuple(1 if k in axes else n for k, n in enumerate(ref.shape))
    return views.reshaped(ctx, as_array(ctx, found), shape)


@program(NORM, "linalg.norm", guarantee="none")
def norm(ctx: Context, x: Operand, ord: Operand = None, axis: Operand = None,
         keepdims: Operand = False) -> Operand:
    """Norms of vectors and matrices."""
    ref = _inexact(ctx, x)
    keep, order = truth(ctx, keepdims, "norm"), arguments.static(ord)
    if keep and not ref.ndim:
        raise ctx.refuse("norm", "keepdims= of what has no axes")
    plain = order is None or (order in ("f", "fro") and ref.ndim == 2)
    if axis is None and (plain or (order == 2 and ref.ndim == 1)):
        return _euclidean(ctx, ref, keep)
    if isinstance(axis, list):
        raise ctx.refuse("norm", "axes in a list: Python raises")
    where = range(ref.ndim) if axis is None else axis
    axes = axes_in(ctx, tuple(where) if isinstance(where, range) else where, ref.ndim, "norm")
    if len(axes) == 1:
        return _of_vectors(ctx, ref, order, axes[0], keep)
    if len(axes) == 2:
        found = _of_matrices(ctx, ref, order, axes)
        return _shaped(ctx, found, ref, axes) if keep else found
    raise ctx.refuse("norm", "over more than two axes: Python raises")


def _of_vectors(ctx: Context, ref: ArrayRef, order: Any, axis: int, keep: bool) -> Operand:
    if isinstance(order, (Node, ArrayRef, str)):
        raise ctx.refuse("norm", "an order that must be a constant number")
    where = {"axis": axis, "keepdims": keep}
    if order is None or order == 2:
        return of(ctx, "sqrt", of(ctx, "sum", squares(ctx, ref), **where))
    if order == 0:
        some = ctx.new(ctx.builder.cast(
            arguments.contents(ctx, of(ctx, "not_equal", ref, 0)), real(ref.dtype)))
        return of(ctx, "sum", some, **where)
    sizes = of(ctx, "absolute", ref)
    if order == np.inf:
        return of(ctx, "max", sizes, initial=0, **where)
    if order == -np.inf:
        return of(ctx, "min", sizes, **where)
    if order == 1:
        return of(ctx, "sum", sizes, **where)
    raise ctx.refuse("norm", f"ord={order!r} of vectors")


def _of_matrices(ctx: Context, ref: ArrayRef, order: Any, axes: tuple[int, ...]) -> Operand:
    row, column = axes
    if isinstance(order, (Node, ArrayRef)):
        raise ctx.refuse("norm", "an order that must be a constant")
    if order in (None, "fro", "f"):
        return of(ctx, "sqrt", of(ctx, "sum", squares(ctx, ref), axis=axes))
    if order in (2, -2, "nuc"):
        values = svdvals(ctx, of(ctx, "moveaxis", ref, axes, (-2, -1)))
        if order == "nuc":
            return of(ctx, "sum", values, axis=-1, initial=0)
        if order == 2:
            return of(ctx, "max", values, axis=-1, initial=0)
        return of(ctx, "min", values, axis=-1)
    if order not in (1, -1, np.inf, -np.inf):
        raise ctx.refuse("norm", f"ord={order!r} of matrices: Python raises")
    summed, left = (row, column) if abs(order) == 1 else (column, row)
    sums = of(ctx, "sum", of(ctx, "absolute", ref), axis=summed)
    left -= left > summed
    if order > 0:
        return of(ctx, "max", sums, axis=left, initial=0)
    return of(ctx, "min", sums, axis=left)


@program(NORM, "linalg.vector_norm", guarantee="none")
def vector_norm(ctx: Context, x: Operand, /, *, axis: Operand = None, keepdims: Operand = False,
                ord: Operand = 2) -> Operand:
    """Norms of vectors along an axis, or of all elements."""
    ref = as_array(ctx, x)
    if isinstance(axis, tuple):
        raise ctx.refuse("vector_norm", "over several axes")
    if axis is not None:
        return norm(ctx, ref, ord, axis, keepdims)
    found = norm(ctx, views.ravel(ctx, ref), ord, 0)
    if not truth(ctx, keepdims, "vector_norm"):
        return found
    return _shaped(ctx, found, ref, tuple(range(ref.ndim)))


@program(NORM, "linalg.matrix_norm", guarantee="none")
def matrix_norm(ctx: Context, x: Operand, /, *, keepdims: Operand = False,
                ord: Operand = "fro") -> Operand:
    """Norms of matrices."""
    return norm(ctx, x, ord, (-2, -1), keepdims)
