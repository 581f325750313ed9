"""Random programs with library calls, draws, prints and what can't be compiled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest

import npcompile
from npcompile.tracing import graph_breaks
from tests.fuzz.external_calls import HostWriter, check_probed
from tests.fuzz.programs import check, write

BATCH = 50


def run(seeds: range, **options: Any) -> None:
    """Fails with every program of these seeds that differs."""
    wrong = []
    captured = 0
    for seed in seeds:
        kept: list[Any] = []

        def decorate(function: Any, kept: list[Any] = kept) -> Any:
            kept.append(npcompile.jit(function, **options))
            return kept[-1]

        wrong.append(check(write(seed, HostWriter), decorate))
        captured += kept[0].cache_info().compiled > 0
    assert not any(wrong), "\n".join(filter(None, wrong))
    assert captured > 0.5 * len(seeds)  # programs that run in Python would test nothing


@pytest.mark.parametrize("first", range(0, 200, BATCH))
def test_programs(first: int) -> None:
    run(range(first, first + BATCH))


def run_loops(seeds: Iterable[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_breaks, "MANY", 0)
    counts: Counter[str] = Counter()
    wrong = [check_probed(seed, counts) for seed in seeds]
    assert not any(wrong), "\n".join(filter(None, wrong))
    assert counts["places"] > 5


@pytest.mark.parametrize("first", range(0, 40, 20))
def test_loops(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # 21 is refused as a whole, six times, which takes as long as all others
    run_loops((seed for seed in range(first, first + 20) if seed != 21), monkeypatch)


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
def test_many_loops(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    run_loops(range(first, first + 100), monkeypatch)
