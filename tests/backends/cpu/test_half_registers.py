"""Tables are permuted in half a register, too: sums in NumPy's order add up eight lanes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from npcompile import jit


@pytest.mark.parametrize("name", ["exp", "exp2", "log", "log2", "log10", "cbrt"])
@pytest.mark.parametrize("char", ["f", "d"])
def test_sums_of_functions_have_the_bits_of_stored_ones(name: str, char: str) -> None:
    function = getattr(np, name)
    stored, summed = jit(lambda x: function(x)), jit(lambda x: function(x).sum(axis=-1))
    rng = np.random.default_rng(0)
    for shape in [(7,), (300,), (5, 133), (3, 1030)]:
        x: Any = (rng.random(shape) * 40).astype(char)
        assert np.array_equal(summed(x), stored(x).sum(axis=-1))
