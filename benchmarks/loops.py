"""The benchmark functions as explicit loops, as one writes them for numba."""

# mypy: ignore-errors
from __future__ import annotations

import math

import numpy as np

try:
    from numba import prange
except ImportError:  # never called then
    prange = range


def axpy(a, b, c):
    out = np.empty_like(a)
    for i in prange(a.size):
        out[i] = a[i] * b[i] + c[i]
    return out


def magnitude(a, b):
    out = np.empty_like(a)
    for i in prange(a.size):
        out[i] = math.sqrt(a[i] * a[i] + b[i] * b[i])
    return out


def wave(x):
    out = np.empty_like(x)
    for i in prange(x.size):
        out[i] = math.exp(-x[i] * x[i]) * math.sin(x[i])
    return out


def black_scholes(s, k, t):
    out = np.empty_like(s)
    for i in prange(s.size):
        root = 0.3 * math.sqrt(t[i])
        d1 = (math.log(s[i] / k[i]) + 0.075 * t[i]) / root
        d2 = d1 - root
        n1 = 0.5 + 0.5 * math.erf(d1 * 0.7071067811865476)
        n2 = 0.5 + 0.5 * math.erf(d2 * 0.7071067811865476)
        out[i] = s[i] * n1 - k[i] * math.exp(-0.03 * t[i]) * n2
    return out


def softmax(x):
    out = np.empty_like(x)
    for i in prange(x.shape[0]):
        top = x[i, 0]
        for j in range(1, x.shape[1]):
            top = max(top, x[i, j])
        total = x.dtype.type(0)
        for j in range(x.shape[1]):
            e = math.exp(x[i, j] - top)
            out[i, j] = e
            total += e
        for j in range(x.shape[1]):
            out[i, j] /= total
    return out


def variance0(x):
    mean = np.zeros(x.shape[1], x.dtype)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            mean[j] += x[i, j]
    mean /= x.shape[0]
    out = np.zeros(x.shape[1], x.dtype)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[j] += (x[i, j] - mean[j]) ** 2
    return out / x.dtype.type(x.shape[0])


def variance1(x):
    out = np.empty(x.shape[0], x.dtype)
    for i in prange(x.shape[0]):
        total = x.dtype.type(0)
        for j in range(x.shape[1]):
            total += x[i, j]
        mean = total / x.shape[1]
        total = x.dtype.type(0)
        for j in range(x.shape[1]):
            total += (x[i, j] - mean) ** 2
        out[i] = total / x.shape[1]
    return out


def dot(a, b):
    total = a.dtype.type(0)
    for i in prange(a.size):
        total += a[i] * b[i]
    return total


def stencil(u):
    out = np.empty((u.shape[0] - 2, u.shape[1] - 2), u.dtype)
    quarter = u.dtype.type(0.25)
    for i in prange(out.shape[0]):
        for j in range(out.shape[1]):
            around = u[i + 2, j + 1] + u[i, j + 1] + u[i + 1, j + 2] + u[i + 1, j]
            out[i, j] = quarter * around - u[i + 1, j + 1]
    return out


def normalise(x):
    out = np.empty_like(x)
    for i in prange(x.shape[0]):
        total = x.dtype.type(0)
        for j in range(x.shape[1]):
            total += x[i, j]
        mean = total / x.shape[1]
        total = x.dtype.type(0)
        for j in range(x.shape[1]):
            total += (x[i, j] - mean) ** 2
        deviation = math.sqrt(total / x.shape[1])
        for j in range(x.shape[1]):
            out[i, j] = (x[i, j] - mean) / deviation
    return out
