"""Results that are stored past the cache: rows, and rows of whole lines, at any address."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import npcompile
from npcompile.backends.cpu import kernels

WIDTHS = (1, 7, 8, 16, 24, 32, 40, 63, 64, 96, 104, 256, 544, 600)


def scaled(x: Any, s: Any, out: Any) -> Any:
    np.multiply(x - 1, s, out=out)
    return out


def divided(x: Any, s: Any, out: Any) -> Any:
    np.divide(x, s, out=out)
    return out


def at(place: int, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """An array of ones ``place`` bytes behind a line."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    room = np.zeros(size + 128, np.uint8)
    first = -room.ctypes.data % 64 + place
    made = room[first : first + size].view(dtype).reshape(shape)
    made[...] = 1
    return made


@pytest.mark.parametrize("capability", ["default", "avx2"])
@pytest.mark.parametrize("function", [scaled, divided])
def test_rows(function: Any, capability: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "STREAMING_BYTES", 64)
    monkeypatch.setenv("NPCOMPILE_CPU_CAPABILITY", capability)
    compiled = npcompile.jit(function, cache=False)
    rng = np.random.default_rng(0)
    for dtype in ("d", "f"):
        for width in WIDTHS:
            x = rng.uniform(0.5, 2, (5, width)).astype(dtype)
            s = rng.uniform(0.5, 2, (5, 1)).astype(dtype)
            for place in (0, 4, 8, 16, 32):
                if place % x.itemsize == 0:
                    got = compiled(x, s, at(place, x.shape, dtype))
                    want = function(x, s, at(place, x.shape, dtype))
                    assert got.tobytes() == want.tobytes()
    assert "nontemporal" in compiled.lower(x, s, at(0, x.shape, dtype)).llvm
