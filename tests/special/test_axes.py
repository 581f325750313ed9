"""softmax, log_softmax and logsumexp against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special as special

from npcompile import jit
from tests.support import oracle

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


@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_against_scipy(name: str, axis: int | None) -> None:
    function = FUNCTIONS[name]
    for x in cases():
        compiled = jit(function, fullgraph=True, cache=False)
        rtol = 1e-5 if x.dtype == np.float32 else 1e-13
        oracle.check_calls(compiled, function, x, axis, close=(rtol, 1e-300), warnings="messages")
