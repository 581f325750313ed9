"""``np.isclose`` and ``np.allclose``: NumPy's dtypes, layouts, warnings and answers."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from tests.support import oracle

RNG = np.random.default_rng(3)
PLANE = RNG.normal(size=(5, 6))
SPECIAL = np.array([0.0, -0.0, 1.0, np.inf, -np.inf, np.nan, 1e308, -1e308, 5e-324])
ROW = PLANE[0]
OPERANDS: dict[str, Any] = {
    "plane": PLANE, "near": PLANE + 1e-9, "apart": PLANE * (1 + 3e-5), "columns": PLANE.T.copy().T,
    "row": ROW, "strides": PLANE[::-1, ::1], "float32": PLANE.astype("f4"),
    "float16": PLANE.astype("f2"), "integers": (PLANE * 3).astype("i4"),
    "bytes": (abs(PLANE) * 3).astype("u1"), "flags": PLANE > 0, "one": np.array(PLANE[0, 0]),
    "half": np.float32(0.5), "number": 0.5, "int": 1, "np": np.float64(ROW[0]), "true": True,
    "list": list(ROW), "nothing": np.zeros((0, 6)),
}


@pytest.mark.parametrize("function", [np.isclose, np.allclose], ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", OPERANDS)
def test_answers(function: Any, name: str) -> None:
    plain = lambda a, b: function(a, b)  # noqa: E731
    compiled = jit(plain)
    for other in OPERANDS if function is np.isclose else ("near", "float32", "number", "apart"):
        pair = OPERANDS[name], OPERANDS[other]
        oracle.check_calls(compiled, plain, *pair)


@pytest.mark.parametrize("equal_nan", [False, True])
@pytest.mark.parametrize("dtype", ["d", "f", "e"])
def test_special_numbers(dtype: str, equal_nan: bool) -> None:
    def f(x: Any, y: Any) -> Any:
        return np.isclose(x, y, equal_nan=equal_nan)

    compiled = jit(f)
    with np.errstate(over="ignore", under="ignore"):
        rows = SPECIAL.astype(dtype), (SPECIAL * (1 + 1e-6)).astype(dtype)
    for x, y in itertools.product(rows, rows):
        oracle.check_calls(compiled, f, x[:, None], y)
        for a, b in itertools.product(x[:8], y[:8]):
            oracle.check_calls(compiled, f, a, b)
            pair = float(a), float(b)
            oracle.check_calls(compiled, f, *pair)


@pytest.mark.parametrize("tolerances", [
    (0, 0), (0.1, 0), (1e-3, 1e-3), (np.float64(1e-3), np.float32(1e-3)), (np.inf, 0.0),
    (0.0, np.nan), (-1.0, 0.5), (True, 2),
], ids=str)
def test_tolerances(tolerances: tuple[Any, Any]) -> None:
    def f(x: Any, y: Any, rtol: Any, atol: Any) -> Any:
        return np.isclose(x, y, rtol, atol)

    compiled = jit(f)
    for x in (PLANE, PLANE.astype("f4"), 2.0):
        given = x, x * (1 + 1e-3), *tolerances
        for _ in range(2):
            oracle.check_calls(compiled, f, *given)


def test_they_are_compiled() -> None:
    def f(u: Any, v: Any, tol: float) -> Any:
        while not np.allclose(u, v, atol=tol):
            u, v = v, 0.5 * (u + v)
        return v, np.isclose(u, v, rtol=tol)

    told = jit(f).explain(PLANE, PLANE + 1, 1e-6)
    assert told.captured and not told.host_calls
    have, want = jit(f)(PLANE, PLANE + 1, 1e-6), f(PLANE, PLANE + 1, 1e-6)
    assert all(np.array_equal(a, b) for a, b in zip(have, want))
