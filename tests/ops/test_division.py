"""Quotients and remainders of whole arrays: NumPy's bits, over all types and the edges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import npcompile
from tests.support import oracle


def both(a: Any, b: Any) -> Any:
    return a // b, a % b, np.fmod(a, b), *np.divmod(a, b)


def constants(a: Any) -> Any:
    return a // 3, a % 7, a // 100, a % 1


COMPILED = {f: npcompile.jit(f) for f in (both, constants)}


def integers(dtype: np.dtype, n: int) -> Iterator[tuple[Any, Any]]:
    rng, info = np.random.default_rng(0), np.iinfo(dtype)
    low = info.min

    def some(least: int, most: int) -> Any:
        return rng.integers(least, most, n, dtype=dtype, endpoint=True)

    yield some(low, info.max), some(low, info.max)
    yield some(low, info.max), some(max(low, -9), 9)
    yield some(info.max - 3, info.max), some(1, info.max)
    yield some(low, low + 3), some(max(low, -3), 3)
    root = int(info.max**0.5)
    divisor = some(1, root)
    yield (divisor * some(0, root - 1) + some(-1 if low else 0, 1)).astype(dtype), divisor
    a, b = (some(0, info.max) >> some(0, info.bits - 2) for _ in range(2))
    yield a, b | 1


def floats(dtype: np.dtype, n: int) -> Iterator[tuple[Any, Any]]:
    rng = np.random.default_rng(0)
    unsigned = np.dtype(f"u{dtype.itemsize}")
    bits = rng.integers(0, np.iinfo(unsigned).max, (2, n), dtype=unsigned, endpoint=True)
    yield bits[0].view(dtype), bits[1].view(dtype)
    yield (rng.normal(size=n) * 100).astype(dtype), rng.normal(size=n).astype(dtype)
    third = rng.integers(1, 50, n).astype(dtype) / dtype.type(3)
    yield (third * rng.integers(-2000, 2000, n).astype(dtype)).astype(dtype), third
    one = rng.uniform(1, 2, n).astype(dtype)
    yield np.nextafter((one * rng.integers(1, 1000, n)).astype(dtype), dtype.type(0)), one
    scale = 2.0 ** rng.integers(0, np.finfo(dtype).nmant - 2, n)
    yield (rng.normal(size=n) * scale).astype(dtype), rng.normal(size=n).astype(dtype)
    whole = rng.integers(-50, 50, n).astype(dtype)
    whole[::7] = -0.0
    yield whole, rng.integers(-9, 9, n).astype(dtype)


def as_plain(function: Any, *args: Any) -> bool:
    with np.errstate(all="ignore"):
        return oracle.same(COMPILED[function](*args), function(*args))


def flags(function: Any, *args: Any) -> list[str]:
    seen: list[str] = []
    with np.errstate(all="call", call=lambda kind, flag: seen.append(kind)):
        function(*args)
    return sorted(set(seen))


@pytest.mark.parametrize("dtype", [np.dtype(c) for c in "bBhHiIqQ"])
def test_integers(dtype: np.dtype) -> None:
    for a, b in integers(dtype, 203):
        assert as_plain(both, a, b)
        assert as_plain(constants, a)


@pytest.mark.parametrize("dtype", [np.dtype(c) for c in "efd"])
def test_floats(dtype: np.dtype) -> None:
    for a, b in floats(dtype, 507):
        assert as_plain(both, a, b)
        assert as_plain(constants, a)
        assert flags(both, a, b) == flags(COMPILED[both], a, b)
