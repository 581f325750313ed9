"""Temporaries of turns: small ones lie on the stack, and are gone whichever way a turn ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import npcompile

BOUND = 256  # doubles on the stack


def rows(ends: Any, columns: Any, data: Any, x: Any) -> Any:
    y = np.empty(len(ends) - 1)
    for k in range(len(y)):
        y[k] = data[ends[k] : ends[k + 1]] @ x[columns[ends[k] : ends[k + 1]]]
    return y


def many(ends: Any, columns: Any, data: Any, x: Any) -> Any:
    """More of them, alive together, than there are rooms."""
    total = np.zeros(4)
    for k in range(len(ends) - 1):
        at = columns[ends[k] : ends[k + 1]]
        a, b, c, d = x[at], x[at - 1], data[at], data[at - 1]
        i, j, m = x[at - 2], x[at - 3], data[at - 2]
        e, f, g, h = np.sort(a), np.sort(b), np.sort(c), np.sort(d)
        total[0] += a @ b + c @ d + x[at] @ a
        total[1] += e @ f + g @ h + i @ j + m @ b
        total[2] += np.cumsum(a) @ d
        total[3] += np.cumsum(b) @ c
    return total


def made(lengths: list[int], bad: int = -1) -> tuple[Any, ...]:
    rng = np.random.default_rng(5)
    ends = np.cumsum([0, *lengths])
    columns = rng.integers(0, 50, ends[-1])
    if bad >= 0:
        columns[bad] = 50
    return ends, columns, rng.normal(size=max(50, ends[-1])), rng.normal(size=50)


@pytest.mark.parametrize("function", [rows, many])
def test_lengths(function: Any) -> None:
    compiled = npcompile.jit(function, fullgraph=True)
    for lengths in ([3, 0, 1, 8], [BOUND - 1, BOUND, BOUND + 1, 2], [5 * BOUND, 1, 3 * BOUND]):
        got, want = compiled(*made(lengths)), function(*made(lengths))
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("function", [rows, many])
def test_leaves_in_the_middle(function: Any) -> None:
    compiled = npcompile.jit(function)
    lengths = [4, BOUND + 9, 3]
    compiled(*made(lengths))
    for bad in (2, 9, BOUND + 14):
        with pytest.raises(IndexError, match="out of bounds"):
            compiled(*made(lengths, bad))


def wrap(a: Any, n: Any, out: Any) -> Any:
    for k in range(len(a)):
        out[k, 0], out[k, 1] = a[k] // n[k], a[k] % n[k]
    return out


@pytest.mark.parametrize("dtype", ["i1", "i4", "i8", "u8"])
def test_quotients_and_remainders_in_and_out_of_range(dtype: str) -> None:
    ends = np.iinfo(dtype)
    some = [ends.min, ends.min + 1, 0, 1, 2, 3, 7, ends.max - 1, ends.max]
    some += [-1, -2, -7] if ends.min else []
    a, n = (x.ravel() for x in np.meshgrid(*2 * [np.array(some, dtype)]))
    with np.errstate(all="ignore"):
        got, want = (f(a, n, np.zeros((len(a), 2), dtype)) for f in (npcompile.jit(wrap), wrap))
    np.testing.assert_array_equal(got, want)


def test_python_numbers_out_of_range() -> None:
    def cycle(at: int, step: int, n: int, count: int) -> list[int]:
        seen = []
        for _ in range(count):
            at = (at + step) % n
            seen.append(at // step)
        return seen

    compiled = npcompile.jit(cycle)
    for at, step, n in ((0, 1, 5), (-7, 3, 5), (4, -3, 5), (3, 2, -5), (0, 2**40, 2**41 + 3)):
        assert compiled(at, step, n, 9) == cycle(at, step, n, 9)
    with pytest.raises(ZeroDivisionError):
        compiled(0, 1, 0, 9)
