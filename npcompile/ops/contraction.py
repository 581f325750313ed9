"""Products of matrices: NumPy's own functions, run in place (BLAS chooses the order of sums)."""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.core.sizes import Size
from npcompile.graph.ir import HostCall
from npcompile.graph.layout import broadcast_shapes
from npcompile.graph.types import SUPPORTED, contiguous
from npcompile.ops import arguments, views
from npcompile.ops.arguments import as_array, program
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.record import OPERATORS, Kind, define


def _inner(ctx: Context, a: Size, b: Size, what: str) -> None:
    if not ctx.facts.equal(a, b):
        raise ctx.refuse(what, "inner lengths differ: Python raises")


def _common(ctx: Context, a: ArrayRef, b: ArrayRef, what: str) -> np.dtype[Any]:
    dtype = np.result_type(a.dtype, b.dtype)
    if dtype.char not in SUPPORTED:
        raise ctx.refuse(what, f"dtype {dtype}")
    return dtype


def _matmul_shape(ctx: Context, a: ArrayRef, b: ArrayRef) -> tuple[Size, ...]:
    """The shape of ``a @ b``: batches broadcast, axes of vectors are dropped."""
    if a.ndim == 0 or b.ndim == 0:
        raise ctx.refuse("matmul", "a number as operand: Python raises")
    _inner(ctx, a.shape[-1], b.shape[-1 if b.ndim == 1 else -2], "matmul")
    batch = broadcast_shapes(ctx.facts, a.shape[:-2], b.shape[:-2])
    rows = () if a.ndim == 1 else (a.shape[-2],)
    columns = () if b.ndim == 1 else (b.shape[-1],)
    return (*batch, *rows, *columns)


def _dot_shape(ctx: Context, a: ArrayRef, b: ArrayRef) -> tuple[Size, ...]:
    """The shape of ``np.dot(a, b)``: the last axis against the last but one."""
    _inner(ctx, a.shape[-1], b.shape[-1 if b.ndim == 1 else -2], "dot")
    return (*a.shape[:-1], *b.shape[:-2], *(b.shape[-1:] if b.ndim > 1 else ()))


def _inner_shape(ctx: Context, a: ArrayRef, b: ArrayRef) -> tuple[Size, ...]:
    """The shape of ``np.inner(a, b)``: last axes against each other."""
    _inner(ctx, a.shape[-1], b.shape[-1], "inner")
    return (*a.shape[:-1], *b.shape[:-1])


def _vdot_shape(ctx: Context, a: ArrayRef, b: ArrayRef) -> tuple[Size, ...]:
    if a.ndim != 1 or b.ndim != 1:
        raise ctx.refuse("vdot", "operands of more than one axis")
    _inner(ctx, a.shape[0], b.shape[0], "vdot")
    return ()


def _call(op: Any, ctx: Context, args: tuple[Operand, ...], kwargs: dict[str, Operand]) -> Operand:
    """One product; ``op.lower`` gives the shape of the result."""
    out = args[2] if len(args) == 3 else kwargs.pop("out", None)
    out = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if kwargs or not 2 <= len(args) <= 3:
        raise ctx.refuse(op.name, f"arguments {sorted(kwargs)}")
    a, b = (as_array(ctx, x) for x in args[:2])
    if op.name in ("dot", "inner") and not (a.ndim and b.ndim):
        raise ctx.refuse(op.name, "of a number: NumPy chooses how to multiply")
    dtype = _common(ctx, a, b, op.name)
    shape = op.lower(ctx, a, b)
    call = HostCall(op.reference, out=op.data)
    result = ctx.host_call(call, (a, b), contiguous(dtype, shape))
    if out is not None:
        return _deliver(ctx, op.name, result, out)
    return result if shape else arguments.element(ctx, result)


def _deliver(ctx: Context, what: str, result: ArrayRef, out: Operand) -> ArrayRef:
    if not isinstance(out, ArrayRef):
        raise ctx.refuse(what, "out= is no array: Python raises")
    same = (
        out.writeable
        and out.dtype == result.dtype
        and out.ndim == result.ndim
        and all(map(ctx.facts.equal, out.shape, result.shape))
    )
    if not same:
        raise ctx.refuse(what, "out= of another dtype or shape")
    ctx.write(out, ctx.read(result))
    return out


CONTRACTION = Kind("contraction", _call)

# name, shape rule, whether it takes out=, further aliases
_ROWS = [
    ("matmul", _matmul_shape, True, ("operator:matmul",)),
    ("dot", _dot_shape, True, ("numpy:ndarray.dot",)),
    ("inner", _inner_shape, False, ()),
    ("vdot", _vdot_shape, False, ()),
]
for _name, _shape, _out, _aliases in _ROWS:
    define(_name, CONTRACTION, aliases=(f"numpy:{_name}", *_aliases), reference=f"numpy:{_name}",
           lower=_shape, guarantee="machine", data=_out, doc="A product of matrices or vectors.")


PRODUCT = arguments.program_kind("product")


@program(PRODUCT, "outer")
def outer(ctx: Context, a: Operand, b: Operand, out: Operand = None) -> Operand:
    """Each element of one times each element of another."""
    x, y = (views.ravel(ctx, as_array(ctx, v)) for v in (a, b))
    column = arguments.view(x, (*x.shape, 1), (*x.strides, 0))
    row = arguments.view(y, (1, *y.shape), (0, *y.strides))
    times = OPERATORS["multiply"]
    return times.kind.call(times, ctx, (column, row), {} if out is None else {"out": out})


@program(PRODUCT, "tensordot", guarantee="machine")
def tensordot(ctx: Context, a: Operand, b: Operand, axes: Operand = 2) -> Operand:
    """Sums over the last axes of one array and the first of the other, or over pairs of axes."""
    x, y = as_array(ctx, a), as_array(ctx, b)
    pairs = _pairs(ctx, x, y, axes)
    for i, j in zip(*pairs, strict=True):
        _inner(ctx, x.shape[i], y.shape[j], "tensordot")
    left = [n for k, n in enumerate(x.shape) if k not in pairs[0]]
    right = [n for k, n in enumerate(y.shape) if k not in pairs[1]]
    kind = contiguous(_common(ctx, x, y, "tensordot"), (*left, *right))
    call = HostCall("numpy:tensordot", statics=(("axes", pairs),))
    return ctx.host_call(call, (x, y), kind)


def _pairs(ctx: Context, x: ArrayRef, y: ArrayRef,
           axes: Operand) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes of both operands that are summed over."""
    if not isinstance(axes, (list, tuple)):
        count = arguments.static_int(ctx, axes, "tensordot")
        if not 0 < count <= min(x.ndim, y.ndim):
            raise ctx.refuse("tensordot", "as many axes as the operands have")
        return tuple(range(x.ndim - count, x.ndim)), tuple(range(count))
    first, second = (arguments.axes_in(ctx, part, ref.ndim, "tensordot")
                     for part, ref in zip(axes, (x, y), strict=True))
    if len(first) != len(second):
        raise ctx.refuse("tensordot", "axes that don't pair up: Python raises")
    return first, second
