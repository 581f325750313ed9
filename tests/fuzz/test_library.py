"""Some programs of tests/fuzz/library.py."""

from __future__ import annotations

import pytest

from tests.fuzz import library
from tests.fuzz.framework import checked

PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
def test_library_calls(part: int) -> None:
    checked(library.GRAMMAR, range(part, 160, PARTS))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_more_library_calls(part: int) -> None:
    checked(library.GRAMMAR, range(1000 + part, 6000, PARTS))
