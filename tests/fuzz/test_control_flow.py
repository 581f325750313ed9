"""Random programs with loops: their graphs, interpreted, against plain Python."""

from __future__ import annotations

import pytest

from tests.fuzz import control_flow
from tests.fuzz.framework import checked

BATCH = 20


def run(seeds: range) -> None:
    """Fails with every program of these seeds that differs."""
    counts = checked(control_flow.GRAPHS, seeds)
    assert counts["traced"]  # what is refused tests nothing


@pytest.mark.parametrize("first", range(0, 80, BATCH))
def test_programs(first: int) -> None:
    run(range(first, first + BATCH))


@pytest.mark.parametrize("seed", [641005, 99000248])
def test_programs_once_wrong(seed: int) -> None:
    run(range(seed, seed + 1))


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("first", range(1000, 11000, 1000))
def test_many_programs(first: int) -> None:
    run(range(first, first + 1000))
