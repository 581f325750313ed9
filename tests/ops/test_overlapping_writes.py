"""Writes to computed places whose values come from the array itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import npcompile

SELF = [
    "a[k] = a", "a[k] = a * 2", "a[k] += a", "a[k] = a[::-1]", "a[k[:-1]] = a[1:]", "k[k] = k",
    "a.put(k, a)", "np.put(a, k, a)", "np.put_along_axis(a, k, a, 0)", "np.add.at(a, k, a)",
    "np.maximum.at(a, k, a[::-1])", "np.place(a, a > 1, a[::-1])", "np.copyto(a[1:], a[:-1])",
    "a[a > 2] = a[a > 2][::-1]", "a[np.argsort(a)] = a", "a[k], a[::-1][k] = a, a[::-1]",
    "a[:] = a[k]", "a[1:] = a[k][:-1]", "a[k] = np.where(a > 2, a, -a)", "a[k % 3] = a",
]


@pytest.mark.parametrize("statement", SELF)
@pytest.mark.parametrize("order", [[1, 2, 3, 4, 5, 0], [5, 4, 3, 2, 1, 0], [0, 1, 2, 3, 4, 5]])
def test_places_that_are_read(statement: str, order: list[int]) -> None:
    scope: dict[str, Any] = {"np": np}
    exec(f"def f(a, k):\n    {statement}\n    return a.copy()", scope)
    plain = scope["f"]
    compiled = npcompile.jit(plain)
    for dtype in (float, np.int8, complex):
        want, got = ([np.arange(1, 7).astype(dtype), np.array(order)] for _ in range(2))
        assert np.array_equal(compiled(*got), plain(*want))
        assert all(map(np.array_equal, got, want))


@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (3,), (2, 2)])
def test_put_into_arrays_of_any_rank(shape: tuple[int, ...]) -> None:
    def plain(a: Any, value: int) -> Any:
        a.put(0, value)
        return a

    got = npcompile.jit(plain)(np.ones(shape, int), 4)
    assert np.array_equal(got, plain(np.ones(shape, int), 4))
