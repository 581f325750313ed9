"""Functions that are subprograms: against mpmath, at special points against SciPy, and in machine
code of any vector width."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest
import scipy.special as sp

from npcompile import jit
from npcompile.ops.record import OPERATORS
from tests.support_called import CALLED, SCIPY_IS_WRONG
from tests.support_fma import run
from tests.support_special import Points, Samples, called, operands_at, ulp_errors

WIDTHS = ("avx512", "avx2")


def compiled(name: str, samples: Samples) -> np.ndarray:
    """The function in machine code; it may raise no flags."""
    function = jit(called(name, len(samples)), fullgraph=True, cache=False)
    with np.errstate(all="raise", under="ignore"):
        return np.asarray(function(*samples))


def same(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    return ((got == want) & (np.signbit(got) == np.signbit(want))) | (np.isnan(got)
                                                                      & np.isnan(want))


@pytest.mark.parametrize("char", "df")
@pytest.mark.parametrize("name", CALLED)
def test_error_bound(name: str, char: str) -> None:
    samples = CALLED[name][1](Points(char, 8))
    errors = ulp_errors(name, samples, compiled(name, samples))
    k = int(np.argmax(errors))
    assert errors[k] <= OPERATORS[name].ulp[char], [float(x[k]) for x in samples]


@pytest.mark.parametrize("char", "df")
@pytest.mark.parametrize("name", CALLED)
def test_special_values(name: str, char: str) -> None:
    operands = operands_at(name, char)
    got = compiled(name, operands)
    with np.errstate(all="ignore"):
        want = OPERATORS[name].oracle()(*operands)
        close = np.abs(got - want) <= 1e-5 * np.abs(want) + np.finfo(char).tiny
    assert got.dtype == want.dtype
    bad = ~(same(got, want) | (close & np.isfinite(want)))
    if name in SCIPY_IS_WRONG:
        bad &= ~SCIPY_IS_WRONG[name](*operands)
    assert not bad.any(), [(*(x[bad][:5] for x in operands), got[bad][:5], want[bad][:5])]


@pytest.mark.parametrize("char", "df")
@pytest.mark.parametrize("name", CALLED)
def test_bits(name: str, char: str, monkeypatch: pytest.MonkeyPatch) -> None:
    samples = CALLED[name][1](Points(char, 60))
    operands = tuple(np.concatenate(part) for part in zip(samples, operands_at(name, char)))
    few = np.random.default_rng(2).integers(0, operands[0].size, 30)
    program: Any = OPERATORS[name].lower
    with np.errstate(all="ignore"):
        want = np.asarray(run(program, *(x[few] for x in operands)))
    found = []
    for width in WIDTHS:
        monkeypatch.setenv("NPCOMPILE_CPU_CAPABILITY", width)
        found.append(compiled(name, operands))
        assert same(found[-1][few], want).all(), [x[few] for x in operands]
        one = [compiled(name, tuple(x[k] for x in operands)) for k in few[:3]]
        assert same(np.array(one), want[:3]).all()
    assert same(*found).all(), [x[~same(*found)] for x in operands]


@pytest.mark.parametrize(
    "name", [name for name in CALLED if OPERATORS[name].derivative is not None])
def test_derivative(name: str) -> None:
    derivative, exact = OPERATORS[name].derivative, CALLED[name][0]
    assert derivative is not None
    count = len(OPERATORS[name].signatures.split("->")[0])
    points = np.random.default_rng(1).uniform(0.15, 0.85, (count, 3))
    for k, partial in enumerate(run(derivative, *points)):
        if partial is None:
            continue
        order = tuple(int(j == k) for j in range(count))
        for place, got in enumerate(partial.tolist()):
            with mp.workprec(120):
                want = mp.diff(exact, tuple(map(mp.mpf, points[:, place].tolist())), order)
            assert abs(got - want) <= 1e-13 * max(1, abs(want)), (name, k, points[:, place])


def test_compositions() -> None:
    """Functions that are written in Python there; numbers give what they give there."""
    x, n = np.linspace(0.3, 9, 12), np.arange(4).repeat(3)
    for function, args in ((sp.zeta, (x + 1,)), (sp.zeta, (x + 1, 2.0)), (sp.polygamma, (n, x)),
                           (sp.polygamma, (0, x)), (sp.polygamma, (2, 0.5)), (sp.zeta, (3.0,)),
                           (sp.polygamma, (1, x.astype("f")))):
        got, want = jit(lambda *a, f=function: f(*a), fullgraph=True)(*args), function(*args)
        assert type(got) is type(want) and got.dtype == want.dtype
        np.testing.assert_allclose(got, want, 1e-14)
