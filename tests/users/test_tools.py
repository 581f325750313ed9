"""What users do with functions: test them, define them anew, switch the compiler off, read docs."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import npcompile
from npcompile import jit

ROOT = Path(npcompile.__file__).parent.parent


def run(*command: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run([sys.executable, *command], cwd=cwd, env=env, capture_output=True,
                          text=True, check=False)


def test_pytest_rewrites_assertions_of_compiled_functions(tmp_path: Path) -> None:
    (tmp_path / "test_sum.py").write_text("""
import numpy as np
from npcompile import jit

@jit
def checked(x):
    total = x.sum()
    assert total == 5
    return total

def test_it():
    assert checked(np.full(5, 1.0)) == 5
    checked(np.full(4, 2.0))
""")
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_sum.py", cwd=tmp_path)
    assert "1 failed" in done.stdout
    assert ">       assert total == 5" in done.stdout
    assert "assert np.float64(8.0) == 5" in done.stdout
    assert "npcompile/" not in done.stdout


DISABLED = """
import numpy as np, npcompile
@npcompile.jit
def f(x, k=2.0):
    "Multiplies."
    return x * k
f(np.ones(3)); f(np.ones(3))
print(f.cache_info(), f.__wrapped__(4), f.__name__, f.__doc__, f.config.parallel)
print(f.explain(np.ones(3)))
f.clear_cache()
for name in ("lower", "profile", "report"):
    try:
        getattr(f, name)(np.ones(3))
    except npcompile.CompileError as error:
        print(name, error)
"""


def test_switched_off_a_function_keeps_its_attributes(tmp_path: Path) -> None:
    done = run("-c", DISABLED, cwd=tmp_path, NPCOMPILE_DISABLE="1")
    assert not done.stderr
    first, headline, why, *errors = done.stdout.splitlines()
    assert first == "CacheInfo(compiled=0, refused=0, fallbacks=2) 8.0 f Multiplies. True"
    assert headline == "f: runs in Python; 2 calls so far"
    assert why == "  why: disabled: NPCOMPILE_DISABLE is set"
    assert [text.split()[0] for text in errors] == ["lower", "profile", "report"]


def test_a_cell_that_is_run_again() -> None:
    """A name that is bound to a new function is that function, in functions that call it, too."""
    cell: dict[str, Any] = {"jit": jit, "np": np}
    exec("@jit\ndef scale(x): return x * 2\n@jit\ndef twice(x): return scale(scale(x))", cell)
    assert cell["twice"](3.0) == 12.0
    exec("@jit\ndef scale(x): return x * 5 + np.sum(x)", cell)
    assert cell["scale"](3.0) == 18.0 and cell["twice"](3.0) == 108.0


def test_a_module_that_is_loaded_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    path = tmp_path / "reloaded_module.py"
    text = "from npcompile import jit\n@jit\ndef f(x):\n    return x + {}\n"
    path.write_text(text.format(1))
    module: ModuleType = importlib.import_module("reloaded_module")
    before, x = module.f, np.zeros(3)
    assert module.f(x)[0] == 1
    path.write_text(text.format(20))
    importlib.invalidate_caches()
    importlib.reload(module)
    assert module.f(x)[0] == 20 and before(x)[0] == 1
    del sys.modules["reloaded_module"]


def test_ufuncs_have_signatures_in_their_docs() -> None:
    for name in ("exp", "hypot", "arctan2", "add"):
        told = getattr(npcompile, name).__doc__
        assert told.startswith(f"{name}(x"), told


def test_nothing_is_required_that_is_not_imported() -> None:
    """SymPy is 80 MB: who wants it names the extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert not [text for text in project["dependencies"] if text.startswith("sympy")]
    assert project["license"] == "BSD-3-Clause"
    code = "import sys, npcompile; npcompile.jit(abs_ := lambda x: x * 2)(1.5); print(*sys.modules)"
    loaded = run("-c", code, cwd=ROOT).stdout.split()
    assert "npcompile" in loaded and "sympy" not in loaded
