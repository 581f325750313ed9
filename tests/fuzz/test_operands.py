"""Some operations of tests/fuzz/operands.py."""

from __future__ import annotations

import pytest

from tests.fuzz.operands import run

PARTS = 8


@pytest.mark.parametrize("part", range(PARTS))
def test_operands(part: int) -> None:
    differ = [found for seed in range(part, 320, PARTS) if (found := run(seed))]
    assert not differ, "\n".join(differ)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_more_operands(part: int) -> None:
    differ = [found for seed in range(1000 + part, 9000, PARTS) if (found := run(seed))]
    assert not differ, "\n".join(differ)
