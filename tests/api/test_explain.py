"""What ``explain`` tells: lines of the right file, reasons with lines, one line for each thing."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from npcompile import jit
from tests.support import other_module

X = np.arange(1.0, 7.0)
HERE = Path(other_module.__file__).name


def line_of(function: Any, text: str) -> int:
    """The line of a function in which a text stands."""
    lines, first = inspect.getsourcelines(function)
    return first + next(k for k, line in enumerate(lines) if text in line)


def test_lines_of_functions_in_other_files_name_the_file() -> None:
    def f(x: Any) -> Any:
        return other_module.positive_root(x) + 1

    told = jit(f).explain(X)
    checked = line_of(other_module.positive_root, "if (x < 0)")
    computed = line_of(other_module.positive_root, "np.sqrt(")
    assert f"line {checked} of {HERE}: if (x < 0).any():" in str(told)
    assert f"line {computed} of {HERE}: return np.sqrt( x )" in str(told)
    assert told.exits == [f"line {checked} of {HERE}: an exception is raised"]
    assert f"line {line_of(f, 'return')}: return other_module" in str(told)


def test_history_tells_where_compiled_code_was_left() -> None:
    compiled = jit(other_module.positive_root)
    compiled(X)
    with pytest.raises(ValueError, match="negative"):
        compiled(-X)
    line = line_of(other_module.positive_root, "if (x < 0)")
    assert compiled.explain().history[-1] == (
        f"1 time left compiled code: line {line}: an exception is raised"
    )


def test_refusals_in_other_files_name_the_file() -> None:
    def f(x: Any) -> Any:
        return other_module.unknown(x)

    refusal = jit(f).explain(X).refusal
    assert refusal is not None
    assert refusal.line == line_of(f, "return")
    assert f"line {line_of(other_module.unknown, 'memoryview')} of {HERE}" in str(refusal)


def test_library_functions_that_are_followed_stand_in_the_line_of_the_call() -> None:
    def f(x: Any) -> Any:
        return sorted(x, key=lambda v: -v)

    told = jit(f).explain(X)
    assert told.captured
    lines = {int(text.split("line ")[1].split()[0].strip(":,")) for text in str(told).split("\n")
             if "line " in text}
    assert lines == {line_of(f, "return")}


def test_names_of_modules_and_functions_are_one_condition() -> None:
    def f(x: Any, n: int) -> Any:
        return [abs(x[k]) + np.sqrt(x[k]) for k in range(n)]

    told = jit(f).explain(X, 3)
    assert "range, abs, np name the same objects as now" in told.guards
    assert not any("numpy" in guard for guard in told.guards)


@pytest.mark.parametrize(("function", "start"), [
    (lambda x: x + 1, "compiled whole: the call runs as machine code\n"),
    (lambda x: x + np.median(x), "compiled whole: the call runs as machine code, which calls lib"),
    (lambda x: eval("x"), "runs in Python\n  why: line "),
])
def test_the_first_line_says_what_becomes_of_a_call(function: FunctionType, start: str) -> None:
    assert str(jit(function).explain(X)).startswith(f"<lambda>: {start}")


def test_what_allocates_nothing_says_so() -> None:
    assert "allocates no arrays" in str(jit(lambda x: x.sum()).explain(X))


def test_history_of_calls_of_which_some_are_left_to_python() -> None:
    compiled = jit(lambda x: x * 2)
    compiled(X)
    compiled(np.array([1], object))
    told = compiled.explain()
    assert not told.captured and told.compiled and not told.graph_breaks
    assert ": compiled, but 1 call ran in Python\n" in str(told)


def test_numbers_that_conditions_are_about_are_not_any_value() -> None:
    def f(x: Any, n: int, factor: float, shift: int = 2) -> Any:
        return x[:n] * factor + shift

    told = jit(f).explain(X, 3, 2.5)
    assert {"n is an int", "factor is a float (any value)", "shift == 2"} <= {*told.guards}
