"""A small part of ``python -m tools.scipy_tests``."""

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
    """Releases of SciPy differ in a few files."""
    entries = sum(text.count(";") + 1 for text in scipy_tests.PARTS.values())
    assert len(scipy_tests.parts()) > 0.9 * entries
