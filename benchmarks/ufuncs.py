"""``vectorize``, ``guvectorize`` and ``cfunc`` beside numba's, of the same functions.

``python -m benchmarks.ufuncs [vectorize | cfunc | scipy | --write FILE]`` prints tables of
microseconds a call, in processor time: the least of many rounds, npcompile and numba in turns.  A
ratio above 1 says that npcompile is faster.
"""

from __future__ import annotations

import contextlib
import ctypes
import datetime
import io
import math
import os
import platform
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import LowLevelCallable, integrate, ndimage

import npcompile

PAGE = Path(__file__).parent.parent / "docs" / "measurements" / "ufuncs.md"
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


TABLES = {"vectorize": of_vectorize, "cfunc": of_cfunc, "scipy": of_scipy}


def printed(table: Callable[[], None]) -> str:
    """What a function prints."""
    with contextlib.redirect_stdout(io.StringIO()) as text:
        table()
    return text.getvalue().strip()


def quick(text: str) -> str:
    """How many of a table's functions are as fast as numba's, within 5 %."""
    ratios = [float(line.split("|")[-2]) for line in text.splitlines()[2:]]
    return f"{sum(r >= 0.95 for r in ratios)} of {len(ratios)}"


def page(scalars: str) -> str:
    """The page of measurements; ``scalars``: the table of :mod:`benchmarks.lambdify`."""
    import numba
    import scipy
    import sympy

    of = {name: printed(table) for name, table in TABLES.items()}
    versions = (f"Python {platform.python_version()}, NumPy {np.__version__}, "
                f"SciPy {scipy.__version__},\nnumba {numba.__version__}, SymPy {sympy.__version__}")
    return f"""# Ufuncs, C functions and SymPy's expressions

Written by `python -m benchmarks.ufuncs --write FILE`, where FILE is what
`python -m benchmarks.lambdify` printed, on {os.cpu_count()} cores of an AMD EPYC (Zen 5),
{datetime.date.today()}, one thread, on a shared machine; {versions}.
Processor time of a call in microseconds, the least of many rounds, in turns.  A ratio above 1 says
that npcompile is faster.

## vectorize

Arrays of 100,000 numbers, `out=` given.  As fast as numba or faster, within 5 %:
{quick(of["vectorize"])}.

{of["vectorize"]}

`newton` waits for its divisions: numba's loop runs several vectors side by side.

## cfunc

A loop in C calls each function of 10,000 numbers.  As fast as numba or faster, within 5 %:
{quick(of["cfunc"])}.

{of["cfunc"]}

A call compares one to nine words of memory, by which globals may change.  In `c_series` numba
divides by several numbers at once.  Inside SciPy's functions the difference is small:

{of["scipy"]}

## lambdify

Scalar calls and arrays of 1e5, beside SymPy's own with NumPy and numba on SymPy's text, all with
common subexpressions; `-`: the text is refused.  *first*: writing the function and its first call,
in milliseconds an operation; the first row's imports the compiler.
{faster(scalars)}

{scalars}
"""


def faster(text: str) -> str:
    """On how many expressions npcompile is faster than SymPy's own and than numba."""
    from benchmarks.lambdify import CASES

    told = [f"The rows are {len(text.splitlines()) - 2} of the {len(CASES)} expressions."]
    for title, at in (("Numbers", 3), ("Arrays", 7)):
        rows = [line.split("|") for line in text.splitlines()[2:]]
        won = [[other.strip() == "-" or float(row[at]) < float(other)
                for other in row[at + 1 : at + 3]] for row in rows]
        told.append(f"{title}: faster than SymPy's on {sum(a for a, _ in won)} of {len(rows)}, "
                    f"than numba on {sum(b for _, b in won)}, refusals counted.")
    return "\n".join(told)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1:2] == ["--write"]:
        PAGE.write_text(page(Path(sys.argv[2]).read_text().strip()))
    else:
        for name in sys.argv[1:] or TABLES:
            TABLES[name]()
