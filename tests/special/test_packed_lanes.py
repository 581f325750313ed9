"""Subprograms that sort their lanes by the arms which they take: what a number gets depends neither
on the others nor on their count."""

from __future__ import annotations

import numpy as np
import pytest

from npcompile import jit
from tests.support.special_functions import called, operands_at

PACKED = ["gammainc", "gammaincc", "iv", "kv", "ive", "kve", "stdtr", "betaincinv", "binom", "poch",
          "owens_t"]


def mixed(name: str, count: int) -> tuple[np.ndarray, ...]:
    """Random numbers, some special ones among them, many twice."""
    rng = np.random.default_rng(count)
    edges = operands_at(name, "d")
    chosen = rng.integers(0, edges[0].size, count)
    rare = rng.random(count) < 0.2
    return tuple(np.where(rare, x[chosen], rng.choice([0.3, 2.0, 30.0], count)
                          * rng.uniform(0.1, 3, count)) for x in edges)


@pytest.mark.parametrize("name", PACKED)
def test_neighbours(name: str) -> None:
    operands = mixed(name, 200)
    function = jit(called(name, len(operands)), fullgraph=True, cache=False)
    want = np.array([function(*(x[k : k + 1].repeat(2) for x in operands))[0] for k in range(200)])
    for part in (slice(0, 1), slice(0, 7), slice(0, 63), slice(3, 67), slice(70, 135), slice(200)):
        got = function(*(x[part] for x in operands))
        assert got.tobytes() == want[part].tobytes(), part
    wide = jit(called(name, len(operands)), fullgraph=True, cache=False)
    narrow = tuple(np.clip(x, -1e30, 1e30).astype("f") for x in operands)
    got = wide(*narrow)
    alone = np.array([wide(*(x[k : k + 1].repeat(2) for x in narrow))[0] for k in range(200)])
    assert got.tobytes() == alone.tobytes()
