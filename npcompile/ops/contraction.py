"""Products of matrices and vectors: one routine, called with the indices that it sums over."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase
from typing import Any

import numpy as np

from npcompile.core.sizes import Size, is_known, product
from npcompile.graph import layout
from npcompile.graph.ir import Extern
from npcompile.graph.layout import broadcast_shapes
from npcompile.graph.types import SUPPORTED, Array, Scalar, contiguous
from npcompile.ops import arguments, views
from npcompile.ops.arguments import as_array, program
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.record import OPERATORS, OperatorFamily, define


def contract(ctx: Context, name: str, spec: str, a: ArrayRef, b: ArrayRef,
             kind: Array | None = None, quiet: bool = False) -> Operand:
    """A product by einsum's notation, of the type ``kind`` (C order if it is None); a number if
    the result has no index.  ``name`` is what NumPy calls the function."""
    dtype = np.result_type(a.dtype, b.dtype)
    if dtype.char not in SUPPORTED:
        raise ctx.refuse(name, f"dtype {dtype}")
    if a.storage is not b.storage and ctx.version(a.storage) is ctx.version(b.storage):
        b = views.copied(ctx, b, "K")  # equal, and not the same: BLAS sees two matrices
    operands = [ctx.builder.cast(ctx.read(x), dtype) for x in (a, b)]
    attrs = Extern("product", name, spec, quiet)
    words, _, out = spec.partition("->")
    if not out:
        return ctx.builder.emit("extern", operands, attrs, Scalar(dtype, "np"))
    sizes: dict[str, Size] = {}
    for word, ref in zip(words.split(","), (a, b), strict=True):
        sizes.update(zip(word, ref.shape, strict=True))
    if kind is None:
        kind = contiguous(dtype, tuple([sizes[letter] for letter in out]))
    return ctx.new(ctx.builder.emit("extern", operands, attrs, kind))


def _equal(ctx: Context, a: Size, b: Size, what: str) -> None:
    """Lengths that must be equal; what only the run can tell is checked there."""
    if not is_known(a - b):
        arguments.require(ctx, "==", a, b, f"{what}: inner lengths differ")
    elif not ctx.facts.equal(a, b):
        raise ctx.refuse(what, "inner lengths differ: Python raises")


# ------------------------------------------------------------------ matmul


def matmul(ctx: Context, a: ArrayRef, b: ArrayRef) -> Operand:
    """``a @ b``: batches broadcast, axes of vectors are dropped."""
    if a.ndim == 0 or b.ndim == 0:
        raise ctx.refuse("matmul", "a number as operand: Python raises")
    _equal(ctx, a.shape[-1], b.shape[-1 if b.ndim == 1 else -2], "matmul")
    rows, columns = "m"[: a.ndim - 1], "n"[: b.ndim - 1]
    batch = broadcast_shapes(ctx.facts, a.shape[:-2], b.shape[:-2])
    loops = ascii_lowercase[: len(batch)]
    dtype = np.result_type(a.dtype, b.dtype)
    left, right = (_with_batch(ctx, _cast(ctx, x, dtype), batch) for x in (a, b))
    spec = f"{loops if a.ndim > 1 else ''}{rows}k,{loops if b.ndim > 1 else ''}k{columns}"
    core = (*a.shape[-2:-1], *(b.shape[-1:] if b.ndim > 1 else ()))
    kind = batched(ctx, dtype, batch, core, [_with_batch(ctx, x, batch) for x in (a, b)])
    return contract(ctx, "matmul", f"{spec}->{loops}{rows}{columns}", left, right, kind)


def _with_batch(ctx: Context, ref: ArrayRef, batch: tuple[Size, ...]) -> ArrayRef:
    """An array of matrices, repeated to a batch."""
    if ref.ndim == 1:
        return ref
    return views.broadcast(ctx, ref, (*batch, *ref.shape[-2:]))


def _cast(ctx: Context, ref: ArrayRef, dtype: np.dtype[Any]) -> ArrayRef:
    """An operand as generalised ufuncs cast it: its matrices in C order."""
    if ref.dtype == dtype:
        return ref
    if dtype.char not in SUPPORTED:
        raise ctx.refuse("matmul", f"dtype {dtype}")
    batch, core = ref.shape[:-2], ref.shape[-2:]
    kind = batched(ctx, dtype, batch, core, [ref])
    return ctx.new(ctx.builder.emit("cast", (ctx.read(ref),), None, kind))


def batched(ctx: Context, dtype: np.dtype[Any], batch: tuple[Size, ...], core: tuple[Size, ...],
             operands: Sequence[ArrayRef]) -> Array:
    """The type of a generalised ufunc's result: its loops laid out as the operands are (order K),
    around C order."""
    count = len(batch)
    strides = [x.strides[:count] if x.ndim > 1 else (0,) * count for x in operands]
    inner = contiguous(dtype, core)
    outer = layout.k_strides(ctx.facts, batch, strides)
    size = product(core)
    return Array(dtype, (*batch, *core), (*[s * size for s in outer], *inner.strides))


# ------------------------------------------------------------------ dot, inner, vdot


def dot(ctx: Context, a: ArrayRef, b: ArrayRef) -> Operand:
    """``np.dot(a, b)``: the last axis against the last but one."""
    if not (a.ndim and b.ndim):
        raise ctx.refuse("dot", "of a number: NumPy chooses how to multiply")
    _equal(ctx, a.shape[-1], b.shape[-1 if b.ndim == 1 else -2], "dot")
    a, b = _readable(ctx, a, b)
    first, second = _letters(a.ndim - 1, b.ndim - 1)
    right = f"{second[:-1]}z{second[-1:]}" if b.ndim > 1 else "z"
    return contract(ctx, "dot", f"{first}z,{right}->{first}{second}", a, b)


def _readable(ctx: Context, *operands: ArrayRef) -> tuple[ArrayRef, ...]:
    """Operands as ``np.dot`` gives them to BLAS: with strides that are not positive as copies, and
    so matrices times matrices that are no run of memory."""
    if any(ref.ndim > 2 for ref in operands):
        return operands
    whole = all(ref.ndim == 2 and not any(ctx.facts.equal(n, 1) for n in ref.shape)
                for ref in operands)
    return tuple([
        ref if all(_positive(ctx, s) for s in ref.strides) and not (whole and _ragged(ctx, ref))
        else views.copied(ctx, ref) for ref in operands])


def _ragged(ctx: Context, ref: ArrayRef) -> bool:
    """Whether an array of floats is no run of memory, in either order."""
    return ref.dtype.kind in "fc" and not (
        views.is_contiguous(ctx, ref) or views.is_fortran(ctx, ref))


def _positive(ctx: Context, stride: Size) -> bool:
    """Whether a stride is positive, as far as one can tell."""
    return not is_known(stride) or ctx.facts.less(0, stride)


def inner(ctx: Context, a: ArrayRef, b: ArrayRef) -> Operand:
    """``np.inner(a, b)``: last axes against each other."""
    if not (a.ndim and b.ndim):
        raise ctx.refuse("inner", "of a number: NumPy chooses how to multiply")
    _equal(ctx, a.shape[-1], b.shape[-1], "inner")
    return dot(ctx, a, views.swapaxes(ctx, b, -1, -2) if b.ndim > 1 else b)


def vdot(ctx: Context, a: ArrayRef, b: ArrayRef) -> Operand:
    """``np.vdot(a, b)``: of all elements, the first ones conjugate."""
    x, y = (views.ravel(ctx, v) for v in (a, b))
    _equal(ctx, x.shape[0], y.shape[0], "vdot")
    if x.dtype.kind == "c":
        conjugate = OPERATORS["conjugate"]
        x = conjugate.kind.call(conjugate, ctx, (x,), {})
    return contract(ctx, "vdot", "z,z->", x, y, quiet=True)


def _letters(*counts: int) -> list[str]:
    """Different names for groups of axes."""
    names = iter(ascii_lowercase[:-1])
    return ["".join(next(names) for _ in range(count)) for count in counts]


# ------------------------------------------------------------------ calls


def _call(op: Any, ctx: Context, args: tuple[Operand, ...], kwargs: dict[str, Operand]) -> Operand:
    """One product; ``op.lower`` builds it."""
    out = args[2] if len(args) == 3 else kwargs.pop("out", None)
    out = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if kwargs or not 2 <= len(args) <= 3:
        raise ctx.refuse(op.name, f"arguments {sorted(kwargs)}")
    if out is not None and not op.data:
        raise ctx.refuse(op.name, "takes no out=: Python raises")
    a, b = (as_array(ctx, x) for x in args[:2])
    result = op.lower(ctx, a, b)
    return result if out is None else _deliver(ctx, op.name, result, out)


def _deliver(ctx: Context, what: str, result: Operand, out: Operand) -> ArrayRef:
    if not isinstance(out, ArrayRef):
        raise ctx.refuse(what, "out= is no array: Python raises")
    same = (
        out.writeable
        and out.dtype == result.dtype
        and out.ndim == len(result.shape)
        and all(map(ctx.facts.equal, out.shape, result.shape))
        and (what == "matmul" or views.is_contiguous(ctx, out))
    )
    if not same:
        raise ctx.refuse(what, "out= of another dtype, shape or layout")
    ctx.write(out, ctx.read(result) if isinstance(result, ArrayRef) else result)
    return out


CONTRACTION = OperatorFamily("contraction", _call)

# name, program, whether it takes out=, further aliases
_ROWS = [
    ("matmul", matmul, True, ("operator:matmul",)),
    ("dot", dot, True, ("numpy:ndarray.dot",)),
    ("inner", inner, False, ()),
    ("vdot", vdot, False, ()),
]
for _name, _program, _out, _aliases in _ROWS:
    define(_name, CONTRACTION, aliases=(f"numpy:{_name}", *_aliases), reference=f"numpy:{_name}",
           lower=_program, guarantee="none", data=_out, of_numbers=_name == "dot",
           doc="A product of matrices or vectors.")


PRODUCT = arguments.program_kind("product")


@program(PRODUCT, "outer")
def outer(ctx: Context, a: Operand, b: Operand, out: Operand = None) -> Operand:
    """Each element of one times each element of another."""
    x, y = (views.ravel(ctx, as_array(ctx, v)) for v in (a, b))
    column = arguments.view(x, (*x.shape, 1), (*x.strides, 0))
    row = arguments.view(y, (1, *y.shape), (0, *y.strides))
    times = OPERATORS["multiply"]
    return times.kind.call(times, ctx, (column, row), {} if out is None else {"out": out})


@program(PRODUCT, "tensordot", guarantee="none")
def tensordot(ctx: Context, a: Operand, b: Operand, axes: Operand = 2) -> Operand:
    """Sums over the last axes of one array and the first of the other, or over pairs of axes."""
    x, y = as_array(ctx, a), as_array(ctx, b)
    first, second = _pairs(ctx, x, y, axes)
    for i, j in zip(first, second, strict=True):
        _equal(ctx, x.shape[i], y.shape[j], "tensordot")
    left, right = ([k for k in range(r.ndim) if k not in axes]
                   for r, axes in ((x, first), (y, second)))
    shape = (*[x.shape[k] for k in left], *[y.shape[k] for k in right])
    rows, columns = (product([r.shape[k] for k in kept]) for r, kept in ((x, left), (y, right)))
    length = product([x.shape[k] for k in first])
    u = views.reshaped(ctx, views.permuted(x, [*left, *first]), (rows, length))
    v = views.reshaped(ctx, views.permuted(y, [*second, *right]), (length, columns))
    return views.reshaped(ctx, dot(ctx, u, v), shape)


def _pairs(ctx: Context, x: ArrayRef, y: ArrayRef,
           axes: Operand) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes of both operands that are summed over."""
    if not isinstance(axes, (list, tuple)):
        count = arguments.static_int(ctx, axes, "tensordot")
        if not 0 <= count <= min(x.ndim, y.ndim):
            raise ctx.refuse("tensordot", "as many axes as the operands have")
        return tuple(range(x.ndim - count, x.ndim)), tuple(range(count))
    first, second = (arguments.axes_in(ctx, part, ref.ndim, "tensordot")
                     for part, ref in zip(axes, (x, y), strict=True))
    if len(first) != len(second):
        raise ctx.refuse("tensordot", "axes that don't pair up: Python raises")
    return first, second
