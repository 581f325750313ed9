"""Functions of tensors that are not elementwise: their parameters are torch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from npcompile.graph.ir import Node
from npcompile.graph.types import BOOL, INT, PY_BOOL, PY_FLOAT, PY_INT, c_strides
from npcompile.ops.arguments import axes_in, dtype_of, element, require, signature, truth, view
from npcompile.ops.elementwise import py_scalar, run
from npcompile.ops.operands import ArrayRef, Context, Operand, Tensor
from npcompile.tensors import memory
from npcompile.tensors.elementwise import laid_out, point

#: what paths under ``torch`` mean
NAMED: dict[str, Callable[..., Any]] = {}

_PYTHON = {"b": PY_BOOL, "i": PY_INT, "u": PY_INT, "f": PY_FLOAT}
_Function = TypeVar("_Function", bound=Callable[..., Any])


def named(*paths: str) -> Callable[[_Function], _Function]:
    """Enters a function under paths; a path without a dot is a method, too."""

    def enter(function: _Function) -> _Function:
        def called(ctx: Context, *args: Operand, **kwargs: Operand) -> Operand:
            try:
                bound = signature(function).bind(ctx, *args, **kwargs)
            except TypeError as error:
                raise ctx.refuse(paths[0], str(error)) from None
            return function(*bound.args, **bound.kwargs)

        for path in paths:
            NAMED[path] = called
            if "." not in path:
                NAMED[f"Tensor.{path}"] = called
        return function

    return enter


def tensor(ctx: Context, x: Operand, what: str) -> ArrayRef:
    """The memory of what must be a tensor."""
    if not isinstance(x, Tensor):
        raise ctx.refuse(what, f"of a {type(x).__name__}")
    return x.memory


def dtype_in(ctx: Context, dtype: Operand, what: str) -> np.dtype:
    """One of torch's dtypes as NumPy's."""
    found = memory.dtypes().get(dtype)
    if found is None:
        raise ctx.refuse(what, f"dtype {dtype}")
    return dtype_of(ctx, found, what)


def result(ctx: Context, found: Operand) -> Tensor:
    """What a record gives as a tensor in C order."""
    if isinstance(found, ArrayRef):
        return Tensor(laid_out(ctx, found, c_strides(found.shape)))
    return point(ctx, found)


# ------------------------------------------------------------------ reductions


def _axes(ctx: Context, dim: Operand, ndim: int, what: str) -> Operand:
    """``dim=`` as our ``axis=``: none, or no dimensions, are all of them."""
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return None
    if ndim == 0:
        raise ctx.refuse(what, "dim= of a tensor without axes")
    return axes_in(ctx, dim, ndim, what)


def _reduced(
    ctx: Context, what: str, input: Operand, dim: Operand, keepdim: Operand, dtype: np.dtype
) -> Tensor:
    """A reduction by the record ``what`` in a dtype."""
    ref = tensor(ctx, input, what)
    axes, keeps = _axes(ctx, dim, ref.ndim, what), truth(ctx, keepdim, what)
    if dtype != ref.dtype:
        ref = ctx.new(ctx.builder.cast(ctx.read(ref), dtype))
    return result(ctx, run(ctx, what, ref, axis=axes, keepdims=keeps and ref.ndim > 0))


def _wide(ctx: Context, input: Operand, dtype: Operand, what: str) -> np.dtype:
    """The dtype of a sum: integers become 64-bit ones."""
    ref = tensor(ctx, input, what)
    if dtype is not None:
        return dtype_in(ctx, dtype, what)
    return INT if ref.dtype.kind in "biu" else ref.dtype


@named("sum")
def sum(ctx: Context, input: Operand, dim: Operand = None, keepdim: Operand = False, *,
        dtype: Operand = None) -> Tensor:
    """The sum over some axes."""
    return _reduced(ctx, "sum", input, dim, keepdim, _wide(ctx, input, dtype, "sum"))


@named("mean")
def mean(ctx: Context, input: Operand, dim: Operand = None, keepdim: Operand = False, *,
         dtype: Operand = None) -> Tensor:
    """The mean over some axes, of floats."""
    ref = tensor(ctx, input, "mean")
    kind = ref.dtype if dtype is None else dtype_in(ctx, dtype, "mean")
    if kind.kind != "f":
        raise ctx.refuse("mean", "of integers: Python raises")
    return _reduced(ctx, "mean", input, dim, keepdim, kind)


def _truth(name: str) -> None:
    @named(name)
    def reduce(ctx: Context, input: Operand, dim: Operand = None,
               keepdim: Operand = False) -> Tensor:
        ref = tensor(ctx, input, name)
        if ref.dtype == np.uint8:
            raise ctx.refuse(name, "of uint8, which is uint8 in torch")
        return _reduced(ctx, name, input, dim, keepdim, BOOL)


for _name in ("any", "all"):
    _truth(_name)


@named("Tensor.item")
def item(ctx: Context, input: Operand) -> Node:
    """The only element as a number of Python's."""
    ref = tensor(ctx, input, "item")
    for n in ref.shape:
        require(ctx, "==", n, 1, "item of several elements")
    node = element(ctx, view(ref, (), ()))
    return py_scalar(ctx, node, _PYTHON[node.dtype.kind])
