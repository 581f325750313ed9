"""``np.unwrap``, composed as NumPy composes it: the same bits, layouts and fallbacks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from npcompile import jit

RNG = np.random.default_rng(1)
PLANE = RNG.normal(size=(6, 7)) * 9
ARRAYS = {
    "a row": RNG.normal(size=50) * 9, "strides": RNG.normal(size=60)[::2] * 9,
    "a plane": PLANE, "columns": np.asfortranarray(PLANE), "float32": PLANE[0].astype("f4"),
    "NaN": np.array([1.0, np.nan, 3.0, 9.0]), "nothing": np.zeros(0), "one": np.ones(1),
    "half turns": np.arange(0, 40, np.pi), "half turns back": np.arange(40, 0, -np.pi),
    "half periods": np.arange(0, 30, 1.5), "integers": np.arange(12).reshape(3, 4) * 5,
}


@pytest.mark.parametrize("options", [
    {}, {"axis": 0}, {"discont": 2.0, "period": 3.0}, {"period": 3}, {"discont": 4},
], ids=str)
def test_unwrap(options: dict[str, Any]) -> None:
    def f(p: Any) -> Any:
        return np.unwrap(p, **options)

    compiled = jit(f)
    for name, array in ARRAYS.items():
        got, want = compiled(array), f(array)
        assert (got.dtype, got.strides) == (want.dtype, want.strides), name
        assert np.array_equal(got, want, equal_nan=True), name


def test_unwrap_is_compiled() -> None:
    told = jit(lambda p: np.unwrap(p)).explain(PLANE)
    assert told.captured and not told.host_calls


def test_unwrap_warns_as_numpy_does() -> None:
    for array in (np.array([1.0, np.inf, 2.0]), np.array([1e308, -1e308])):
        with pytest.warns(RuntimeWarning) as told:
            jit(lambda p: np.unwrap(p))(array)
        with pytest.warns(RuntimeWarning) as plain:
            np.unwrap(array)
        assert {str(w.message) for w in told} == {str(w.message) for w in plain}
