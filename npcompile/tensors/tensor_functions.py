"""Functions of tensors with parameters of their own: how they are entered, and what they share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar, cast

import numpy as np

from npcompile.core.config import Config
from npcompile.graph.types import c_strides
from npcompile.ops.arguments import dtype_of, require, signature
from npcompile.ops.operands import ArrayRef, Context, Operand, Tensor
from npcompile.tensors import tensor_memory
from npcompile.tensors.elementwise import HALF, laid_out, point

#: what paths under ``torch`` mean
NAMED: dict[str, Callable[..., Any]] = {}

#: the same with what follows from it: forms in place, operators; the table fills it
MEANINGS: dict[str, Callable[..., Any]] = {}

_Function = TypeVar("_Function", bound=Callable[..., Any])


def named(
    *paths: str, method: bool = True, half: bool = False
) -> Callable[[_Function], _Function]:
    """Enters a function under paths; a path without a dot is a ``method``, too.  ``half``: it
    moves numbers only, those of float16, too, of which torch computes in float32 in between."""

    def enter(function: _Function) -> _Function:
        def called(ctx: Context, *args: Operand, **kwargs: Operand) -> Operand:
            if not half and of_half((*args, *kwargs.values())):
                raise ctx.refuse(paths[0], "of float16, by torch")
            for name in set(kwargs) & spread:
                args, kwargs = (*args, kwargs[name]), {
                    k: v for k, v in kwargs.items() if k != name}
            try:
                bound = signature(function).bind(ctx, *args, **kwargs)
            except TypeError as error:
                raise ctx.refuse(paths[0], str(error)) from None
            return function(*bound.args, **bound.kwargs)

        spread = {p.name for p in signature(function).parameters.values()
                  if p.kind is p.VAR_POSITIONAL}
        called.__doc__ = function.__doc__
        enter_names(called, paths, method)
        return function

    return enter


class TracingContext(Context, Protocol):
    """A context that knows the options of the function that is traced."""

    config: Config


def deterministic(ctx: Context) -> bool:
    """Whether torch's functions may not be called for their speed alone."""
    return bool(cast(TracingContext, ctx).config.deterministic)


#: enters a function that moves numbers
moving = partial(named, half=True)


def of_half(operands: Sequence[Operand]) -> bool:
    """Whether a tensor of float16 is among operands."""
    return any(
        of_half(x) if isinstance(x, (tuple, list)) else
        isinstance(x, Tensor) and x.memory.dtype == HALF for x in operands)


def enter_names(called: Any, paths: Sequence[str], method: bool) -> None:
    """Has torch's functions of these names stand for a record, and methods of the same names."""
    for path in paths:
        NAMED[path] = called
        if method and "." not in path:
            NAMED[f"Tensor.{path}"] = called


def tensor(ctx: Context, x: Operand, what: str) -> ArrayRef:
    """The memory of what must be a tensor."""
    if not isinstance(x, Tensor):
        raise ctx.refuse(what, f"of a {type(x).__name__}")
    return x.memory


def dtype_in(ctx: Context, dtype: Operand, what: str, half: bool = False) -> np.dtype:
    """One of torch's dtypes as NumPy's; float16, if so told."""
    found = tensor_memory.dtypes().get(dtype)
    if found is None or (found == HALF and not half):
        raise ctx.refuse(what, f"dtype {dtype}")
    return dtype_of(ctx, found, what)


def result(ctx: Context, found: Operand) -> Tensor:
    """What a record gives as a tensor in C order."""
    if isinstance(found, ArrayRef):
        return Tensor(laid_out(ctx, found, c_strides(found.shape)))
    return point(ctx, found)


def require_elements(ctx: Context, ref: ArrayRef) -> None:
    """Demands that a view has elements: an array without any has no strides that tell torch's."""
    for n in ref.shape:
        require(ctx, "<", 0, n, "a view of no elements, whose strides torch tells")
