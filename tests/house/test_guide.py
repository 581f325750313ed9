"""The examples of the documentation run."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


PAGES = sorted(
    str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md") if "\n>>> " in path.read_text())


@pytest.mark.parametrize("page", PAGES)
def test_examples(page: str) -> None:
    text = (DOCS / page).read_text().replace("```python\n", "").replace("```", "")
    parser = doctest.DocTestParser()
    test = parser.get_doctest(text, {"__name__": "__main__"}, page, page, 0)
    flags = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    runner = doctest.DocTestRunner(optionflags=flags)
    runner.run(test)
    assert runner.failures == 0
