"""Random programs with objects, tables and counters, called many times."""

from collections import Counter

from tests.fuzz.user_programs import check


def test_programs():
    counts = Counter()
    wrong = [text for seed in range(700, 706) if (text := check(seed, counts))]
    assert not wrong, "\n".join(wrong)
    assert counts["compiled"]
