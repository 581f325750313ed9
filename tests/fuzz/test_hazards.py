"""Random programs out of what goes wrong."""

from __future__ import annotations

import pytest

import npcompile
from tests.fuzz.calls import check
from tests.fuzz.hazards import program


@pytest.mark.parametrize("first", [0, 10])
def test_programs(first: int) -> None:
    wrong = [check(program(seed), npcompile.jit) for seed in range(first, first + 10)]
    assert not any(wrong), "\n".join(filter(None, wrong))
