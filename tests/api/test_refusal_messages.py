"""Refusals speak of the kinds of values that a program has, not of the compiler's."""

import numpy as np
import pytest

from npcompile import jit

X = np.arange(3.0)


class Point:
    x = 1.0


@pytest.mark.parametrize(("function", "args", "text"), [
    (lambda p, x: p[0] + x, (Point(), X), "subscript: of a Point is left to Python"),
    (lambda p, x: [y + x for y in p], (Point(), X), "iteration: over a Point is left to Python"),
    (lambda x: x.sum().unknown, (X,), "unknown"),
    (lambda x: (y := (x, 1)) and y(2), (X,), "call: of a tuple"),
    (lambda x: {**x}, (X,), "**: of an array is left to Python"),
])
def test_kinds_are_python_s(function, args, text):
    refusal = jit(function).explain(*args).refusal
    assert text in str(refusal)
    for word in ("static", "node", "arrayref", "sequence", "box"):
        assert f" {word} " not in f"{refusal} "
