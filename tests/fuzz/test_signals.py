"""A sample of the random programs whose functions are called from anywhere."""

from __future__ import annotations

from tests.fuzz.signals import run_process


def test_random_signals() -> None:
    assert run_process(1, 12) == []
