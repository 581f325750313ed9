"""A sample of the random programs of linear algebra."""

from __future__ import annotations

from tests.fuzz.framework import checked
from tests.fuzz.matrices import GRAMMAR


def test_random_programs_of_linear_algebra() -> None:
    assert checked(GRAMMAR, range(8))["compiled"] == 8
