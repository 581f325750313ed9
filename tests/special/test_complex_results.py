"""Functions of scipy.special with complex results: against mpmath, SciPy and other vectors."""

from __future__ import annotations

from functools import partial
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp

import npcompile
from npcompile import jit
from npcompile.ops.record import OPERATORS
from tests.special.test_complex import modulus_errors, numbers, points
from tests.support import oracle
from tests.support.complex_subprograms import FADDEEVA
from tests.support.special_functions import ulp_errors

WIDTHS = ("avx512", "avx2")


def in_all_widths(function: Any, monkeypatch: pytest.MonkeyPatch, *args: np.ndarray) -> np.ndarray:
    """The compiled function's results, which have the same bits in vectors of any width."""
    found = []
    for width in WIDTHS:
        monkeypatch.setenv("NPCOMPILE_CPU_CAPABILITY", width)
        found.append(jit(function, fullgraph=True, cache=False)(*args))
    assert found[0].tobytes() == found[1].tobytes()
    one = jit(function, fullgraph=True, cache=False)(*(x[1] for x in args))
    assert one.tobytes() == found[0][1].tobytes()
    return np.asarray(found[0])


@pytest.mark.parametrize("name", ["hankel1", "hankel1e", "hankel2", "hankel2e"])
def test_hankel(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    v, x = rng.uniform(-30, 30, 40), rng.uniform(-40, 60, 40)
    function, exact = getattr(sp, name), getattr(mp, name.removesuffix("e"))
    got = in_all_widths(lambda v, x: function(v, x), monkeypatch, v, x)
    assert got.dtype == np.complex128
    for order, at, value in zip(v, x, got):
        with mp.workprec(200):
            want = exact(mp.mpf(order), mp.mpc(at))
            if name.endswith("e"):
                want *= mp.exp(mp.mpc(0, -at if "1" in name else at))
            assert abs(want - complex(value)) <= 60 * 2.0**-53 * abs(want), (order, at)
    small = jit(lambda v, x: function(v, x), fullgraph=True)(v.astype("f"), x.astype("f"))
    np.testing.assert_allclose(small, function(v.astype("f"), x.astype("f")), rtol=1e-6)
    edges = np.array([0.0, -0.0, np.nan])
    assert np.isnan(jit(lambda x: function(1.5, x), fullgraph=True)(edges)).all()
    assert jit(lambda n: function(2, n), fullgraph=True)(np.arange(1, 4)).dtype == np.complex128
    z = x[:5] + 1j
    np.testing.assert_array_equal(jit(lambda z: function(1.5, z))(z), function(1.5, z))


def test_log_gamma_at_the_ends_of_its_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where ``x + 1`` or ``x - 0.5`` is rounded, and to the largest number that has one."""
    edges = np.array([2.0**-1000, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 128.0, 2.0**40, 2.0**52, 2.0**53,
                      2.0**1000, 2.5599833e305])
    x = np.concatenate([edges, np.nextafter(edges, 0), np.nextafter(edges, 1e308), [
        0.45821864141998786, 0.4394402318817426, 7182087997312876.0, 2.5583022256621864e305]])
    x = x[(x != 1.0) & (x != 2.0)]
    got = in_all_widths(lambda x: sp.gammaln(x), monkeypatch, x)
    assert ulp_errors("gammaln", (x,), got).max() < 0.6
    ends = np.array([1.0, 2.0, 2.56e305, np.inf, -np.inf, 0.0])
    np.testing.assert_array_equal(jit(lambda x: sp.gammaln(x), fullgraph=True)(ends),
                                  [0.0, 0.0, *[np.inf] * 4])


@pytest.mark.parametrize("name", ["erfinv", "erfcinv", "ndtri"])
def test_inverse_error_functions_are_the_nearest_numbers(
        name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """About the ends of the pieces, next to the ends and next to 0."""
    octaves = 2.0 ** np.arange(-53, 0)
    edges = np.concatenate([octaves, 1.5 * octaves, [0.5, 1.0, 2.0**-57 + 2.0**-60]])
    small = 2.0 ** np.array([-1074, -1073, -1060.5, -1022, -1021.5, -969, -959.5, -500, -80])
    if name == "erfinv":
        x = np.concatenate([1 - edges, edges, small, [0.482423397962172, 0.26791076210250125]])
    else:
        end = 2.0 if name == "erfcinv" else 1.0
        x = np.concatenate([edges * (end / 2), end - edges * (end / 2), small])
    x = np.concatenate([x, np.nextafter(x, 0), np.nextafter(x, 1)])
    x = x[(x != 0) & (x != 1) & (x != 2.0) & (x != 0.5 * (name == "ndtri"))]
    got = in_all_widths(lambda x: getattr(sp, name)(x), monkeypatch, x)
    assert ulp_errors(name, (x,), got).max() < 0.5005


def test_single_complement_at_the_ends_of_its_pieces() -> None:
    """Where what the polynomial leaves out is largest; float64 is the reference."""
    x = np.concatenate([np.arange(low, low + 0.01, 2.0**-22) for low in (1.88, 2.802)])
    at = jit(lambda x: sp.erfc(x), fullgraph=True)
    single, double = at(x.astype("f")), at(x.astype("f").astype("d"))
    assert (abs(single - double) / np.spacing(single)).max() < 0.5005


def test_inverse_error_function_is_odd() -> None:
    at = jit(lambda x: sp.erfinv(x), fullgraph=True)(np.array([-0.0, 0.0, -0.5, 0.5]))
    np.testing.assert_array_equal(np.signbit(at), [True, False, True, False])
    assert at[2] == -at[3]


def test_log_gamma_of_negative_numbers() -> None:
    """Errors are some 2**-60 of the terms, which cancel next to zeros and poles."""
    rng = np.random.default_rng(0)
    x = -np.concatenate([rng.uniform(0, 20, 200), np.exp(rng.uniform(-700, 30, 100)),
                         10 + 2.0 ** -rng.uniform(1, 48, 50), [0.5, 2.0**-100, 170.3, 2.0**40 + 0.5,
                         2.457024738220801, 2.747682646727412]])
    got = jit(lambda x: sp.gammaln(x), fullgraph=True)(x)
    with mp.workprec(200):
        for z, value in zip(x.tolist(), got.tolist()):
            terms = 1 + abs(mp.loggamma(mp.mpf(-z))) + abs(mp.log(-z))
            exact = mp.log(abs(mp.gamma(mp.mpf(z))))
            assert abs(mp.mpf(value) - exact) <= 2.0**-53 * abs(exact) + 2.0**-58 * terms, z
    at = jit(lambda x: sp.gammaln(x), fullgraph=True)(np.array([-1.0, -2.0, -1e300, -0.0]))
    assert (at == np.inf).all()


def test_orders_that_are_huge() -> None:
    """J is 0 and Y infinite, where the order is far beyond the argument."""
    v = np.array([2.0**50 + 2, 2.0**52, 1e20, 1e300])
    for x in (0.0, 1.0, 1e10):
        for order in (v, -v):
            assert (jit(lambda v, x: sp.jv(v, x), fullgraph=True)(order, x) == 0).all()
            assert (jit(lambda v, x: sp.yv(v, x), fullgraph=True)(order, x) == -np.inf).all()
    odd = -(2.0**50) - np.array([1.0, 0.5, 0.25])
    y = jit(lambda v, x: sp.yv(v, x), fullgraph=True)(odd, 1.0)
    np.testing.assert_array_equal(y, [np.inf, 0.0, -np.inf])


@pytest.mark.parametrize("v", [0.0, -0.5, -1.0, 0.3, -1.6])
def test_modstruve_of_tiny_numbers(v: float) -> None:
    x = np.array([5e-324, 1e-310, 1e-300, 1e-200, 1e-150, 1e-20, 0.9])
    got = jit(lambda v, x: sp.modstruve(v, x), fullgraph=True)(np.full(x.size, v), x)
    for at, value in zip(x, got):
        h, b = mp.mpf(at) / 2, mp.mpf(v) + 1.5
        want = mp.fsum(h ** (2 * k + v + 1) * mp.rgamma(k + 1.5) * mp.rgamma(k + b)
                       for k in range(20))
        assert abs(value - want) <= 1e-13 * abs(want) + 5e-324


EDGES = np.array([0.0, -0.0, 1.5, -1.5, np.inf, -np.inf, np.nan, 9.0, -9.0, 1e-300, 1e9])


@pytest.mark.parametrize("name", FADDEEVA)
def test_error_functions(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function = getattr(sp, name)
    z = points("D", 40)
    got = in_all_widths(lambda z: function(z), monkeypatch, z)
    assert modulus_errors(name, z, got).max() <= OPERATORS[name].ulp["D"]
    eager = getattr(npcompile.special, name)
    assert eager(z).tobytes() == got.tobytes()
    small = jit(lambda z: function(z), fullgraph=True)(z.astype("F"))
    assert small.dtype == np.complex64
    assert modulus_errors(name, z.astype("F"), small).max() <= OPERATORS[name].ulp["F"]
    z = numbers(np.repeat(EDGES, EDGES.size), np.tile(EDGES, EDGES.size), "D")
    with np.errstate(all="raise", under="ignore"):
        got = jit(lambda z: function(z), fullgraph=True)(z)
    with np.errstate(all="ignore"):
        want = function(z)
    near = partial(oracle.equal_elements, rtol=1e-12, atol=1e-14 * abs(want), signs=False)
    fine = near(got.real, want.real) & near(got.imag, want.imag)
    fine |= (abs(z) < np.inf) & ~(abs(want) < np.inf)  # SciPy has NaN for some infinite parts
    assert fine.all(), (z[~fine], got[~fine], want[~fine])


@pytest.mark.parametrize("name", ["erf", "erfi", "dawsn", "wofz"])
def test_small_imaginary_parts(name: str) -> None:
    """They carry derivatives."""
    function, exact = getattr(sp, name), FADDEEVA[name]
    x = np.linspace(-4.0, 4.0, 12)
    got = jit(lambda z: function(z), fullgraph=True)(x + 1e-20j)
    for at, value in zip(x, got):
        with mp.workprec(200):
            want = exact(mp.mpc(at, 1e-20))
        assert abs(value.imag - float(want.imag)) <= 1e-12 * abs(float(want.imag)), at
