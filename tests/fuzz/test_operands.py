"""Some operations of tests/fuzz/operands.py."""

from __future__ import annotations

import pytest

from tests.fuzz import operands
from tests.fuzz.framework import checked

PARTS = 8


@pytest.mark.parametrize("part", range(PARTS))
def test_operands(part: int) -> None:
    checked(operands.GRAMMAR, range(part, 320, PARTS))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_more_operands(part: int) -> None:
    checked(operands.GRAMMAR, range(1000 + part, 9000, PARTS))
