"""A sample of the random programs of NumPy's functions."""

from __future__ import annotations

from collections import Counter

from tests.fuzz.functions_of_numpy import GRAMMAR


def test_random_programs_of_functions() -> None:
    counts: Counter[str] = Counter()
    for seed in range(16):
        assert GRAMMAR.differs(seed, counts) == ""
    assert counts["compiled"] > 4
