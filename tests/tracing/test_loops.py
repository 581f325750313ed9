"""Loops are captured as regions, and mean what Python means."""

from __future__ import annotations

import numpy as np
import pytest

from tests.tracing.test_tracing import traced_as_python


def lu(a):
    n = a.shape[0]
    for k in range(n - 1):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            a[i, k+1:] -= a[i, k] * a[k, k+1:]


def sums(a):
    s = 0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s += a[i, j]
    return s


def matmul(a, b):
    n, m = a.shape
    p = b.shape[1]
    c = np.zeros((n, p))
    for i in range(n):
        for j in range(p):
            t = 0.0
            for k in range(m):
                t += a[i, k] * b[k, j]
            c[i, j] = t
    return c


def heat(u, nt, dt):
    for _t in range(nt):
        un = u.copy()
        u[1:-1] = un[1:-1] + dt * (un[2:] - 2 * un[1:-1] + un[:-2])
    return u


def seidel(a, n):
    for _t in range(n):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = (a[i-1, j] + a[i+1, j] + a[i, j-1] + a[i, j+1]) / 4


def floyd(d):
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]
    return d


def edit(s, t):
    n, m = len(s), len(t)
    d = np.zeros((n + 1, m + 1), dtype=np.int64)
    for i in range(n + 1):
        d[i, 0] = i
    for j in range(m + 1):
        d[0, j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = 0 if s[i - 1] == t[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d[n, m]


def mandel2(xs, ys, maxit):
    out = np.zeros((len(ys), len(xs)), dtype=np.int64)
    for i in range(len(ys)):
        for j in range(len(xs)):
            cr, ci = xs[j], ys[i]
            x = y = 0.0
            n = 0
            while n < maxit and x * x + y * y <= 4.0:
                x, y = x * x - y * y + cr, 2 * x * y + ci
                n += 1
            out[i, j] = n
    return out


def crc(data):
    c = 0xFFFFFFFF
    for b in data:
        c ^= int(b)
        for _k in range(8):
            if c & 1:
                c = (c >> 1) ^ 0xEDB88320
            else:
                c >>= 1
    return c ^ 0xFFFFFFFF


def sieve2(n):
    p = np.ones(n + 1, dtype=bool)
    p[0] = p[1] = False
    for i in range(2, n + 1):
        if p[i]:
            for j in range(i * i, n + 1, i):
                p[j] = False
    return p


def kahan(a):
    s = 0.0
    c = 0.0
    for x in a:
        y = x - c
        t = s + y
        c = (t - s) - y
        s = t
    return s


def newton(x, maxit, tol):
    y = x
    while True:
        maxit -= 1
        if maxit <= 0:
            break
        z = 0.5 * (y + x / y)
        if abs(z - y) < tol:
            return z, maxit
        y = z
    return y, -1


def newtonv(a, tol):
    x = a.copy()
    k = 0
    while True:
        new = 0.5 * (x + a / x)
        err = np.abs(new - x).max()
        x = new
        k += 1
        if err < tol or k > 50:
            break
    return x, k


def prefix(a):
    for i in range(1, len(a)):
        a[i] += a[i - 1]
    return a


def hist(x, nb, lo, hi):
    h = np.zeros(nb, dtype=np.int64)
    for v in x:
        k = int((v - lo) / (hi - lo) * nb)
        if 0 <= k < nb:
            h[k] += 1
    return h


def find(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


def union(edges, n):
    parent = np.arange(n)
    count = n
    for k in range(len(edges)):
        ra = find(parent, edges[k, 0])
        rb = find(parent, edges[k, 1])
        if ra != rb:
            parent[ra] = rb
            count -= 1
    return count, parent


def quick(a):
    n = len(a)
    stack = np.zeros((64, 2), dtype=np.int64)
    stack[0, 0] = 0
    stack[0, 1] = n - 1
    top = 1
    while top > 0:
        top -= 1
        lo, hi = int(stack[top, 0]), int(stack[top, 1])
        if lo >= hi:
            continue
        p = a[(lo + hi) // 2]
        i, j = lo, hi
        while i <= j:
            while a[i] < p:
                i += 1
            while a[j] > p:
                j -= 1
            if i <= j:
                t = a[i]
                a[i] = a[j]
                a[j] = t
                i += 1
                j -= 1
        stack[top, 0], stack[top, 1] = lo, j
        top += 1
        stack[top, 0], stack[top, 1] = i, hi
        top += 1
    return a


def cholesky(a):
    n = a.shape[0]
    L = np.zeros_like(a)
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            if i == j:
                L[i, j] = np.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    return L


def jacobi(u, f, tol):
    it = 0
    while True:
        new = u.copy()
        around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
        new[1:-1, 1:-1] = 0.25 * (around - f[1:-1, 1:-1])
        err = np.abs(new - u).max()
        u = new
        it += 1
        if err < tol or it >= 100:
            break
    return u, it


def swap(u, v, n):
    for _i in range(n):
        v[1:-1] = 0.5 * (u[2:] + u[:-2])
        u, v = v, u
    return u


def collatz(n):
    c = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        c += 1
        if c > 1000:
            return -1
    return c


def search(a, t):
    for i in range(len(a)):
        if a[i] > t:
            break
    else:
        i = -5
    return i


def zipped(a, b):
    s = 0.0
    for k, (x, y) in enumerate(zip(a, b)):
        s += x * y * k
    for x in reversed(a):
        s = s * 0.5 + x
    for i in reversed(range(len(a))):
        s += i * a[i]
    return s


def last_i(a):
    for i in range(len(a)):  # noqa: B007
        pass
    return i


R = np.random.default_rng(0)
A = np.arange(12.0).reshape(3, 4)
S = R.random((6, 6))
S = S @ S.T + 6 * np.eye(6)
X, Y = np.linspace(-2, 1, 6), np.linspace(-1, 1, 5)


@pytest.mark.parametrize(("function", "args"), [
    (lu, (S,)), (sums, (A,)), (matmul, (A, A.T.copy())), (heat, (R.random(9), 5, 0.1)),
    (seidel, (R.random((6, 6)), 3)), (floyd, (R.random((6, 6)),)),
    (edit, (R.integers(0, 3, 7), R.integers(0, 3, 6))), (mandel2, (X, Y, 20)),
    (crc, (R.integers(0, 255, 20).astype(np.uint8),)), (sieve2, (50,)), (kahan, (R.random(9),)),
    (newton, (2.0, 50, 1e-12)), (newtonv, (R.random(5) + 1, 1e-9)), (prefix, (R.random(9),)),
    (hist, (R.random(20), 5, 0.1, 0.9)), (union, (R.integers(0, 9, (8, 2)), 9)),
    (quick, (R.random(17),)), (cholesky, (S,)), (jacobi, (S, S.T * 0.5, 1e-3)),
    (swap, (R.random(7), R.random(7), 5)), (swap, (R.random(7), R.random(7), 6)),
    (collatz, (27,)), (collatz, (97,)), (search, (A[0], 1.5)), (search, (A[0], 99.0)),
    (zipped, (R.random(7), R.random(6))), (last_i, (R.random(8),)),
])
def test_captured(function, args):
    found = traced_as_python(function, *args)
    assert has_loop(found.graph.region)


def has_loop(region):
    return any(
        node.op in ("for_", "while_") or any(map(has_loop, node.regions)) for node in region.nodes
    )
