"""Random programs on numbers."""

from __future__ import annotations

import pytest

from tests.fuzz import numbers
from tests.fuzz.framework import checked


@pytest.mark.parametrize("first", [0, 15])
def test_programs(first: int) -> None:
    checked(numbers.GRAMMAR, range(20 + first, 35 + first))


@pytest.mark.parametrize("seed", [81318, 990011, 1191])
def test_once_wrong(seed: int) -> None:
    """A constant of 16 bits beside a branch; comparisons of complex numbers with NaN;
    the square of one complex number."""
    checked(numbers.GRAMMAR, [seed])


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("first", range(1000, 4000, 500))
def test_many_programs(first: int) -> None:
    checked(numbers.GRAMMAR, range(first, first + 500))
