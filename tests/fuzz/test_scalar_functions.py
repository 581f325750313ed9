"""Some functions of tests/fuzz/scalar_functions.py."""

from __future__ import annotations

from tests.fuzz import scalar_functions
from tests.fuzz.framework import checked


def test_scalar_functions() -> None:
    checked(scalar_functions.GRAMMAR, range(25))
