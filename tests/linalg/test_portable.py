"""Mode ``"portable"``: the same bits for any vector width, number of threads, layout and batch."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from tests.linalg.portable_page import numbers


def page(capability: str, threads: int) -> str:
    environment = {**os.environ, "NPCOMPILE_CPU_CAPABILITY": capability,
                   "NPCOMPILE_NUM_THREADS": str(threads)}
    done = subprocess.run([sys.executable, "-m", "tests.linalg.portable_page"], env=environment,
                          capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_one_sum_of_bits_for_each_function() -> None:
    first = page("default", 1)
    assert len(first.splitlines()) >= 40
    for capability, threads in (("avx2", 2), ("default", 3)):
        assert page(capability, threads) == first


@pytest.mark.parametrize("dtype", "dfDF")
def test_products_are_as_accurate_as_sums_may_be(dtype: str) -> None:
    compiled = jit(lambda a, b: a @ b, deterministic="portable", fullgraph=True)
    unit = np.finfo(dtype).eps
    for m, k, n in ((1, 1, 1), (3, 5, 2), (70, 33, 129), (97, 961, 101), (8, 0, 4), (256, 256, 1)):
        a, b = numbers(dtype, m, k), numbers(dtype, k, n)
        want = a.astype("G") @ b.astype("G")
        bound = 2 * unit * max(k, 1) * (np.abs(a) @ np.abs(b))
        assert (np.abs(compiled(a, b) - want) <= bound).all()


def test_a_batch_has_the_bits_of_its_matrices() -> None:
    compiled = jit(lambda a, b: a @ b, deterministic="portable", fullgraph=True)
    for n in (2, 9, 100):
        a, b = numbers("d", 7, n, n), numbers("d", 7, n, n)
        assert np.array_equal(compiled(a, b), np.stack([compiled(x, y) for x, y in zip(a, b)]))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n", [3, 100])
def test_what_fills_strips_raises_no_flag(n: int) -> None:
    """Matrices with infinities: NumPy warns of what is not a number, and of nothing else."""
    compiled = jit(lambda a, b: a @ b, deterministic="portable", fullgraph=True)
    a, b = np.ones((n, n)), np.ones((n, n))
    a[1, 1] = np.inf
    got = compiled(a, b)
    assert np.isinf(got[1]).all() and (got[0] == n).all()
    b[1, 0] = 0.0
    with pytest.raises(RuntimeWarning, match="invalid value"):
        compiled(a, b)


def test_products_with_numbers_that_are_not_packed_whole() -> None:
    compiled: Any = jit(lambda a, b: a @ b, deterministic="portable", fullgraph=True)
    a, b = numbers("d", 400, 300), numbers("d", 300, 200)
    whole = compiled(a, b)
    for rows in (1, 7, 8, 191, 193):
        if rows > 1:  # a row is a product with a vector
            assert np.array_equal(compiled(a[:rows], b), whole[:rows])
    for columns in (2, 23, 25):
        assert np.array_equal(compiled(a, b[:, :columns]), whole[:, :columns])
