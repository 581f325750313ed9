"""Some calls of tests/fuzz/ufuncs.py."""

from __future__ import annotations

import warnings

import pytest

from tests.fuzz import ufuncs
from tests.fuzz.framework import checked


@pytest.mark.parametrize("part", range(4))
def test_ufuncs(part: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        checked(ufuncs.GRAMMAR, range(part, 300, 4))
