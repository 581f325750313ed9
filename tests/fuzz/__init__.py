"""Random programs, compiled and plain: each module is a grammar by its name.

A module defines ``GRAMMAR``; `names` finds it.  ``python -m tests.fuzz NAME SEED COUNT`` runs it.
"""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.fuzz.framework import Grammar

HERE = Path(__file__).parent
APART = ("__init__", "__main__", "framework")


def names() -> list[str]:
    """The names of all grammars."""
    return sorted(path.stem for path in HERE.glob("*.py") if path.stem not in APART
                  and re.search(r"^ *GRAMMAR = ", path.read_text(), re.M))


def about(name: str) -> str:
    """The first sentence of a grammar's docstring."""
    text = ast.get_docstring(ast.parse((HERE / f"{name}.py").read_text())) or ""
    return " ".join(text.split()).partition(". ")[0].partition(": ``python")[0]


def grammar(name: str) -> Grammar:
    """The grammar of a name."""
    found: Grammar = importlib.import_module(f"tests.fuzz.{name}").GRAMMAR
    return found
