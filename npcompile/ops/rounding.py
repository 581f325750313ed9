"""Rounding to integers and to decimals."""

from __future__ import annotations

import numpy as np

from npcompile.core.releases import numpy_before
from npcompile.core.sizes import Size
from npcompile.graph import expression as ex
from npcompile.graph import layout
from npcompile.graph.ir import Node
from npcompile.graph.types import Array, c_strides
from npcompile.ops import complexes as cx
from npcompile.ops.arguments import static
from npcompile.ops.arithmetic import by_kind
from npcompile.ops.elementwise import (
    COMPLEX,
    FLOATS,
    INTS,
    Program,
    composed,
    laid_out,
    lift,
    loops,
    run,
    store,
    to_loop,
    ufunc,
    wrap,
)
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.record import SILENT

#: whether integers rounded to decimals are the array itself, and complex numbers are in C order
_KEEPS = numpy_before(2, 4)


def _or_itself(program: Program) -> Program:
    """Integers are whole already."""
    return by_kind(biu=lambda x: x, f=program)


_WHOLE = loops("x->x", "?" + INTS + FLOATS)
ufunc("floor", _WHOLE, _or_itself(ex.floor), errors=SILENT, doc="The largest integer not above.")
ufunc("ceil", _WHOLE, _or_itself(ex.ceil), errors=SILENT, doc="The smallest integer not below.")
ufunc("trunc", _WHOLE, _or_itself(ex.trunc), errors=SILENT, doc="The integer part.")
ufunc("rint", loops("x->x", FLOATS + COMPLEX), by_kind(f=ex.rint, c=cx.crint),
      errors=SILENT, doc="The nearest integer, ties to even.")


@composed("round", "numpy:round", "numpy:around", "numpy:ndarray.round", of_numbers=True)
def round_(ctx: Context, a: Operand, decimals: Operand = 0, out: Operand = None) -> Operand:
    """Rounded to decimals as NumPy does: scaled by a power of ten, rounded, scaled back."""
    decimals = static(decimals)
    if type(decimals) is not int or abs(decimals) > 300:
        raise ctx.refuse("round", "decimals= must be a small int known while tracing")
    source = lift(ctx, a, "round")
    dtype = source.dtype
    if dtype.kind == "b":
        raise ctx.refuse("round", "of bool is left to Python")
    if (_KEEPS and dtype.kind in "iu" and decimals >= 0 and out is None
            and isinstance(a, ArrayRef) and a.ndim):
        return a
    if decimals == 0 and dtype.kind == "f":
        return run(ctx, "rint", a, out=out)
    node = to_loop(ctx, source, dtype, "round")
    made = _whole_decimals(ctx, node, decimals)
    if isinstance(node.type, Array):
        made = laid_out(ctx, made, node, _strides(ctx, node.type, decimals))
    if out is None:
        return wrap(ctx, made)
    if not isinstance(out, ArrayRef) or dtype.kind == "c" or out.dtype != dtype:
        raise ctx.refuse("round", "out= of another dtype")
    store(ctx, "round", out, made)
    return out


def _whole_decimals(ctx: Context, node: Node, decimals: int) -> Node:
    b = ctx.builder
    if node.dtype.kind in "iu" and decimals >= 0:
        return node
    if node.dtype.kind == "c":
        kind = np.dtype(node.dtype.char.lower())
        parts = [b.map(p, (node,), kind) for p in ("real", "imag")]
        fixed = [_scaled(ctx, p, decimals) if decimals else b.map("rint", (p,), kind)
                 for p in parts]
        return b.map("complex", fixed, node.dtype)
    if node.dtype.kind == "f":
        return _scaled(ctx, node, decimals)
    wide = b.cast(node, np.float64)
    return b.cast(_scaled(ctx, wide, decimals), node.dtype)


def _strides(ctx: Context, type_: Array, decimals: int) -> tuple[Size, ...]:
    """As PyArray_Round makes its result: like the operand where it begins with a copy of it, else
    in C order, or in Fortran order if the operand has it."""
    if _KEEPS and type_.dtype.kind == "c":
        return c_strides(type_.shape)
    if type_.dtype.kind == "c" or (type_.dtype.kind in "iu" and decimals >= 0):
        return layout.like_strides(ctx.facts, type_.shape, type_.strides)
    if layout.is_fortran(ctx.facts, type_.shape, type_.strides):
        return c_strides(type_.shape[::-1])[::-1]
    return c_strides(type_.shape)


def _scaled(ctx: Context, node: Node, decimals: int) -> Node:
    b = ctx.builder
    ten = b.const(np.float64(10.0 ** abs(decimals)).astype(node.dtype))
    there, back = ("multiply", "divide") if decimals >= 0 else ("divide", "multiply")
    for name, args in ((there, (ten,)), ("rint", ()), (back, (ten,))):
        node = b.map(name, (node, *args), node.dtype)
    return node


@composed("fix", "numpy:fix")
def fix(ctx: Context, x: Operand, out: Operand = None) -> Operand:
    """Rounded towards 0."""
    return run(ctx, "trunc", x, out=out)
