"""Generated pages are up to date; the promise of few primitives is kept."""

from __future__ import annotations

import importlib.util
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


def test_few_primitives() -> None:
    assert len(PRIMITIVES) <= 60
