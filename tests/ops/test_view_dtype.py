"""``array.view(dtype)``: one memory, taken for several dtypes."""

from __future__ import annotations

import numpy as np
import pytest

from npcompile import CompileError, jit
from tests.support.oracle import alike

X = np.linspace(-2.0, 3.0, 12)


def test_reads() -> None:
    def f(x):
        return x.view(np.int64) & 0xFFFF, (x + 1).view("u8") >> np.uint64(3), x.view()

    alike(f, (X,), (X[::2],), (X.reshape(3, 4).T,), (X[::-1],))


def test_inverse_square_root() -> None:
    def f(x):
        i = np.int32(0x5F3759DF) - (x.view(np.int32) >> 1)
        y = i.view(np.float32)
        return y * (np.float32(1.5) - np.float32(0.5) * x * y * y)

    alike(f, (np.abs(X).astype(np.float32) + 1,))


def test_writes() -> None:
    def f(x):
        bits = x.view(np.int64)
        bits[::2] ^= np.int64(1) << np.int64(63)
        bits[1] = 5
        bits[[2, 3]] = 7
        bits[bits < 0] = 0
        return bits, x

    alike(f, (X,), (X[::2],))


def test_loop() -> None:
    def f(x):
        bits = x.view(np.int64)
        total = 0
        for i in range(len(bits)):
            total ^= int(bits[i]) & 0xFF
            bits[i] = bits[i] | 1
        return total, bits[3], x

    alike(f, (X,))


def test_fresh_memory_of_two_dtypes() -> None:
    def f(n):
        numbers = np.zeros(n)
        bits = numbers.view(np.int64)
        bits[2] = 4607182418800017408
        return numbers, bits, numbers.sum()

    alike(f, (5,), (7,))


def test_onto_itself() -> None:
    def f(x):
        x[:] = x.view(np.int64)
        return x

    alike(f, (X,))


def test_by_path() -> None:
    def f(x, c):
        return x if c else x.view(np.uint64)

    def g(x):
        bits = x.view(np.int64)
        if x.sum() > 0:
            bits[0] = 1
        else:
            bits[1] = 2
        return bits, x

    alike(f, (X, True), (X, False), captured=False)
    alike(g, (X,), (-X,))


@pytest.mark.parametrize("have", ["?", "b", "B", "h", "H", "i", "I", "l", "L", "e", "f", "d"])
def test_dtypes(have: str) -> None:
    x = np.arange(8).astype(have)
    for want in "bBhHiIlLefd":
        if np.dtype(want).itemsize == x.itemsize:
            alike(lambda a, want=want: (a.view(want), a.view(want) + 1, a.view(want).sum()), (x,))


def test_numbers() -> None:
    alike(lambda x: (x[2].view(np.int64), np.float32(x[3]).view(np.int32)), (X,))


@pytest.mark.parametrize("function", [
    lambda x: x.view(np.complex128),  # of another size
    lambda x: x.view(np.uint8),
    lambda x: x.view(np.matrix),
])
def test_left_to_python(function) -> None:
    with pytest.raises(CompileError):
        jit(function, fullgraph=True)(X)


def test_bytes_that_are_no_bools() -> None:
    def f(x):
        x.view(np.uint8)[3] = 2
        return x

    with pytest.raises(CompileError):
        jit(f, fullgraph=True)(X > 0)
    alike(lambda x: (x.view(np.int8).sum(), np.diff(x.view(np.int8))), (X > 0,))
