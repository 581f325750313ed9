"""Tracebacks of exceptions in compiled functions have the frames that the plain functions' have."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from npcompile import CheckError, CompileError, DeterminismError, deterministic, jit


def bad_index(x: Any, i: int) -> Any:
    y = x * 2
    return y[i]


def after_a_store(x: Any, i: int) -> Any:
    x[0] = 1.0
    y = x * 2
    return y[i]


def left_to_python(x: Any, i: int) -> Any:
    names = {str(type(v)) for v in x}
    return (names, x[i])


def in_regions(x: Any, i: int) -> Any:
    total = (x * 2).sum()
    with np.printoptions(precision=3):
        y = x + total
    print(end="")
    return (y * 3)[i]


def of_a_callee(x: Any, i: int) -> Any:
    return bad_index(x + 1, i) + 1


inner = jit(bad_index)


def of_a_jitted_callee(x: Any, i: int) -> Any:
    return inner(x, i)


def divided(x: Any, i: int) -> Any:
    x[0] = 0.0
    with np.errstate(all="raise"):
        return (1 / x) * i


def own_exception(x: Any, i: int) -> Any:
    if i > 2:
        raise LookupError(f"no {i}")
    return x[i]


def finally_runs(x: Any, i: int) -> Any:
    try:
        return x[i] * 2
    finally:
        x[0] = 0.0


FUNCTIONS = [
    bad_index, after_a_store, left_to_python, in_regions, of_a_callee, of_a_jitted_callee, divided,
    own_exception, finally_runs,
]


def frames(call: Callable[[], Any]) -> list[tuple[str, str, int | None]]:
    """The places in the traceback of the exception that a call raises, without this function's."""
    try:
        call()
    except Exception as error:
        found = traceback.extract_tb(error.__traceback__)[1:]
        return [(f.filename, f.name, f.lineno) for f in found]
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_only_the_users_frames(function: Callable[..., Any]) -> None:
    compiled = jit(function)
    want = frames(lambda: function(np.ones(3), 7))

    def failing() -> None:
        assert frames(lambda: compiled(np.ones(3), 7))[1:] == want[1:]
        assert frames(lambda: compiled(x=np.ones(3), i=7))[1:] == want[1:]

    failing()
    for _ in range(60):  # calls that are right, and failing ones that are forwarded
        compiled(np.ones(3), 1) if function is not divided else None
    for _ in range(40):
        failing()


def test_of_the_first_failing_call_after_compiled_ones() -> None:
    compiled = jit(bad_index)
    for _ in range(3):
        compiled(np.ones(3), 1)
    assert compiled.cache_info().compiled == 1
    assert frames(lambda: compiled(np.ones(3), 7))[1:] == frames(
        lambda: bad_index(np.ones(3), 7))[1:]


def test_wrong_arguments_are_the_callers() -> None:
    compiled: Any = jit(bad_index)
    for _ in range(2):
        assert len(frames(lambda: compiled(1, 2, 3))) == 1
        compiled(np.ones(3), 1)


def test_exceptions_of_npcompile_are_told_at_the_call() -> None:
    whole = jit(left_to_python, fullgraph=True)
    with pytest.raises(CompileError) as raised:
        whole(np.ones(3), 1)
    assert [entry.name for entry in raised.traceback] == [
        "test_exceptions_of_npcompile_are_told_at_the_call"]
    with deterministic(True), pytest.raises(DeterminismError) as told:
        jit(left_to_python)(np.ones(3), 1)
    assert len(told.traceback) == 1


def test_of_a_check() -> None:
    calls = iter(range(10))
    with pytest.raises(CheckError) as raised:
        jit(lambda x: next(calls) + x, check=True)(1)
    assert [str(entry.path) for entry in raised.traceback] == [__file__]


def test_while_python_closes() -> None:
    script = """
import atexit, traceback, numpy as np
from npcompile import jit
@jit
def f(x): return x[5]
@atexit.register
def late():
    try: f(np.ones(2))
    except IndexError: traceback.print_exc()
f(np.ones(9))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "IndexError" in done.stderr and "npcompile" not in done.stderr


def test_own_frames_are_shown_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = jit(bad_index)
    monkeypatch.setenv("NPCOMPILE_FULL_TRACEBACKS", "1")
    files = [file for file, _, _ in frames(lambda: compiled(np.ones(3), 7))]
    assert any(f"npcompile{os.sep}api{os.sep}jit.py" in file for file in files)


def test_pytest_shows_the_source(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("""
import numpy as np
from npcompile import jit

@jit
def bad_index(x, i):
    y = x * 2
    return y[i]

def test_it():
    bad_index(np.ones(3), 7)
""")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)],
        capture_output=True, text=True, check=False,
    )
    assert ">       return y[i]" in done.stdout
    assert ">       bad_index(np.ones(3), 7)" in done.stdout
    assert "???" not in done.stdout and "importlib" not in done.stdout
