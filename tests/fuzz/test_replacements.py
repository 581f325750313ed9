"""Some programs of tests/fuzz/replacements.py."""

from __future__ import annotations

from tests.fuzz import replacements
from tests.fuzz.framework import checked


def test_replacements() -> None:
    checked(replacements.GRAMMAR, range(30))
