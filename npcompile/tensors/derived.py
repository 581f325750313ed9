"""Functions of torch's that are short compositions of others: copies of views, sums without NaN,
differences, polynomials by recurrence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from npcompile.graph.types import BOOL
from npcompile.ops.arguments import axis_in, require, static_int
from npcompile.ops.elementwise import run
from npcompile.ops.operands import ArrayRef, Context, Operand, Tensor
from npcompile.tensors import arrangements, creation, shapes, tensor_memory, tensor_reductions
from npcompile.tensors.expressions import composition
from npcompile.tensors.tensor_functions import named, result, tensor

# ------------------------------------------------------------------ copies of views


def _copier(name: str, view: Callable[..., Any]) -> None:
    @named(f"{name}_copy", method=False)
    def copy(ctx: Context, input: Operand, *args: Operand, **options: Operand) -> Operand:
        """A copy of a view, or copies of several."""
        made = view(ctx, input, *args, **options)
        if isinstance(made, tuple):
            return tuple([arrangements.fresh(ctx, x) for x in made])
        return arrangements.fresh(ctx, made)


_COPIES: list[tuple[str, Callable[..., Any]]] = [
    ("t", shapes.t), ("transpose", shapes.transpose), ("squeeze", shapes.squeeze),
    ("unsqueeze", shapes.unsqueeze), ("detach", shapes.detach), ("alias", shapes.detach),
    ("select", arrangements.select), ("unbind", arrangements.unbind),
]
for _name, _view in _COPIES:
    _copier(_name, _view)


@named("narrow_copy")
def narrow_copy(ctx: Context, input: Operand, dim: Operand, start: Operand,
                length: Operand) -> Tensor:
    """A copy of some places of an axis."""
    return arrangements.fresh(ctx, arrangements.narrow(ctx, input, dim, start, length))


@named("fill", method=False)
def fill(ctx: Context, input: Operand, value: Operand) -> Tensor:
    """A tensor like another, of one value."""
    if isinstance(value, Tensor):
        raise ctx.refuse("fill", "with a tensor")
    return creation.full_like(ctx, input, value)


@named("Tensor.new_full")
def new_full(ctx: Context, input: Operand, size: Operand, fill_value: Operand, *,
             dtype: Operand = None) -> Tensor:
    """A fresh tensor of one value and the dtype of another."""
    own = tensor_memory.torch_dtype(tensor(ctx, input, "new_full").dtype)
    return creation.full(ctx, size, fill_value, dtype=own if dtype is None else dtype)


@named("diag_embed")
def diag_embed(ctx: Context, input: Operand, offset: Operand = 0, dim1: Operand = -2,
               dim2: Operand = -1) -> Tensor:
    """Matrices whose diagonals are the last axis."""
    ref = tensor(ctx, input, "diag_embed")
    if not ref.ndim or (dim1, dim2) != (-2, -1) or static_int(ctx, offset, "diag_embed"):
        raise ctx.refuse("diag_embed", "off the diagonal, or in other axes")
    shape = (*ref.shape, ref.shape[-1])
    made = run(ctx, "zeros", tuple([shapes.number_of(ctx, n) for n in shape]), ref.dtype)
    assert isinstance(made, ArrayRef)
    window = arrangements.diagonal(ctx, Tensor(made), 0, -2, -1).memory
    ctx.write(window, ctx.read(ref))
    return Tensor(made)


# ------------------------------------------------------------------ reductions


@composition("nansum")
def nansum(input: Any, dim: Any = None, keepdim: Any = False, *, dtype: Any = None) -> Any:
    """The sum of what is a number."""
    return input.where(~input.isnan(), 0.0).sum(dim, keepdim, dtype=dtype)


@composition("nanmean")
def nanmean(input: Any, dim: Any = None, keepdim: Any = False, *, dtype: Any = None) -> Any:
    """The mean of what is a number."""
    if dtype is not None:
        raise input.refuse("dtype=")
    there = ~input.isnan()
    return input.where(there, 0.0).sum(dim, keepdim) / there.sum(dim, keepdim)


def _with_mean(name: str) -> None:
    @composition(f"{name}_mean", method=False)
    def pair(input: Any, dim: Any = None, unbiased: Any = None, keepdim: Any = False, *,
             correction: Any = None) -> Any:
        """The variance, or its root, and the mean."""
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        options = {} if correction is None else {"correction": correction}
        return (getattr(input, name)(dim, unbiased, keepdim, **options), input.mean(dim, keepdim))


_with_mean("var")
_with_mean("std")


@named("aminmax")
def aminmax(ctx: Context, input: Operand, *, dim: Operand = None,
            keepdim: Operand = False) -> Operand:
    """Both extremes."""
    ref = tensor(ctx, input, "aminmax")
    if ref.dtype.kind == "c" or not ref.ndim or (dim is None and keepdim is not False):
        raise ctx.refuse("aminmax", "of complex numbers, or of no axes")
    for n in ref.shape:
        require(ctx, "<", 0, n, "aminmax of no elements")
    pair = [tensor_reductions.reduced(ctx, name, ref, dim, keepdim) for name in ("min", "max")]
    return tensor_memory.named_result("aminmax")(pair)


@named("diff")
def diff(ctx: Context, input: Operand, n: Operand = 1, dim: Operand = -1, prepend: Operand = None,
         append: Operand = None) -> Tensor:
    """Differences of neighbours."""
    ref, times = tensor(ctx, input, "diff"), static_int(ctx, n, "diff")
    if not ref.ndim or ref.dtype == BOOL or prepend is not None or append is not None or times < 1:
        raise ctx.refuse("diff", "of bool, of no axes, or with more at the ends")
    return result(ctx, run(ctx, "diff", ref, times, axis_in(ctx, dim, ref.ndim, "diff")))


@composition("trapezoid", "trapz", method=False)
def trapezoid(y: Any, x: Any = None, *, dx: Any = 1, dim: Any = -1) -> Any:
    """The integral by trapezia."""
    if not y.ndim or x is not None or type(dim) is not int:
        raise y.refuse("at places, or of no axes")
    count = y.shape[dim]
    if not y.ctx.facts.less(0, count):
        raise y.refuse("of no numbers")
    both = y.do("narrow", dim, 0, count - 1), y.do("narrow", dim, 1, count - 1)
    return (both[0] + both[1]).sum(dim) * dx / 2.0


@named("frexp")
def frexp(ctx: Context, input: Operand) -> Operand:
    """Mantissas and exponents."""
    ref = tensor(ctx, input, "frexp")
    if ref.dtype.kind != "f" or not ref.ndim:
        raise ctx.refuse("frexp", "of integers, or of no axes")
    pair = run(ctx, "frexp", ref)
    return tensor_memory.named_result("frexp")([result(ctx, x) for x in pair])


# ------------------------------------------------------------------ what a tensor is


def _itself(name: str) -> None:
    @named(name)
    def same(ctx: Context, input: Operand) -> Operand:
        """The tensor itself: no bit of it waits to be applied."""
        ref = tensor(ctx, input, name)
        if ref.dtype.kind == "c" and ref.storage.param < 0:
            raise ctx.refuse(name, "of complex numbers that may stand for a view of conjugates")
        return input


_itself("resolve_conj")
_itself("resolve_neg")


@named("Tensor.is_contiguous")
def is_contiguous(ctx: Context, input: Operand) -> bool:
    """Whether the elements lie one behind the other."""
    from npcompile.ops import views

    return views.is_contiguous(ctx, tensor(ctx, input, "is_contiguous"))


@named("Tensor.is_same_size", "is_same_size")
def is_same_size(ctx: Context, input: Operand, other: Operand) -> bool:
    """Whether two tensors have one shape."""
    a, b = tensor(ctx, input, "is_same_size"), tensor(ctx, other, "is_same_size")
    return a.ndim == b.ndim and all(map(ctx.facts.equal, a.shape, b.shape))


# ------------------------------------------------------------------ polynomials


def _recurrence(name: str, first: int, shifted: bool) -> None:
    @composition(f"special.{name}")
    def polynomial(input: Any, n: Any) -> Any:
        """A Chebyshev polynomial of whole degree."""
        if type(n) is not int or not 0 <= n <= 24:
            raise input.refuse("of a degree that is not small and known")
        twice = input + input
        if shifted:
            twice = (twice - 1.0) + (twice - 1.0)
        before, now = input * 0.0 + 1.0, twice + first
        for _ in range(n - 1):
            before, now = now, twice * now - before
        return now if n else before.where(~input.isnan(), 1.0)


_recurrence("chebyshev_polynomial_v", -1, False)
_recurrence("chebyshev_polynomial_w", 1, False)
_recurrence("shifted_chebyshev_polynomial_v", -1, True)
_recurrence("shifted_chebyshev_polynomial_w", 1, True)


@composition("special.spherical_bessel_j0")
def spherical_bessel_j0(x: Any) -> Any:
    """The spherical Bessel function of order 0."""
    square = x * x
    near = 1.0 + square * (-1 / 6 + square * (1 / 120 + square * (-1 / 5040 + square * (
        1 / 362880 + square * (-1 / 39916800 + square / 6227020800)))))
    found = near.where(x.abs() < 0.5, x.sin() / x)
    return found.where(~x.isinf(), 0.0)

