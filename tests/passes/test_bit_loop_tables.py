"""Loops over the bits of numbers: shifts and tables in place of turns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import npcompile


def reflected(data: Any, crc: int) -> int:
    for byte in data:
        crc ^= int(byte)
        for _ in range(8):
            if crc & 1:
                crc = (crc >> 1) ^ 0xEDB88320
            else:
                crc >>= 1
    return crc


def forward(data: Any, crc: int) -> int:
    crc &= 0xFFFF
    for byte in data:
        crc ^= int(byte) << 8
        for _ in range(8):
            crc = ((crc << 1) ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc


def two_numbers(data: Any, crc: int) -> int:
    for i in range(len(data)):
        byte = int(data[i])
        for _ in range(8):
            if (crc & 1) ^ (byte & 1):
                crc = (crc >> 1) ^ 0x8408
            else:
                crc >>= 1
            byte >>= 1
    return crc + byte


def unsigned(data: Any, crc: int) -> Any:
    state = np.uint32(crc & 0xFFFF)
    for byte in data:
        state = state ^ np.uint32(byte)
        for _ in range(8):
            low = state & np.uint32(1)
            state = state >> np.uint32(1)
            if low != 0:
                state = state ^ np.uint32(0xEDB88320)
    return state


def mirrored(data: Any, crc: int) -> int:
    total = crc
    for byte in data:
        here = 0
        for k in range(8):
            here |= (int(byte) >> k & 1) << (7 - k)
        total ^= here
    return total


def signs(data: Any, crc: int) -> int:
    for byte in data:
        crc ^= ~int(byte)
        for k in range(4):
            crc = (crc >> 2) ^ (k + 5)
    return crc


def counted(data: Any, crc: int) -> int:
    ones = crc
    for byte in data:
        rest = int(byte)
        for _ in range(8):
            ones += rest & 1
            rest >>= 1
    return ones


def nonlinear(data: Any, crc: int) -> int:
    for byte in data:
        for _ in range(5):
            crc = (crc >> 1) ^ (crc & (crc >> 3)) ^ int(byte)
    return crc


LINEAR = [reflected, forward, two_numbers, unsigned, mirrored, signs]


@pytest.mark.parametrize("function", [*LINEAR, counted, nonlinear])
@pytest.mark.parametrize("start", [0, 0xFFFF, -1, 2**62 + 12345, -(2**63)])
def test_bits_of_numbers(function: Callable[..., Any], start: int) -> None:
    data = np.random.default_rng(3).integers(0, 256, 40, np.uint8)
    got, want = npcompile.jit(function)(data, start), function(data, start)
    assert (got, type(got)) == (want, type(want))


@pytest.mark.parametrize("function", LINEAR)
def test_iterations_are_gone(function: Callable[..., Any]) -> None:
    program = npcompile.jit(function).lower(np.arange(40, dtype=np.uint8), 7).program
    assert "0 : 8 : 1" not in program and "0 : 4 : 1" not in program


def test_many_numbers_at_once() -> None:
    def checksums(words: Any) -> Any:
        out = np.empty(len(words), np.int64)
        for i in range(len(words)):
            crc = int(words[i])
            for _ in range(8):
                crc = (crc >> 1) ^ 0xA001 if crc & 1 else crc >> 1
            out[i] = crc
        return out

    words = np.random.default_rng(4).integers(-(2**63), 2**63 - 1, 100)
    compiled = npcompile.jit(checksums)
    assert np.array_equal(compiled(words), checksums(words))
    assert "lookup" in compiled.lower(words).program
