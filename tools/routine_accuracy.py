"""Errors of Fourier transforms, factorisations and products, for docs/accuracy.md: these are no
units in the last place of single numbers.  ``python -m tools.accuracy 1 routines --write`` puts
them into the page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.fft

import npcompile
from benchmarks.matrices import ERRORS, ROUTINES, matrices
from tools.fourier_accuracy import error

START = "\n## Transforms\n"
LENGTHS = (16, 256, 1000, 1024, 1155, 16384, 65536, 97, 1009, 10007)
HEAD = f"""{START}
L2 errors of rows of uniform numbers in units of `u sqrt(log2 n)`, `u` half a unit in the last
place, beside SciPy's, against transforms in long double.  The last lengths are primes.

| n | fft, float64 | SciPy | fft, float32 | SciPy | rfft, float64 | SciPy |
|--:|--:|--:|--:|--:|--:|--:|
"""
FACTORS = """
## Factorisations and products

The largest residual of some random matrices over the 1-norms of its factors, in units of `eps`:
symmetric positive definite matrices, `solve` and `inv` by `A X - B`.  *Batch* is 2,000 matrices, or
20 of 32 rows.  Of a product: the largest error of its elements over the sum of sizes of the terms
that it adds, in units of `eps / 2`; the first column has code behind it, and runs by rows.

| routine | rows | batch | single | LAPACK or BLAS | mode `"portable"` |
|---|--:|--:|--:|--:|--:|
"""


def _transform(plain: Callable[[Any], Any], x: Any, precise: Any) -> list[float]:
    compiled, exact = npcompile.jit(plain), plain(x.astype(precise))
    return [error(compiled(x), exact), error(plain(x), exact)]


def transforms() -> Iterator[str]:
    for n in LENGTHS:
        rng, shape = np.random.default_rng(n), (max(1, 20000 // n), n)
        x = rng.random(shape) - 0.5 + 1j * (rng.random(shape) - 0.5)
        found = [e for dtype in (np.complex128, np.complex64)
                 for e in _transform(lambda a: scipy.fft.fft(a), x.astype(dtype), np.clongdouble)]
        found += _transform(lambda a: scipy.fft.rfft(a), x.real.copy(), np.longdouble)
        yield f"| {n} | {' | '.join(f'{e:.2f}' for e in found)} |"


def factorisations() -> Iterator[str]:
    for name, measured in ERRORS.items():
        for n in (3, 8, 32):
            batch = matrices((2000 if n <= 8 else 20, n, n))
            few, plain = batch[:20], ROUTINES[name]
            ours, portable = (npcompile.jit(deterministic=mode)(plain)
                              for mode in (False, "portable"))
            single, theirs, own = (max(measured(a, f(a)) for a in few)
                                   for f in (ours, plain, portable))
            found = [measured(batch, ours(batch)), single, theirs, own]
            yield f"| {name} | {n} | {' | '.join(f'{e:.1f}' for e in found)} |"


def products() -> Iterator[str]:
    """Alone, and by rows with code behind them."""
    unit = np.finfo(float).eps / 2
    rng = np.random.default_rng(0)
    for k in (64, 1024):
        a, b = rng.standard_normal((256, k)), rng.standard_normal((k, 96))
        exact = a.astype(np.longdouble) @ b.astype(np.longdouble)
        sizes = unit * (np.abs(a) @ np.abs(b))
        found = []
        for f in (npcompile.jit(lambda a, b: (a @ b) * 2.0), npcompile.jit(lambda a, b: a @ b),
                  lambda a, b: a @ b, npcompile.jit(deterministic="portable")(lambda a, b: a @ b)):
            made = f(a, b)
            made = made / 2 if not found else made
            found.append(float((np.abs(made - exact) / sizes).max()))
        yield f"| product, terms of a sum: | {k} | " + " | ".join(
            f"{e:.2f}" for e in found) + " |"


def told() -> str:
    """The end of the page."""
    return (HEAD + "\n".join(transforms()) + "\n" + FACTORS
            + "\n".join([*factorisations(), *products()]) + "\n")
