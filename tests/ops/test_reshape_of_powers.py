"""Shapes whose lengths are powers or products of integers that loops carry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from tests.support.oracle import difference, observe

Function = Callable[..., Any]


def powers(x: Any, r: int, k: int) -> Any:
    y = x.copy()
    for i in range(k):
        z = np.reshape(y, (r**i, r, r ** (k - i - 1)))
        y[:] = np.reshape(z * 2 - z.max(), (r**k,))
    return y


def doubled(x: Any, k: int) -> Any:
    total, s = 0.0, 1
    for _ in range(k):
        z = x.reshape(s, -1)
        total += z[:, 0].sum() + z.shape[1]
        s *= 2
    return total


def halved(x: Any, k: int) -> Any:
    y = x.copy()
    for i in range(k):
        m = 2**i
        z = y.reshape(m, y.shape[0] // m)
        y[:] = (z * 1.5 + z.sum(axis=0)).reshape(-1)
    return y


SIZES: list[tuple[Function, list[tuple[int, ...]]]] = [
    (powers, [(64, 2, 6), (81, 3, 4), (64, 4, 3), (64, 2, 5), (60, 2, 6), (0, 2, 2), (1, 2, 0)]),
    (doubled, [(64, 6), (48, 6), (1024, 11), (7, 3), (0, 2)]),
    (halved, [(64, 6), (48, 4), (48, 6), (1, 1), (7, 2), (0, 1)]),
]


@pytest.mark.parametrize(("function", "sizes"), SIZES)
def test_lengths_that_only_the_run_can_tell(
    function: Function, sizes: list[tuple[int, ...]]
) -> None:
    """Where the number of elements is another one, Python raises."""
    compiled = jit(function)
    for n, *rest in sizes * 2:
        x = np.random.default_rng(n).random(n)
        got, want = (observe(f, x.copy(), *rest) for f in (compiled, function))
        assert not difference(got, want, close=(1e-12, 1e-12)), (n, rest)


def test_loops_are_compiled_whole() -> None:
    for function, sizes in SIZES:
        n, *rest = sizes[0]
        compiled = jit(function, fullgraph=True)
        x = np.random.default_rng(n).random(n)
        np.testing.assert_allclose(compiled(x, *rest), function(x, *rest))
