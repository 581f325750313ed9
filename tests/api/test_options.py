"""Options and variables of the environment that have no meaning are told when they are given."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import npcompile
from npcompile import jit


def plus(x: Any) -> Any:
    return x + 1


@pytest.mark.parametrize(("options", "error", "text"), [
    ({"fullgraf": True}, TypeError, "jit has no option 'fullgraf'; did you mean 'fullgraph'?"),
    ({"target": "cpu"}, TypeError, "jit has no option 'target'; options are fullgraph, dynamic,"),
    ({"deterministic": "yes"}, ValueError, "deterministic is False, True or 'portable', not 'yes'"),
    ({"backend": "gpu"}, ValueError, "backend is 'cpu' or 'reference', not 'gpu'"),
    ({"device": "tpu"}, ValueError, "device is 'cpu', 'cuda' or 'interpreter', not 'tpu'"),
    ({"parallel": 3}, ValueError, "parallel is False or True, not 3"),
    ({"static": 3}, TypeError, "static is a parameter's name or a sequence of names, not 3"),
    ({"static": "n"}, ValueError, "static: plus has no parameter 'n'"),
])
def test_options(options: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error) as raised:
        jit(**options)(plus)
    assert str(raised.value).startswith(text)


@pytest.mark.parametrize(("thing", "text"), [
    (3, "int objects"), (np.sin, "ufunc objects"), (dict, "classes: put it on their methods"),
    (functools.partial(plus, 1), "functools.partial: put it on the function inside"),
])
def test_what_is_no_function(thing: Any, text: str) -> None:
    with pytest.raises(TypeError) as raised:
        jit(thing)
    assert str(raised.value) == f"jit compiles Python functions, not {text}"


@pytest.mark.parametrize(("name", "value", "text"), [
    ("NPCOMPILE_LOGS", "all_", "log topics are trace,"),
    ("NPCOMPILE_NUM_THREADS", "many", "NPCOMPILE_NUM_THREADS is a positive number, not 'many'"),
    ("NPCOMPILE_CPU_CAPABILITY", "sse", "NPCOMPILE_CPU_CAPABILITY is default, avx2, avx512 or"),
    ("NPCOMPILE_PLATFORM", "yes", "NPCOMPILE_PLATFORM is try, not 'yes'"),
    ("NPCOMPILE_DETERMINISTIC", "maybe", "NPCOMPILE_DETERMINISTIC is 0, 1 or portable"),
    ("NPCOMPILE_CHECK", "maybe", "NPCOMPILE_CHECK is 0 or 1, not 'maybe'"),
    ("NPCOMPILE_DISABLE", "maybe", "NPCOMPILE_DISABLE is 0 or 1, not 'maybe'"),
])
def test_environment(name: str, value: str, text: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import npcompile; npcompile.jit(lambda x: x)(1)"],
        env={**os.environ, name: value}, capture_output=True, text=True, check=False,
    )
    assert f"ValueError: {text}" in done.stderr


@pytest.mark.parametrize("args", [(), (1, 2)])
def test_arguments_that_do_not_fit_are_told_as_python_does(args: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError) as plain:
        plus(*args)
    if args:
        with pytest.raises(TypeError) as told:
            jit(plus).explain(*args)
        assert str(told.value) == str(plain.value)
    with pytest.raises(TypeError) as lowered:
        jit(plus).lower(*args)
    assert str(lowered.value) == str(plain.value)


def test_number_of_threads() -> None:
    before = npcompile.get_num_threads()
    npcompile.set_num_threads(1)
    assert npcompile.get_num_threads() == 1
    npcompile.set_num_threads(before)
    with pytest.raises(ValueError, match="the number of threads is 1 to"):
        npcompile.set_num_threads(0)
