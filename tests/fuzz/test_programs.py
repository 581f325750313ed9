"""Random programs, compiled and plain: values, types, identity, mutation, errors, warnings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.fuzz import programs
from tests.fuzz.framework import checked, jitted

BATCH = 50


def run(seeds: range, **options: Any) -> None:
    """Fails with every program of these seeds that differs."""
    counts = checked(replace(programs.GRAMMAR, ways={"": jitted(**options)}), seeds)
    assert counts["compiled"] > 0.7 * len(seeds)  # programs that run in Python would test nothing


@pytest.mark.parametrize("first", range(0, 500, BATCH))
def test_programs(first: int) -> None:
    run(range(first, first + BATCH))


@pytest.mark.parametrize("first", range(700, 800, BATCH))
def test_programs_found_on_disk(first: int) -> None:
    """A function of the same code is served by what was kept of the one before."""
    found = 0
    for seed in range(first, first + BATCH):
        kept: list[Any] = []
        grammar = replace(programs.GRAMMAR, note=lambda made, *_, kept=kept: kept.append(made))
        checked(grammar, [seed, seed])
        times = [v.executable.times for v in kept[-1]._dispatcher.versions]
        found += any("recall" in stages for stages in times)
    assert found > 0.7 * BATCH


@pytest.mark.parametrize("first", range(500, 700, BATCH))
def test_reference_backend(first: int) -> None:
    run(range(first, first + BATCH), backend="reference")


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("first", range(1000, 21000, 1000))
def test_many_programs(first: int) -> None:
    run(range(first, first + 1000))
