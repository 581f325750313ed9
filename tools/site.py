"""Adds each page of measurements and of decisions to the site's navigation, and a sample report;
shows references of docstrings as names."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from mkdocs.structure.files import File, Files
from scipy.ndimage import gaussian_filter1d

from npcompile import jit

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


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by MkDocs with the source of a page: examples become sessions of Python, of which the
    button that copies takes the input only."""
    return markdown.replace("```python\n>>> ", "```pycon\n>>> ")


def on_files(files: Files, config: Any) -> Files:
    """Called by MkDocs with the files of the site."""
    samples = np.random.default_rng(0).standard_normal(200_000)
    page = str(loudest.report(samples, 0.3, StringIO()))
    files.append(File.generated(config, "sample_report.html", content=page))
    return files


@jit
def loudest(x, alpha, log):  # type: ignore[no-untyped-def]
    """What the sample report is about: it has machine code, a library and Python."""
    level = np.empty_like(x)
    last = 0.0
    for i in range(len(x)):
        last += alpha * (abs(x[i]) - last)
        level[i] = last
    smooth = gaussian_filter1d(level, 5.0)
    print("mean level", smooth.mean(), file=log)
    score = np.exp(-smooth) * np.sqrt(x * x + smooth)
    return score.argmax(), score.max()


def on_page_content(html: str, **_: Any) -> str:
    """Called by MkDocs with the text of a page."""
    return REFERENCE.sub(r"\1", html)
