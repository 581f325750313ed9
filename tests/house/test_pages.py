"""Generated pages are up to date; the promise of few primitives is kept."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from npcompile.graph.primitives import PRIMITIVES

ROOT = Path(__file__).parents[2]


def _pages() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pages", ROOT / "tools" / "pages.py")
    assert spec is not None and spec.loader is not None
    pages = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pages)
    return pages


@pytest.mark.parametrize("name", ["coverage.md", "modules.md"])
def test_generated_page(name: str) -> None:
    shown = (ROOT / "docs" / name).read_text()
    assert shown == _pages().PAGES[name](), "run: python tools/pages.py"


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the page has the bytecode of 3.11")
def test_life_of_a_call() -> None:
    shown = (ROOT / "docs" / "life_of_a_call.md").read_text()
    assert shown == _pages().life_of_a_call(), "run on Python 3.11: python tools/pages.py"
    assert len(shown.splitlines()) <= 400


def test_every_room_is_on_the_page_of_modules() -> None:
    rooms = {path.parent.relative_to(ROOT / "npcompile").as_posix()
             for path in (ROOT / "npcompile").rglob("*.py")}
    assert rooms - {".", "backends"} == set(_pages().ROOMS)


#: pages that the site makes (`tools/site.py`)
MADE = "sample_report.html"
WRITTEN = [path for folder in (ROOT, ROOT / "docs", ROOT / "docs/decisions")
           for path in sorted(folder.glob("*.md"))
           if path.name not in ("CHANGELOG.md", "coverage.md", "modules.md")]


@pytest.mark.parametrize("page", WRITTEN, ids=lambda path: path.name)
def test_paths_that_pages_name_exist(page: Path) -> None:
    """Links of a page, and modules and rooms in it: `schedule/walk/`, `fuse.py`."""
    text = page.read_text()
    links = re.findall(r"\]\(([^)#:]+)[)#]", text)
    assert [link for link in links if link != MADE and not (page.parent / link).exists()] == []
    named = re.findall(r"`(\w[\w/]*/|[\w/]+\.py)(?:::\w+)?`", text)
    known = [f"/{path.relative_to(ROOT).as_posix()}"
             for folder in ("npcompile", "tests", "tools", "benchmarks", "docs")
             for path in (ROOT / folder).rglob("*.*")]
    assert [name for name in named
            if not any(f"/{name}" in path if name[-1] == "/" else path.endswith(f"/{name}")
                       for path in known)] == []


def test_few_primitives() -> None:
    assert len(PRIMITIVES) <= 60
