"""NumPy's integer scalars that overflow wrap and warn, compiled too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import npcompile
from tests.random_programs import difference, run

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
            given = {"a": np.array(pair, dtype), "k": k}
            want, got = run(function, given), run(compiled, given)
            assert not difference(got, want)
            warned += bool(want.warned)
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
