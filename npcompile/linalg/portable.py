"""Factorisations in Python over products and elementwise operations: traced in the place of LAPACK
where the same bits are wanted on every machine.

Blocks of columns are factored one column after the other; what lies behind them is brought up to
date by one product of matrices.  Eigenvalues and singular values of at most ``LONGEST`` rows are
found by rotations (Jacobi).  ``raise`` leaves a call to NumPy, which says what is wrong.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from npcompile.ops.arguments import followed

#: columns of a block, and the longest axis of what rotations are for
BLOCK, LONGEST, SWEEPS = 32, 32, 40


# ------------------------------------------------------------------ factors of Gauss


@followed
def factor(a: Any, order: Any) -> Any:
    """Replaces a matrix by its factors and reorders ``order`` as its rows were; the sign of that.
    Where a pivot is 0, what is below it is, too."""
    n = a.shape[0]
    sign = 1.0
    for k in range(0, n, BLOCK):
        stop = min(k + BLOCK, n)
        for j in range(k, stop):
            column = a[j:, j]
            if a.dtype.kind == "c":
                column = np.abs(column.real) + np.abs(column.imag)  # squares may underflow
            i = j + np.argmax(np.abs(column))
            row = a[j].copy()
            a[j] = a[i]
            a[i] = row
            order[i], order[j] = order[j], order[i]
            sign = sign if i == j else -sign
            pivot = a[j, j]
            a[j + 1 :, j] /= pivot if pivot != 0 else pivot + 1
            a[j + 1 :, j + 1 : stop] -= a[j + 1 :, j : j + 1] * a[j : j + 1, j + 1 : stop]
        if stop < n:
            lower(a[k:stop, k:stop], a[k:stop, stop:], True)
            a[stop:, stop:] -= a[stop:, k:stop] @ a[k:stop, stop:]
    return sign


@followed
def lower(t: Any, x: Any, unit: Any) -> None:
    """Solves equations with a lower triangle in place; ``unit``: its diagonal is 1."""
    n = t.shape[0]
    for k in range(0, n, BLOCK):
        stop = min(k + BLOCK, n)
        for j in range(k, stop):
            if not unit:
                x[j] /= t[j, j]
            x[j + 1 : stop] -= t[j + 1 : stop, j : j + 1] * x[j : j + 1]
        if stop < n:
            x[stop:] -= t[stop:, k:stop] @ x[k:stop]


@followed
def upper(t: Any, x: Any) -> None:
    """Solves equations with an upper triangle in place."""
    n = t.shape[0]
    blocks = (n + BLOCK - 1) // BLOCK
    for block in range(blocks):
        stop = n - block * BLOCK
        k = max(stop - BLOCK, 0)
        for back in range(stop - k):
            j = stop - 1 - back
            x[j] /= t[j, j]
            x[k:j] -= t[k:j, j : j + 1] * x[j : j + 1]
        if k > 0:
            x[:k] -= t[:k, k:stop] @ x[k:stop]


@followed
def solved(a: Any, b: Any) -> Any:
    """The solution of equations with one matrix; ``b`` has two axes."""
    a = a.copy()
    order = np.arange(a.shape[0])
    factor(a, order)
    if (np.diagonal(a) == 0).any():
        raise LinAlgError
    x = b[order]
    lower(a, x, True)
    upper(a, x)
    return x


@followed
def determinant(a: Any) -> Any:
    """The determinant of one matrix."""
    a = a.copy()
    found = factor(a, np.arange(a.shape[0])) + a.dtype.type(0)
    for j in range(a.shape[0]):
        found = found * a[j, j]
    return found


# ------------------------------------------------------------------ other factors


@followed
def cholesky_of(a: Any) -> Any:
    """The lower factor of one matrix, whose lower half is read."""
    a = a.copy()
    n = a.shape[0]
    for k in range(0, n, BLOCK):
        stop = min(k + BLOCK, n)
        for j in range(k, stop):
            d = a[j, j].real
            if not d > 0:
                raise LinAlgError
            a[j:, j] /= np.sqrt(d)
            a[j, j] = np.sqrt(d)
            a[j + 1 :, j + 1 : stop] -= (
                a[j + 1 :, j : j + 1] * a[j + 1 : stop, j].conj()[np.newaxis])
        if stop < n:
            a[stop:, stop:] -= a[stop:, k:stop] @ a[stop:, k:stop].conj().T
    return np.tril(a)


@followed
def reflect(a: Any, taus: Any) -> None:
    """Replaces a matrix by R and, below it, the vectors of reflections (Householder)."""
    m, n = a.shape
    k = min(m, n)
    for start in range(0, k, BLOCK):
        stop = min(start + BLOCK, k)
        for j in range(start, stop):
            alpha, tail = a[j, j], a[j + 1 :, j]
            below = np.sum(tail.real * tail.real + tail.imag * tail.imag) if (
                a.dtype.kind == "c") else np.sum(tail * tail)
            size = alpha.real * alpha.real + alpha.imag * alpha.imag + below
            zero = alpha == 0 and (tail == 0).all()
            if not (zero or 1e-280 < size < 1e280):
                raise LinAlgError
            beta = -np.copysign(np.sqrt(size), alpha.real)
            reflects = below != 0 or alpha.imag != 0
            tau = (beta - alpha) / beta if reflects else alpha * 0
            a[j + 1 :, j] /= alpha - beta if reflects else alpha * 0 + 1
            a[j, j] = beta if reflects else alpha
            taus[j] = tau
            vector = a[j + 1 :, j].copy()
            row = a[j, j + 1 : stop] + vector.conj() @ a[j + 1 :, j + 1 : stop]
            row = row * tau.conjugate()
            a[j, j + 1 : stop] -= row
            a[j + 1 :, j + 1 : stop] -= vector[:, np.newaxis] * row[np.newaxis]
        if stop < n:
            v = vectors(a[start:, start:stop])
            t = triangle(v, taus[start:stop])
            a[start:, stop:] -= v @ (t.conj().T @ (v.conj().T @ a[start:, stop:]))


@followed
def vectors(a: Any) -> Any:
    """The vectors of reflections as columns: 1 on the diagonal, 0 above."""
    v = np.tril(a, -1)
    for j in range(a.shape[1]):
        v[j, j] = 1
    return v


@followed
def triangle(v: Any, taus: Any) -> Any:
    """The T of ``I - V T V*``, the product of reflections (Schreiber and Van Loan)."""
    n = v.shape[1]
    t = np.zeros((n, n), v.dtype)
    inner = v.conj().T @ v
    for j in range(n):
        t[j, j] = taus[j]
        for i in range(j):
            total = taus[j] * 0
            for k in range(i, j):
                total += t[i, k] * inner[k, j]
            t[i, j] = -taus[j] * total
    return t


@followed
def formed(a: Any, taus: Any, wide: Any) -> Any:
    """The first columns of the Q of reflections."""
    m, k = a.shape[0], taus.shape[0]
    q = np.zeros((m, wide), a.dtype)
    for j in range(wide):
        q[j, j] = 1
    blocks = (k + BLOCK - 1) // BLOCK
    for back in range(blocks):
        start = (blocks - 1 - back) * BLOCK
        stop = min(start + BLOCK, k)
        v = vectors(a[start:, start:stop])
        t = triangle(v, taus[start:stop])
        q[start:] -= v @ (t @ (v.conj().T @ q[start:]))
    return q


# ------------------------------------------------------------------ rotations


@followed
def rotated(a: Any, vectors: Any) -> Any:
    """Makes a symmetric matrix of real numbers diagonal by rotations; ``vectors``: rows that turn
    with it, the identity at first.

    What a rotation changes is added as a small correction (Rutishauser 1966), those of the diagonal
    once for each sweep, so that errors do not grow with the number of rotations.
    """
    n = a.shape[0]
    scale = np.sqrt(np.sum(a * a))
    if not scale < 1e150:
        raise LinAlgError
    turns = 1
    sweep = 0
    while turns > 0:
        turns = 0
        sweep += 1
        if sweep > SWEEPS:
            raise LinAlgError
        start = np.diagonal(a).copy()
        moved = np.zeros(n)
        for p in range(n - 1):
            for q in range(p + 1, n):
                between = a[p, q]
                if abs(between) > 1e-17 * scale:
                    turns += 1
                    theta = (a[q, q] - a[p, p]) / (2.0 * between)
                    t = 1.0 / (abs(theta) + np.sqrt(theta * theta + 1.0))
                    t = t if theta >= 0 else -t
                    c = 1.0 / np.sqrt(t * t + 1.0)
                    s = t * c
                    tau = s / (1.0 + c)
                    low, high = a[p, p] - t * between, a[q, q] + t * between
                    moved[p] -= t * between
                    moved[q] += t * between
                    for k in range(n):
                        x, y = a[p, k], a[q, k]
                        x, y = x - s * (y + tau * x), y + s * (x - tau * y)
                        a[p, k], a[q, k] = x, y
                        a[k, p], a[k, q] = x, y
                        x, y = vectors[p, k], vectors[q, k]
                        vectors[p, k] = x - s * (y + tau * x)
                        vectors[q, k] = y + s * (x - tau * y)
                    a[p, p], a[q, q] = low, high
                    a[p, q] = 0.0
                    a[q, p] = 0.0
        for k in range(n):
            a[k, k] = start[k] + moved[k]
    return np.diagonal(a).copy()


@followed
def eigen(a: Any, low: Any) -> Any:
    """Eigenvalues in order, and eigenvectors as columns, of one real matrix."""
    n = a.shape[0]
    if n > LONGEST or a.dtype.kind == "c":
        raise LinAlgError
    half = np.tril(a, -1) if low else np.triu(a, 1)
    whole = half + half.T
    turned = np.zeros((n, n))
    for j in range(n):
        whole[j, j] = a[j, j]
        turned[j, j] = 1.0
    w = rotated(whole, turned)
    order = np.argsort(w, kind="stable")
    return w[order], turned[order].T.copy()


@followed
def singular(a: Any) -> Any:
    """Singular values from the largest on, and vectors, of one real matrix that has no fewer rows
    than columns: rotations of its columns make these orthogonal (Hestenes)."""
    m, n = a.shape
    if m > LONGEST or a.dtype.kind == "c":
        raise LinAlgError
    u = a.T.copy()
    v = np.zeros((n, n))
    for j in range(n):
        v[j, j] = 1.0
    if not np.sum(a * a) < 1e280:
        raise LinAlgError
    least = 1.2e-16 * (m + 8)  # of which a sum of m rounded products may be wrong
    turns = 1
    sweep = 0
    while turns > 0:
        turns = 0
        sweep += 1
        if sweep > SWEEPS:
            raise LinAlgError
        for p in range(n - 1):
            for q in range(p + 1, n):
                alpha = beta = gamma = 0.0
                for k in range(m):
                    alpha += u[p, k] * u[p, k]
                    beta += u[q, k] * u[q, k]
                    gamma += u[p, k] * u[q, k]
                if abs(gamma) > least * np.sqrt(alpha * beta):
                    turns += 1
                    zeta = (beta - alpha) / (2.0 * gamma)
                    t = 1.0 / (abs(zeta) + np.sqrt(zeta * zeta + 1.0))
                    t = t if zeta >= 0 else -t
                    c = 1.0 / np.sqrt(t * t + 1.0)
                    s = t * c
                    for k in range(m):
                        x, y = u[p, k], u[q, k]
                        u[p, k], u[q, k] = c * x - s * y, s * x + c * y
                    for k in range(n):
                        x, y = v[p, k], v[q, k]
                        v[p, k], v[q, k] = c * x - s * y, s * x + c * y
    sizes = np.sqrt(np.sum(u * u, axis=1))
    order = np.argsort(-sizes, kind="stable")
    sizes = sizes[order]
    if not (sizes > 1e-140).all():
        raise LinAlgError
    return (u[order] / sizes[:, np.newaxis]).T.copy(), sizes, v[order]
