"""Random programs out of what goes wrong."""

from __future__ import annotations

import pytest

from tests.fuzz import hazards
from tests.fuzz.framework import checked


@pytest.mark.parametrize("first", [0, 10])
def test_programs(first: int) -> None:
    checked(hazards.GRAMMAR, range(first, first + 10))
