"""Random programs about where elements lie."""

from __future__ import annotations

import pytest

from tests.fuzz import layouts
from tests.fuzz.framework import checked


@pytest.mark.parametrize("first", [0, 30])
def test_programs(first: int) -> None:
    checked(layouts.GRAMMAR, range(first, first + 30))


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("first", range(1000, 4000, 1000))
def test_many_programs(first: int) -> None:
    checked(layouts.GRAMMAR, range(first, first + 1000))
