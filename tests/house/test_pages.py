"""Generated pages are up to date; the promise of few primitives is kept."""

from __future__ import annotations

import importlib.util
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


def test_every_room_is_on_the_page_of_modules() -> None:
    rooms = {path.parent.relative_to(ROOT / "npcompile").as_posix()
             for path in (ROOT / "npcompile").rglob("*.py")}
    assert rooms - {".", "backends"} == set(_pages().ROOMS)


def test_few_primitives() -> None:
    assert len(PRIMITIVES) <= 60
