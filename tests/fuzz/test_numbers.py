"""Random programs on numbers."""

from __future__ import annotations

import pytest

import npcompile
from tests.fuzz.numbers import checked, written


@pytest.mark.parametrize("first", [0, 15])
def test_programs(first: int) -> None:
    wrong = [checked(written(seed), npcompile.jit) for seed in range(20 + first, 35 + first)]
    assert not any(wrong), "\n".join(filter(None, wrong))


@pytest.mark.parametrize("seed", [81318, 990011, 1191])
def test_once_wrong(seed: int) -> None:
    """A constant of 16 bits beside a branch; comparisons of complex numbers with NaN;
    the square of one complex number."""
    assert not checked(written(seed), npcompile.jit)


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("first", range(1000, 4000, 500))
def test_many_programs(first: int) -> None:
    wrong = [checked(written(seed), npcompile.jit) for seed in range(first, first + 500)]
    assert not any(wrong), "\n".join(filter(None, wrong))
