"""Runs random programs: ``python -m tests.fuzz NAME SEED COUNT``.

Without arguments it lists the names; ``all`` runs the programs of every grammar.  The first
programs that differ are shrunk; with ``--whole`` they are shown as they were made.
"""

from __future__ import annotations

import os
import sys

import numpy as np
import pytest

os.environ.setdefault("NPCOMPILE_STRICT", "1")

from tests import fuzz
from tests.fuzz import framework


def main(words: list[str]) -> int:
    """How many programs differ."""
    shrinking = "--whole" not in words
    words = [word for word in words if not word.startswith("--")]
    if len(words) != 3:
        for name in fuzz.names():
            print(f"{name:18s} {fuzz.about(name)}")
        return 0
    name, first, count = words[0], int(words[1]), int(words[2])
    np.set_printoptions(precision=4)
    differ = 0
    for one in fuzz.names() if name == "all" else [name]:
        print(f"{one}:", end=" ", flush=True)
        try:
            grammar = fuzz.grammar(one)
        except pytest.skip.Exception as skipped:
            print(f"left out, {skipped}")
            continue
        differ += framework.campaign(grammar, first, count, shrinking)
    return differ


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1:])))
