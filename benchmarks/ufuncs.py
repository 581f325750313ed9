"""``vectorize``, ``guvectorize`` and ``cfunc`` beside numba's, of the same functions.

``python -m benchmarks.ufuncs [vectorize | cfunc | scipy]`` prints tables of microseconds a call, in
processor time: the least of many rounds, npcompile and numba in turns.  A ratio above 1 says that
npcompile is faster.
"""

from __future__ import annotations

import ctypes
import math
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import LowLevelCallable, integrate, ndimage

import npcompile

N = 100_000
RNG = np.random.default_rng(3)
X, Y = RNG.uniform(0.1, 2.0, size=(2, N))
COUNTS = RNG.integers(1, 1000, N)


def ratio(x, y):
    return x * y / (1.0 + y * y)


def gauss(x, y):
    return math.exp(-x * x) * y


def chosen(x, y):
    return x if x > y else y * 2.0


def wave(x, y):
    return math.sin(x) * math.cos(y)


def distance(x, y):
    return math.sqrt(x * x + y * y)


def logistic(x, y):
    return 1.0 / (1.0 + math.exp(-(x - y)))


def escape(x, y):
    z = 0j
    c = complex(x - 1.5, y - 1.0)
    for k in range(50):
        z = z * z + c
        if z.real * z.real + z.imag * z.imag > 4.0:
            return k
    return 50


def polynomial(x, y):
    return ((((0.3 * x + 0.2) * x - 1.1) * x + 0.5) * x - y) * y + 2.0


def newton(x, y):
    z = x
    for _ in range(8):
        z = 0.5 * (z + y / z)
    return z


def clipped(x, y):
    if x < 0.5:
        return 0.5
    if x > 1.5:
        return 1.5
    return x * y


VECTORIZE = [ratio, gauss, chosen, wave, distance, logistic, escape, polynomial, newton, clipped]


def c_bell(x):
    return math.exp(-x * x)


def c_rational(x):
    return (x * x + 1.0) / (x * x * x + 2.0)


def c_piecewise(x):
    if x < 0.3:
        return x
    return 0.3 + (x - 0.3) ** 2


def c_wave(x):
    return math.sin(x) / (1.0 + x)


def c_series(x):
    total, term = 0.0, 1.0
    for k in range(1, 20):
        total += term
        term *= x / k
    return total


def c_root(x):
    return math.sqrt(1.0 + x * x)


def c_log(x):
    return math.log(1.0 + x) * x


def c_horner(x):
    return (((0.1 * x - 0.3) * x + 0.7) * x - 0.2) * x + 1.0


def c_collatz(x):
    n, steps = int(x * 100) + 1, 0
    while n != 1 and steps < 1000:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return float(steps)


def c_newton(x):
    z = 1.0
    for _ in range(10):
        z = z - (z * z - x - 1.0) / (2.0 * z)
    return z


CFUNC = [c_bell, c_rational, c_piecewise, c_wave, c_series, c_root, c_log, c_horner, c_collatz,
         c_newton]


def f_mean(values, n, result, data):
    total = 0.0
    for k in range(n):
        total += values[k]
    result[0] = total / n
    return 1


def f_spread(values, n, result, data):
    low = high = values[0]
    for k in range(n):
        low = min(low, values[k])
        high = max(high, values[k])
    result[0] = high - low
    return 1


def f_energy(values, n, result, data):
    total = 0.0
    for k in range(n):
        total += values[k] * values[k]
    result[0] = math.sqrt(total)
    return 1


# ------------------------------------------------------------------ measuring


def least(calls: list[Callable[[], Any]], rounds: int, many: int) -> list[float]:
    """The least processor time of each call in microseconds, in turns."""
    best = [math.inf] * len(calls)
    for _ in range(rounds):
        for k, call in enumerate(calls):
            begun = time.process_time()
            for _ in range(many):
                call()
            best[k] = min(best[k], (time.process_time() - begun) / many * 1e6)
    return best


def row(name: str, ours: float, theirs: float) -> str:
    return f"| {name} | {ours:.3g} | {theirs:.3g} | {theirs / ours:.2f} |"


def of_vectorize() -> None:
    import numba

    print("| function | npcompile | numba | ratio |\n|---|---|---|---|")
    out, counts = np.empty(N), np.empty(N, np.int64)
    for function in VECTORIZE:
        ours, theirs = npcompile.vectorize(function), numba.vectorize(function)
        where = counts if function is escape else out
        np.testing.assert_allclose(ours(X, Y), theirs(X, Y), rtol=1e-12)
        calls = [partial(made, X, Y, out=where) for made in (ours, theirs)]
        times = least(calls, 30, 3)
        print(row(function.__name__, *times), flush=True)
    few = X[:10].copy()
    ours, theirs = npcompile.vectorize(ratio), numba.vectorize(ratio)
    ours(few, few), theirs(few, few)
    print(row("ratio of 10 numbers",
              *least([lambda: ours(few, few), lambda: theirs(few, few)], 30, 3000)))


CALLER = """
define void @each(ptr %f, ptr %x, ptr %out, i64 %n) {
entry:
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %from = getelementptr double, ptr %x, i64 %k
  %value = load double, ptr %from
  %result = call double %f(double %value)
  %to = getelementptr double, ptr %out, i64 %k
  store double %result, ptr %to
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}
"""


def of_cfunc() -> None:
    """A loop in C calls the functions of 10,000 numbers."""
    import numba

    from npcompile.backends import cpu

    loaded = cpu.load(cpu.compile(CALLER, cpu.target(), ()), {})
    word = ctypes.c_void_p
    each = ctypes.CFUNCTYPE(None, word, word, word, ctypes.c_int64)(loaded["each"])
    x = X[:10_000].copy()
    print("| function | npcompile | numba | ratio |\n|---|---|---|---|")
    for function in CFUNC:
        ours = npcompile.cfunc("float64(float64)", fullgraph=True)(function)
        theirs = numba.cfunc("float64(float64)")(function)
        calls, outs = [], []
        for made in (ours, theirs):
            out = np.empty_like(x)
            outs.append(out)
            args = made.address, x.ctypes.data, out.ctypes.data, len(x)
            calls.append(lambda args=args: each(*args))
        times = least(calls, 40, 3)
        np.testing.assert_allclose(*outs, rtol=1e-12)
        print(row(function.__name__, *times), flush=True)


def of_scipy() -> None:
    import numba
    from numba import types

    print("| call | npcompile | numba | ratio |\n|---|---|---|---|")
    for function in (c_bell, c_series, c_newton):
        made = [module.cfunc("float64(float64)")(function) for module in (npcompile, numba)]
        called = [LowLevelCallable(one.ctypes) for one in made]
        times = least([lambda one=one: integrate.quad(one, 0.0, 2.0) for one in called], 30, 100)
        print(row(f"quad of {function.__name__}", *times), flush=True)
    image = RNG.normal(size=(200, 200))
    pointer = types.CPointer(types.float64)
    theirs = types.intc(pointer, types.intp, pointer, types.voidptr)
    text = "intc(CPointer(float64), intp, CPointer(float64), voidptr)"
    for function in (f_mean, f_spread, f_energy):
        made = [npcompile.cfunc(text)(function), numba.cfunc(theirs)(function)]
        called = [LowLevelCallable(one.ctypes) for one in made]
        np.testing.assert_allclose(*[ndimage.generic_filter(image, one, 3) for one in called])
        times = least([lambda one=one: ndimage.generic_filter(image, one, 3) for one in called],
                      20, 1)
        print(row(f"generic_filter of {function.__name__}", *times), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    chosen_tables = sys.argv[1:] or ["vectorize", "cfunc", "scipy"]
    for table in chosen_tables:
        {"vectorize": of_vectorize, "cfunc": of_cfunc, "scipy": of_scipy}[table]()
