"""Derivatives in the records against mpmath's numerical ones."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from npcompile.ops.record import OPERATORS
from tests.support.interpreter import run
from tests.support.special_functions import FUNCTIONS

NAMES = sorted(name for name in FUNCTIONS if OPERATORS[name].derivative is not None)


@pytest.mark.parametrize("name", NAMES)
def test_derivative(name: str) -> None:
    derivative, exact = OPERATORS[name].derivative, FUNCTIONS[name][0]
    assert derivative is not None
    count = len(OPERATORS[name].signatures.split("->")[0])
    low = 1.2 if name == "arccosh" else 0.15
    points = np.random.default_rng(1).uniform(low, low + 0.7, (count, 3))
    partials = run(derivative, *points)
    for k in range(count):
        order = tuple(int(j == k) for j in range(count))
        for place, got in enumerate(partials[k].tolist()):
            with mp.workprec(120):
                want = mp.diff(exact, tuple(map(mp.mpf, points[:, place].tolist())), order)
            assert abs(got - want) <= 1e-13 * max(1, abs(want)), (name, points[:, place])
