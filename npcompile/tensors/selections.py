"""Functions of torch's that read or write elements by tensors of places or truth."""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.core.sizes import Size
from npcompile.graph.types import BOOL, INT, c_strides
from npcompile.ops import masks
from npcompile.ops.arguments import axis_in, require, static, static_int, truth, view
from npcompile.ops.elementwise import run
from npcompile.ops.operands import ArrayRef, Context, Operand, Tensor
from npcompile.tensors import elementwise, shapes
from npcompile.tensors.elementwise import cast
from npcompile.tensors.promotion import result_dtype
from npcompile.tensors.tensor_functions import MEANINGS, moving, named, result, tensor

_INDEX = (np.dtype(np.int32), INT)


def _places(ctx: Context, index: Operand, what: str) -> ArrayRef:
    """A tensor of integers that are not negative (torch counts none from the end)."""
    ref = tensor(ctx, index, what)
    if ref.dtype not in _INDEX:
        raise ctx.refuse(what, f"at places of {ref.dtype}")
    smallest = run(ctx, "all", run(ctx, "greater_equal", ref, 0))
    ctx.builder.check(smallest, f"{what}: a place that is negative: Python raises")
    return ref


def _same_kind(ctx: Context, one: ArrayRef, other: Operand, what: str) -> ArrayRef:
    ref = tensor(ctx, other, what)
    if ref.dtype != one.dtype:
        raise ctx.refuse(what, "of unlike dtypes")
    return ref


# ------------------------------------------------------------------ reading


@moving("gather")
def gather(ctx: Context, input: Operand, dim: Operand, index: Operand, *,
           sparse_grad: Operand = False) -> Tensor:
    """The elements that an index picks along an axis."""
    ref, at = tensor(ctx, input, "gather"), _places(ctx, index, "gather")
    if ref.ndim != at.ndim or not ref.ndim or at.dtype != INT:
        raise ctx.refuse("gather", "of other numbers of axes")
    axis = axis_in(ctx, dim, ref.ndim, "gather")
    return result(ctx, run(ctx, "take_along_axis", _cropped(ctx, ref, at, axis), at, axis))


def _cropped(ctx: Context, ref: ArrayRef, at: ArrayRef, axis: int) -> ArrayRef:
    """What an index of other lengths reaches; along the axis, all."""
    shape = []
    for k, (n, wanted) in enumerate(zip(ref.shape, at.shape)):
        if k != axis:
            require(ctx, "<=", wanted, n, "gather: an index that is longer: Python raises")
        shape.append(n if k == axis else wanted)
    return view(ref, shape, ref.strides)


@moving("take_along_dim")
def take_along_dim(ctx: Context, input: Operand, indices: Operand, dim: Operand = None) -> Tensor:
    """The elements that an index picks along an axis, broadcast."""
    ref, at = tensor(ctx, input, "take_along_dim"), _places(ctx, indices, "take_along_dim")
    if dim is None or ref.ndim != at.ndim or not ref.ndim or at.dtype != INT:
        raise ctx.refuse("take_along_dim", "of all as one, or of other numbers of axes")
    axis = axis_in(ctx, dim, ref.ndim, "take_along_dim")
    for k, (n, wanted) in enumerate(zip(ref.shape, at.shape)):
        if k != axis:
            require(ctx, "==", n, wanted, "take_along_dim: lengths that are broadcast")
    return result(ctx, run(ctx, "take_along_axis", ref, at, axis))


@moving("index_select")
def index_select(ctx: Context, input: Operand, dim: Operand, index: Operand) -> Tensor:
    """Places of an axis in the order of an index."""
    ref, at = tensor(ctx, input, "index_select"), _places(ctx, index, "index_select")
    if not ref.ndim or at.ndim != 1:
        raise ctx.refuse("index_select", "of no axes, or by other than a vector")
    return result(ctx, run(ctx, "take", ref, at, axis_in(ctx, dim, ref.ndim, "index_select")))


@moving("take")
def take(ctx: Context, input: Operand, index: Operand) -> Tensor:
    """Elements of the tensor as one row."""
    ref, at = tensor(ctx, input, "take"), tensor(ctx, index, "take")
    if at.dtype != INT or not ref.ndim or not at.ndim:
        raise ctx.refuse("take", "at places of another dtype, or without axes")
    return result(ctx, run(ctx, "take", ref, at))


@moving("masked_select")
def masked_select(ctx: Context, input: Operand, mask: Operand) -> Tensor:
    """The elements where a mask is true."""
    ref, where = tensor(ctx, input, "masked_select"), tensor(ctx, mask, "masked_select")
    if where.dtype != BOOL or not ref.ndim or ref.ndim != where.ndim:
        raise ctx.refuse("masked_select", "by a mask that is not bool, or is broadcast")
    for n, wanted in zip(ref.shape, where.shape):
        require(ctx, "==", n, wanted, "masked_select: a mask that is broadcast")
    return result(ctx, masks.read(ctx, ref, where))


@named("argwhere", "nonzero")
def nonzero(ctx: Context, input: Operand, *, as_tuple: Operand = False) -> Operand:
    """The places of what is not zero."""
    ref = tensor(ctx, input, "nonzero")
    if not ref.ndim or (truth(ctx, as_tuple, "nonzero") and ref.ndim > 1):
        raise ctx.refuse("nonzero", "of no axes, or as several tensors")
    if truth(ctx, as_tuple, "nonzero"):
        return (result(ctx, run(ctx, "nonzero", ref)[0]),)
    if ref.ndim > 1:
        found = run(ctx, "argwhere", ref)
        assert isinstance(found, ArrayRef)
        packed = c_strides(found.shape[::-1])[::-1]  # a column for each axis, says torch
        return Tensor(elementwise.laid_out(ctx, found, packed))
    return result(ctx, run(ctx, "argwhere", ref))


@named("bincount")
def bincount(ctx: Context, input: Operand, weights: Operand = None,
             minlength: Operand = 0) -> Tensor:
    """How often each number is there."""
    ref = tensor(ctx, input, "bincount")
    if ref.dtype != INT or ref.ndim != 1:
        raise ctx.refuse("bincount", "of other than a vector of int64")
    if weights is None:
        return result(ctx, run(ctx, "bincount", ref, minlength=minlength))
    heavy = tensor(ctx, weights, "bincount")
    if heavy.dtype != np.float64:
        raise ctx.refuse("bincount", f"with weights of {heavy.dtype}")
    return result(ctx, run(ctx, "bincount", ref, heavy, minlength=minlength))


@named("searchsorted")
def searchsorted(
    ctx: Context, sorted_sequence: Operand, input: Operand, *, out_int32: Operand = False,
    right: Operand = False, side: Operand = None, sorter: Operand = None,
) -> Tensor:
    """Where numbers have their place in a sorted row."""
    row, keys = tensor(ctx, sorted_sequence, "searchsorted"), tensor(ctx, input, "searchsorted")
    after = truth(ctx, right, "searchsorted")
    if side is not None:
        if side not in ("left", "right") or (after and side == "left"):
            raise ctx.refuse("searchsorted", f"side {side}")
        after = side == "right"
    if row.ndim != 1 or sorter is not None or not keys.ndim or row.dtype != keys.dtype:
        raise ctx.refuse("searchsorted", "in rows, with sorter=, or for one number")
    found = run(ctx, "searchsorted", row, keys, "right" if after else "left")
    kind = np.dtype(np.int32) if truth(ctx, out_int32, "searchsorted") else INT
    assert isinstance(found, ArrayRef)
    return result(ctx, cast(ctx, Tensor(found), kind))


@named("bucketize", method=False)
def bucketize(ctx: Context, input: Operand, boundaries: Operand, *, out_int32: Operand = False,
              right: Operand = False) -> Tensor:
    """Between which bounds numbers are."""
    return searchsorted(ctx, boundaries, input, out_int32=out_int32, right=right)


@named("nn.functional.embedding", method=False)
def embedding(ctx: Context, input: Operand, weight: Operand, padding_idx: Operand = None,
              max_norm: Operand = None, norm_type: Operand = 2.0,
              scale_grad_by_freq: Operand = False, sparse: Operand = False) -> Tensor:
    """Rows of a matrix by their numbers."""
    table = tensor(ctx, weight, "embedding")
    at = _places(ctx, input, "embedding")
    if max_norm is not None or table.ndim != 2 or not at.ndim:
        raise ctx.refuse("embedding", "max_norm=, or of other than a matrix")
    return result(ctx, run(ctx, "take", table, at, 0))


@named("nn.functional.one_hot", method=False)
def one_hot(ctx: Context, tensor_: Operand, num_classes: Operand = -1) -> Tensor:
    """1 at the place of each number, else 0."""
    at, count = _places(ctx, tensor_, "one_hot"), static_int(ctx, num_classes, "one_hot")
    if at.dtype != INT or count < 1 or not at.ndim:
        raise ctx.refuse("one_hot", "of as many classes as only the run knows")
    fits = run(ctx, "all", run(ctx, "less", at, count))
    ctx.builder.check(fits, "one_hot: a class that is not there: Python raises")
    column = view(at, [*at.shape, 1], [*at.strides, 1])
    hit = run(ctx, "equal", column, run(ctx, "arange", count))
    assert isinstance(hit, ArrayRef)
    return result(ctx, cast(ctx, Tensor(hit), INT))


# ------------------------------------------------------------------ writing


def _clone(ctx: Context, input: Operand, what: str) -> Tensor:
    return shapes.copied(ctx, tensor(ctx, input, what), c_strides(tensor(ctx, input, what).shape))


def _grids(ctx: Context, at: ArrayRef, axis: int) -> tuple[Operand, ...]:
    """An index for every axis, of which one is given."""
    found: list[Operand] = []
    for k, n in enumerate(at.shape):
        row = run(ctx, "arange", _number(ctx, n))
        assert isinstance(row, ArrayRef)
        shape: list[Size] = [1] * at.ndim
        strides: list[Size] = [1] * at.ndim
        shape[k], strides[k] = n, row.strides[0]
        found.append(at if k == axis else view(row, shape, strides))
    return tuple(found)


def _number(ctx: Context, size: Size) -> Operand:
    size = ctx.facts.norm(size)
    return size if isinstance(size, int) else ctx.builder.size(size)


def _scattered(
    ctx: Context, what: str, target: Tensor, dim: Operand, index: Operand, src: Operand, adds: bool
) -> Tensor:
    """Writes, or adds, numbers at places along an axis."""
    from npcompile.ops.indexing import setitem

    ref, at = target.memory, _places(ctx, index, what)
    if at.dtype != INT or ref.ndim != at.ndim or not ref.ndim:
        raise ctx.refuse(what, "of other numbers of axes")
    axis = axis_in(ctx, dim, ref.ndim, what)
    for k, (n, wanted) in enumerate(zip(ref.shape, at.shape)):
        if k != axis:
            require(ctx, "<=", wanted, n, f"{what}: an index that is longer: Python raises")
    value: Operand
    if isinstance(src, Tensor):
        held = _same_kind(ctx, ref, src, what)
        if held.ndim != at.ndim:
            raise ctx.refuse(what, "of other numbers of axes")
        for n, wanted in zip(held.shape, at.shape):
            require(ctx, "<=", wanted, n, f"{what}: an index that is longer: Python raises")
        value = view(held, at.shape, held.strides)
    else:
        value = elementwise.number(ctx, src, ref.dtype)
    key = _grids(ctx, at, axis)
    if adds:
        run(ctx, "add.at", ref, key, value)
    else:
        setitem(ctx, ref, key, value)
    return target


@named("scatter")
def scatter(ctx: Context, input: Operand, dim: Operand, index: Operand, src: Operand = None, *,
            value: Operand = None) -> Tensor:
    """A copy with numbers at places along an axis."""
    given = src if value is None else value
    return _scattered(ctx, "scatter", _clone(ctx, input, "scatter"), dim, index, given, False)


@named("scatter_add")
def scatter_add(ctx: Context, input: Operand, dim: Operand, index: Operand,
                src: Operand) -> Tensor:
    """A copy to which numbers are added at places along an axis."""
    if not isinstance(src, Tensor):
        raise ctx.refuse("scatter_add", "of no tensor: Python raises")
    target = _clone(ctx, input, "scatter_add")
    if target.memory.dtype.kind not in "iuf":
        raise ctx.refuse("scatter_add", f"of {target.memory.dtype}")
    return _scattered(ctx, "scatter_add", target, dim, index, src, True)


def _key(ctx: Context, target: Tensor, dim: Operand, index: Operand, what: str) -> Any:
    at = _places(ctx, index, what)
    if not target.memory.ndim or at.ndim != 1:
        raise ctx.refuse(what, "of no axes, or by other than a vector")
    axis = axis_in(ctx, dim, target.memory.ndim, what)
    return axis, (*[slice(None)] * axis, at)


def _rows_fit(ctx: Context, ref: ArrayRef, axis: int, index: Operand, held: ArrayRef,
              what: str) -> None:
    """Demands a source of the target's shape, with a row for each place."""
    if held.ndim != ref.ndim:
        raise ctx.refuse(what, "of other numbers of axes")
    rows = tensor(ctx, index, what).shape[0]
    for k, (n, given) in enumerate(zip(ref.shape, held.shape)):
        require(ctx, "==", rows if k == axis else n, given, f"{what}: another shape")


@named("index_add")
def index_add(ctx: Context, input: Operand, dim: Operand, index: Operand, source: Operand, *,
              alpha: Operand = 1) -> Tensor:
    """A copy to whose places of an axis others are added."""
    target = _clone(ctx, input, "index_add")
    held = _same_kind(ctx, target.memory, source, "index_add")
    if static(alpha) != 1 or held.dtype.kind not in "iuf":
        raise ctx.refuse("index_add", "alpha=, or of bool or complex numbers")
    axis, key = _key(ctx, target, dim, index, "index_add")
    _rows_fit(ctx, target.memory, axis, index, held, "index_add")
    run(ctx, "add.at", target.memory, key, held)
    return target


@named("index_copy")
def index_copy(ctx: Context, input: Operand, dim: Operand, index: Operand,
               source: Operand) -> Tensor:
    """A copy with other numbers at places of an axis."""
    from npcompile.ops.indexing import setitem

    target = _clone(ctx, input, "index_copy")
    held = _same_kind(ctx, target.memory, source, "index_copy")
    axis, key = _key(ctx, target, dim, index, "index_copy")
    _rows_fit(ctx, target.memory, axis, index, held, "index_copy")
    setitem(ctx, target.memory, key, held)
    return target


@named("index_fill")
def index_fill(ctx: Context, input: Operand, dim: Operand, index: Operand,
               value: Operand) -> Tensor:
    """A copy with one number at places of an axis."""
    from npcompile.ops.indexing import setitem

    if isinstance(value, Tensor):
        raise ctx.refuse("index_fill", "with a tensor")
    target = _clone(ctx, input, "index_fill")
    _, key = _key(ctx, target, dim, index, "index_fill")
    setitem(ctx, target.memory, key, elementwise.number(ctx, value, target.memory.dtype))
    return target


def _embedded(name: str, part: Any) -> None:
    @named(name)
    def embed(ctx: Context, input: Operand, src: Operand, *args: Operand,
              **options: Operand) -> Tensor:
        """A copy of which a part is another tensor."""
        target = _clone(ctx, input, name)
        held = _same_kind(ctx, target.memory, src, name)
        window = part(ctx, target, *args, **options).memory
        if window.ndim != held.ndim:
            raise ctx.refuse(name, "of another shape: Python raises")
        for n, given in zip(window.shape, held.shape):
            require(ctx, "==", n, given, f"{name}: another shape")
        ctx.write(window, ctx.read(held))
        return target


def _slice(ctx: Context, input: Operand, dim: Operand = 0, start: Operand = None,
           end: Operand = None, step: Operand = 1) -> Tensor:
    from npcompile.tensors.indexing import view_of

    ref = tensor(ctx, input, "slice_scatter")
    axis = axis_in(ctx, dim, ref.ndim, "slice_scatter")
    return Tensor(view_of(ctx, ref, (*[slice(None)] * axis, slice(start, end, step))))


def _enter() -> None:
    from npcompile.tensors import arrangements

    _embedded("select_scatter", arrangements.select)
    _embedded("diagonal_scatter", arrangements.diagonal)
    _embedded("slice_scatter", _slice)


_enter()


@moving("where")
def where(ctx: Context, condition: Operand, input: Operand, other: Operand) -> Tensor:
    """One or the other."""
    return choose(ctx, condition, input, other)


@moving("Tensor.where")
def where_method(ctx: Context, input: Operand, condition: Operand, other: Operand) -> Tensor:
    """The tensor's own elements, or others."""
    return choose(ctx, condition, input, other)


def choose(ctx: Context, condition: Operand, input: Operand, other: Operand) -> Tensor:
    """One or the other, in the dtype of both."""
    mask = tensor(ctx, condition, "where")
    if mask.dtype != BOOL:
        raise ctx.refuse("where", "a condition that is not bool")
    dtype = result_dtype(ctx, (input, other), "where")
    chosen = [cast(ctx, x, dtype) for x in (input, other)]
    found = run(ctx, "where.choose", cast(ctx, condition, BOOL), *chosen)
    if not isinstance(found, ArrayRef):
        return elementwise.point(ctx, found)
    full = [x.memory for x in (condition, input, other) if isinstance(x, Tensor) and x.memory.ndim]
    strides = elementwise.result_strides(ctx, found.shape, full)
    return Tensor(elementwise.laid_out(ctx, found, strides))


@named("equal")
def equal(ctx: Context, input: Operand, other: Operand) -> Operand:
    """Whether two tensors have one shape and the same elements."""
    a, b = tensor(ctx, input, "equal"), tensor(ctx, other, "equal")
    if a.dtype != b.dtype or a.ndim != b.ndim:
        raise ctx.refuse("equal", "of unlike dtypes or ranks")
    for m, n in zip(a.shape, b.shape):
        if not ctx.facts.equal(m, n):
            return False
    found = run(ctx, "all", run(ctx, "equal", a, b))
    return _python_bool(ctx, found)


def _python_bool(ctx: Context, found: Operand) -> Operand:
    from npcompile.graph.types import PY_BOOL
    from npcompile.ops.elementwise import py_scalar

    return py_scalar(ctx, found, PY_BOOL)


@named("allclose")
def allclose(ctx: Context, input: Operand, other: Operand, rtol: Operand = 1e-05,
             atol: Operand = 1e-08, equal_nan: Operand = False) -> Operand:
    """Whether all numbers are equal up to an error."""
    near = MEANINGS["isclose"](ctx, input, other, rtol, atol, equal_nan)
    return _python_bool(ctx, run(ctx, "all", near.memory))


