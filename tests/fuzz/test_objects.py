"""Random programs over objects that change between calls."""

from __future__ import annotations

import pytest

from tests.fuzz import objects
from tests.fuzz.framework import checked


def test_programs() -> None:
    assert checked(objects.GRAMMAR, range(6))["compiled"]


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("first", range(1000, 4000, 1000))
def test_many_programs(first: int) -> None:
    checked(objects.GRAMMAR, range(first, first + 1000))
