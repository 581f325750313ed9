"""Eigenvalues of general matrices, least squares, equations of tensors.

NumPy looks at results to decide what it returns: real eigenvalues if no imaginary part is left, no
sums of squares if the rank is not full.  So these are functions in Python, which are followed; what
they call of this module are routines.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.linalg import LinAlgError
from numpy.linalg._linalg import EigResult

from npcompile.core.releases import numpy_before
from npcompile.graph.types import COMPLEX
from npcompile.linalg.factorisations import FACTORISATION, call, common, matrix
from npcompile.linalg.norms import of
from npcompile.ops.arguments import FOLLOWED, as_array, program
from npcompile.ops.operands import Context, Operand

_DIVERGED = "eigenvalues that did not converge: Python raises"


def complex_eig(a: Any) -> Any:
    """Eigenvalues and eigenvectors in double precision, complex."""
    w, v = np.linalg.eig(a)
    return w + 0j, v + 0j


def complex_eigvals(a: Any) -> Any:
    """Eigenvalues in double precision, complex."""
    return np.linalg.eigvals(a) + 0j


def least_squares(a: Any, b: Any, rcond: Any) -> Any:
    """Results, sums of squares (NaN if the rank is not full), rank and singular values."""
    x, left, rank, s = np.linalg.lstsq(a, b, rcond)
    return x, left if len(left) else np.full(b.shape[1], np.nan), rank, s


_HERE = f"{__name__}:"
#: whether eigenvalues are real where all are; from NumPy 2.5 on they are always complex
_REAL = numpy_before(2, 5)


@program(FACTORISATION, _HERE + "complex_eig", guarantee="none")
def _complex_eig(ctx: Context, a: Operand) -> Operand:
    """Eigenvalues and eigenvectors of a general matrix, complex."""
    ref = matrix(ctx, a, "eig", square=True)
    dtype, _ = common(ctx, "eig", ref)
    n = ref.shape[-1]
    items = call(ctx, "linalg.eig", "eig", (ref,), dtype, [(COMPLEX, (n,)), (COMPLEX, (n, n))],
                 why=_DIVERGED)
    return tuple(items)


@program(FACTORISATION, _HERE + "complex_eigvals", guarantee="none")
def _complex_eigvals(ctx: Context, a: Operand) -> Operand:
    """Eigenvalues of a general matrix, complex."""
    ref = matrix(ctx, a, "eigvals", square=True)
    dtype, _ = common(ctx, "eigvals", ref)
    (w,) = call(ctx, "linalg.eigvals", "eigvals", (ref,), dtype, [(COMPLEX, ref.shape[-1:])],
                why=_DIVERGED)
    return w


@program(FACTORISATION, _HERE + "least_squares", guarantee="none")
def _least_squares(ctx: Context, a: Operand, b: Operand, rcond: Operand) -> Operand:
    """Least squares whose sums of squares are NaN where the rank is not full."""
    left, right = as_array(ctx, a), as_array(ctx, b)
    dtype, returned = common(ctx, "lstsq", left, right)
    (m, n), sides = left.shape, right.shape[1]
    some = all(ctx.facts.less(0, size) for size in (m, n, sides))
    if not (some and ctx.facts.equal(m, right.shape[0])):
        raise ctx.refuse("lstsq", "lengths that differ, or are 0")
    tall = ctx.facts.at_most(n, m)
    if rcond is None:
        longest = ctx.builder.size(m if tall else n)
        rcond = of(ctx, "multiply", np.finfo(dtype).eps, longest)
    share = as_array(ctx, [rcond])
    reals = np.dtype(returned.char.lower())
    return tuple(call(
        ctx, "linalg.lstsq", "lstsq", (left, right, share), dtype,
        [(returned, (n, sides)), (reals, (sides,)), (np.dtype(np.int32), ()),
         (reals, (n if tall else m,))], why="singular values that did not converge: Python raises"))


# ------------------------------------------------------------------ functions in Python


@program(FOLLOWED, "linalg.eig", guarantee="none")
def eig(a: Any) -> Any:
    """Eigenvalues and eigenvectors of a general matrix: real if all are."""
    a = np.asarray(a)
    if not np.isfinite(a).all():
        raise LinAlgError
    w, v = complex_eig(a)
    single = a.dtype == np.float32 or a.dtype == np.complex64
    if _REAL and np.isrealobj(a) and np.all(w.imag == 0.0):
        if single:
            return EigResult(w.real.astype(np.float32), v.real.astype(np.float32))
        return EigResult(w.real, v.real)
    if single:
        return EigResult(w.astype(np.complex64), v.astype(np.complex64))
    return EigResult(w, v)


@program(FOLLOWED, "linalg.eigvals", guarantee="none")
def eigvals(a: Any) -> Any:
    """Eigenvalues of a general matrix: real if all are."""
    a = np.asarray(a)
    if not np.isfinite(a).all():
        raise LinAlgError
    w = complex_eigvals(a)
    single = a.dtype == np.float32 or a.dtype == np.complex64
    if _REAL and np.isrealobj(a) and np.all(w.imag == 0.0):
        return w.real.astype(np.float32) if single else w.real
    return w.astype(np.complex64) if single else w


@program(FOLLOWED, "linalg.lstsq", guarantee="none")
def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """Least squares by singular values."""
    a, b = np.asarray(a), np.asarray(b)
    vector = b.ndim == 1
    if a.ndim != 2 or b.ndim > 2 or b.ndim < 1:
        raise LinAlgError
    x, left, rank, s = least_squares(a, b[:, np.newaxis] if vector else b, rcond)
    if vector:
        x = x[:, 0].copy()
    if rank != a.shape[1] or a.shape[0] <= a.shape[1]:
        left = left[:0].copy()
    return x, left, rank, s


@program(FOLLOWED, "linalg.tensorsolve", guarantee="none")
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """The tensor whose product with ``a`` over the last axes is ``b``."""
    a, b = np.asarray(a), np.asarray(b)
    if axes is not None:
        a = a.transpose([k for k in range(a.ndim) if k not in axes] + list(axes))
    shape = a.shape[-(a.ndim - b.ndim) :]
    size = 1
    for n in shape:
        size *= n
    if a.size != size * size:
        raise LinAlgError
    return np.linalg.solve(a.reshape(size, size), b.ravel()).reshape(shape)


@program(FOLLOWED, "linalg.tensorinv", guarantee="none")
def tensorinv(a: Any, ind: Any = 2) -> Any:
    """The inverse for products over the last axes."""
    a = np.asarray(a)
    if ind <= 0:
        raise ValueError
    kept, summed = a.shape[:ind], a.shape[ind:]
    size = 1
    for n in summed:
        size *= n
    return np.linalg.inv(a.reshape(size, -1)).reshape(summed + kept)

