"""Arrays out of numbers: filled, counted, copied from lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.core.sizes import Size
from npcompile.graph import layout
from npcompile.graph.types import FLOAT, Array, c_strides
from npcompile.ops import arguments
from npcompile.ops.arguments import as_array, dtype_of, program, shape_of
from npcompile.ops.operands import ArrayRef, Context, Operand

CREATION = arguments.program_kind("creation")

def _ordered(ctx: Context, shape: tuple[Size, ...], order: Operand) -> tuple[Size, ...]:
    if order in ("C", None, "A", "K"):
        return c_strides(shape)
    if order == "F":
        return layout.fresh_strides(shape, range(len(shape))[::-1])
    raise ctx.refuse("creation", f"order={order!r}")


def filled(ctx: Context, shape: tuple[Size, ...], value: Operand, dtype: np.dtype[Any],
           strides: tuple[Size, ...] | None = None) -> ArrayRef:
    """A fresh array of one value; of undefined contents where ``value`` is None."""
    kind = Array(dtype, shape, c_strides(shape) if strides is None else strides)
    if value is None:
        return ctx.new(ctx.builder.emit("empty", (), None, kind))
    node = arguments.scalar_to(ctx, value, dtype)
    return ctx.new(ctx.builder.emit("full", (node,), None, kind))


def _maker(name: str, value: int | None) -> None:
    """``zeros``, ``ones`` or ``empty``, and its ``_like``."""

    def make(ctx: Context, shape: Operand, dtype: Operand = None, order: Operand = "C", *,
             device: Operand = None, like: Operand = None) -> ArrayRef:
        kind = FLOAT if dtype is None else dtype_of(ctx, dtype, name)
        sizes = shape_of(ctx, shape, name)
        return filled(ctx, sizes, value, kind, _ordered(ctx, sizes, order))

    def make_like(ctx: Context, a: Operand, dtype: Operand = None, order: Operand = "K",
                  subok: Operand = True, shape: Operand = None, *,
                  device: Operand = None) -> ArrayRef:
        return _like(ctx, f"{name}_like", a, value, dtype, order, shape)

    make.__doc__ = make_like.__doc__ = f"A fresh array: {name}."
    program(CREATION, name)(make)
    program(CREATION, f"{name}_like")(make_like)


def _like(ctx: Context, name: str, a: Operand, value: Operand, dtype: Operand, order: Operand,
          shape: Operand) -> ArrayRef:
    """A fresh array of another's shape, dtype and layout, unless they are given."""
    if not isinstance(a, ArrayRef):
        raise ctx.refuse(name, "the prototype is no array")
    kind = a.dtype if dtype is None else dtype_of(ctx, dtype, name)
    sizes = a.shape if shape is None else shape_of(ctx, shape, name)
    if order in ("K", "A") and shape is None:
        strides = like_strides(ctx, a)
        if order == "A" and strides not in (c_strides(sizes), _ordered(ctx, sizes, "F")):
            raise ctx.refuse(name, "order='A' of an array that is neither C nor F")
    else:
        strides = _ordered(ctx, sizes, order)
    return filled(ctx, sizes, value, kind, strides)


def like_strides(ctx: Context, a: ArrayRef) -> tuple[Size, ...]:
    """Strides in K order of the array itself."""
    return layout.k_strides(ctx.facts, a.shape, [a.strides])


for _name, _value in (("zeros", 0), ("ones", 1), ("empty", None)):
    _maker(_name, _value)


@program(CREATION, "full")
def full(ctx: Context, shape: Operand, fill_value: Operand, dtype: Operand = None,
         order: Operand = "C", *, device: Operand = None, like: Operand = None) -> ArrayRef:
    """A fresh array of one value, or of the values of an array that broadcasts."""
    if dtype is None:
        kind = arguments.operand_dtype(as_array(ctx, fill_value)
                                       if isinstance(fill_value, (list, tuple)) else fill_value)
    else:
        kind = dtype_of(ctx, dtype, "full")
    sizes = shape_of(ctx, shape, "full")
    return _filled_from(ctx, sizes, fill_value, kind, _ordered(ctx, sizes, order))


@program(CREATION, "full_like")
def full_like(ctx: Context, a: Operand, fill_value: Operand, dtype: Operand = None,
              order: Operand = "K", subok: Operand = True, shape: Operand = None, *,
              device: Operand = None) -> ArrayRef:
    """A fresh array like another, of one value."""
    if arguments.is_number(fill_value):
        return _like(ctx, "full_like", a, fill_value, dtype, order, shape)
    out = _like(ctx, "full_like", a, None, dtype, order, shape)
    return _assign(ctx, out, fill_value)


def _filled_from(ctx: Context, shape: tuple[Size, ...], value: Operand, dtype: np.dtype[Any],
                 strides: tuple[Size, ...]) -> ArrayRef:
    if arguments.is_number(value):
        return filled(ctx, shape, value, dtype, strides)
    return _assign(ctx, filled(ctx, shape, None, dtype, strides), value)


def _assign(ctx: Context, out: ArrayRef, value: Operand) -> ArrayRef:
    from npcompile.ops.indexing import assigned

    ctx.write(out, assigned(ctx, out, value))
    return out
