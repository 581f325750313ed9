"""Dense linear algebra by loops over elements, rows and columns."""

import numpy as np

from benchmarks.programs.record import program


def positive_definite(n, rng):
    a = rng.standard_normal((n, n))
    return a @ a.T + n * np.eye(n)


def lu(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]


def cholesky(a):
    n = a.shape[0]
    a[0, 0] = np.sqrt(a[0, 0])
    for i in range(1, n):
        for j in range(i):
            a[i, j] -= np.dot(a[i, :j], a[j, :j])
            a[i, j] /= a[j, j]
        a[i, i] -= np.dot(a[i, :i], a[i, :i])
        a[i, i] = np.sqrt(a[i, i])


def gram_schmidt(a):
    n = a.shape[1]
    q = np.zeros_like(a)
    r = np.zeros((n, n), dtype=a.dtype)
    for k in range(n):
        r[k, k] = np.sqrt(np.dot(a[:, k], a[:, k]))
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, n):
            r[k, j] = np.dot(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]
    return q, r


def forward_substitution(lower, b):
    n = len(b)
    x = np.zeros(n)
    for i in range(n):
        total = b[i]
        for j in range(i):
            total -= lower[i, j] * x[j]
        x[i] = total / lower[i, i]
    return x


def triangular_solve_rows(lower, b):
    x = np.zeros_like(b)
    for i in range(lower.shape[0]):
        x[i] = (b[i] - lower[i, :i] @ x[:i]) / lower[i, i]
    return x


def floyd_warshall(path):
    for k in range(path.shape[0]):
        path[:] = np.minimum(path, path[:, k, np.newaxis] + path[np.newaxis, k, :])


def floyd_warshall_loops(distance):
    n = distance.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                through = distance[i, k] + distance[k, j]
                if through < distance[i, j]:
                    distance[i, j] = through
    return distance


def rank_k_update(alpha, beta, c, a):
    for i in range(a.shape[0]):
        c[i, : i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, : i + 1] += alpha * a[i, k] * a[: i + 1, k]


def rank_2k_update(alpha, beta, c, a, b):
    for i in range(a.shape[0]):
        c[i, : i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, : i + 1] += a[: i + 1, k] * alpha * b[i, k] + b[: i + 1, k] * alpha * a[i, k]


def matrix_product(a, b):
    rows, inner = a.shape
    columns = b.shape[1]
    c = np.zeros((rows, columns))
    for i in range(rows):
        for j in range(columns):
            total = 0.0
            for k in range(inner):
                total += a[i, k] * b[k, j]
            c[i, j] = total
    return c


def conjugate_gradient(a, b, tolerance):
    x = np.zeros_like(b)
    r = b - a @ x
    p = r.copy()
    rs = r @ r
    steps = 0
    while np.sqrt(rs) > tolerance and steps < 10 * len(b):
        ap = a @ p
        alpha = rs / (p @ ap)
        x += alpha * p
        r -= alpha * ap
        fresh = r @ r
        p = r + (fresh / rs) * p
        rs = fresh
        steps += 1
    return x, steps


def tridiagonal_solve(lower, diagonal, upper, right):
    n = len(diagonal)
    c = np.empty(n)
    d = np.empty(n)
    c[0] = upper[0] / diagonal[0]
    d[0] = right[0] / diagonal[0]
    for i in range(1, n):
        pivot = diagonal[i] - lower[i] * c[i - 1]
        c[i] = upper[i] / pivot
        d[i] = (right[i] - lower[i] * d[i - 1]) / pivot
    x = np.empty(n)
    x[-1] = d[-1]
    for i in range(n - 2, -1, -1):
        x[i] = d[i] - c[i] * x[i + 1]
    return x


def gauss_jordan_inverse(a):
    n = a.shape[0]
    work = np.hstack((a, np.eye(n)))
    for k in range(n):
        pivot = k + np.argmax(np.abs(work[k:, k]))
        if work[pivot, k] == 0.0:
            raise ValueError("the matrix is singular")
        if pivot != k:
            row = work[k].copy()
            work[k] = work[pivot]
            work[pivot] = row
        work[k] /= work[k, k]
        for i in range(n):
            if i != k:
                work[i] -= work[i, k] * work[k]
    return work[:, n:]


def _matrix(n, rng):
    return (positive_definite(n, rng),)


def _tall(n, rng):
    return (rng.standard_normal((n + n // 4, n)),)


def _lower(n, rng):
    return np.tril(rng.uniform(0.1, 1.0, (n, n))) + n * np.eye(n), rng.standard_normal(n)


def _roads(n, rng):
    return (rng.integers(1, 1000, (n, n)),)


def _lengths(n, rng):
    return (rng.uniform(1.0, 100.0, (n, n)),)


def _rank(n, rng):
    c = rng.standard_normal((n, n))
    return 1.5, 1.2, c, rng.standard_normal((n, n - n // 5))


def _rank2(n, rng):
    return *_rank(n, rng), rng.standard_normal((n, n - n // 5))


def _pair(n, rng):
    return rng.standard_normal((n, n + 1)), rng.standard_normal((n + 1, n - 1))


def _system(n, rng):
    q, _ = np.linalg.qr(rng.standard_normal((n, n)))
    return (q * np.linspace(1.0, 300.0, n)) @ q.T, rng.standard_normal(n), 1e-9


def _bands(n, rng):
    low, up, right = rng.uniform(-1.0, 1.0, (3, n))
    return low, 4.0 + rng.uniform(0.0, 1.0, n), up, right


program(lu, _matrix, 14, 350)
program(cholesky, _matrix, 16, 400)
program(gram_schmidt, _tall, 14, 200)
program(forward_substitution, _lower, 40, 900, scalar=True, exact=True)
program(triangular_solve_rows, _lower, 60, 8000)
program(floyd_warshall, _roads, 24, 400, exact=True)
program(floyd_warshall_loops, _lengths, 12, 90, scalar=True, exact=True)
program(rank_k_update, _rank, 20, 350, exact=True)
program(rank_2k_update, _rank2, 16, 200, exact=True)
program(matrix_product, _pair, 14, 110, scalar=True, exact=True)
program(conjugate_gradient, _system, 40, 1500)
program(tridiagonal_solve, _bands, 300, 200_000, scalar=True, exact=True)
program(gauss_jordan_inverse, _matrix, 16, 300, exact=True)
