"""One short test for each bug that random programs have found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import npcompile
from tests.random_programs import difference, run

HALF = np.ones(3, np.float16)


def agrees(plain: Any, *args: Any) -> None:
    """The compiled function does what the plain one does, twice."""
    compiled = npcompile.jit(plain)
    for _ in range(2):
        want, got = (
            run(f, {str(i): x.copy() if isinstance(x, np.ndarray) else x
                    for i, x in enumerate(args)})
            for f in (plain, compiled)
        )
        assert not difference(got, want), difference(got, want)


def function(body: str) -> Any:
    """A function of ``a`` and ``k`` with these lines."""
    scope: dict[str, Any] = {"np": np}
    text = "".join(f" {line}\n" for line in body.split("\n"))
    exec(compile(f"def f(a, k):\n{text}", "<regression>", "exec"), scope)
    return scope["f"]


@pytest.mark.parametrize("body", [
    "return np.full(0, 2**31, dtype=np.float16)", "return np.full_like(a, 1e10)",
    "return np.array([1e10, 2], dtype=np.float16)", "return np.float64(1e300).astype(np.float32)",
    "return np.full(3, 1e300, np.complex64)", "return np.sum(a, initial=1e10)", "a[:] = 1e10",
    "a[0] = 2**31", "a[a > k] = 1e10", "a.fill(1e10)", "a[:0] = 1e10",
])
def test_constants_that_overflow_where_they_are_stored(body):
    agrees(function(body), HALF, 0)


def test_gradient_of_truth_values():
    agrees(function("np.gradient(a, axis=0)"), np.array([True, False, True]), 0)
