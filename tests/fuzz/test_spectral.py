"""A sample of the random spectral programs."""

from __future__ import annotations

from collections import Counter

from tests.fuzz.spectral import GRAMMAR


def test_random_spectral_programs() -> None:
    for seed in range(12):
        assert GRAMMAR.differs(seed, Counter()) == ""
