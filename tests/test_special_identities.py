"""Identities between special functions (DLMF 5.5, 7.2, 10.5, 10.28), as properties."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import npcompile

special = npcompile.special
positive = st.floats(1e-3, 150.0)
many = settings(max_examples=200, deadline=None)


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
