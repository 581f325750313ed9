"""Random programs out of what NumPy code is full of."""

from __future__ import annotations

import pytest

from tests.fuzz import idioms
from tests.fuzz.framework import checked


@pytest.mark.parametrize("first", [0, 20])
def test_programs(first: int) -> None:
    checked(idioms.GRAMMAR, range(first, first + 20))


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("first", range(1000, 4000, 500))
def test_many_programs(first: int) -> None:
    checked(idioms.GRAMMAR, range(first, first + 500))
