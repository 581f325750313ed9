"""Adds each page of measurements and of decisions to the site's navigation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

FOLDERS = {"measurements": "Measurements", "decisions": "Decisions"}


def on_config(config: Any) -> None:
    """Called by MkDocs when it has read ``mkdocs.yml``."""
    root = Path(config.docs_dir)
    for folder, title in FOLDERS.items():
        pages = sorted(path.name for path in (root / folder).glob("*.md"))
        pages.sort(key=lambda name: name != "index.md")
        config.nav.append({title: [f"{folder}/{name}" for name in pages]})
