"""The index of operators says what the records' definitions say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from npcompile.ops.index import ALIASES, MODULES
from npcompile.ops.record import OPERATORS, define

TOOL = Path(__file__).parents[2] / "tools" / "operators.py"


def test_index_is_up_to_date() -> None:
    done = subprocess.run([sys.executable, str(TOOL), "--show"], capture_output=True, text=True,
                          check=True)
    shown = (TOOL.parents[1] / "npcompile" / "ops" / "index.py").read_text()
    assert done.stdout == shown, "run: python tools/operators.py"


def test_records_are_those_of_the_index() -> None:
    assert list(OPERATORS) == list(MODULES) == [op.name for op in OPERATORS.values()]
    assert {alias: name for name, op in OPERATORS.items() for alias in op.aliases} == ALIASES


def test_names_are_looked_up_once_and_defined_once() -> None:
    assert "erf" in OPERATORS and "no operator" not in OPERATORS
    assert OPERATORS.get("no operator") is None
    assert OPERATORS["erf"] is OPERATORS["erf"]
    with pytest.raises(ValueError, match="defined twice"):
        define("erf", OPERATORS["erf"].kind)
