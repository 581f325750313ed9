"""Machines, systems and Pythons that are not served: functions run in Python, and one warning and
``explain()`` say why."""

from __future__ import annotations

import opcode
import platform
import subprocess
import sys
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest

from npcompile import jit
from npcompile.backends.cpu.loader import compile as compiling
from npcompile.backends.target import here
from npcompile.core import surroundings
from npcompile.core.records import replace
from npcompile.core.surroundings import Unusable
from npcompile.demo import selftest
from npcompile.frontend import opcode_numbers
from npcompile.runtime.cache import disk
from npcompile.runtime.entry import self_check
from npcompile.runtime.unsafe import layout
from npcompile.runtime.versions import dispatch

FREE = sys.version.replace("main", "main free-threading build", 1)


def of_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 14, 0, "final", 0))


def of_other_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "implementation", types.SimpleNamespace(name="pypy"))


def without_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version", f"{sys.version} experimental free-threading build")


def on_other_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")


def on_unlike_names(monkeypatch: pytest.MonkeyPatch) -> None:
    other = "aarch64" if here().name == "x86-64" else "x86_64"
    monkeypatch.setattr(platform, "machine", lambda: other)


def on_other_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")


def of_other_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "layout", lambda: None)


FAKES: list[tuple[Callable[[pytest.MonkeyPatch], None], str]] = [
    (of_version, "CPython 3.11 to 3.13 are served"), (of_other_python, "it is not CPython"),
    (without_lock, "this Python has no GIL"),
    (on_other_processor, "such processors are not served"),
    (on_unlike_names, "such processors are not served"),
    (on_other_system, "NPCOMPILE_PLATFORM=try compiles there"),
    (of_other_layout, "objects have an unknown layout"),
]


def observed(function: Any, *args: Any) -> tuple[Any, list[str], str]:
    """The result of a call, its warnings, and what ``explain()`` says."""
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        result = function(*args)
        function(*args)
    return result, [str(w.message) for w in shown], str(function.explain(*args))


def double(x: Any) -> Any:
    return x * 2 + 1


@pytest.fixture(autouse=True)
def nothing_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surroundings, "_told", "")


def check_python(why: str) -> None:
    result, shown, explained = observed(jit(double, cache=False), np.arange(3.0))
    assert result.tolist() == [1, 3, 5]
    assert len(shown) == 1 and why in shown[0] and "leaves functions to Python" in shown[0]
    headline, reason, *_ = explained.splitlines()
    assert ": runs in Python; " in headline and why in reason


@pytest.mark.parametrize(("fake", "why"), FAKES, ids=[fake.__name__ for fake, _ in FAKES])
def test_python_runs_functions(fake: Callable[[pytest.MonkeyPatch], None], why: str,
                               monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as faked:
        fake(faked)
        hindrance, text = layout._hindrance(), layout.unsupported()
    assert why in hindrance and text.endswith(hindrance)
    monkeypatch.setattr(dispatch, "supported", lambda: False)
    monkeypatch.setattr(dispatch, "unsupported", lambda: text)
    check_python(why)


def test_other_systems_are_tried_where_that_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPCOMPILE_PLATFORM", "try")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert layout._hindrance() == "" and not layout.proven()
    monkeypatch.setenv("NPCOMPILE_PLATFORM", "yes")
    with pytest.raises(ValueError, match="NPCOMPILE_PLATFORM is try, not 'yes'"):
        layout._hindrance()


def test_opcodes_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "check_opcodes", opcode_numbers.check_opcodes.__wrapped__)
    monkeypatch.setitem(opcode.opmap, "RESUME", 250)
    check_python("has opcodes of its own")


def test_machine_code_is_checked_where_no_test_has_run(monkeypatch: pytest.MonkeyPatch) -> None:
    assert self_check.difference() == ""
    monkeypatch.setattr(self_check, "proven", lambda: False)
    self_check.require()
    monkeypatch.setattr(dispatch, "proven", lambda: False)
    assert jit(double, fullgraph=True, cache=False)(np.arange(3.0)).tolist() == [1, 3, 5]


def test_a_failing_check_leaves_functions_to_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a machine whose flags can't be read."""
    other = replace(compiling.target(), family="plain")
    monkeypatch.setattr(disk, "own", lambda name, made: compiling.compile(made(), other))
    monkeypatch.setattr(self_check, "difference", self_check.difference.__wrapped__)
    monkeypatch.setattr(self_check, "proven", lambda: False)
    with pytest.raises(Unusable, match=r"1\.0 / 0\.0 is inf with flags 0"):
        self_check.require()
    monkeypatch.setattr(dispatch, "proven", lambda: False)
    check_python("machine code fails its check")


def test_a_library_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "_binding", compiling._binding.__wrapped__)
    monkeypatch.delattr(llvm, "create_pass_builder")
    with pytest.raises(Unusable, match="llvmlite can't be used"):
        compiling._binding()


def test_the_page_that_somebody_sends_back(monkeypatch: pytest.MonkeyPatch,
                                           capsys: pytest.CaptureFixture[str]) -> None:
    few = {name: selftest.FUNCTIONS[name] for name in ("stencil", "waves")}
    monkeypatch.setattr(selftest, "FUNCTIONS", few)
    assert selftest.main("cpu", 9, 12) == 0
    *_, stencil, waves, last = capsys.readouterr().out.splitlines()
    assert stencil.split(None, 1) == ["stencil", "compiled, as NumPy"] and "as NumPy" in waves
    assert last == "2 of 2 compiled and as NumPy"
    monkeypatch.setattr(selftest, "same", lambda a, b: False)
    assert selftest.main("cpu", 9, 12) == 2
    assert "stencil            compiled, DIFFERS" in capsys.readouterr().out
    monkeypatch.setattr(layout, "supported", lambda: False)
    assert selftest.main("cpu", 9, 12) == 1
    assert "calls can't be machine code" in capsys.readouterr().out


_PROCESS = """
import os, sys, warnings, numpy as np, scipy.special, scipy.fft, scipy.linalg, random, logging
warnings.simplefilter("ignore")
{fake}
import npcompile
from npcompile.core import surroundings
f = npcompile.jit(lambda x: [y * 2 for y in x + 1]); x = np.linspace(0, 1, 5)
print(f(x) == [y * 2 for y in x + 1], str(f.explain(x)).splitlines()[0])
print(np.allclose(npcompile.exp(x), np.exp(x)), np.allclose(npcompile.fft.fft(x), np.fft.fft(x)))
print(np.allclose(npcompile.linalg.inv(np.eye(3) * 2), np.eye(3) / 2), npcompile.sum(x) == x.sum())
print(bool(surroundings._told), "npcompile" in npcompile.show_config("dicts"))
"""
_PROCESSES = {
    "a processor": "import platform; platform.machine = lambda: 'riscv64'",
    "a Python": "import types; sys.version_info = (3, 14, 0, 'final', 0); vars(sys).setdefault("
                "'monitoring', types.SimpleNamespace(get_tool=lambda number: None))",
    "no GIL": "sys.version += ' free-threading build'",
    "PyPy": "sys.implementation.name = 'pypy'",
    "macOS": "sys.platform = 'darwin'",
    "Windows": "sys.platform = 'win32'; del os.uname, os.fork, os.register_at_fork, os.geteuid",
    "opcodes": "import opcode; opcode.opmap['RESUME'] = 250",
    "a release of NumPy's": "np.__version__ = '3.0.0'",
    "an old NumPy": "np.__version__ = '2.2.6'",
    "no llvmlite": "sys.modules['llvmlite'] = sys.modules['llvmlite.binding'] = None",
    "an old llvmlite": "import llvmlite.binding; del llvmlite.binding.create_lljit_compiler",
}


@pytest.mark.parametrize("fake", _PROCESSES.values(), ids=_PROCESSES)
def test_a_whole_process(fake: str, tmp_path: Path) -> None:
    """Whatever is called, also what compiles without being asked."""
    done = subprocess.run([sys.executable, "-c", _PROCESS.format(fake=fake)], text=True,
                          capture_output=True, check=False, env=_environment(tmp_path))
    assert done.returncode == 0, done.stderr
    first, *rest = done.stdout.splitlines()
    assert first.startswith("True ") and ": runs in Python; " in first
    assert rest == ["True True"] * 3 and not done.stderr


def _environment(folder: Path) -> dict[str, str]:
    import os

    return {**os.environ, "NPCOMPILE_CACHE_DIR": str(folder), "PYTHONPATH": str(
        Path(__file__).parents[2])}
