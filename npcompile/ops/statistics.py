"""What NumPy composes of reductions: means, variances, the nan-functions, counts, norms.

Each follows NumPy's own code (``_core/_methods.py``, ``lib/_nanfunctions_impl.py``,
``linalg/_linalg.py``) step by step.  Where NumPy warns (no elements, all NaN), Python goes on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.core.sizes import Size, product
from npcompile.graph.ir import Node
from npcompile.graph.types import BOOL, FLOAT, INT, Array, Scalar
from npcompile.ops import arguments, arithmetic, comparison, complexes
from npcompile.ops.arguments import apply, as_array, dtype_of, program, truth
from npcompile.ops.masked import replaced_nan, taken
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.record import OPERATORS
from npcompile.ops.reductions import axes_of, complex_node, deliver, reduce_node, reduce_where

STATISTIC = arguments.program_kind("composed reduction")
HALF, SINGLE = np.dtype(np.float16), np.dtype(np.float32)
_NEEDED = (arithmetic, comparison, complexes)  # the modules whose records are called by name


def counted(ctx: Context, size: Size) -> Node:
    """A size as NumPy's intp."""
    return ctx.builder.cast(ctx.builder.size(size), INT)


def divided(ctx: Context, total: Node, count: Node) -> Node:
    """``total / count``, computed in the dtype of both and stored where ``total`` was."""
    found = ctx.builder.cast(apply(ctx, "divide", total, count), total.dtype)
    if found.type == total.type:
        return found
    return ctx.builder.emit("cast", (found,), None, total.type)


def _all_taken(ctx: Context, where: Operand, name: str) -> None:
    if arguments.static(where) is not True:
        raise ctx.refuse(name, "where=")


def _counts(ctx: Context, ref: ArrayRef, mask: ArrayRef | None, axes: tuple[int, ...],
            keepdims: bool, name: str, ddof: Size = 0) -> Node:
    """How many elements are taken, less ``ddof``; NumPy warns where that is not positive."""
    if mask is None:
        return counted(ctx, _count(ctx, ref, axes, ddof, name))
    count = reduce_node(ctx, ctx.read(mask), "sum", axes, keepdims, INT)
    left = apply(ctx, "subtract", count, counted(ctx, ddof))
    _never(ctx, apply(ctx, "less_equal", left, counted(ctx, 0)), f"{name} of too few elements")
    return left


def _loop(ctx: Context, ref: ArrayRef, dtype: Operand, name: str) -> np.dtype[Any]:
    """The dtype of the sums in a mean: that of the array, or float64 for integers."""
    if dtype is None:
        return FLOAT if ref.dtype.kind in "biu" else ref.dtype
    loop = dtype_of(ctx, dtype, name)
    if loop.kind not in "fc" or (ref.dtype.kind == "c" and loop.kind == "f"):
        raise ctx.refuse(name, f"dtype={loop}")
    return loop


def _count(ctx: Context, ref: ArrayRef, axes: tuple[int, ...], ddof: Size, name: str) -> Size:
    """How many elements are reduced; more than ``ddof``, or NumPy warns."""
    count = product([ref.shape[k] for k in axes])
    arguments.require(ctx, "<", ddof, count, f"{name} of too few elements")
    arguments.require(ctx, "<", 0, count, f"{name} of no elements")
    return count - ddof


# ------------------------------------------------------------------ mean and variance


@program(STATISTIC, "mean", "ndarray.mean", of_numbers=True)
def mean(ctx: Context, a: Operand, axis: Operand = None, dtype: Operand = None,
         out: Operand = None, keepdims: Operand = False, *, where: Operand = True) -> Operand:
    """The arithmetic mean; float16 is summed in float32."""
    ref = as_array(ctx, a)
    mask = taken(ctx, where, ref, "mean")
    axes, keeps = axes_of(ctx, axis, ref.ndim, "mean"), truth(ctx, keepdims, "mean")
    count = _counts(ctx, ref, mask, axes, keeps, "mean")
    half = dtype is None and ref.dtype == HALF
    if half and out is not None:
        raise ctx.refuse("mean", "out= of float16: the sum is rounded first")
    loop = SINGLE if half else _loop(ctx, ref, dtype, "mean")
    total = reduce_where(ctx, "mean", ref, ctx.read(ref), mask, "sum", axes, keeps, loop)
    result = divided(ctx, total, count)
    return deliver(ctx, "mean", ctx.builder.cast(result, HALF) if half else result, out, ref)


@program(STATISTIC, "average")
def average(ctx: Context, a: Operand, axis: Operand = None, weights: Operand = None,
            returned: Operand = False, *, keepdims: Operand = False) -> Operand:
    """The mean, or that of weighted elements divided by the sum of the weights."""
    if truth(ctx, returned, "average"):
        raise ctx.refuse("average", "returned=")
    if weights is None:
        return mean(ctx, a, axis, keepdims=keepdims)
    x, w = as_array(ctx, a), as_array(ctx, weights)
    if x.ndim != w.ndim or not all(map(ctx.facts.equal, x.shape, w.shape)):
        if isinstance(axis, (tuple, list)) or axis is None or w.ndim != 1:
            raise ctx.refuse("average", "weights of another shape along several axes")
        along = arguments.axis_in(ctx, axis, x.ndim, "average")
        if not ctx.facts.equal(w.shape[0], x.shape[along]):
            raise ctx.refuse("average", "weights of another length: Python raises")
        units = [1] * x.ndim
        w = arguments.view(w, (*units[:along], w.shape[0], *units[along + 1 :]),
                           (*units[:along], w.strides[0], *units[along + 1 :]))
    kinds = (x.dtype, w.dtype, FLOAT) if x.dtype.kind in "biu" else (x.dtype, w.dtype)
    dtype, options = np.result_type(*kinds), {"keepdims": keepdims}
    times, total = OPERATORS["multiply"], OPERATORS["sum"]
    scale = total.kind.call(total, ctx, (w, axis), {"dtype": dtype, **options})
    _never(ctx, apply(ctx, "equal", scale, 0.0), "average: weights that sum to zero")
    products = times.kind.call(times, ctx, (x, w), {"dtype": dtype})
    weighted = total.kind.call(total, ctx, (products, axis), options)
    over = OPERATORS["divide"]
    return over.kind.call(over, ctx, (weighted, scale), {})


def _variance(ctx: Context, name: str, a: Operand, axis: Operand, dtype: Operand, ddof: Operand,
              keepdims: Operand, where: Operand,
              correction: Operand) -> tuple[Node, ArrayRef]:
    """The sum of squared distances from the mean, divided by the degrees of freedom."""
    ref = as_array(ctx, a)
    mask = taken(ctx, where, ref, name)
    if not ref.ndim:
        raise ctx.refuse(name, "of a number")
    if correction is not None:
        if arguments.static(ddof) != 0:
            raise ctx.refuse(name, "ddof and correction: Python raises")
        ddof = correction
    axes, keeps = axes_of(ctx, axis, ref.ndim, name), truth(ctx, keepdims, name)
    free = _counts(ctx, ref, mask, axes, keeps, name, arguments.integer(ctx, ddof, name))
    loop = _loop(ctx, ref, dtype, name)
    total = reduce_where(ctx, name, ref, ctx.read(ref), mask, "sum", axes, True, loop)
    center = divided(ctx, total, _counts(ctx, ref, mask, axes, True, name))
    squares = _squared(ctx, apply(ctx, "subtract", ref, center))
    if ref.dtype.kind == "c" and dtype is not None:
        raise ctx.refuse(name, "dtype= of complex numbers")
    loop = squares.dtype if dtype is None else loop
    if mask is None:
        spread = reduce_node(ctx, squares, "sum", axes, keeps, loop)
    else:
        apart = ctx.new(squares)
        spread = reduce_where(ctx, name, apart, squares, mask, "sum", axes, keeps, loop)
    return divided(ctx, spread, free), ref


def _squared(ctx: Context, x: Node) -> Node:
    """``|x|**2``, of complex numbers as the sum of two squares."""
    if x.dtype.kind != "c":
        return apply(ctx, "multiply", x, x)
    real = np.dtype(x.dtype.char.lower())
    parts = (ctx.builder.map(name, (x,), real) for name in ("real", "imag"))
    first, second = (ctx.builder.map("mul", (p, p), real) for p in parts)
    return ctx.builder.map("add", (first, second), real)


@program(STATISTIC, "var", "ndarray.var", of_numbers=True)
def var(ctx: Context, a: Operand, axis: Operand = None, dtype: Operand = None,
        out: Operand = None, ddof: Operand = 0, keepdims: Operand = False, *,
        where: Operand = True, correction: Operand = None) -> Operand:
    """The variance, from the mean of the same sums."""
    result, ref = _variance(ctx, "var", a, axis, dtype, ddof, keepdims, where, correction)
    return deliver(ctx, "var", result, out, ref)


@program(STATISTIC, "std", "ndarray.std", of_numbers=True)
def std(ctx: Context, a: Operand, axis: Operand = None, dtype: Operand = None,
        out: Operand = None, ddof: Operand = 0, keepdims: Operand = False, *,
        where: Operand = True, correction: Operand = None) -> Operand:
    """The standard deviation."""
    result, ref = _variance(ctx, "std", a, axis, dtype, ddof, keepdims, where, correction)
    return deliver(ctx, "std", _root(ctx, result), out, ref)


def _root(ctx: Context, variance: Node) -> Node:
    """Its square root, which NumPy computes in place: laid out as it is."""
    root = apply(ctx, "sqrt", variance)
    if isinstance(root.type, Array):
        root = ctx.builder.emit(root.op, root.args, root.attrs, variance.type)
    return root


# ------------------------------------------------------------------ positions, counts, ranges


def _position(ctx: Context, kind: str, a: Operand, axis: Operand, out: Operand,
              keepdims: Operand) -> Operand:
    ref = as_array(ctx, a)
    if ref.dtype.kind not in "biufc":
        raise ctx.refuse(kind, f"of {ref.dtype}")
    if isinstance(axis, (tuple, list)):
        raise ctx.refuse(kind, "several axes: Python raises")
    axes = axes_of(ctx, axis, ref.ndim, kind)
    for n in ref.shape:
        arguments.require(ctx, "<", 0, n, f"{kind} of no elements")
    node = ctx.read(ref)
    if ref.dtype.kind == "c":
        made = complex_node(ctx, ref, kind, axes, truth(ctx, keepdims, kind), INT)
        return deliver(ctx, kind, made, out, ref)
    if ref.dtype == BOOL:
        node = ctx.builder.cast(node, np.uint8)
    result = reduce_node(ctx, node, kind, axes, truth(ctx, keepdims, kind), node.dtype)
    return deliver(ctx, kind, result, out, ref)


@program(STATISTIC, "argmin", "ndarray.argmin", of_numbers=True)
def argmin(ctx: Context, a: Operand, axis: Operand = None, out: Operand = None, *,
           keepdims: Operand = False) -> Operand:
    """Where the first minimum is; the first NaN wins."""
    return _position(ctx, "argmin", a, axis, out, keepdims)


@program(STATISTIC, "argmax", "ndarray.argmax", of_numbers=True)
def argmax(ctx: Context, a: Operand, axis: Operand = None, out: Operand = None, *,
           keepdims: Operand = False) -> Operand:
    """Where the first maximum is; the first NaN wins."""
    return _position(ctx, "argmax", a, axis, out, keepdims)


#: NumPy 2.4's np.count_nonzero(a) is a NumPy integer; it was Python's own before
_COUNT = Scalar(INT, "np" if isinstance(np.count_nonzero([0]), np.generic) else "py")


@program(STATISTIC, "count_nonzero")
def count_nonzero(ctx: Context, a: Operand, axis: Operand = None, *,
                  keepdims: Operand = False) -> Operand:
    """How many elements are not zero."""
    ref = as_array(ctx, a)
    keep = truth(ctx, keepdims, "count_nonzero")
    axes = axes_of(ctx, axis, ref.ndim, "count_nonzero")
    flags = ctx.builder.cast(ctx.read(ref), BOOL)
    result = reduce_node(ctx, flags, "sum", axes, keep, INT)
    if axis is None and not keep and _COUNT.origin == "py":
        result = ctx.builder.emit("cast", (result,), None, _COUNT)
    return deliver(ctx, "count_nonzero", result, None, ref)


@program(STATISTIC, "ptp")
def ptp(ctx: Context, a: Operand, axis: Operand = None, out: Operand = None,
        keepdims: Operand = False) -> Operand:
    """The largest minus the smallest."""
    ends = [OPERATORS[name] for name in ("max", "min")]
    most, least = (op.kind.call(op, ctx, (a, axis), {"keepdims": keepdims}) for op in ends)
    return deliver(ctx, "ptp", apply(ctx, "subtract", most, least), out, as_array(ctx, a))


# ------------------------------------------------------------------ NaN left out


def _never(ctx: Context, flags: Node, reason: str) -> None:
    """Leaves where one of the flags is true."""
    if isinstance(flags.type, Array):
        axes = tuple(range(flags.type.ndim))
        flags = reduce_node(ctx, flags, "any", axes, False, BOOL)
    ctx.builder.check(ctx.builder.map("bit_not", (flags,), BOOL), reason)


def _nan_total(name: str, value: float) -> None:
    def total(ctx: Context, a: Operand, axis: Operand = None, dtype: Operand = None,
              out: Operand = None, keepdims: Operand = False, **options: Operand) -> Operand:
        node, _ = replaced_nan(ctx, as_array(ctx, a), value)
        op = OPERATORS[name]
        return op.kind.call(op, ctx, (ctx.new(node), axis, dtype, out, keepdims), options)

    program(STATISTIC, f"nan{name}", doc=f"{name} without NaN.")(total)


def _nan_extreme(name: str, value: float) -> None:
    def extreme(ctx: Context, a: Operand, axis: Operand = None, out: Operand = None,
                keepdims: Operand = False) -> Operand:
        ref = as_array(ctx, a)
        node, mask = replaced_nan(ctx, ref, value)
        if ref.dtype.kind == "c":
            raise ctx.refuse(f"nan{name}", "of complex numbers")
        op = OPERATORS[name]
        result = op.kind.call(op, ctx, (ctx.new(node), axis), {"keepdims": keepdims, "out": out})
        if mask is not None:
            axes = axes_of(ctx, axis, ref.ndim, name)
            _never(ctx, reduce_node(ctx, mask, "all", axes, False, BOOL), f"nan{name} of only NaN")
        return result

    program(STATISTIC, f"nan{name}", doc=f"{name} of what is not NaN.")(extreme)


def _nan_position(name: str, value: float) -> None:
    def position(ctx: Context, a: Operand, axis: Operand = None, out: Operand = None, *,
                 keepdims: Operand = False) -> Operand:
        ref = as_array(ctx, a)
        node, mask = replaced_nan(ctx, ref, value)
        if mask is not None:
            axes = axes_of(ctx, axis, ref.ndim, f"nan{name}")
            _never(ctx, reduce_node(ctx, mask, "all", axes, False, BOOL),
                   f"nan{name} of only NaN: Python raises")
        return _position(ctx, name, ctx.new(node), axis, out, keepdims)

    program(STATISTIC, f"nan{name}", doc=f"{name} of what is not NaN.")(position)


_nan_total("sum", 0)
_nan_total("prod", 1)
_nan_extreme("min", np.inf)
_nan_extreme("max", -np.inf)
_nan_position("argmin", np.inf)
_nan_position("argmax", -np.inf)


def _valid(ctx: Context, mask: Node, axes: tuple[int, ...], keepdims: bool) -> Node:
    """How many elements are not NaN."""
    flags = ctx.builder.map("bit_not", (mask,), BOOL)
    return reduce_node(ctx, flags, "sum", axes, keepdims, INT)


@program(STATISTIC, "nanmean")
def nanmean(ctx: Context, a: Operand, axis: Operand = None, dtype: Operand = None,
            out: Operand = None, keepdims: Operand = False, *, where: Operand = True) -> Operand:
    """The mean of what is not NaN."""
    _all_taken(ctx, where, "nanmean")
    ref = as_array(ctx, a)
    node, mask = replaced_nan(ctx, ref, 0)
    if mask is None:
        return mean(ctx, a, axis, dtype, out, keepdims)
    axes, keep = axes_of(ctx, axis, ref.ndim, "nanmean"), truth(ctx, keepdims, "nanmean")
    count = _valid(ctx, mask, axes, keep)
    _never(ctx, ctx.builder.map("eq", (count, ctx.builder.const(np.int64(0))), BOOL),
           "nanmean of only NaN")
    total = reduce_node(ctx, node, "sum", axes, keep, _loop(ctx, ref, dtype, "nanmean"))
    return deliver(ctx, "nanmean", divided(ctx, total, count), out, ref)


def _nan_variance(ctx: Context, name: str, a: Operand, axis: Operand, dtype: Operand,
                  ddof: Operand, keepdims: Operand) -> tuple[Node, ArrayRef]:
    ref = as_array(ctx, a)
    node, mask = replaced_nan(ctx, ref, 0)
    if mask is None:
        return _variance(ctx, name, a, axis, dtype, ddof, keepdims, True, None)
    if dtype is not None or ref.dtype.kind == "c" or not ref.ndim:
        raise ctx.refuse(name, "dtype=, complex numbers, or no axes")
    axes, keep = axes_of(ctx, axis, ref.ndim, name), truth(ctx, keepdims, name)
    total = reduce_node(ctx, node, "sum", axes, True, ref.dtype)
    center = divided(ctx, total, _valid(ctx, mask, axes, True))
    gap = apply(ctx, "subtract", node, center)
    gap = ctx.builder.map("where", (mask, ctx.builder.const(ref.dtype.type(0)), gap), ref.dtype)
    spread = reduce_node(ctx, apply(ctx, "multiply", gap, gap), "sum", axes, keep, ref.dtype)
    less = ctx.builder.cast(ctx.builder.size(arguments.integer(ctx, ddof, name)), INT)
    free = apply(ctx, "subtract", _valid(ctx, mask, axes, keep), less)
    _never(ctx, ctx.builder.map("le", (free, ctx.builder.const(np.int64(0))), BOOL),
           f"{name} of too few numbers")
    return divided(ctx, spread, free), ref


@program(STATISTIC, "nanvar")
def nanvar(ctx: Context, a: Operand, axis: Operand = None, dtype: Operand = None,
           out: Operand = None, ddof: Operand = 0, keepdims: Operand = False) -> Operand:
    """The variance of what is not NaN."""
    result, ref = _nan_variance(ctx, "nanvar", a, axis, dtype, ddof, keepdims)
    return deliver(ctx, "nanvar", result, out, ref)


@program(STATISTIC, "nanstd")
def nanstd(ctx: Context, a: Operand, axis: Operand = None, dtype: Operand = None,
           out: Operand = None, ddof: Operand = 0, keepdims: Operand = False) -> Operand:
    """The standard deviation of what is not NaN."""
    result, ref = _nan_variance(ctx, "nanstd", a, axis, dtype, ddof, keepdims)
    return deliver(ctx, "nanstd", _root(ctx, result), out, ref)
