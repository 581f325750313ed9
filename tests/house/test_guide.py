"""The guide's examples run."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["guide.md"])
def test_examples(page: str) -> None:
    text = (DOCS / page).read_text().replace("```python\n", "").replace("```", "")
    parser = doctest.DocTestParser()
    test = parser.get_doctest(text, {}, page, page, 0)
    flags = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    runner = doctest.DocTestRunner(optionflags=flags)
    runner.run(test)
    assert runner.failures == 0
