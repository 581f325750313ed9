"""``np.diagflat``."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.oracle import alike

ARRAYS = (
    np.arange(3.0), np.arange(6).reshape(2, 3).T, np.float32(3), np.zeros(0), [1, 2],
    np.array([[1 + 2j]]), np.arange(8.0, dtype=np.float32)[::-2], np.array([np.nan, -0.0]),
    np.array([True, False]), 2,
)


@pytest.mark.parametrize("k", [0, 1, -2])
def test_diagonals(k):
    alike(lambda x: np.diagflat(x, k), *((x,) for x in ARRAYS))


def test_options():
    alike(lambda x: np.diagflat(v=x, k=-1) @ x, (np.arange(3.0),), captured=False)
    alike(lambda x: np.diagflat(x), ([[1, 2], [3, 4]],), captured=False)
