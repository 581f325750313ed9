"""Reductions of tensors and what is made of them; results are laid out in C order."""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.core.sizes import product
from npcompile.graph.types import BOOL, FLOAT, INT
from npcompile.ops.arguments import axes_in, axis_in, require, static, truth
from npcompile.ops.elementwise import run
from npcompile.ops.operands import ArrayRef, Context, Operand, Tensor
from npcompile.tensors import tensor_memory
from npcompile.tensors.elementwise import Elementwise
from npcompile.tensors.tensor_functions import deterministic, dtype_in, named, result, tensor


def axes(ctx: Context, dim: Operand, ndim: int, what: str) -> tuple[int, ...] | None:
    """``dim=`` as our ``axis=``."""
    if dim is None:
        return None
    if dim in ((), []):
        raise ctx.refuse(what, "over no dimensions, of which functions make different things")
    if ndim == 0:
        raise ctx.refuse(what, "dim= of a tensor without axes")
    return axes_in(ctx, dim, ndim, what)


def _floats(ctx: Context, x: Operand, what: str) -> ArrayRef:
    ref = tensor(ctx, x, what)
    if ref.dtype.kind != "f":
        raise ctx.refuse(what, f"of {ref.dtype}")
    return ref


def _as(ctx: Context, ref: ArrayRef, dtype: np.dtype) -> ArrayRef:
    return ref if ref.dtype == dtype else ctx.new(ctx.builder.cast(ctx.read(ref), dtype))


def reduced(
    ctx: Context, what: str, ref: ArrayRef, dim: Operand, keepdim: Operand, **options: Any
) -> Tensor:
    """A reduction by the record ``what``."""
    over, keeps = axes(ctx, dim, ref.ndim, what), truth(ctx, keepdim, what)
    return result(ctx, run(ctx, what, ref, axis=over, keepdims=keeps and ref.ndim > 0, **options))


def _wide(ctx: Context, what: str, input: Operand, dtype: Operand) -> ArrayRef:
    """The operand of a sum: integers become 64-bit ones."""
    ref = tensor(ctx, input, what)
    if dtype is not None:
        return _as(ctx, ref, dtype_in(ctx, dtype, what))
    return _as(ctx, ref, INT) if ref.dtype.kind in "biu" else ref


def _sum(name: str) -> None:
    @named(name)
    def reduce(ctx: Context, input: Operand, dim: Operand = None, keepdim: Operand = False, *,
               dtype: Operand = None) -> Tensor:
        """The sum, or the product, over some axes."""
        if name == "prod" and isinstance(dim, (tuple, list)):
            raise ctx.refuse(name, "over several axes")
        wide = _wide(ctx, name, input, dtype)
        last = dim is None or axes(ctx, dim, wide.ndim, name) == (wide.ndim - 1,)
        if name == "prod" and wide.dtype.kind == "f" and last and not deterministic(ctx):
            raise ctx.refuse(name, "along rows: torch multiplies several numbers at a time")
        return reduced(ctx, name, wide, dim, keepdim)


for _name in ("sum", "prod"):
    _sum(_name)


@named("mean")
def mean(ctx: Context, input: Operand, dim: Operand = None, keepdim: Operand = False, *,
         dtype: Operand = None) -> Tensor:
    """The mean over some axes, of floats."""
    ref = tensor(ctx, input, "mean")
    kind = ref.dtype if dtype is None else dtype_in(ctx, dtype, "mean")
    if kind.kind != "f":
        raise ctx.refuse("mean", "of integers: Python raises")
    return reduced(ctx, "mean", _as(ctx, ref, kind), dim, keepdim)


def _spread(name: str) -> None:
    @named(name)
    def reduce(ctx: Context, input: Operand, dim: Operand = None, unbiased: Operand = None,
               keepdim: Operand = False, *, correction: Operand = None) -> Tensor:
        """The variance, or its root, over some axes."""
        ref = _floats(ctx, input, name)
        if isinstance(static(dim), bool):
            dim, unbiased = None, dim
        if unbiased is not None and correction is not None:
            raise ctx.refuse(name, "unbiased= and correction=: Python raises")
        lost = 1 if unbiased is None or truth(ctx, unbiased, name) else 0
        if correction is not None:
            lost = static(correction)
        if type(lost) is not int:
            raise ctx.refuse(name, "a correction that is no constant integer")
        over = axes(ctx, dim, ref.ndim, name)
        count = product([ref.shape[k] for k in (range(ref.ndim) if over is None else over)])
        require(ctx, "<", max(lost, 0), count, f"{name} of too few elements: torch warns")
        return reduced(ctx, name, ref, dim, keepdim, ddof=lost)


for _name in ("var", "std"):
    _spread(_name)


def _truth(name: str) -> None:
    @named(name)
    def reduce(ctx: Context, input: Operand, dim: Operand = None,
               keepdim: Operand = False) -> Tensor:
        """Whether any, or all, are true."""
        ref = tensor(ctx, input, name)
        if ref.dtype == np.uint8:
            raise ctx.refuse(name, "of uint8, which is uint8 in torch")
        return reduced(ctx, name, _as(ctx, ref, BOOL), dim, keepdim)


for _name in ("any", "all"):
    _truth(_name)


@named("count_nonzero")
def count_nonzero(ctx: Context, input: Operand, dim: Operand = None) -> Tensor:
    """The number of elements that are not zero."""
    ref = _as(ctx, _as(ctx, tensor(ctx, input, "count_nonzero"), BOOL), INT)
    return reduced(ctx, "sum", ref, dim, False)


# ------------------------------------------------------------------ extremes


def _nonempty(ctx: Context, ref: ArrayRef, what: str) -> None:
    for n in ref.shape:
        require(ctx, "<", 0, n, f"{what} of no elements")


def _extreme(name: str, whole: str, place: str, pairwise: str) -> None:
    pairs = Elementwise(pairwise, "same", ("input", "other"))

    @named(whole)
    def amax(ctx: Context, input: Operand, dim: Operand = (), keepdim: Operand = False) -> Tensor:
        """The extreme over some axes."""
        ref = tensor(ctx, input, whole)
        _nonempty(ctx, ref, whole)
        return reduced(ctx, name, ref, None if dim == () else dim, keepdim)

    @named(place)
    def argmax(ctx: Context, input: Operand, dim: Operand = None,
               keepdim: Operand = False) -> Tensor:
        """Where the first extreme is."""
        ref = tensor(ctx, input, place)
        _nonempty(ctx, ref, place)
        if ref.dtype == BOOL or isinstance(dim, (tuple, list)):
            raise ctx.refuse(place, "of bool, or over several axes")
        if ref.ndim == 0:
            raise ctx.refuse(place, "of a tensor without axes")
        if dim is None and truth(ctx, keepdim, place):
            raise ctx.refuse(place, "keepdim= of all")
        axis = None if dim is None else axis_in(ctx, dim, ref.ndim, place)
        return result(ctx, run(ctx, place, ref, axis=axis, keepdims=truth(ctx, keepdim, place)))

    @named(name)
    def extreme(ctx: Context, input: Operand, dim: Operand = None,
                keepdim: Operand = False) -> Operand:
        """The extreme of all, of pairs, or along an axis with its place."""
        ref = tensor(ctx, input, name)
        if isinstance(dim, Tensor):
            return pairs.of(ctx, input, dim)
        if dim is None:
            return amax(ctx, input)
        if ref.ndim == 0 or ref.dtype == BOOL:
            raise ctx.refuse(name, "with dim= of bool, or of a tensor without axes")
        kind = tensor_memory.named_result(name)
        return kind((amax(ctx, input, dim, keepdim), argmax(ctx, input, dim, keepdim)))


_extreme("max", "amax", "argmax", "maximum")
_extreme("min", "amin", "argmin", "minimum")


# ------------------------------------------------------------------ made of reductions


def _norm(ctx: Context, x: Operand, dim: Operand, keepdim: Operand) -> Tensor:
    """The Euclidean norm."""
    ref = _floats(ctx, x, "norm")
    squares = run(ctx, "square", ref)
    total = run(ctx, "sum", squares, axis=axes(ctx, dim, ref.ndim, "norm"),
                keepdims=truth(ctx, keepdim, "norm") and ref.ndim > 0)
    return result(ctx, run(ctx, "sqrt", total))


@named("norm")
def norm(ctx: Context, input: Operand, p: Operand = "fro", dim: Operand = None,
         keepdim: Operand = False) -> Tensor:
    """The Euclidean norm over some axes."""
    if p is not None and p not in ("fro", 2):
        raise ctx.refuse("norm", "another one than the Euclidean")
    return _norm(ctx, input, dim, keepdim)


@named("logsumexp", "special.logsumexp")
def logsumexp(ctx: Context, input: Operand, dim: Operand, keepdim: Operand = False) -> Tensor:
    """``log(sum(exp(input)))`` along axes."""
    ref = _floats(ctx, input, "logsumexp")
    over = axes(ctx, dim, ref.ndim, "logsumexp")
    _nonempty(ctx, ref, "logsumexp")
    keeps = truth(ctx, keepdim, "logsumexp")
    return result(ctx, run(ctx, "logsumexp", ref, axis=over, keepdims=keeps and ref.ndim > 0))


def _softmax(name: str) -> None:
    @named(name, f"special.{name}", f"nn.functional.{name}")
    def along(ctx: Context, input: Operand, dim: Operand, dtype: Operand = None) -> Tensor:
        """Exponentials, divided by their sum, or the logarithms of that."""
        ref = _floats(ctx, input, name)
        if dtype is not None:
            ref = _as(ctx, ref, dtype_in(ctx, dtype, name))
        _nonempty(ctx, ref, name)
        return result(ctx, run(ctx, name, ref, axis=axis_in(ctx, dim, ref.ndim, name)))


for _name in ("softmax", "log_softmax"):
    _softmax(_name)


def _scan(name: str) -> None:
    @named(name)
    def along(ctx: Context, input: Operand, dim: Operand, *, dtype: Operand = None) -> Tensor:
        """Running sums, or products."""
        ref = _wide(ctx, name, input, dtype)
        if ref.ndim == 0:
            raise ctx.refuse(name, "of a tensor without axes")
        wide = _as(ctx, ref, FLOAT) if ref.dtype.kind == "f" else ref  # as torch adds up
        found = run(ctx, name, wide, axis=axis_in(ctx, dim, ref.ndim, name))
        return result(ctx, _as(ctx, found, ref.dtype))


for _name in ("cumsum", "cumprod"):
    _scan(_name)
