"""What docs/differences.md says of numbers holds, and what it no longer says does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special as sp

from npcompile import jit


@pytest.mark.parametrize("function", [np.dot, np.inner])
@pytest.mark.parametrize("size", [1, 3, 5000])
def test_products_with_the_number_0(function: Any, size: int) -> None:
    x = np.linspace(1, 2, size)
    x[0] = np.inf
    compiled = jit(lambda a, b: function(a, b))
    with np.errstate(invalid="ignore"):
        for args in ((x, 0.0), (0.0, x), (np.array(0.0), x), (x[:, None], np.float64(0))):
            assert np.array_equal(compiled(*args), function(*args), equal_nan=True)


def test_special_functions_at_ends() -> None:
    assert jit(lambda x: sp.gammaln(x))(np.array([-np.inf]))[0] == np.inf
    assert np.signbit(jit(lambda x: sp.erfinv(x))(np.array([-0.0]))[0])
    found = jit(lambda x: sp.ellipeinc(x, -np.inf))(np.array([1.0, -1.0]))
    assert found.tolist() == [np.inf, -np.inf]


def test_who_owns_memory() -> None:
    a = np.arange(8.0)
    assert jit(lambda a: np.tile(a, 2))(a).base is None
    assert jit(lambda a: a.imag)(a).base is not None
