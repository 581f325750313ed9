"""Random programs out of what NumPy code is full of."""

from __future__ import annotations

import pytest

import npcompile
from tests.fuzz.calls import check
from tests.fuzz.idioms import program


@pytest.mark.parametrize("first", [0, 20])
def test_programs(first: int) -> None:
    wrong = [check(program(seed), npcompile.jit) for seed in range(first, first + 20)]
    assert not any(wrong), "\n".join(filter(None, wrong))


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("first", range(1000, 4000, 500))
def test_many_programs(first: int) -> None:
    wrong = [check(program(seed), npcompile.jit) for seed in range(first, first + 500)]
    assert not any(wrong), "\n".join(filter(None, wrong))
