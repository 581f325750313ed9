"""Identities between special functions (DLMF 5.5, 7.2, 10.5, 10.28), as properties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import npcompile

special = npcompile.special
positive = st.floats(1e-3, 150.0)
many = settings(max_examples=200)


def close(a: float, b: float, ulps: float = 20.0, size: float = 0.0) -> bool:
    return abs(a - b) <= ulps * 2.3e-16 * max(abs(a), abs(b), size)


@many
@given(positive)
def test_recurrences(x: float) -> None:
    assert close(special.gamma(x + 1), x * special.gamma(x), 20 + 8 * x)
    assert close(special.psi(x + 1), special.psi(x) + 1 / x, size=1 / x)
    assert close(special.gammaln(x + 1), special.gammaln(x) + np.log(x), size=1 + x)


@many
@given(st.floats(-30, 30))
def test_gamma_reflection(x: float) -> None:
    wide = np.sin(np.pi * (x - np.round(x)))
    if abs(wide) > 1e-3:
        product = special.gamma(x) * special.rgamma(x)
        assert close(product, 1.0)


@many
@given(positive)
def test_wronskians(x: float) -> None:
    j, y = (special.j0, special.j1), (special.y0, special.y1)
    assert close(j[1](x) * y[0](x) - j[0](x) * y[1](x), 2 / (np.pi * x))
    i, k = (special.i0e, special.i1e), (special.k0e, special.k1e)
    assert close(i[0](x) * k[1](x) + i[1](x) * k[0](x), 1 / x)


@many
@given(st.floats(-5.0, 5.0))
def test_error_functions(x: float) -> None:
    assert close(special.erf(x) + special.erfc(x), 1.0)
    assert close(special.erfcx(x) * npcompile.exp(-x * x), special.erfc(x), 80)
    assert close(special.ndtr(x) + special.ndtr(-x), 1.0)
    assert close(special.log_ndtr(x), npcompile.log(special.ndtr(x)), size=1e-1)


@many
@given(st.floats(1e-300, 0.5))
def test_inverses(p: float) -> None:
    assert close(special.ndtr(special.ndtri(p)), p, 3000)
    assert close(special.erfc(special.erfcinv(p)), p, 3000)
    assert close(special.erf(special.erfinv(p)), p)


@many
@given(st.floats(-700.0, 700.0))
def test_symmetries(x: float) -> None:
    for even in (special.i0, special.i0e, special.j0):
        assert even(-x) == even(x)
    for odd in (special.i1, special.i1e, special.j1, special.dawsn, special.erf):
        assert odd(-x) == -odd(x)


@many
@given(st.floats(1e-3, 600.0), st.floats(1e-6, 1.0))
def test_monotonic(x: float, step: float) -> None:
    for falling in (special.k0e, special.k1e, special.erfcx, special.exp1, special.i0e):
        assert falling(x + step) <= falling(x)
    for growing in (special.psi, special.i0, special.log_ndtr):
        assert growing(x + step) >= growing(x)


BORDERS = [sign * 2.0**k * m for k in range(-9, 9) for m in (1.0, 1.5) for sign in (1, -1)]


@pytest.mark.parametrize("name, low, high", [
    ("gammaln", 2.0, 300.0), ("psi", 0.1, 300.0), ("ndtri", 0.001, 0.6), ("erfinv", -0.9, 0.9),
])
def test_monotonic_at_borders(name: str, low: float, high: float) -> None:
    """Where one piece ends and the next begins, and about zero."""
    steps = 1 + np.arange(-40, 41) * 2.0**-46
    for border in BORDERS:
        for at in (border, 1 - border):
            if at and low <= at <= high:
                values = getattr(special, name)(at * steps)
                assert (np.diff(values) * np.sign(at) > 0).all(), at


@many
@given(st.floats(-1e6, 1e6))
def test_circles(x: float) -> None:
    s, c = npcompile.sin(x), npcompile.cos(x)
    assert close(s * s + c * c, 1.0)
    if abs(c) > 1e-9:
        assert close(npcompile.tan(x), s / c)


@many
@given(st.floats(-300.0, 300.0))
def test_hyperbolas(x: float) -> None:
    s, c = npcompile.sinh(x), npcompile.cosh(x)
    assert close(s + c, npcompile.exp(x), size=abs(s))
    assert close(npcompile.tanh(x), s / c)
    assert close(npcompile.expm1(x), npcompile.exp(x) - 1.0, size=1.0)
