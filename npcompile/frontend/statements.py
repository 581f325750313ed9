"""The user's statements by their lines, each as one line of text."""

from __future__ import annotations

import ast
import linecache
from functools import lru_cache

from npcompile.core.lines import SourceLine, file_of, in_words

LONGEST = 90  #: characters of a statement; longer ones end in dots


def statement_at(line: int, here: str = "") -> str:
    """The place of a line and the statement there, as one line of text.

    A statement on several lines is told by its first one, and is shown as a whole.
    """
    lines = linecache.getlines(file_of(line))
    if not 0 < line <= len(lines):
        return in_words(line, here)
    first, last = _statements("".join(lines)).get(line, (line, line))
    text = " ".join(" ".join(part.strip() for part in lines[first - 1 : last]).split())
    text = text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."
    return f"{in_words(SourceLine(first, file_of(line)), here)}: {text}"


@lru_cache(4)
def _statements(source: str) -> dict[int, tuple[int, int]]:
    """First and last line of each line's innermost statement; of a compound one, its head."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # not Python as a whole, as cells of a notebook may be
        return {}
    found: dict[int, tuple[int, int]] = {}
    for node in ast.walk(tree):  # outer ones first
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            end = node.end_lineno or node.lineno
            last = max(node.lineno, body[0].lineno - 1) if body else end
            found.update(dict.fromkeys(range(node.lineno, last + 1), (node.lineno, last)))
    return found
