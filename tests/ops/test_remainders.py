"""fmod, remainder, floor_divide and divmod of floats against NumPy: bits and flags."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from tests.support.special_functions import Points

FUNCTIONS = (np.fmod, np.remainder, np.floor_divide)


def operands(char: str, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Bit patterns, ordinary numbers, whole ones, quotients of all lengths, special ones."""
    p = Points(char, count, seed)
    wide = p.signed(p.bits())
    with np.errstate(all="ignore"):
        near = wide * p.rng.uniform(0.1, 3, count) * 2.0 ** -p.rng.integers(0, 60, count)
    edges = np.array([0.0, -0.0, 1.0, -3.0, np.inf, -np.inf, np.nan, p.info.tiny, p.info.max,
                      p.info.smallest_subnormal], char)
    grid = np.meshgrid(edges, edges)
    a = [wide, p.span(-100, 100), p.rng.integers(-50, 50, count), wide, grid[0].ravel()]
    b = [p.signed(p.bits()), p.span(-7, 7), p.rng.integers(-5, 5, count), near, grid[1].ravel()]
    with np.errstate(all="ignore"):
        return np.concatenate(a).astype(char), np.concatenate(b).astype(char)


def flags(function: Callable[..., Any], *args: np.ndarray) -> set[str]:
    raised: set[str] = set()
    with np.errstate(all="call", call=lambda kind, _: raised.add(kind)):
        function(*args)
    return raised


@pytest.mark.parametrize("width", ["avx512", "avx2"])
@pytest.mark.parametrize("char", "df")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_bits_and_flags(
    function: np.ufunc, char: str, width: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NPCOMPILE_CPU_CAPABILITY", width)
    compiled = jit(lambda a, b: function(a, b), fullgraph=True, cache=False)
    a, b = operands(char, 3000, 1)
    with np.errstate(all="ignore"):
        got, want = compiled(a, b), function(a, b)
    same = (got == want) & (np.signbit(got) == np.signbit(want)) | np.isnan(got) & np.isnan(want)
    assert same.all(), (a[~same][:4], b[~same][:4], got[~same][:4], want[~same][:4])
    for k in range(0, a.size, 151):
        part = slice(k, k + 3)
        assert flags(compiled, a[part], b[part]) == flags(function, a[part], b[part]), (a[part],
                                                                                      b[part])
