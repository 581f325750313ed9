"""Idioms: short functions as people write them are captured whole and give what Python gives."""

from __future__ import annotations

import importlib
from dataclasses import is_dataclass
from typing import Any

import pytest

from benchmarks.programs.compare import difference
from npcompile import jit
from tests.programs.idioms import IDIOMS

for _name in ("algorithms", "arrays", "learning", "signals"):
    importlib.import_module(f"tests.programs.idioms.{_name}")


def unlike(got: Any, want: Any) -> str:
    """The first difference between two results, down to the attributes of objects."""
    if type(got) is not type(want):
        return f"{type(got).__name__} for {type(want).__name__}"
    if isinstance(want, dict):
        if list(got) != list(want):
            return "other keys"
        return next((text for k in want if (text := unlike(got[k], want[k]))), "")
    if isinstance(want, (tuple, list)):
        if len(got) != len(want):
            return "another length"
        return next((text for a, b in zip(got, want) if (text := unlike(a, b))), "")
    if is_dataclass(want) and not isinstance(want, type):
        return unlike(vars(got), vars(want))
    if isinstance(want, (str, bool)) or callable(want) or type(want).__module__ != "numpy":
        return "" if got == want or difference(got, want, exact=False) == "" else f"{got!r}"
    return difference(got, want, exact=False)


@pytest.mark.parametrize("name", sorted(IDIOMS))
def test_captured_and_equal(name: str) -> None:
    function, makers = IDIOMS[name]
    compiled = jit(function, fullgraph=True)
    for make in (*makers, *makers):
        mine, theirs = make(), make()
        got, want = compiled(*mine), function(*theirs)
        assert not (text := unlike(got, want)), text
        assert not (text := unlike(list(mine), list(theirs))), text
