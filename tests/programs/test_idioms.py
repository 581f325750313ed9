"""Idioms: short functions as people write them are captured whole and give what Python gives."""

from __future__ import annotations

import importlib

import pytest

from npcompile import jit
from tests.programs.idioms import IDIOMS
from tests.support import oracle

for _name in ("algorithms", "arrays", "learning", "signals"):
    importlib.import_module(f"tests.programs.idioms.{_name}")


@pytest.mark.parametrize("name", sorted(IDIOMS))
def test_captured_and_equal(name: str) -> None:
    function, makers = IDIOMS[name]
    compiled = jit(function, fullgraph=True)
    for make in (*makers, *makers):
        oracle.check_made(compiled, function, make, close=(1e-10, 1e-12))
