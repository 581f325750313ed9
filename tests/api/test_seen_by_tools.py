"""What editors, checkers of types, `inspect` and `pydoc` find out about jitted functions."""

from __future__ import annotations

import inspect
import pydoc
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import scipy.special

import npcompile
from npcompile import Jit, jit
from npcompile.core.config import options
from tools import stubs

ROOT = Path(npcompile.__file__).parent.parent
SAMPLE = Path(__file__).parent / "typed_sample.py"


@jit
def scaled(x: Any, k: float = 2.0) -> Any:
    """Multiplies."""
    return x * k


def test_completion_shows_own_attributes() -> None:
    assert {"explain", "lower", "cache_info", "clear_cache", "config"} <= set(dir(scaled))
    assert {"fft", "special", "jit", "set_logs", "sqrt"} <= set(dir(npcompile))


def test_the_function_looks_like_the_plain_one() -> None:
    assert inspect.signature(scaled) == inspect.signature(scaled.__wrapped__)
    assert inspect.getdoc(scaled) == "Multiplies."
    assert "return x * k" in inspect.getsource(scaled)
    assert repr(scaled) == f"<npcompile.jit {__name__}.scaled>"
    assert Jit[[float], float].__origin__ is Jit  # type: ignore[attr-defined]


def test_the_signature_of_jit_lists_its_options() -> None:
    parameters = inspect.signature(jit).parameters
    assert list(parameters) == ["fn", *options()]
    assert parameters["parallel"].default is True
    told = inspect.getdoc(jit) or ""
    assert [name for name in options() if name not in told] == []


def test_help_is_about_this_package() -> None:
    text = pydoc.render_doc(npcompile, renderer=pydoc.plaintext)
    assert re.search(r"jit\(\s*fn=None,\s*\*,\s*fullgraph=False", text)
    assert "use_deterministic_algorithms(" in text
    assert len(text) < 60_000  # NumPy's is forty times as long


def test_star_import_gives_numpys_names() -> None:
    names: dict[str, Any] = {}
    exec("from npcompile import *", names)
    assert "sin" in names and "jit" not in names


def test_the_stub_has_all_special_functions() -> None:
    """Signatures are those of the SciPy that wrote it, names those of the installed one."""
    known = stubs.known()
    for name in {*scipy.special.__all__} - {"test"}:
        found = stubs.line(name, getattr(scipy.special, name))
        assert re.split(r"[ (:]", known[name])[0] == re.split(r"[ (:]", found)[0]


def _marked() -> list[int]:
    lines = SAMPLE.read_text().splitlines()
    return [number for number, line in enumerate(lines, 1) if "# wrong" in line]


def _complaints(*command: str) -> list[int]:
    """The lines of the sample that a checker calls wrong."""
    done = subprocess.run(
        [sys.executable, "-m", *command, str(SAMPLE)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )
    found = re.findall(rf"{SAMPLE.name}:(\d+)(?::\d+)?(?: -|:) error", done.stdout)
    assert found, done.stdout + done.stderr
    return sorted(set(map(int, found)))


def test_mypy_knows_the_types() -> None:
    assert _complaints("mypy") == _marked()


def test_pyright_knows_the_types() -> None:
    pytest.importorskip("pyright", reason="the extra `test` has pyright")
    assert _complaints("pyright", "--pythonpath", sys.executable) == _marked()
