"""Random programs over objects that change between calls."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.fuzz.objects import check


def test_programs() -> None:
    counts: Counter[str] = Counter()
    wrong = [text for seed in range(6) if (text := check(seed, counts))]
    assert not wrong, "\n".join(wrong)
    assert counts["compiled"]


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("first", range(1000, 4000, 1000))
def test_many_programs(first: int) -> None:
    wrong = [text for seed in range(first, first + 1000) if (text := check(seed, Counter()))]
    assert not wrong, "\n".join(wrong)
