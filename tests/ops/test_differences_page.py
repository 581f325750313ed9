"""What docs/differences.md says of numbers holds, and what it no longer says does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special as sp

import npcompile
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


def test_numbers_that_come_as_they_are() -> None:
    number = 12345.678
    assert jit(lambda x: x)(number) is number
    assert jit(lambda x, held: held.append(x) or x, fullgraph=False)(number, []) is number
    assert jit(lambda x, y: x if y > 0 else y)(number, 1.0) == number


def test_signs_of_zeros() -> None:
    a, b = np.array([0.0, -0.0]), np.array([-0.0, 0.0])
    for name in ("minimum", "maximum"):
        function = getattr(np, name)
        found = jit(lambda a, b, function=function: function(a, b))(a, b)
        assert np.signbit(found).tolist() == np.signbit(function(a, b)).tolist()
    assert np.signbit(jit(lambda a, b: np.fmin(a, b))(a, b)).all()  # IEEE 754's minimumNumber
    assert not np.signbit(jit(lambda a, b: np.fmax(a, b))(a, b)).any()


def test_square_roots_as_powers() -> None:
    x = np.array([-0.0, -np.inf])
    assert npcompile.power(x, 0.5).tolist() == [0.0, np.inf]
    with np.errstate(invalid="ignore"):
        found = jit(lambda x: x ** 0.5)(x)
        assert np.array_equal(found, x ** 0.5, equal_nan=True)
        assert np.signbit(found[0])


def test_zeta_of_infinite_and_missing_arguments() -> None:
    found = jit(lambda x, q: sp.zeta(x, q))(np.array([np.nan, np.inf]), np.array([2.0, 2.0]))
    assert np.isnan(found[0])
    assert found[1] == 0.0


def test_arrays_too_large_for_any_memory() -> None:
    with pytest.raises(MemoryError):
        np.ones(1 << 58)
    compiled = jit(lambda n: np.ones(n).sum())
    assert compiled(8) == 8.0  # the whole would take years
    assert not compiled.cache_info().refused


def test_more_who_own_memory() -> None:
    a = np.arange(6.0).reshape(2, 3)
    assert jit(lambda a, b: np.cross(a, b))(a[0], a[1]).base is None
    assert jit(lambda a: np.histogram(a)[1])(a).base is None
    assert jit(lambda n: np.linspace(0, 1, n))(5).base is None
    assert jit(lambda a: a[:, [0, 1]])(a).base is None
    (found,) = jit(lambda a: np.nonzero(a))(a[0])
    assert found.base.shape == (2,)
    assert np.nonzero(a[0])[0].base.shape == (2, 1)


def test_order_of_axes_beside_large_temporaries() -> None:
    a, b = np.ones((256, 256)), np.ones((256, 256)).T
    small = a[:8, :8].copy() + b[:8, :8].copy("K") * 2
    found = jit(lambda a, b: a + b * 2)(a, b)
    assert (found.strides[0] > found.strides[1]) == (small.strides[0] > small.strides[1])


def test_methods_of_own_ufuncs_hand_objects_ours() -> None:
    seen = []

    class Thing:
        def __array_ufunc__(self, ufunc, method, *args, **kwargs):
            seen.append(ufunc)

    npcompile.exp(Thing())
    npcompile.add.reduce(Thing())
    assert seen == [np.exp, npcompile.add]


def test_a_single_matrix_has_lapacks_bits() -> None:
    a = np.random.default_rng(1).normal(size=(6, 6))
    assert np.array_equal(jit(lambda a: np.linalg.inv(a))(a), np.linalg.inv(a))
    many = np.stack([a, a + 1])
    found = jit(lambda a: np.linalg.inv(a))(many)
    np.testing.assert_allclose(found, np.linalg.inv(many), rtol=1e-9)


@pytest.mark.parametrize("axis", [0, 1])
def test_results_along_an_axis_own_their_memory(axis: int) -> None:
    a = np.arange(6.0).reshape(2, 3)
    assert jit(lambda a: np.apply_along_axis(lambda row: row.sum(), axis, a))(a).base is None
    assert np.apply_along_axis(lambda row: row.sum(), axis, a).base is not None
