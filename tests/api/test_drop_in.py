"""``import npcompile as np`` gives every name of NumPy."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from typing import Any

import numpy
import pytest

import npcompile as np
import npcompile.fft
import npcompile.linalg
from npcompile.api.linear_algebra import FUNCTIONS

#: packages of ours that NumPy has names of, too
ROOMS = {"fft", "linalg", "core"}
#: names of NumPy's that make something else here
OTHERS = {"vectorize"}


@pytest.mark.parametrize("name", sorted({*numpy.__all__} - ROOMS - OTHERS - {"__version__"}))
def test_names_are_numpys(name: str) -> None:
    ours, theirs = getattr(np, name), getattr(numpy, name)
    if ours is not theirs:  # a better one
        assert name in npcompile._UFUNCS
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
