"""Generated pages are up to date; the promise of few primitives is kept."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from npcompile.graph.primitives import PRIMITIVES

ROOT = Path(__file__).parent.parent


def test_coverage_page() -> None:
    spec = importlib.util.spec_from_file_location("pages", ROOT / "tools" / "pages.py")
    assert spec is not None and spec.loader is not None
    pages = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pages)
    shown = (ROOT / "docs" / "coverage.md").read_text()
    assert shown == pages.coverage(), "run: python tools/pages.py"


def test_few_primitives() -> None:
    assert len(PRIMITIVES) <= 60
