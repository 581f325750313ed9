"""Algorithms, and what Python offers."""

from __future__ import annotations

import cmath
import functools
import itertools
import math

import numpy as np
from numpy import cos, sin, sqrt
from numpy.linalg import norm
from numpy.random import default_rng
from scipy import ndimage
from scipy.special import comb, factorial
from scipy.special import gamma as gamma_fn

from tests.programs.idioms import idiom, matrix, vector


def scaled(factor):

    def deco(f):

        @functools.wraps(f)
        def inner(*a, **k):
            return factor * f(*a, **k)

        return inner

    return deco


@scaled(3)
def area(r):
    return math.pi * r * r


@idiom(lambda: (vector(),))
def decorated(x):
    return area(x).sum()


@functools.cache
def fibo(n):
    return n if n < 2 else fibo(n - 1) + fibo(n - 2)


@idiom(lambda: (10,))
def fib(n):
    a, b = (0, 1)
    for _ in range(n):
        a, b = (b, a + b)
    return a


def gen(n):
    a = 1
    while a < n:
        yield a
        a *= 2


@idiom(lambda: (vector(),))
def pairs(x):
    best = None
    for a, b in itertools.combinations(range(len(x)), 2):
        d = abs(x[a] - x[b])
        if best is None or d < best[0]:
            best = (d, a, b)
    return best


@idiom(lambda: (3, 4))
def prod_(n, k):
    return [(i, j) for i, j in itertools.product(range(n), range(k)) if i != j]


@idiom(lambda: (vector(),))
def chunks(x):
    parts = np.array_split(x, 3)
    return [p.mean() for p in parts]


@idiom(lambda: (vector(),))
def mapred(x):
    return (
        functools.reduce(lambda a, b: a * 0.5 + b, x),
        list(map(abs, x[:3])),
        list(filter(lambda t: t > 0, x)),
    )


@idiom(lambda: (vector(),))
def srt(x):
    s = sorted(x, reverse=True)[:3]
    i = sorted(range(len(x)), key=lambda k: x[k])
    return (s, i[0])


@idiom(lambda: (vector(),))
def zipstuff(x):
    return ([a + b for a, b in zip(x[:-1], x[1:])], max(enumerate(x), key=lambda t: t[1]))


@idiom(lambda: (vector(),))
def strs(x):
    return f"mean={x.mean():.3f} n={len(x)} {x.dtype} {x.shape}"


@idiom(lambda: (matrix(5, 5) + 9 * np.eye(5), vector(5), 50))
def jacobi(A, b, n):
    x = np.zeros_like(b)
    D = np.diag(A)
    Rr = A - np.diagflat(D)
    for i in range(n):
        xn = (b - Rr @ x) / D
        if np.linalg.norm(xn - x, ord=np.inf) < 1e-10:
            break
        x = xn
    else:
        raise RuntimeError("no convergence")
    return (x, i)


@idiom(lambda: (matrix(5, 5),))
def power_it(A):
    b = np.ones(A.shape[1])
    prev = 0
    while True:
        c = A @ b
        lam = np.linalg.norm(c)
        b = c / lam
        if abs(lam - prev) < 0.001 or not np.isfinite(lam):
            break
        prev = lam
        if prev > 1000000.0:
            return None
        A = A * 0.9
    return (b, lam)


@idiom(lambda: (2.0,))
def newton(x0, tol=1e-12, maxit=50):
    x = x0
    for k in range(maxit):
        fx, d = (x**3 - 2 * x - 5, 3 * x**2 - 2)
        step = fx / d
        x -= step
        if abs(step) < tol:
            return (x, k)
    raise RuntimeError(f"no root after {maxit} iterations")


@idiom(lambda: (vector(3), vector(3, 1)))
def geom(a, b):
    c = np.cross(a, b)
    ang = np.degrees(np.arccos(np.clip(a.dot(b) / (norm(a) * norm(b)), -1.0, 1.0)))
    return (c, ang)


@idiom(lambda: (0.3,))
def rotm(t):
    c, s = (cos(t), sin(t))
    Rm = np.array(((c, -s), (s, c)))
    return (Rm @ np.array([1, 0]), Rm.T.dot(Rm))


@idiom(lambda: (default_rng(0).random((6, 6)) > 0.5, 3))
def life(g, n):
    for _ in range(n):
        nb = sum(

                np.roll(np.roll(g.astype(int), i, 0), j, 1)
                for i in (-1, 0, 1)
                for j in (-1, 0, 1)
                if (i, j) != (0, 0)

        )
        g = (nb == 3) | g & (nb == 2)
    return g


@idiom(lambda: (50,))
def primes(n):
    s = np.ones(n + 1, dtype=bool)
    s[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if s[i]:
            s[i * i :: i] = False
    return np.nonzero(s)[0]


@idiom(lambda: ("kitten", "sitting"))
def lev(a, b):
    d = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
    d[:, 0] = np.arange(len(a) + 1)
    d[0] = np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            d[i, j] = min(
                d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + (a[i - 1] != b[j - 1])
            )
    return d[-1, -1]


@idiom(lambda: (default_rng(0).random((6, 6)),))
def fw(D):
    n = len(D)
    for k in range(n):
        D = np.minimum(D, D[:, k, None] + D[None, k, :])
    return D


@idiom(lambda: (np.linspace(-1, 1, 9), np.linspace(-1, 1, 9)))
def meshf(x, y):
    X, Y = np.meshgrid(x, y, indexing="ij")
    Z = np.exp(-(X**2 + Y**2))
    gy, gx = np.gradient(Z, x, y)
    return (Z, gx, gy)


@idiom(lambda: (vector(30), vector(30, 1), vector(30, 2)))
def geo(lat, lon, h):
    a, f = (6378137.0, 1 / 298.257)
    e2 = f * (2 - f)
    N = a / sqrt(1 - e2 * sin(lat) ** 2)
    return (
        (N + h) * cos(lat) * cos(lon),
        (N + h) * cos(lat) * sin(lon),
        (N * (1 - e2) + h) * sin(lat),
    )


@idiom(lambda: (vector(30),))
def whiles(x):
    lo, hi = (0, len(x) - 1)
    while lo < hi:
        x[lo], x[hi] = (x[hi], x[lo])
        lo += 1
        hi -= 1
    return x


@idiom(lambda: (np.arange(30.0), 11.5))
def bsearch(a, t):
    lo, hi = (0, len(a))
    while lo < hi:
        mid = (lo + hi) // 2
        if a[mid] < t:
            lo = mid + 1
        else:
            hi = mid
    return (lo, np.searchsorted(a, t))


@idiom(lambda: (vector(30),))
def walrus(x):
    if (n := len(x)) > 10 and (mx := x.max()) > 0:
        return (x / mx, n)
    return (x, n)


@idiom(lambda: (vector(30), {"lr": 0.1, "steps": 5}))
def cfg(x, params):
    lr = params["lr"]
    steps = params.get("steps", 10)
    mom = params.get("momentum", 0.9)
    vel = np.zeros_like(x)
    for _ in range(steps):
        vel = mom * vel - lr * 2 * x
        x = x + vel
    return x


@idiom(lambda: (vector(30), 1, 2))
def kw(x, *args, **kwargs):
    total = x.sum()
    for a in args:
        total += a
    return total + sum(kwargs.values())


@idiom(lambda: (vector(30),))
def nested(x):
    total = 0.0

    def add(a):
        nonlocal total
        total += a

    for a in x:
        add(a)
    return total


@idiom(lambda: (vector(30),))
def errst(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        r = np.true_divide(x, x - x[0])
        r[~np.isfinite(r)] = 0
    return r


@idiom(lambda: (default_rng(0).integers(0, 2, 40),))
def rle(x):
    pos = np.flatnonzero(np.diff(x)) + 1
    starts = np.concatenate(([0], pos))
    ends = np.append(pos, len(x))
    return (x[starts], ends - starts)


@idiom(lambda: (vector(30),))
def topk(x):
    i = np.argpartition(x, -5)[-5:]
    return x[i[np.argsort(-x[i])]]


@idiom(lambda: (matrix(5, 3), matrix(5, 3, 1)))
def blocks(a, b):
    return (
        np.block([[a, b], [b, a]]),
        np.r_[a[0], b[0]],
        np.c_[a, b],
        np.column_stack((a[:, 0], b[:, 1])),
    )


@idiom(lambda: (matrix(5, 3),))
def lex(a):
    return (a[np.lexsort((a[:, 1], a[:, 0]))], a[a[:, 1].argsort()])


@idiom(lambda: (matrix(6, 4),))
def triu(a):
    i, j = np.triu_indices(4, k=1)
    c = np.corrcoef(a, rowvar=False)
    return (c[i, j], np.tril(c), np.argmax(c, axis=1), np.unravel_index(np.argmax(c), c.shape))


@idiom(lambda: (default_rng(0).integers(0, 4, 20), vector(20)))
def bins(k, w):
    s = np.bincount(k, weights=w, minlength=4)
    n = np.bincount(k, minlength=4)
    out = np.zeros(4)
    np.add.at(out, k, w)
    return (s / np.maximum(n, 1), out, np.maximum.reduceat(w, [0, 5, 9]))


@idiom(lambda: (3 + 4j,))
def cpx(z):
    return (abs(z), z.conjugate(), cmath.phase(z), np.angle(z), cmath.exp(z))


@idiom(lambda: (10, 3))
def combs(n, k):
    return (
        comb(n, k),
        factorial(k),
        math.comb(n, k),
        gamma_fn(k + 0.5),
        math.factorial(n),
        math.gcd(n, k),
    )


@idiom(lambda: (default_rng(0).integers(0, 2, (3, 8)).astype(np.uint8),))
def packed_bits(a):
    p = np.packbits(a, axis=1)
    return (p, np.unpackbits(p, axis=1), a ^ 1, (a << 2).astype(np.uint8))


@idiom(lambda: (vector(30),))
def nd(x):
    img = x.reshape(5, 6)
    return (
        ndimage.gaussian_filter(img, 1.0),
        ndimage.convolve(img, np.ones((3, 3)) / 9, mode="constant"),
    )


@idiom(lambda: (vector(30),))
def dt(x):
    return (
        x.dtype.name,
        x.dtype == np.float64,
        np.issubdtype(x.dtype, np.floating),
        x.dtype.itemsize,
        np.finfo(x.dtype).eps,
        np.iinfo(np.int32).max,
    )


@idiom(lambda: (vector(30), vector(30, 1)))
def outs(x, y):
    out = np.empty_like(x)
    np.multiply(x, y, out=out)
    np.add(out, 1, out)
    np.divide(1, out, out=out, where=out != 0)
    return out


@idiom(lambda: (matrix(4, 5),))
def rows(M):
    for row in M:
        row -= row.mean()
        row /= np.linalg.norm(row)
    return M


@idiom(lambda: (matrix(4, 5),))
def nditer_(M):
    out = np.zeros_like(M)
    for (i, j), a in np.ndenumerate(M):
        out[i, j] = a if i <= j else 0
    return out
