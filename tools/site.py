"""Adds each page of measurements and of decisions to the site's navigation, and shows references of
docstrings as names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

#: a reference as docstrings write it, in HTML: what of it is shown is the code with the last name
REFERENCE = re.compile(r":(?:class|func|meth|mod|data):(<code>)(?:~[\w.]*\.)?")
FOLDERS = {"measurements": "Measurements", "decisions": "Decisions"}


def on_config(config: Any) -> None:
    """Called by MkDocs when it has read ``mkdocs.yml``."""
    root = Path(config.docs_dir)
    for folder, title in FOLDERS.items():
        pages = sorted(path.name for path in (root / folder).glob("*.md"))
        pages.sort(key=lambda name: name != "index.md")
        config.nav.append({title: [f"{folder}/{name}" for name in pages]})


def on_page_content(html: str, **_: Any) -> str:
    """Called by MkDocs with the text of a page."""
    return REFERENCE.sub(r"\1", html)
