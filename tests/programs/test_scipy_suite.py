"""A small part of ``python -m tools.scipy_tests``."""

import scipy

from tools import scipy_tests


def test_physical_constants():
    compiled = scipy_tests.run("constants._codata", True, False, 2)
    assert compiled["outcomes"] and set(compiled["outcomes"].values()) == {"passed"}
    assert compiled["versions"] > 0


def test_a_difference_is_told():
    plain = {"outcomes": {"a": "passed", "b": "failed", "c": "passed"}}
    compiled = {"outcomes": {"a": "failed", "b": "failed"}, "failures": {"a": "E   x != y"}}
    assert scipy_tests.differences("p", plain, compiled) == ["`p` `a`: x != y", "`p` `c`: not run"]


def test_parts_exist():
    """All in the release that the table is of; others differ in a few files."""
    entries = [entry for text in scipy_tests.PARTS.values() for entry in text.split(";")]
    wanted = sum(len(entry.split(":")[1].split()) for entry in entries)
    found = sum(len(files) for _, files in scipy_tests.parts().values())
    assert found == wanted or (found > 0.9 * wanted and not scipy.__version__.startswith("1.17."))
