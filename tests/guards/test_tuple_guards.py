"""Tuples in globals and classes: machine code looks at calls by itself, and sees other tuples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import npcompile
from npcompile.runtime.versions.native import Native

KINDS: Any = (list, tuple)
NUMBERS: Any = (2.0, 3)
NESTED: Any = ((1, 2.5), np.arange(3.0))


class Holder:
    weights: Any = (0.5, 0.25)


def turned(angle: float) -> Any:
    if isinstance(angle, KINDS):
        return angle
    return np.array([math.cos(angle), math.sin(angle)])


def weighed(x: float) -> Any:
    return x * NUMBERS[0] + NUMBERS[1] + Holder.weights[1]


def nested(x: float) -> Any:
    return NESTED[0][1] * x + NESTED[1]


def unpacked(x: float) -> Any:
    a, b = NUMBERS
    return x * a + b * len(NUMBERS)


@pytest.mark.parametrize("function", [turned, weighed, nested, unpacked])
def test_need_no_python(function: Any) -> None:
    compiled = npcompile.jit(function)
    for x in (0.5, 1.5):
        assert np.array_equal(compiled(x), function(x))
    (version,) = compiled._dispatcher.versions
    assert version.direct and isinstance(version.executable, Native) and version.executable.bare


def test_other_tuples_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    functions = [npcompile.jit(f) for f in (turned, weighed, nested, unpacked)]
    plain = [turned, weighed, nested, unpacked]
    numbers = [(2.0, 3), (4.0, 5), (4, 5.0), (1.0, 2, 3), (True, 2), [6.0, 7], (2.0, 3)]
    for held in numbers:
        monkeypatch.setitem(globals(), "NUMBERS", held)
        monkeypatch.setitem(globals(), "NESTED", ((0, held[0]), np.full(2, 1.0 * held[1])))
        monkeypatch.setattr(Holder, "weights", (1, held[1]))
        monkeypatch.setitem(globals(), "KINDS", (list, float) if held[0] == 4 else (list, tuple))
        for compiled, function in zip(functions, plain):
            for _ in range(3):
                try:
                    want: Any = function(0.5)
                except ValueError as error:
                    with pytest.raises(ValueError, match=str(error)[:20]):
                        compiled(0.5)
                    continue
                got = compiled(0.5)
                assert type(got) is type(want) and np.array_equal(got, want)


def test_arrays_in_tuples_change(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = npcompile.jit(nested)
    for turn in range(4):
        NESTED[1][0] = turn
        assert compiled(2.0).tolist() == nested(2.0).tolist()
