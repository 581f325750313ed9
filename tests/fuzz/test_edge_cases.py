"""Random programs at the edges of what arrays are."""

from __future__ import annotations

import pytest

from tests.fuzz import edge_cases
from tests.fuzz.framework import checked


@pytest.mark.parametrize("first", [0, 40, 80])
def test_programs(first: int) -> None:
    checked(edge_cases.GRAMMAR, range(first, first + 40))


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("first", range(1000, 4000, 1000))
def test_many_programs(first: int) -> None:
    checked(edge_cases.GRAMMAR, range(first, first + 1000))
