"""Functions of :mod:`numpy.linalg` over :mod:`.portable`, which the deterministic modes take.

NumPy computes in double precision and so do these; a batch has the bits of its matrices.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.linalg import LinAlgError
from numpy.linalg._linalg import EighResult, QRResult, SlogdetResult, SVDResult

from npcompile.linalg import portable
from npcompile.ops.arguments import followed


@followed
def doubled(a: Any) -> Any:
    """A matrix in double precision."""
    return a.astype(np.complex128 if a.dtype.kind == "c" else np.float64, order="C")


@followed
def square(a: Any) -> Any:
    """An array of square matrices; ``raise`` leaves a call to NumPy."""
    a = np.asarray(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2] or a.dtype.char == "e":
        raise LinAlgError
    return a


@followed
def solve(a: Any, b: Any) -> Any:
    """The ``x`` of ``a @ x = b``."""
    a, b = square(a), np.asarray(b)
    if b.ndim < 1 or b.dtype.char == "e":
        raise LinAlgError
    single = a.dtype.char in "fF" and b.dtype.char in "fF"
    if a.dtype.kind == "c" or b.dtype.kind == "c":
        a, b = a.astype(np.complex128, order="C"), b.astype(np.complex128, order="C")
    else:
        a, b = a.astype(np.float64, order="C"), b.astype(np.float64, order="C")
    vector = b.ndim == 1
    if vector:
        b = b[:, np.newaxis]
    n, m = a.shape[-1], b.shape[-1]
    if b.shape[-2] != n:
        raise LinAlgError
    if a.ndim == 2 and b.ndim == 2:
        x = portable.solved(a, b)
    else:
        batch = (a[..., 0, 0] + b[..., 0, 0]).shape
        x = np.empty((*batch, n, m), a.dtype)
        lefts = np.broadcast_to(a, (*batch, n, n)).reshape(-1, n, n)
        rights = np.broadcast_to(b, (*batch, n, m)).reshape(-1, n, m)
        found = x.reshape(-1, n, m)
        for k in range(len(found)):
            found[k] = portable.solved(lefts[k], rights[k])
    if single:
        x = x.astype(np.complex64 if x.dtype.kind == "c" else np.float32)
    return x[..., 0].copy() if vector else x


@followed
def inv(a: Any) -> Any:
    """The inverse."""
    a = square(a)
    return solve(a, np.eye(a.shape[-1], dtype=a.dtype))


@followed
def dets(a: Any) -> Any:
    """Determinants in double precision."""
    wide = doubled(a)
    if a.ndim == 2:
        return portable.determinant(wide)
    matrices = wide.reshape(-1, a.shape[-1], a.shape[-1])
    found = np.empty(len(matrices), wide.dtype)
    for k in range(len(matrices)):
        found[k] = portable.determinant(matrices[k])
    return found.reshape(a.shape[:-2])


@followed
def det(a: Any) -> Any:
    """The determinant."""
    a = square(a)
    found = dets(a)
    if a.dtype.char == "f":
        return found.astype(np.float32)
    return found.astype(np.complex64) if a.dtype.char == "F" else found


@followed
def cholesky(a: Any, /, *, upper: Any = False) -> Any:
    """The triangular factor of a positive definite matrix."""
    a = square(a)
    wide = doubled(a)
    if upper:
        wide = wide.conj().swapaxes(-1, -2)
    if a.ndim == 2:
        x = portable.cholesky_of(wide)
    else:
        n = a.shape[-1]
        matrices = wide.reshape(-1, n, n)
        found = np.empty(matrices.shape, wide.dtype)
        for k in range(len(matrices)):
            found[k] = portable.cholesky_of(matrices[k])
        x = found.reshape(a.shape)
    if upper:
        x = x.conj().swapaxes(-1, -2).copy()
    if a.dtype.char == "f":
        return x.astype(np.float32)
    return x.astype(np.complex64) if a.dtype.char == "F" else x


@followed
def qr(a: Any, mode: Any = "reduced") -> Any:
    """An orthogonal and a triangular factor."""
    a = np.asarray(a)
    if a.ndim < 2 or a.size == 0 or a.dtype.char in "efF" or (
        mode != "reduced" and mode != "complete" and mode != "r"):
        raise LinAlgError
    wide = a.shape[-2] if mode == "complete" else min(a.shape[-2:])
    if a.ndim == 2:
        q, r = _orthogonal(doubled(a), wide)
    else:
        m, n = a.shape[-2:]
        matrices = doubled(a).reshape(-1, m, n)
        qs = np.empty((len(matrices), m, wide), matrices.dtype)
        rs = np.empty((len(matrices), wide, n), matrices.dtype)
        for k in range(len(matrices)):
            qs[k], rs[k] = _orthogonal(matrices[k].copy(), wide)
        q, r = qs.reshape((*a.shape[:-1], wide)), rs.reshape((*a.shape[:-2], wide, n))
    return r if mode == "r" else QRResult(q, r)


@followed
def _orthogonal(r: Any, wide: Any) -> Any:
    """Both factors of a matrix, which is overwritten."""
    taus = np.zeros(min(r.shape), r.dtype)
    portable.reflect(r, taus)
    return portable.formed(r, taus, wide), np.triu(r[:wide])


@followed
def eigh(a: Any, UPLO: Any = "L") -> Any:
    """Eigenvalues and eigenvectors of a symmetric matrix of real numbers, 32 rows at most."""
    a = square(a)
    if a.dtype.char in "efF" or a.size == 0 or (UPLO != "L" and UPLO != "U"):
        raise LinAlgError
    if a.ndim == 2:
        w, v = portable.eigen(doubled(a), UPLO == "L")
    else:
        n = a.shape[-1]
        matrices = doubled(a).reshape(-1, n, n)
        ws, vs = np.empty(matrices.shape[:-1]), np.empty(matrices.shape)
        for k in range(len(matrices)):
            ws[k], vs[k] = portable.eigen(matrices[k].copy(), UPLO == "L")
        w, v = ws.reshape(a.shape[:-1]), vs.reshape(a.shape)
    return EighResult(w, v)


@followed
def eigvalsh(a: Any, UPLO: Any = "L") -> Any:
    """Eigenvalues of a real symmetric matrix, of 32 rows at most."""
    return eigh(a, UPLO)[0]


@followed
def svd(a: Any, full_matrices: Any = True, compute_uv: Any = True, hermitian: Any = False) -> Any:
    """Singular values and vectors of a matrix of real numbers, 32 rows and columns at most; without
    vectors that belong to no value."""
    a = np.asarray(a)
    if a.ndim < 2 or a.dtype.char in "efF" or a.size == 0 or hermitian:
        raise LinAlgError
    m, n = a.shape[-2:]
    if compute_uv and full_matrices and m != n:
        raise LinAlgError
    if a.ndim == 2:
        u, s, vt = _values(doubled(a))
    else:
        k = min(m, n)
        matrices = doubled(a).reshape(-1, m, n)
        us, vts = np.empty((len(matrices), m, k)), np.empty((len(matrices), k, n))
        several = np.empty((len(matrices), k))
        for i in range(len(matrices)):
            us[i], several[i], vts[i] = _values(matrices[i].copy())
        batch = a.shape[:-2]
        u, s, vt = us.reshape((*batch, m, k)), several.reshape((*batch, k)), vts.reshape(
            (*batch, k, n))
    return SVDResult(u, s, vt) if compute_uv else s


@followed
def _values(a: Any) -> Any:
    """Singular values between the vectors, of a matrix that is overwritten."""
    if a.shape[0] >= a.shape[1]:
        return portable.singular(a)
    v, s, ut = portable.singular(a.T.copy())
    return ut.T.copy(), s, v.T.copy()


@followed
def svdvals(x: Any, /) -> Any:
    """Singular values of a real matrix, of 32 rows and columns at most."""
    return svd(x, compute_uv=False)


@followed
def slogdet(a: Any) -> Any:
    """Sign and logarithm of the size of the determinant, of real numbers."""
    a = square(a)
    if a.dtype.kind == "c" or a.dtype.char == "f" or (a.ndim > 2 and a.size == 0):
        raise LinAlgError
    if a.ndim == 2:
        sign, total = _logarithm(doubled(a))
        return SlogdetResult(np.float64(sign), np.float64(total))
    matrices = doubled(a).reshape(-1, a.shape[-1], a.shape[-1])
    signs, totals = np.empty(len(matrices)), np.empty(len(matrices))
    for k in range(len(matrices)):
        signs[k], totals[k] = _logarithm(matrices[k].copy())
    return SlogdetResult(signs.reshape(a.shape[:-2]), totals.reshape(a.shape[:-2]))


@followed
def _logarithm(a: Any) -> Any:
    """Sign and logarithm of the determinant of a matrix, which is overwritten."""
    sign = portable.factor(a, np.arange(a.shape[0]))
    total = 0.0
    for j in range(a.shape[0]):
        pivot = a[j, j]
        if pivot == 0:
            raise LinAlgError
        sign = -sign if pivot < 0 else sign
        total += np.log(abs(pivot))
    return sign, total
