"""A sample of the random functions that two threads call at the same time."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.fuzz.threads import check


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_random_threads(first: int) -> None:
    assert [found for seed in range(first, first + 10) if (found := check(seed, Counter()))] == []
