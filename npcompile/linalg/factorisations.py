"""Equations, factorisations and eigenvalues: one LAPACK routine each, as :mod:`numpy.linalg` has
them.  What raises :class:`numpy.linalg.LinAlgError` leaves compiled code, and Python raises it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from npcompile.core.sizes import Size
from npcompile.graph import layout
from npcompile.graph.ir import Extern, Node
from npcompile.graph.layout import broadcast_shapes
from npcompile.graph.routines import ROUTINES
from npcompile.graph.types import BOOL, COMPLEX, FLOAT, Array, Scalar, Tuple, contiguous
from npcompile.ops import arguments, views
from npcompile.ops.arguments import as_array, program, truth
from npcompile.ops.contraction import batched
from npcompile.ops.operands import ArrayRef, Context, Operand

FACTORISATION = arguments.program_kind("factorisation")
DType = np.dtype[Any]
_PORTABLE = "npcompile.linalg.portable_functions:"
#: the dtype of the numbers of rows that LAPACK has exchanged
PIVOTS = np.dtype(np.int32)


def real(dtype: DType) -> DType:
    """The dtype of sizes of numbers."""
    return np.dtype(dtype.char.lower()) if dtype.kind == "c" else dtype


def common(ctx: Context, what: str, *operands: ArrayRef) -> tuple[DType, DType]:
    """The dtypes that NumPy computes in (double always) and returns."""
    for ref in operands:
        if ref.dtype.char == "e":
            raise ctx.refuse(what, "of float16: Python raises")
    is_complex = any(ref.dtype.kind == "c" for ref in operands)
    single = all(ref.dtype.char in "fF" for ref in operands)
    returned = np.dtype(("F" if is_complex else "f") if single else ("D" if is_complex else "d"))
    return (COMPLEX if is_complex else FLOAT), returned


def matrix(ctx: Context, operand: Operand, what: str, square: bool = False) -> ArrayRef:
    """An operand as an array of matrices."""
    ref = as_array(ctx, operand)
    if ref.ndim < 2:
        raise ctx.refuse(what, "of an array of less than two axes: Python raises")
    if square and not ctx.facts.equal(ref.shape[-1], ref.shape[-2]):
        raise ctx.refuse(what, "of a matrix that is not square: Python raises")
    return ref


def call(ctx: Context, name: str, routine: str, operands: Sequence[ArrayRef], dtype: DType,
         results: Sequence[tuple[DType, tuple[Size, ...]]], spec: str = "",
         why: str = "not enough memory: Python goes on", columns: bool = False) -> list[Operand]:
    """Runs a routine on matrices in a dtype; integers remain what they are.

    ``results`` are the dtypes to return and the last axes; those before are the batch, which the
    operands have in common.  ``why`` says what Python raises where it fails.  ``columns``: results
    of two axes lie columns first.
    """
    row = ROUTINES[routine]
    words = row.core.partition("->")[0].split(",")
    batch = operands[0].shape[: operands[0].ndim - len(words[0])]
    types: list[Array | Scalar] = []
    for returned, core in results:
        computed = _computed(dtype, returned)
        shaped = batched(ctx, computed, batch, core, operands)
        if columns:
            shaped = _in_columns(computed, batch, core)
        types.append(shaped if shaped.shape else Scalar(computed, "np"))
    types.append(Scalar(BOOL, "np"))
    nodes = [ctx.builder.cast(ctx.read(ref), PIVOTS if columns and ref.dtype == PIVOTS else dtype)
             for ref in operands]
    attrs = Extern(routine, name, spec, quiet=not row.flags)
    node = ctx.builder.emit("extern", nodes, attrs, Tuple(tuple(types)))
    parts = [ctx.builder.get(node, k) for k in range(len(types))]
    ctx.builder.check(parts[-1], why)
    return [deliver(ctx, part, returned) for part, (returned, _) in zip(parts, results)]


def _in_columns(dtype: DType, batch: tuple[Size, ...], core: tuple[Size, ...]) -> Array:
    """The type of results in C order, but each matrix columns first."""
    made = contiguous(dtype, (*batch, *core))
    if len(core) < 2:
        return made
    return Array(dtype, made.shape, (*made.strides[:-2], 1, core[0]))


def _computed(dtype: DType, returned: DType) -> DType:
    """The dtype that a routine on numbers of a dtype gives for a result."""
    if returned.kind == "i":
        return returned
    return np.result_type(dtype, np.complex64) if returned.kind == "c" else real(dtype)


def deliver(ctx: Context, node: Node, dtype: DType) -> Operand:
    """A result, cast to the dtype that NumPy returns."""
    node = ctx.builder.cast(node, dtype)
    return ctx.new(node) if isinstance(node.type, Array) else node


def _some(ctx: Context, ref: ArrayRef, what: str) -> tuple[Size, Size]:
    """The two lengths of matrices that are not empty."""
    m, n = ref.shape[-2:]
    if not (ctx.facts.less(0, m) and ctx.facts.less(0, n)):
        raise ctx.refuse(what, "of empty matrices")
    return m, n


def named(name: str, items: Sequence[Operand]) -> Operand:
    """One of NumPy's named tuples."""
    from numpy.linalg import _linalg

    return getattr(_linalg, name)(*items)


# ------------------------------------------------------------------ equations


@program(FACTORISATION, "linalg.solve", guarantee="none",
         deterministic=_PORTABLE + "solve")
def solve(ctx: Context, a: Operand, b: Operand) -> Operand:
    """The ``x`` of ``a @ x = b``."""
    left, right = matrix(ctx, a, "solve", square=True), as_array(ctx, b)
    dtype, returned = common(ctx, "solve", left, right)
    n = left.shape[-1]
    if right.ndim == 0:
        raise ctx.refuse("solve", "of a number: Python raises")
    vector = right.ndim == 1
    if not ctx.facts.equal(right.shape[-1 if vector else -2], n):
        raise ctx.refuse("solve", "lengths differ: Python raises")
    core = right.shape[-1:] if vector else right.shape[-2:]
    batch = broadcast_shapes(ctx.facts, left.shape[:-2], right.shape[: right.ndim - len(core)])
    left = views.broadcast(ctx, left, (*batch, n, n))
    right = views.broadcast(ctx, right, (*batch, *core))
    routine = "solve_vector" if vector else "solve"
    (x,) = call(ctx, "linalg.solve", routine, (left, right), dtype, [(returned, core)],
                why="a singular matrix: Python raises")
    return x


@program(FACTORISATION, "linalg.inv", guarantee="none",
         deterministic=_PORTABLE + "inv")
def inv(ctx: Context, a: Operand) -> Operand:
    """The inverse."""
    ref = matrix(ctx, a, "inv", square=True)
    dtype, returned = common(ctx, "inv", ref)
    (x,) = call(ctx, "linalg.inv", "inv", (ref,), dtype, [(returned, ref.shape[-2:])],
                why="a singular matrix: Python raises")
    return x


@program(FACTORISATION, "linalg.det", guarantee="none",
         deterministic=_PORTABLE + "det")
def det(ctx: Context, a: Operand) -> Operand:
    """The determinant."""
    ref = matrix(ctx, a, "det", square=True)
    dtype, returned = common(ctx, "det", ref)
    (x,) = call(ctx, "linalg.det", "det", (ref,), dtype, [(returned, ())])
    return x


@program(FACTORISATION, "linalg.slogdet", guarantee="none",
         deterministic=_PORTABLE + "slogdet")
def slogdet(ctx: Context, a: Operand) -> Operand:
    """Sign and logarithm of the size of the determinant."""
    ref = matrix(ctx, a, "slogdet", square=True)
    dtype, returned = common(ctx, "slogdet", ref)
    shapes = [(returned, ()), (real(returned), ())]
    items = call(ctx, "linalg.slogdet", "slogdet", (ref,), dtype, shapes)
    return named("SlogdetResult", items)


# ------------------------------------------------------------------ factors


@program(FACTORISATION, "linalg.cholesky", guarantee="none",
         deterministic=_PORTABLE + "cholesky")
def cholesky(ctx: Context, a: Operand, /, *, upper: Operand = False) -> Operand:
    """The triangular factor of a positive definite matrix."""
    ref = matrix(ctx, a, "cholesky", square=True)
    dtype, returned = common(ctx, "cholesky", ref)
    half = "U" if truth(ctx, upper, "cholesky") else "L"
    (x,) = call(ctx, "linalg.cholesky", "cholesky", (ref,), dtype, [(returned, ref.shape[-2:])],
                half, why="a matrix that is not positive definite: Python raises")
    return x


@program(FACTORISATION, "linalg.qr", guarantee="none",
         deterministic=_PORTABLE + "qr")
def qr(ctx: Context, a: Operand, mode: Operand = "reduced") -> Operand:
    """An orthogonal and a triangular factor."""
    ref = matrix(ctx, a, "qr")
    if mode not in ("reduced", "complete", "r"):
        raise ctx.refuse("qr", f"mode={mode!r}")
    dtype, returned = common(ctx, "qr", ref)
    m, n = _some(ctx, ref, "qr")
    k = m if ctx.facts.at_most(m, n) else n
    if mode == "r":
        (r,) = call(ctx, "linalg.qr", "qr_r", (ref,), dtype, [(returned, (k, n))])
        return _triangle(ctx, ref, r)
    complete = mode == "complete" and not ctx.facts.at_most(m, n)
    wide, routine = (m, "qr_complete") if complete else (k, "qr")
    shapes = [(returned, (m, wide)), (returned, (wide, n))]
    q, r = call(ctx, "linalg.qr", routine, (ref,), dtype, shapes)
    return named("QRResult", (q, _triangle(ctx, ref, r)))


def _triangle(ctx: Context, ref: ArrayRef, r: ArrayRef) -> ArrayRef:
    """R as ``np.triu`` lays it out, of a copy of the matrices and a mask."""
    copied = layout.like_strides(ctx.facts, ref.shape, ref.steps)
    mask = (*[0] * (ref.ndim - 2), r.shape[-1], 1)
    strides = layout.k_strides(ctx.facts, r.shape, [mask, copied])
    if strides == r.strides:
        return r
    kind = Array(r.dtype, r.shape, strides)
    return ctx.new(ctx.builder.emit("copy", (ctx.read(r),), None, kind))


# ------------------------------------------------------------------ eigenvalues


def _half(ctx: Context, uplo: Operand, what: str) -> str:
    half = uplo.upper() if isinstance(uplo, str) else ""
    if half not in ("L", "U"):
        raise ctx.refuse(what, f"UPLO={uplo!r}: Python raises")
    return half


@program(FACTORISATION, "linalg.eigh", guarantee="none",
         deterministic=_PORTABLE + "eigh")
def eigh(ctx: Context, a: Operand, UPLO: Operand = "L") -> Operand:
    """Eigenvalues and eigenvectors of a symmetric matrix."""
    ref = matrix(ctx, a, "eigh", square=True)
    dtype, returned = common(ctx, "eigh", ref)
    n = ref.shape[-1]
    items = call(ctx, "linalg.eigh", "eigh", (ref,), dtype,
                 [(real(returned), (n,)), (returned, (n, n))], _half(ctx, UPLO, "eigh"),
                 why="eigenvalues that did not converge: Python raises")
    return named("EighResult", items)


@program(FACTORISATION, "linalg.eigvalsh", guarantee="none",
         deterministic=_PORTABLE + "eigvalsh")
def eigvalsh(ctx: Context, a: Operand, UPLO: Operand = "L") -> Operand:
    """Eigenvalues of a symmetric matrix."""
    ref = matrix(ctx, a, "eigvalsh", square=True)
    dtype, returned = common(ctx, "eigvalsh", ref)
    (w,) = call(ctx, "linalg.eigvalsh", "eigvalsh", (ref,), dtype,
                [(real(returned), ref.shape[-1:])], _half(ctx, UPLO, "eigvalsh"),
                why="eigenvalues that did not converge: Python raises")
    return w


@program(FACTORISATION, "linalg.svd", guarantee="none",
         deterministic=_PORTABLE + "svd")
def svd(ctx: Context, a: Operand, full_matrices: Operand = True, compute_uv: Operand = True,
        hermitian: Operand = False) -> Operand:
    """Singular values and vectors."""
    ref = matrix(ctx, a, "svd")
    if truth(ctx, hermitian, "svd"):
        raise ctx.refuse("svd", "hermitian=True")
    if not truth(ctx, compute_uv, "svd"):
        return svdvals(ctx, ref)
    dtype, returned = common(ctx, "svd", ref)
    m, n = _some(ctx, ref, "svd")
    k = m if ctx.facts.at_most(m, n) else n
    full = truth(ctx, full_matrices, "svd")
    left, right = (m, n) if full else (k, k)
    items = call(ctx, "linalg.svd", "svd_full" if full else "svd", (ref,), dtype,
                 [(returned, (m, left)), (real(returned), (k,)), (returned, (right, n))],
                 why="singular values that did not converge: Python raises")
    return named("SVDResult", items)


@program(FACTORISATION, "linalg.svdvals", guarantee="none",
         deterministic=_PORTABLE + "svdvals")
def svdvals(ctx: Context, x: Operand, /) -> Operand:
    """Singular values."""
    ref = matrix(ctx, x, "svdvals")
    dtype, returned = common(ctx, "svdvals", ref)
    m, n = _some(ctx, ref, "svdvals")
    k = m if ctx.facts.at_most(m, n) else n
    (s,) = call(ctx, "linalg.svdvals", "svdvals", (ref,), dtype, [(real(returned), (k,))],
                why="singular values that did not converge: Python raises")
    return s
