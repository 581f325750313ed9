"""Random programs at the edges of what arrays are."""

from __future__ import annotations

import pytest

import npcompile
from tests.fuzz.edge_cases import EdgeWriter
from tests.fuzz.programs import check, write


@pytest.mark.parametrize("first", [0, 40, 80])
def test_programs(first: int) -> None:
    wrong = [check(write(seed, EdgeWriter), npcompile.jit) for seed in range(first, first + 40)]
    assert not any(wrong), "\n".join(filter(None, wrong))


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("first", range(1000, 4000, 1000))
def test_many_programs(first: int) -> None:
    wrong = [check(write(seed, EdgeWriter), npcompile.jit) for seed in range(first, first + 1000)]
    assert not any(wrong), "\n".join(filter(None, wrong))
