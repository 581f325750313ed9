"""NumPy's integer scalars that overflow wrap and warn, compiled too."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import npcompile
from tests.support import oracle

FUNCTIONS = [
    lambda a, k: a[0] + k,
    lambda a, k: a[0] - k,
    lambda a, k: a[0] * k,
    lambda a, k: a[0] + a[1],
    lambda a, k: a[0] - a[1],
    lambda a, k: a[0] * a[1],
]


@pytest.mark.parametrize("dtype", list("bBhHiIlL"))
@pytest.mark.parametrize("function", FUNCTIONS)
def test_as_numpy(function: Any, dtype: str) -> None:
    info = np.iinfo(dtype)
    compiled = npcompile.jit(function)
    warned = 0
    for pair in ([info.max, 1], [info.max, info.max], [info.min, 1], [info.min, info.max], [3, 4]):
        for k in (1, 2, 3):
            found = oracle.check_made(
                compiled, function, lambda pair=pair, k=k: (np.array(pair, dtype), k))
            warned += bool(found.warned)
    assert warned
    assert compiled.cache_info().compiled == 1


def test_products_of_loop_indices_are_checked() -> None:
    def largest(n: int, m: int) -> int:
        top = 0
        for i in range(n, n + 2):
            for j in range(m, m + 2):
                top = max(top, i * j * 5)
        return top

    compiled = npcompile.jit(largest)
    for n, m in ((3, 4), (2**31 - 5, 2**31 - 5), (2**30, 2**31 - 9), (2**31 + 5, 2**31 + 5)):
        assert compiled(n, m) == largest(n, m)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32"])
def test_a_constant_moves_a_small_integer_out_of_its_type(dtype: str) -> None:
    kind = np.dtype(dtype).type
    ends = np.iinfo(dtype)

    def f(x: Any) -> Any:
        return x + 3, 1 + x, x - 2, x + kind(ends.max), x - kind(ends.max), kind(5) - x

    compiled = npcompile.jit(f)
    for value in (int(ends.min), int(ends.min) + 1, int(ends.min) + 2, 0, 5, int(ends.max) - 3,
                  int(ends.max) - 2, int(ends.max) - 1, int(ends.max)):
        outcomes = []
        for function in (compiled, f):
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                made = function(kind(value))
            outcomes.append((made, list(map(type, made)), [str(w.message) for w in told]))
        assert outcomes[0] == outcomes[1], value
