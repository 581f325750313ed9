"""Library functions whose results have other lengths than predicted, after something visible."""

from __future__ import annotations

import gc
import sys
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from tests.support.oracle import BACKENDS, alike


def solved(a: Any, b: Any, n: int) -> Any:
    b[0] = 3
    return np.linalg.lstsq(a[n:, : n + 1], b[n:], rcond=None)


def unpacked(a: Any, b: Any, n: int) -> Any:
    b[0] = 3
    found, _, rank, _ = np.linalg.lstsq(a[n:, : n + 1], b[n:], rcond=None)
    return found * 2, rank


def looped(a: Any, b: Any, n: int) -> Any:
    for k in range(1, n + 1):
        b[k] = np.linalg.lstsq(a[k:, : k + 1], b[k:], rcond=None)[0][-1]
    return b.sum()


@pytest.mark.parametrize("function", [solved, unpacked, looped])
def test_fewer_rows_than_columns(function: Any) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(12, 8)), rng.normal(size=12)
    alike(function, *((a, b, n) for n in (2, 3, 6, 7, 2, 6)), captured=False, backends=BACKENDS)


def test_results_are_let_go() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(12, 8)), rng.normal(size=12)
    compiled = jit(solved)
    for n in (2, 6) * 3:
        compiled(a, b, n)
        gc.collect()
        found = compiled(a, b, n)[0]
        expected = solved(a, b, n)[0]
        assert sys.getrefcount(found) == sys.getrefcount(expected)
    for _ in range(100):  # until it is known which is faster
        compiled(a, b, 3)
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(300):
        compiled(a, b, 3)
    gc.collect()
    assert sys.getallocatedblocks() - before < 200
