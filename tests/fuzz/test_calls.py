"""Random functions called in many ways."""

from __future__ import annotations

import pytest

import npcompile
from tests.fuzz.calls import check, written


@pytest.mark.parametrize("first", [0, 15])
def test_programs(first: int) -> None:
    wrong = [check(written(seed), npcompile.jit) for seed in range(first, first + 15)]
    assert not any(wrong), "\n".join(filter(None, wrong))


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("first", range(1000, 4000, 1000))
def test_many_programs(first: int) -> None:
    wrong = [check(written(seed), npcompile.jit) for seed in range(first, first + 1000)]
    assert not any(wrong), "\n".join(filter(None, wrong))
