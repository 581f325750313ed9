"""Tensors out of numbers, and numbers written into tensors."""

from __future__ import annotations

import numpy as np

from npcompile.core.sizes import Size
from npcompile.graph.types import INT, Array, c_strides
from npcompile.ops import arguments
from npcompile.ops.arguments import length
from npcompile.ops.elementwise import run
from npcompile.ops.operands import ArrayRef, Context, Operand, Tensor
from npcompile.tensors import elementwise
from npcompile.tensors.elementwise import cast, number, result_strides
from npcompile.tensors.promotion import DEFAULT, weak_dtype
from npcompile.tensors.tensor_functions import dtype_in, moving, named, result, tensor


def filled(
    ctx: Context, shape: tuple[Size, ...], strides: tuple[Size, ...], dtype: np.dtype,
    value: Operand,
) -> Tensor:
    """A fresh tensor of one value; None: of undefined contents."""
    kind = Array(dtype, shape, strides)
    if value is None:
        return Tensor(ctx.new(ctx.builder.emit("empty", (), None, kind)))
    return Tensor(ctx.new(ctx.builder.emit("full", (number(ctx, value, dtype),), None, kind)))


def _sizes(ctx: Context, given: tuple[Operand, ...], what: str) -> tuple[Size, ...]:
    one = len(given) == 1 and isinstance(given[0], (tuple, list))
    return tuple(length(ctx, n, what) for n in (given[0] if one else given))


def _maker(name: str, value: int | None) -> None:
    @named(name, method=False)
    def make(ctx: Context, *size: Operand, dtype: Operand = None) -> Tensor:
        """A fresh tensor."""
        shape = _sizes(ctx, size, name)
        kind = DEFAULT if dtype is None else dtype_in(ctx, dtype, name)
        return filled(ctx, shape, c_strides(shape), kind, value)

    @moving(f"{name}_like")
    def like(ctx: Context, input: Operand, *, dtype: Operand = None) -> Tensor:
        """A fresh tensor, laid out like another."""
        ref = tensor(ctx, input, name)
        kind = ref.dtype if dtype is None else dtype_in(ctx, dtype, name)
        return filled(ctx, ref.shape, result_strides(ctx, ref.shape, [ref]), kind, value)

    @moving(f"Tensor.new_{name}")
    def new(ctx: Context, input: Operand, *size: Operand, dtype: Operand = None) -> Tensor:
        """A fresh tensor of the dtype of another."""
        shape = _sizes(ctx, size, name)
        kind = tensor(ctx, input, name).dtype if dtype is None else dtype_in(ctx, dtype, name)
        return filled(ctx, shape, c_strides(shape), kind, value)


for _name, _value in (("zeros", 0), ("ones", 1), ("empty", None)):
    _maker(_name, _value)


@named("full", method=False)
def full(ctx: Context, size: Operand, fill_value: Operand, *, dtype: Operand = None) -> Tensor:
    """A fresh tensor of one value."""
    shape = _sizes(ctx, (size,), "full")
    own = weak_dtype(ctx, fill_value, "full")
    kind = own if dtype is None else dtype_in(ctx, dtype, "full")
    return filled(ctx, shape, c_strides(shape), kind, fill_value)


@named("full_like")
def full_like(ctx: Context, input: Operand, fill_value: Operand, *,
              dtype: Operand = None) -> Tensor:
    """A fresh tensor like another, of one value."""
    ref = tensor(ctx, input, "full_like")
    kind = ref.dtype if dtype is None else dtype_in(ctx, dtype, "full_like")
    return filled(ctx, ref.shape, result_strides(ctx, ref.shape, [ref]), kind, fill_value)


@named("arange", method=False)
def arange(ctx: Context, start: Operand, end: Operand = None, step: Operand = 1, *,
           dtype: Operand = None) -> Tensor:
    """Integers that are evenly spaced."""
    parts = (0, start, step) if end is None else (start, end, step)
    if any(weak_dtype(ctx, x, "arange") != INT for x in parts):
        raise ctx.refuse("arange", "of floats")
    first, last, pace = (arguments.integer(ctx, x, "arange") for x in parts)
    if pace != 1:
        raise ctx.refuse("arange", "with a step")
    arguments.require(ctx, "<=", first, last, "arange: the bounds are the wrong way round")
    made = run(ctx, "arange", *parts)
    assert isinstance(made, ArrayRef)
    kind = INT if dtype is None else dtype_in(ctx, dtype, "arange")
    return result(ctx, cast(ctx, Tensor(made), kind))


@named("linspace", method=False)
def linspace(ctx: Context, start: Operand, end: Operand, steps: Operand, *,
             dtype: Operand = None) -> Tensor:
    """Numbers that are evenly spaced."""
    for x in (start, end):
        weak_dtype(ctx, x, "linspace")
    kind = DEFAULT if dtype is None else dtype_in(ctx, dtype, "linspace")
    if kind.kind != "f":
        raise ctx.refuse("linspace", f"of {kind}")
    made = run(ctx, "linspace", start, end, steps)
    assert isinstance(made, ArrayRef)
    return result(ctx, cast(ctx, Tensor(made), kind))


@named("eye", method=False)
def eye(ctx: Context, n: Operand, m: Operand = None, *, dtype: Operand = None) -> Tensor:
    """Ones on the diagonal."""
    kind = DEFAULT if dtype is None else dtype_in(ctx, dtype, "eye")
    return result(ctx, run(ctx, "eye", n, m, dtype=kind))


# ------------------------------------------------------------------ in place


@named("Tensor.fill_")
def fill(ctx: Context, input: Operand, value: Operand) -> Operand:
    """One value everywhere."""
    assert isinstance(input, Tensor)
    elementwise.writes(ctx, input, (), "fill_")
    ctx.write(input.memory, number(ctx, value, input.memory.dtype))
    return input


@named("Tensor.zero_")
def zero(ctx: Context, input: Operand) -> Operand:
    """Zeros everywhere."""
    return fill(ctx, input, 0)


@named("Tensor.copy_")
def copy(ctx: Context, input: Operand, src: Operand) -> Operand:
    """Another tensor's numbers."""
    if not isinstance(input, Tensor) or not isinstance(src, Tensor):
        raise ctx.refuse("copy_", "of no tensor")
    elementwise.writes(ctx, input, (src,), "copy_")
    return elementwise.store(ctx, input, src, "copy_")
