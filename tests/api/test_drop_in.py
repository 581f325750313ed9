"""``import npcompile as np`` gives every name of NumPy."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy
import pytest

import npcompile as np
import npcompile.fft
import npcompile.linalg
from benchmarks import programs
from benchmarks.programs.compare import difference
from benchmarks.programs.record import Program
from npcompile.api.linear_algebra import FUNCTIONS
from npcompile.ops.index import EAGER

#: packages of ours that NumPy has names of, too
ROOMS = {"fft", "linalg", "core"}
#: names of NumPy's that make something else here
OTHERS = {"vectorize", "show_config", "show_runtime"}


@pytest.mark.parametrize("name", sorted({*numpy.__all__} - ROOMS - OTHERS - {"__version__"}))
def test_names_are_numpys(name: str) -> None:
    ours, theirs = getattr(np, name), getattr(numpy, name)
    if ours is not theirs:  # a better one
        assert theirs.__name__ in EAGER
        assert type(ours) is numpy.ufunc
        assert (ours.__name__, ours.nin, ours.nout) == (theirs.__name__, theirs.nin, theirs.nout)


@pytest.mark.parametrize("room", ["linalg"])
def test_names_of_rooms(room: str) -> None:
    ours, theirs = getattr(npcompile, room), getattr(numpy, room)
    for name in theirs.__all__:
        mine = getattr(ours, name)
        if mine is not getattr(theirs, name):  # a faster one for batches
            assert name in FUNCTIONS
            assert mine.__wrapped__ is getattr(theirs, name)
            assert inspect.signature(mine) == inspect.signature(getattr(theirs, name))


def test_unknown_names() -> None:
    for module in (npcompile, npcompile.linalg):
        with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
            _ = module.nonsense
    with pytest.raises(AttributeError, match="npcompile"):
        _ = npcompile._core


def test_star_gives_numpys_names_only() -> None:
    space: dict[str, Any] = {}
    exec("from npcompile import *", space)
    assert "sqrt" in space
    assert "__version__" not in space
    assert "jit" not in space
    assert {"jit", "sqrt", "set_logs"} <= set(dir(npcompile))


def test_functions_are_captured() -> None:
    @np.jit(fullgraph=True)
    def function(x: Any) -> Any:
        y = np.linalg.norm(x) + np.sqrt(np.abs(x)).sum()
        return np.where(x > 0, x, y) * np.pi

    x = numpy.linspace(-1, 1, 9)
    y = numpy.linalg.norm(x) + numpy.sqrt(numpy.abs(x)).sum()
    assert numpy.allclose(function(x), numpy.where(x > 0, x, y) * numpy.pi)


SUBMODULES = ("random", "lib.stride_tricks", "testing", "typing", "polynomial", "ma.extras",
              "exceptions", "dtypes", "char", "strings", "rec", "ctypeslib",
              "polynomial.chebyshev")


@pytest.mark.parametrize("name", SUBMODULES)
def test_submodules_are_numpys(name: str) -> None:
    theirs = importlib.import_module(f"numpy.{name}")
    specification = theirs.__spec__
    assert importlib.import_module(f"npcompile.{name}") is theirs
    assert theirs.__spec__ is specification


def test_from_a_submodule() -> None:
    space: dict[str, Any] = {}
    exec("import npcompile.random as r\nfrom npcompile.random import default_rng", space)
    assert space["default_rng"] is numpy.random.default_rng
    assert space["r"] is numpy.random is np.random


@pytest.mark.parametrize("room", ["linalg"])
def test_own_rooms_are_not_hidden(room: str) -> None:
    assert importlib.import_module(f"npcompile.{room}").__name__ == f"npcompile.{room}"


@pytest.mark.parametrize("name", ["nonsense", "_core", "random.nonsense", "linalg.nonsense"])
def test_unknown_submodules(name: str) -> None:
    with pytest.raises(ModuleNotFoundError, match=f"No module named 'npcompile.{name}'"):
        importlib.import_module(f"npcompile.{name}")


def test_array_api() -> None:
    assert np.__array_api_version__ == numpy.__array_api_version__
    assert np.__array_namespace_info__ is numpy.__array_namespace_info__


def test_nothing_heavy_is_imported() -> None:
    code = (
        "import sys, npcompile as np; np.sqrt(2.0); np.jit(lambda x: x)\n"
        "print([m for m in ('sympy', 'scipy', 'torch', 'triton', 'cupy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# ------------------------------------------------------------------ programs in which nothing but
# the name of NumPy is replaced


def renamed(topic: str) -> dict[str, Program]:
    """The array programs of a module of the corpus, ``sed s/numpy/npcompile/``."""
    source = (Path(programs.__file__).parent / f"{topic}.py").read_text()
    source = re.sub(r"\bnumpy\b", "npcompile", source)
    source = source.replace("from benchmarks.programs.record import program", "")
    found = {}

    def program(function: Any, *args: Any, **options: Any) -> None:
        found[function.__name__] = Program(function, *args, **options)

    exec(compile(source, topic, "exec"), {"program": program, "__name__": topic})
    return {name: made for name, made in found.items() if not made.scalar}


def test_programs_run_unchanged() -> None:
    made = {name: one for topic in programs.TOPICS for name, one in renamed(topic).items()}
    assert len(made) > 30
    for name, ours in made.items():
        theirs = programs.PROGRAMS[name]
        outcomes = []
        for one in (ours, theirs):
            args = one.arguments(one.small)
            with warnings.catch_warnings(action="ignore"):
                outcomes.append((one.function(*args), [x for x in args if not callable(x)]))
        assert not difference(outcomes[0], outcomes[1], False), name


def test_array_api_names() -> None:
    info = np.__array_namespace_info__()
    assert info.default_dtypes()["real floating"] == numpy.float64
    assert isinstance(info.capabilities(), dict) and info.default_device() == "cpu"
    for name in ("acos", "atan2", "pow", "concat", "permute_dims", "matrix_transpose", "isdtype",
                 "unstack", "cumulative_sum", "unique_counts", "bitwise_invert", "vecdot"):
        assert callable(getattr(np, name))
    x = np.asarray([0.0, 0.5, 1.0])
    assert numpy.allclose(np.acos(x), numpy.arccos(x))
    assert np.concat((x, x)).shape == (6,)
    assert np.permute_dims(np.ones((2, 3)), (1, 0)).shape == (3, 2)


# ------------------------------------------------------------------ what tells about itself


def test_show_config() -> None:
    ours: Any = np.show_config("dicts")
    theirs: Any = numpy.show_config("dicts")
    assert ours.pop("npcompile")["npcompile"] == npcompile.__version__ and ours == theirs
    with contextlib.redirect_stdout(io.StringIO()) as told:
        assert np.show_config() is None
    assert "llvmlite" in told.getvalue() and "Build Dependencies" in told.getvalue()
    with pytest.raises(AttributeError):
        np.show_config("nonsense")  # type: ignore[call-overload]


def test_show_runtime() -> None:
    with contextlib.redirect_stdout(io.StringIO()) as told:
        np.show_runtime()
    assert "simd_extensions" in told.getvalue() and "'threads': " in told.getvalue()


THREADPOOLCTL = """
made = []

class LibController:
    def __init__(self):
        self.version = self.get_version()

def register(controller):
    made.append(controller)
"""


@pytest.mark.parametrize("order", ["npcompile, threadpoolctl", "threadpoolctl, npcompile"])
def test_threadpoolctl_sees_the_pool(order: str, tmp_path: Path) -> None:
    (tmp_path / "threadpoolctl.py").write_text(THREADPOOLCTL)
    code = f"""
import {order}
(kind,) = threadpoolctl.made
pool = kind()
before = pool.get_num_threads()
pool.set_num_threads(1)
assert pool.get_num_threads() == npcompile.get_num_threads() == 1
pool.set_num_threads(before)
assert npcompile.get_num_threads() == before
print(pool.user_api, pool.version, pool.filename_prefixes)
"""
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": path})
    assert done.stderr == ""
    assert done.stdout == f"npcompile {npcompile.__version__} ('_multiarray_umath',)\n"
