"""Random programs with library calls, draws, prints and what can't be compiled."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from tests.fuzz import external_calls, probed_loops
from tests.fuzz.framework import Grammar, checked, jitted

BATCH = 50


def run(seeds: range, **options: Any) -> None:
    """Fails with every program of these seeds that differs."""
    grammar = Grammar(external_calls.GRAMMAR.write, {"": jitted(**options)})
    counts = checked(grammar, seeds)
    assert counts["compiled"] > 0.5 * len(seeds)  # programs that run in Python would test nothing


@pytest.mark.parametrize("first", range(0, 200, BATCH))
def test_programs(first: int) -> None:
    run(range(first, first + BATCH))


def run_loops(seeds: Iterable[int]) -> None:
    assert checked(probed_loops.GRAMMAR, seeds)["places"] > 5


@pytest.mark.parametrize("first", range(0, 40, 20))
def test_loops(first: int) -> None:
    # 21 is refused as a whole, six times, which takes as long as all others
    run_loops(seed for seed in range(first, first + 20) if seed != 21)


def test_reference_backend() -> None:
    run(range(500, 550), backend="reference")


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("first", range(1000, 11000, 1000))
def test_many_programs(first: int) -> None:
    run(range(first, first + 1000))


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("first", range(0, 1000, 100))
def test_many_loops(first: int) -> None:
    run_loops(range(first, first + 100))
