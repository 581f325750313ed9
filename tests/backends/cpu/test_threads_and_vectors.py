"""The same bits with 1, 2 and 3 threads, and with AVX2 and wider vectors."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import npcompile
from npcompile.runtime.threads import pool

#: around widths of vectors, leaves of sums, chunks of casts and of threads
SIZES = (0, 1, 3, 7, 8, 9, 31, 64, 127, 128, 130, 1000, 8191, 8193, 100_003)
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "arithmetic": lambda x, y: (x * y + x, x - y, x / y, -x, np.abs(y)),
    "rounding": lambda x, y: (np.floor(x), np.rint(y), np.trunc(x), x // y, x % y),
    "choices": lambda x, y: (np.where(x > y, x, y), np.maximum(x, y), np.fmin(x, y), x == y),
    "exponential": lambda x, y: (np.exp(x), np.log(np.abs(y)), np.expm1(y), np.log1p(np.abs(x))),
    "circular": lambda x, y: (np.sin(x), np.cos(y), np.tan(x), np.arctan2(x, y)),
    "hyperbolic": lambda x, y: (np.tanh(x), np.sinh(y), np.cosh(x), np.hypot(x, y)),
    "powers": lambda x, y: (np.abs(x) ** y, np.sqrt(np.abs(x)), np.cbrt(y), x**3),
    "casts": lambda x, y: (x.astype(np.int32), y.astype(np.float16), x.astype(np.float32)),
    "sums": lambda x, y: (x.sum(), (x * y).sum(), x.mean(), y.var(), x.std()),
    "counts": lambda x, y: ((x > 0).sum(), (x > y).any(), (x < 9).all(), np.count_nonzero(x)),
    "stencil": lambda x, y: x[2:] - 2 * x[1:-1] + x[:-2] + y[1:-1],
    "softmax": lambda x, y: np.exp(x) / np.exp(x).sum() + y,
}
ROWS: dict[str, Callable[..., Any]] = {
    "row sums": lambda a: (a.sum(1), a.mean(1), a.var(1), a.max(1), a.argmin(1)),
    "column sums": lambda a: (a.sum(0), a.mean(0), a.var(0), a.min(0), a.argmax(0)),
    "normalised": lambda a: (a - a.mean(1, keepdims=True)) / a.std(1, keepdims=True),
}
#: compiled once, for any number of threads
COMPILED = {name: npcompile.jit(function) for name, function in (FUNCTIONS | ROWS).items()}


def inputs(size: int, dtype: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Contiguous, strided and reversed arrays."""
    rng = np.random.default_rng(size)
    x, y = (rng.standard_normal(2 * size).astype(dtype) * 5 for _ in range(2))
    yield x[:size], y[:size]
    yield x[::2], y[::-2]


def digests() -> dict[str, str]:
    """A digest of all results of each function."""
    found = {}
    with np.errstate(all="ignore"):
        for name in FUNCTIONS:
            compiled, parts = COMPILED[name], hashlib.sha256()
            for dtype in ("f8", "f4"):
                for size in SIZES if name != "softmax" else SIZES[1:]:
                    if size >= 3 or name not in ("stencil", "sums"):
                        for pair in inputs(size, dtype):
                            add(parts, compiled(*pair))
            found[name] = parts.hexdigest()
        for name in ROWS:
            compiled, parts = COMPILED[name], hashlib.sha256()
            for shape in ((3, 5), (40, 33), (7, 1000), (2000, 32)):
                a = next(inputs(shape[0] * shape[1], "f8"))[0].reshape(shape)
                for view in (a, np.asfortranarray(a), a[::-1, ::2]):
                    add(parts, compiled(view))
            found[name] = parts.hexdigest()
    return found


def add(parts: Any, result: Any) -> None:
    """Takes the bits of a result in; all NaNs are one."""
    for item in result if isinstance(result, tuple) else (result,):
        array = np.array(item)
        if array.dtype.kind == "f":
            array[np.isnan(array)] = np.nan
        parts.update(array.tobytes())


@pytest.fixture(scope="module")
def expected() -> Iterator[dict[str, str]]:
    before = pool.get_num_threads()
    pool.set_num_threads(1)
    yield digests()
    pool.set_num_threads(before)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads(threads: int, expected: dict[str, str]) -> None:
    pool.set_num_threads(threads)
    assert digests() == expected


def test_vector_width(expected: dict[str, str]) -> None:
    """Another process, because the width is chosen once; ``default`` is what this machine has."""
    code = ("import json, tests.backends.cpu.test_threads_and_vectors as t;"
            " print(json.dumps(t.digests()))")
    environment = {**os.environ, "NPCOMPILE_CPU_CAPABILITY": "avx2"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True,
                          text=True, check=True)
    assert json.loads(done.stdout) == expected
