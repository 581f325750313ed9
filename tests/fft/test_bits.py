"""The same bits for any width of registers, axis, stride, batch and number of threads."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

import npcompile
from npcompile.fft.plans import is_smooth
from tests.fft.support_fft import LENGTHS, digest, numbers

fft = npcompile.fft


@pytest.mark.parametrize("n", LENGTHS)
def test_rows_columns_strides(n: int) -> None:
    for char in "FD":
        x = numbers(n, (41, n), char)
        for function in (fft.fft, fft.ifft):
            rows = function(x)
            assert digest(*[function(row) for row in x[:5]]) == digest(*rows[:5])
            columns = function(np.ascontiguousarray(x.T), axis=0)
            assert digest(np.ascontiguousarray(columns.T)) == digest(rows)
            apart = np.zeros((41, 2 * n), char)[:, ::2]
            apart[...] = x
            assert digest(function(apart)) == digest(rows)


@pytest.mark.parametrize("n", [2, 6, 16, 30, 1000])
@pytest.mark.parametrize("width", [8, 33])
def test_real_columns(n: int, width: int) -> None:
    for char in "fd":
        x = numbers(n, (2, n, width), char)
        for function in (fft.rfft, partial(fft.rfft, norm="ortho")):
            rows = function(np.ascontiguousarray(x.swapaxes(1, 2)))
            assert digest(np.ascontiguousarray(function(x, axis=1).swapaxes(1, 2))) == digest(rows)
        half = numbers(n, (n // 2 + 1, width), char.upper())
        rows = fft.irfft(np.ascontiguousarray(half.T), n)
        assert digest(np.ascontiguousarray(fft.irfft(half, n, axis=0).T)) == digest(rows)
        np.testing.assert_allclose(fft.rfft(x, axis=1), np.fft.rfft(x, axis=1), atol=1e-4)


@pytest.mark.parametrize("n", [2, 5, 8, 12, 16, 30])
def test_rows_of_few_points(n: int) -> None:
    """Many of them lie in lanes, a few are computed one after the other."""
    for char in "fdFD":
        x = numbers(n, (75, n), char)
        for function in (fft.rfft,) if char in "fd" else (fft.fft, fft.ifft, fft.irfft):
            rows = function(x)
            assert digest(*[function(row) for row in x[66:]]) == digest(*rows[66:])
            theirs = getattr(np.fft, function.__name__)(x)
            np.testing.assert_allclose(rows, theirs, atol=1e-5)
    whole = numbers(3, (75, n), "D")
    rows = fft.fft(whole)
    fft.fft(whole, out=whole)
    assert digest(whole) == digest(rows)


@pytest.mark.parametrize("n", [5, 12, 16])
def test_rows_of_few_points_between_array_operations(n: int) -> None:
    @npcompile.jit
    def product(x: np.ndarray) -> np.ndarray:
        return np.fft.ifft(np.fft.fft(x) * 1j) * 2

    for char in "FD":
        x = numbers(n, (333, n), char)
        rows = product(x)
        assert digest(*[product(x[k : k + 3]) for k in range(0, 333, 3)]) == digest(rows)
        assert digest(*[product(x[k : k + 37]) for k in range(0, 333, 37)]) == digest(rows)
        assert digest(2 * fft.ifft(fft.fft(x) * 1j)) == digest(rows)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "fft2", "rfftn"])
def test_functions_that_are_called_often(name: str) -> None:
    """They are compiled after some calls, and say the same as before."""
    function, theirs = getattr(fft, name), getattr(np.fft, name)
    for char in "FD" if not name.startswith("r") else "fd":
        plain = numbers(4, (6, 10), char)
        layouts = [plain, np.asfortranarray(plain), plain[::-1], plain[:, ::2], plain[:0],
                   plain.astype(plain.dtype.newbyteorder(">")), plain[:, :1], plain.real]
        for x in layouts:
            try:
                expected = theirs(x)
            except ValueError as error:
                with pytest.raises(ValueError, match=re.escape(str(error))):
                    function(x)
                continue
            found = [function(x) for _ in range(20)]
            assert len({digest(made) for made in found}) == 1
            for made in (found[0], found[-1]):
                assert made.dtype == expected.dtype and made.strides == expected.strides
                np.testing.assert_allclose(made, expected, atol=1e-5)
        for axis in (0, -2, 1) if name in ("fft", "ifft", "rfft", "irfft") else ():
            found = [function(plain, axis=axis) for _ in range(20)]
            assert digest(found[-1]) == digest(np.ascontiguousarray(found[0]))
            np.testing.assert_allclose(found[-1], theirs(plain, axis=axis), atol=1e-5)
            with pytest.raises(IndexError):
                function(plain, axis=5)


_PAGE = """
import numpy as np, npcompile, sys
sys.path.insert(0, {root!r})
from tests.fft.support_fft import LENGTHS, digest, numbers
npcompile.set_num_threads({threads})
found = []
for n in LENGTHS:
    for char in "FD":
        x = numbers(n, (19, n), char)
        found += [npcompile.fft.fft(x), npcompile.fft.ifft(x), npcompile.fft.fft(x.T, axis=0)]
        found += [npcompile.fft.rfft(x.real), npcompile.fft.irfft(x, 2 * n)]
for n in (8, 12, 16, 30):
    x = numbers(n, (67, n), char)
    half = x[:, : n // 2 + 1]
    found += [npcompile.fft.fft(x), npcompile.fft.rfft(x.real.copy()), npcompile.fft.irfft(half, n)]
    found += [npcompile.fft.rfft(x.T.real.copy(), axis=0), npcompile.fft.irfft(half.T, n, axis=0)]
big = numbers(7, (300, 1024), "D")
found += [npcompile.fft.fft(numbers(3, (1 << 16,), char)) for char in "FD"]
found += [npcompile.fft.fft(big), npcompile.fft.fft2(big)]
print(digest(*map(np.ascontiguousarray, found)))
"""


def _page(capability: str, threads: int) -> str:
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    code = _PAGE.format(root=root, threads=threads)
    environment = {**os.environ, "NPCOMPILE_CPU_CAPABILITY": capability}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True,
                          text=True, check=True)
    return done.stdout.strip()


def test_width_of_registers_and_threads() -> None:
    assert _page("avx2", 1) == _page("default", 3)


def test_smooth_lengths_are_told() -> None:
    assert [n for n in LENGTHS if not is_smooth(n)] == [17, 31, 34, 97, 1009]
