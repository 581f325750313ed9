"""Reductions of numbers into arrays of no axes: NumPy's numbers have a method, which returns a
number; of Python's own, and of arrays, ``out`` itself is returned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import npcompile

METHODS = ["sum", "prod", "max", "min", "all", "any", "mean", "argmin", "argmax"]
NAMES = [*METHODS, "nansum", "nanmax", "median", "round", "clip"]
CALLS = [f"np.{name}(x, {'0, 3, ' if name == 'clip' else ''}out=o)" for name in NAMES]
CALLS += [f"x.{name}(out=o)" for name in METHODS]


@pytest.mark.parametrize("call", CALLS)
def test_numbers(call: str) -> None:
    plain = eval(f"lambda x, o: {call}", {"np": np})
    fast = npcompile.jit(plain)
    for x in (np.float64(2.5), np.int64(2), np.bool_(True), np.array(2.5), 2.5):
        if type(x) is float and call.startswith("x"):
            continue
        dtype = np.intp if "arg" in call else np.asarray(x).dtype
        for shape in ((), (1,)):
            found: list[Any] = []
            for called in (plain, fast, fast):
                out = np.zeros(shape, dtype)
                try:
                    result = called(x, out)
                    found.append((result is out, type(result), repr(result), repr(out)))
                except (TypeError, ValueError) as error:
                    found.append((type(error), str(error)))
            assert found[1] == found[0] and found[2] == found[0]
