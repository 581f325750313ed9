"""Random programs with objects, tables and counters, called many times."""


from tests.fuzz import user_programs
from tests.fuzz.framework import checked


def test_programs():
    assert checked(user_programs.GRAMMAR, range(700, 706))["compiled"]
