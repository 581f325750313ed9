"""Functions of :mod:`scipy.linalg` in Python that is traced: special matrices, compositions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy import linalg

from npcompile.linalg.scipy_factors import BATCHES, BY_LAPACK
from npcompile.linalg.small.table import LONGEST
from npcompile.ops.arguments import FOLLOWED, followed, program

# Batches, warnings and errors are SciPy's: `raise` leaves a call to it.


@program(FOLLOWED, "scipy.linalg:toeplitz")
def toeplitz(c: Any, r: Any = None) -> Any:
    """A matrix with constant diagonals, by its first column and row."""
    c = np.atleast_1d(c)
    r = c.conjugate() if r is None else np.atleast_1d(r)
    if c.ndim != 1 or r.ndim != 1 or len(c) == 0 or len(r) == 0:
        raise NotImplementedError
    diagonals = np.concatenate((c[::-1], r[1:]))
    return sliding_window_view(diagonals, len(r))[::-1].copy()


@program(FOLLOWED, "scipy.linalg:hankel")
def hankel(c: Any, r: Any = None) -> Any:
    """A matrix with constant diagonals from right to left."""
    c = np.asarray(c)
    r = np.zeros_like(c) if r is None else np.asarray(r)
    if c.ndim != 1 or r.ndim != 1 or len(c) == 0 or len(r) == 0:
        raise NotImplementedError
    return sliding_window_view(np.concatenate((c, r[1:])), len(r)).copy()


@program(FOLLOWED, "scipy.linalg:circulant")
def circulant(c: Any) -> Any:
    """A matrix whose columns are one vector, rotated."""
    c = np.atleast_1d(c)
    if c.ndim != 1 or len(c) == 0:
        raise NotImplementedError
    return sliding_window_view(np.concatenate((c[::-1], c[:0:-1])), len(c))[::-1].copy()


@program(FOLLOWED, "scipy.linalg:companion")
def companion(a: Any) -> Any:
    """A matrix whose characteristic polynomial has these coefficients."""
    a = np.atleast_1d(a)
    if a.ndim != 1 or len(a) < 2 or a[0] == 0:
        raise NotImplementedError
    n = len(a) - 1
    row = -a[1:] / (1.0 * a[0:1])
    c = np.zeros((n, n), dtype=row.dtype)
    c[0] = row
    c.reshape(-1)[n :: n + 1] = 1
    return c


@program(FOLLOWED, "scipy.linalg:leslie")
def leslie(f: Any, s: Any) -> Any:
    """The matrix of a population by ages: fecundity above, survival below the diagonal."""
    f, s = np.atleast_1d(f), np.atleast_1d(s)
    if f.ndim != 1 or s.ndim != 1 or len(f) != len(s) + 1 or len(s) == 0:
        raise NotImplementedError
    n = len(f)
    a = np.zeros((n, n), dtype=np.result_type(f, s))
    a[0] = f
    a.reshape(-1)[n :: n + 1] = s
    return a


@program(FOLLOWED, "scipy.linalg:helmert")
def helmert(n: Any, full: Any = False) -> Any:
    """An orthogonal matrix of contrasts."""
    h = np.tril(np.ones((n, n)), -1) - np.diag(np.arange(n))
    d = np.arange(n) * np.arange(1, n + 1)
    h[0] = 1
    d[0] = n
    whole = h / np.sqrt(d)[:, np.newaxis]
    return whole if full else whole[1:]


@program(FOLLOWED, "scipy.linalg:hilbert")
def hilbert(n: Any) -> Any:
    """``1 / (i + j + 1)``."""
    if n < 1:
        raise NotImplementedError
    values = 1.0 / (1.0 + np.arange(2 * n - 1))
    return sliding_window_view(values, n).copy()


@program(FOLLOWED, "scipy.linalg:fiedler")
def fiedler(a: Any) -> Any:
    """The distances of the elements of a vector."""
    a = np.asarray(a)
    if a.ndim != 1 or a.size < 2:
        raise NotImplementedError
    return np.abs(a[:, np.newaxis] - a[np.newaxis, :])


@program(FOLLOWED, "scipy.linalg:block_diag")
def block_diag(*arrs: Any) -> Any:
    """Matrices along the diagonal of one."""
    blocks = [np.atleast_2d(a) for a in arrs]
    if len(blocks) == 0:
        raise NotImplementedError
    for block in blocks:
        if block.ndim != 2:
            raise NotImplementedError
    rows = sum([block.shape[0] for block in blocks])
    columns = sum([block.shape[1] for block in blocks])
    out = np.zeros((rows, columns), dtype=np.result_type(*blocks))
    i = j = 0
    for block in blocks:
        m, n = block.shape
        out[i : i + m, j : j + n] = block
        i += m
        j += n
    return out


@program(FOLLOWED, "scipy.linalg:convolution_matrix")
def convolution_matrix(a: Any, n: Any, mode: Any = "full") -> Any:
    """The matrix that convolves a vector of ``n`` elements with ``a``."""
    a = np.asarray(a)
    if a.ndim != 1 or len(a) == 0 or n <= 0 or mode != "full":
        raise NotImplementedError
    rest = np.zeros(n - 1, dtype=a.dtype)
    column, row = np.concatenate((a, rest)), np.concatenate((a[:1], rest))
    diagonals = np.concatenate((column[::-1], row[1:]))
    return sliding_window_view(diagonals, n)[::-1].copy()


@program(FOLLOWED, "scipy.linalg:lu", guarantee="none")
def lu(a: Any, permute_l: Any = False, overwrite_a: Any = False, check_finite: Any = True,
       p_indices: Any = False) -> Any:
    """The factors of Gauss, apart."""
    a = np.asarray(a)
    if a.ndim < 2 or a.size <= 1 or permute_l or overwrite_a:
        raise NotImplementedError
    if a.ndim > 2:  # which `lu_factor` refuses where SciPy's has no batches
        return _lu_of_batch(a, check_finite, p_indices)
    m, n = a.shape
    k = min(m, n)
    both, pivots = linalg.lu_factor(a, check_finite=check_finite)
    lower = np.tril(np.ascontiguousarray(both[:, :k]), -1)
    lower.reshape(-1)[:: k + 1][:k] = 1
    upper = np.triu(np.ascontiguousarray(both[:k]))
    order = np.arange(m, dtype=np.int32)
    for i in range(k):
        j = pivots[i]
        order[i], order[j] = order[j], order[i]
    places = np.empty(m, dtype=np.int32)
    for i in range(m):
        places[order[i]] = i
    if p_indices:
        return places, lower, upper
    p = np.zeros((m, m), dtype=both.real.dtype)
    for i in range(m):
        p[i, places[i]] = 1
    return p, lower, upper


@followed
def _lu_of_batch(a: Any, check_finite: Any, p_indices: Any) -> Any:
    """The factors of Gauss of several matrices, apart."""
    m, n = a.shape[-2:]
    k = min(m, n)
    both, pivots = linalg.lu_factor(a, check_finite=check_finite)
    lower = np.tril(np.ascontiguousarray(both[..., :k]), -1)
    lower.reshape(-1, m * k)[:, :: k + 1][:, :k] = 1
    upper = np.triu(np.ascontiguousarray(both[..., :k, :]))
    exchanges = pivots.reshape(-1, k)
    order, places = np.empty(m, dtype=np.int32), np.empty((len(exchanges), m), dtype=np.int32)
    p = np.zeros((len(exchanges), m, m), dtype=both.real.dtype)
    for one in range(len(exchanges)):
        order[:] = np.arange(m)
        for i in range(k):
            j = exchanges[one, i]
            order[i], order[j] = order[j], order[i]
        for i in range(m):
            places[one, order[i]] = i
            p[one, order[i], i] = 1
    if p_indices:
        return places.reshape(a.shape[:-1]), lower, upper
    return p.reshape((*a.shape[:-1], m)), lower, upper


@followed
def _sound(a: Any, inverse: Any) -> Any:
    """Whether SciPy, which estimates condition numbers of matrices and gives warnings of large
    ones, has nothing to say of these.  No estimate is larger than the number itself."""
    limit = 1e-3 / np.finfo(a.dtype).eps
    with np.errstate(all="ignore"):
        largest = np.abs(a).sum(axis=-2).max(axis=-1) * np.abs(inverse).sum(axis=-2).max(axis=-1)
        return np.all(largest < limit)


@program(FOLLOWED, "scipy.linalg:inv", guarantee="none")
def inv(a: Any, overwrite_a: Any = False, check_finite: Any = True, *, assume_a: Any = None,
        lower: Any = False) -> Any:
    """The inverses of a batch of matrices, as NumPy's are computed."""
    a = np.asarray(a)
    if a.ndim < 3 or a.size <= 1 or a.dtype.char not in "dD" or not BATCHES:
        raise NotImplementedError
    if overwrite_a or assume_a is not None:
        raise NotImplementedError
    found = np.linalg.inv(a)
    if not _sound(a, found):
        raise NotImplementedError
    return np.ascontiguousarray(found)


@program(FOLLOWED, "scipy.linalg:solve", guarantee="none")
def solve(a: Any, b: Any, lower: Any = False, overwrite_a: Any = False, overwrite_b: Any = False,
          check_finite: Any = True, assume_a: Any = None, transposed: Any = False) -> Any:
    """The results of a batch of small equations, as NumPy's are computed."""
    a, b = np.asarray(a), np.asarray(b)
    if a.ndim < 3 or a.size <= 1 or b.size == 0 or a.shape[-1] > LONGEST or b.dtype != a.dtype:
        raise NotImplementedError
    if overwrite_a or overwrite_b or assume_a is not None or transposed:
        raise NotImplementedError
    if a.dtype.char not in "dD" or not BATCHES:
        raise NotImplementedError
    if check_finite and not np.isfinite(b).all():
        raise ValueError
    if not _sound(a, np.linalg.inv(a)):
        raise NotImplementedError
    return np.ascontiguousarray(np.linalg.solve(a, b))


@program(FOLLOWED, "scipy.linalg:det", guarantee="none")
def det(a: Any, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    """The product of the pivots of Gauss's elimination."""
    a = np.asarray(a)
    if a.ndim < 2 or a.size == 0 or a.shape[-1] < 2 or overwrite_a or a.dtype.char not in "dl":
        raise NotImplementedError
    both, pivots = linalg.lu_factor(a.swapaxes(-1, -2), check_finite=check_finite)
    exchanged = np.sum(pivots != np.arange(a.shape[-1]), axis=-1)
    with np.errstate(all="ignore"):
        found = np.prod(np.diagonal(both, axis1=-2, axis2=-1), axis=-1)
    return np.where(exchanged % 2 == 1, -found, found)[()]


@program(FOLLOWED, "scipy.linalg:pinv", guarantee="none")
def pinv(a: Any, *, atol: Any = None, rtol: Any = None, return_rank: Any = False,
         check_finite: Any = True) -> Any:
    """The pseudo-inverse by singular values."""
    a = np.asarray(a)
    if a.ndim != 2 or a.size == 0 or not BY_LAPACK:
        raise NotImplementedError
    u, s, vh = linalg.svd(a, full_matrices=False, check_finite=check_finite)
    atol = 0.0 if atol is None else atol
    rtol = max(a.shape) * np.finfo(s.dtype).eps if rtol is None else rtol
    if atol < 0.0 or rtol < 0.0:
        raise ValueError
    rank = np.sum(s > atol + np.max(s, initial=0.0) * rtol)
    u = u[:, :rank]
    u /= s[:rank]
    found = (u @ vh[:rank]).conj().T
    return (found, rank) if return_rank else found


@program(FOLLOWED, "scipy.linalg:norm", guarantee="none")
def norm(a: Any, ord: Any = None, axis: Any = None, keepdims: Any = False,
         check_finite: Any = True) -> Any:
    """Norms of vectors and matrices, where SciPy has NumPy's."""
    a = np.asarray(a)
    if check_finite and not np.isfinite(a).all():
        raise ValueError
    by_blas = axis is None and not keepdims and (a.ndim == 1 and (ord is None or ord == 2))
    by_lapack = axis is None and not keepdims and a.ndim == 2 and (ord == 1 or ord == np.inf)
    if by_blas or by_lapack:
        raise NotImplementedError
    return np.linalg.norm(a, ord=ord, axis=axis, keepdims=keepdims)


@program(FOLLOWED, "scipy.linalg:orthogonal_procrustes", guarantee="none")
def orthogonal_procrustes(A: Any, B: Any, check_finite: Any = True) -> Any:
    """The orthogonal matrix that takes one matrix nearest to another, and the singular values' sum.
    """
    A, B = np.asarray(A), np.asarray(B)
    if A.ndim != 2 or B.ndim != 2 or A.shape != B.shape:
        raise ValueError
    if check_finite and not (np.isfinite(A).all() and np.isfinite(B).all()):
        raise ValueError
    u, w, vt = linalg.svd((B.T @ np.conj(A)).T)
    return u @ vt, np.sum(w)
