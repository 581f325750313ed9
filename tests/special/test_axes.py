"""softmax, log_softmax and logsumexp against SciPy."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special as special

from npcompile import jit

FUNCTIONS = {
    "softmax": lambda x, axis: special.softmax(x, axis=axis),
    "log_softmax": lambda x, axis: special.log_softmax(x, axis=axis),
    "logsumexp": lambda x, axis: special.logsumexp(x, axis=axis),
    "kept": lambda x, axis: special.logsumexp(x, axis, keepdims=True),
}


def cases() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    inf = np.inf
    return [
        rng.normal(size=(5, 7)) * 30, rng.normal(size=(40,)).astype(np.float32),
        np.array([[1.0, 1.0, 1.0], [1e4, -1e4, 1e4]]), rng.normal(size=(2, 3, 4)),
        np.array([[inf, 1.0], [-inf, -inf], [np.nan, 2.0], [-inf, 3.0], [inf, inf]]),
    ]


def outcome(call: Callable[..., Any], *args: Any) -> tuple[Any, set[str]]:
    """A result and the warnings that were given."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call(*args)
    return result, {str(w.message) for w in caught}


@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_against_scipy(name: str, axis: int | None) -> None:
    function = FUNCTIONS[name]
    for x in cases():
        got, ours = outcome(jit(function, fullgraph=True, cache=False), x.copy(), axis)
        want, theirs = outcome(function, x.copy(), axis)
        assert type(got) is type(want) and got.dtype == want.dtype
        assert np.shape(got) == np.shape(want)
        rtol = 1e-5 if x.dtype == np.float32 else 1e-13
        assert np.allclose(got, want, rtol=rtol, atol=1e-300, equal_nan=True)
        assert ours == theirs
