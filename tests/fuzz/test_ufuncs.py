"""Some calls of tests/fuzz/ufuncs.py."""

from __future__ import annotations

import warnings

import pytest

from tests.fuzz.ufuncs import difference


@pytest.mark.parametrize("part", range(4))
def test_ufuncs(part: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        differ = [found for seed in range(part, 300, 4) if (found := difference(seed))]
    assert not differ, "\n".join(differ)
