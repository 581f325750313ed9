"""Arrays and library functions, and objects with methods."""

from __future__ import annotations

import enum
import functools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import default_rng
from scipy.integrate import simpson, trapezoid

from tests.programs.idioms import idiom, matrix, vector


@idiom(lambda: (vector(),))
def sel(x):
    return np.select([x < -1, x > 1], [-1.0, x], default=0.0)


@idiom(lambda: (vector(),))
def sel2(x):
    conds = [x < -0.5, (x >= -0.5) & (x < 0.5), x >= 0.5]
    return np.select(conds, [x * 2, x**2, np.sqrt(np.abs(x))])


@idiom(lambda: (default_rng(0).integers(0, 3, 10), vector(10)))
def cho(i, x):
    return np.choose(i, [x, -x, x * 0])


@idiom(lambda: (vector(),))
def pw(x):
    return np.piecewise(x, [x < 0, x >= 0], [lambda t: -t, lambda t: t**2])


@idiom(lambda: (vector(),))
def pw2(x):
    return np.piecewise(x, [x < -1, x > 1], [-1, 1, lambda t: t])


@idiom(lambda: (vector(),))
def vec(x):
    f = np.vectorize(lambda a: a * a if a > 0 else -a)
    return f(x)


def clampf(a, lo=-1.0, hi=1.0):
    return lo if a < lo else hi if a > hi else a


vclamp = np.vectorize(clampf)


@idiom(lambda: (vector(),))
def vec2(x):
    return vclamp(x) + vclamp(x, -2.0, 2.0)


@np.vectorize
def myabs(x):
    if x < 0:
        return -x
    return x


@idiom(lambda: (vector(),))
def vec3(x):
    return myabs(x).sum()


@idiom(lambda: (matrix(),))
def along(X):
    return np.apply_along_axis(np.median, 0, X)


@idiom(lambda: (matrix(),))
def along2(X):

    def rng_(r):
        return r.max() - r.min()

    return np.apply_along_axis(rng_, 1, X)


@idiom(lambda: (5, 6))
def ff(n, k):
    return np.fromfunction(lambda i, j: i * k + j, (n, k))


@idiom(lambda: (5, 6))
def ff2(n, k):
    return np.fromfunction(lambda i, j: np.abs(i - j), (n, k), dtype=int)


@idiom(lambda: (10,))
def fi(n):
    return np.fromiter((i * i for i in range(n)), dtype=float)


@idiom(lambda: (matrix(6, 6), [0, 2, 4]))
def sub(A, idx):
    return A[np.ix_(idx, idx)]


@idiom(lambda: (matrix(6, 6), np.array([0, 2, 4]), np.array([1, 2])))
def sub2(A, r, c):
    return A[np.ix_(r, c)].sum()


@idiom(lambda: (matrix(6, 6), np.array([True, False] * 3)))
def sub3(A, keep):
    return A[np.ix_(keep, keep)]


@idiom(lambda: (matrix(6, 5), matrix(5, 4), matrix(4, 3)))
def es(a, b, c):
    return np.einsum("ij,jk,kl->il", a, b, c)


@idiom(lambda: (matrix(6, 6),))
def es2(a):
    return (np.einsum("ii->i", a).sum(), np.einsum("ii", a), np.einsum("ij->ji", a))


@idiom(lambda: (matrix(6, 5), matrix(6, 4)))
def es3(a, b):
    return np.einsum("bi,bj->bij", a, b)


@idiom(lambda: (vector(),))
def avg(x):
    return (np.average(x), np.average(x, weights=np.arange(len(x))))


@idiom(lambda: (matrix(),))
def avg2(X):
    a, s = np.average(X, axis=0, weights=np.arange(X.shape[0]), returned=True)
    return (a, s)


@idiom(lambda: (matrix(),))
def pct(X):
    return (
        np.percentile(X, 90, axis=1),
        np.quantile(X, [0.1, 0.9], axis=0),
        np.nanpercentile(X, 50),
    )


@idiom(lambda: (matrix(),))
def nanw(X):
    ok = X > 0
    return (
        np.nansum(X, where=ok),
        np.nanmax(X, initial=-1.0, where=ok),
        np.nanmean(X, axis=0, where=ok),
    )


@idiom(lambda: (vector(16),))
def vw(x):
    return x.view(np.int64) & 65535


@idiom(lambda: (vector(16),))
def asc(x):
    y = x.astype(float, copy=False)
    return (y + 1, y is x)


@idiom(lambda: (vector(), vector(40, 1)))
def pf(x, y):
    c = np.polyfit(x, y, 2)
    return np.polyval(c, x)


@idiom(lambda: (vector(), vector(40, 1)))
def npoly(x, y):
    from numpy.polynomial import polynomial as P

    c = P.polyfit(x, y, 3)
    return P.polyval(x, c)


@idiom(lambda: (vector(),))
def cheb(x):
    return np.polynomial.chebyshev.chebval(x, [1, 2, 3])


@idiom(lambda: (10,))
def rnd(n):
    np.random.seed(0)
    a = np.random.rand(n, 2)
    b = np.random.randint(0, 10, size=n)
    c = np.random.choice(5, n)
    np.random.shuffle(b)
    return (a, b, c, np.random.normal(0, 1, n), np.random.uniform(size=3), np.random.permutation(4))


@idiom(lambda: (2000,))
def mcpi(n):
    np.random.seed(1)
    inside = 0
    for _ in range(n):
        x, y = (np.random.random(), np.random.random())
        if x * x + y * y <= 1:
            inside += 1
    return 4 * inside / n


@idiom(lambda: (100,))
def walk(n):
    rng = np.random.default_rng(3)
    steps = rng.choice([-1, 1], size=(n, 2))
    return np.cumsum(steps, axis=0)


G = 6.674e-11


@dataclass
class Body:
    mass: float
    pos: np.ndarray
    vel: np.ndarray

    def kinetic(self):
        return 0.5 * self.mass * np.dot(self.vel, self.vel)


@idiom(lambda: (Body(2.0, vector(3), vector(3, 1)), Body(3.0, vector(3, 2), vector(3, 4)), 0.01))
def gravity(a, b, dt):
    r = b.pos - a.pos
    f = G * a.mass * b.mass * r / np.linalg.norm(r) ** 3
    a.vel += f / a.mass * dt
    b.vel -= f / b.mass * dt
    a.pos += a.vel * dt
    b.pos += b.vel * dt
    return a.kinetic() + b.kinetic()


class Oscillator:
    g = 9.81

    def __init__(self, k, m):
        self.k, self.m = (k, m)
        self._n = 0

    @property
    def omega(self):
        return math.sqrt(self.k / self.m)

    @staticmethod
    def energy(x, v, k, m):
        return 0.5 * k * x**2 + 0.5 * m * v**2

    @classmethod
    def make(cls, k):
        return cls(k, 1.0)

    def rhs(self, t, y):
        return np.array([y[1], -(self.omega**2) * y[0]])

    def __call__(self, x):
        return self.k * x


@idiom(lambda: (vector(),))
def trap(y):
    x = np.linspace(0, 1, len(y))
    return (trapezoid(y, x), simpson(y, x=x), np.trapezoid(y, dx=0.1))


@idiom(lambda: (np.linspace(0, 1, 20), 5))
def heat(u, steps):
    r = 0.25
    for _ in range(steps):
        un = u.copy()
        for i in range(1, len(u) - 1):
            u[i] = un[i] + r * (un[i + 1] - 2 * un[i] + un[i - 1])
    return u


@idiom(lambda: (default_rng(0).choice([-1, 1], (8, 8)), 0.4, 100))
def ising(s, beta, n):
    rng = np.random.default_rng(0)
    L = s.shape[0]
    for _ in range(n):
        i, j = (rng.integers(L), rng.integers(L))
        nb = s[(i + 1) % L, j] + s[i - 1, j] + s[i, (j + 1) % L] + s[i, j - 1]
        dE = 2 * s[i, j] * nb
        if dE <= 0 or rng.random() < np.exp(-beta * dE):
            s[i, j] *= -1
    return s.mean()


class Vec(NamedTuple):
    x: float
    y: float

    def dot(self, o):
        return self.x * o.x + self.y * o.y

    def __add__(self, o):
        return Vec(self.x + o.x, self.y + o.y)


class Color(enum.Enum):
    RED = 1
    BLUE = 2


@idiom(lambda: (vector(), Color.RED), lambda: (vector(), Color.BLUE))
def enm(x, c):
    if c is Color.RED:
        return x * 2
    elif c == Color.BLUE:
        return x + c.value
    raise ValueError(c)


@idiom(lambda: (vector(), None), lambda: (vector(), 3.0))
def opt(x, w=None):
    if w is None:
        w = np.ones_like(x)
    w = np.asarray(w, dtype=float)
    assert w.ndim <= 1, f"bad weights {w.shape}"
    return (x * w).sum()


def timed(f):

    @functools.wraps(f)
    def inner(*a, **k):
        inner.calls = getattr(inner, "calls", 0) + 1
        return f(*a, **k)

    return inner
