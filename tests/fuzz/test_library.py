"""Some programs of tests/fuzz/library.py."""

from __future__ import annotations

import pytest

from tests.fuzz.library import run

PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
def test_library_calls(part: int) -> None:
    differ = [found for seed in range(part, 160, PARTS) if (found := run(seed))]
    assert not differ, "\n".join(differ)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_more_library_calls(part: int) -> None:
    differ = [found for seed in range(1000 + part, 6000, PARTS) if (found := run(seed))]
    assert not differ, "\n".join(differ)
