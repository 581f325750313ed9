"""NumPy's functions over sorts, tables and products: NumPy's results bit by bit, by records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from npcompile import jit
from tests.support.oracle import difference, observe


def function(expression: str, names: str) -> Any:
    space: dict[str, Any] = {"np": np}
    exec(f"def f({names}):\n    return {expression}", space)
    return space["f"]


def matches(plain: Any, compiled: Any, *args: Any) -> None:
    for _ in range(2):
        got, want = observe(compiled, *args), observe(plain, *args)
        assert not difference(got, want, bases=False, flags=False, lines=False)


def check(expression: str, own: str, cases: list[tuple[Any, ...]], names: str = "x") -> None:
    """Compares calls; the first is one that no function ``own`` of NumPy's takes part in."""
    plain = function(expression, names)
    compiled = jit(plain)
    for args in cases:
        matches(plain, compiled, *args)
    text = str(jit(plain).explain(*cases[0]))
    assert "compiled whole" in text
    assert f": numpy.{own}\n" not in text + "\n"


def rows(char: str = "d", *shape: int) -> Any:
    rng = np.random.default_rng(len(shape))
    return (rng.random(shape or (6, 30)) * 20 - 10).astype(char)


def special(*numbers: float) -> Any:
    return np.random.default_rng(1).choice([1.0, 2.0, *numbers], (5, 8))


ODD = [special(np.nan), special(0.0, -0.0), special(np.inf, -np.inf), np.full((2, 3), np.nan),
       np.empty((0, 3)), np.empty((2, 0))]
TURNED = [rows().T, rows()[::2, ::3], rows("f"), rows("l"), rows("d", 4, 5, 6)]


@pytest.mark.parametrize("expression", [
    "np.median(x, axis=-1)", "np.median(x, axis=0, keepdims=True)", "np.nanmedian(x, axis=1)",
    "np.percentile(x, 30, axis=-1)", "np.quantile(x, [0.1, 0.5, 1.0], axis=0)",
    "np.nanquantile(x, 0.25, axis=-1)", "np.nanpercentile(x, [10, 90], axis=0)",
])
def test_order_statistics_of_rows(expression: str) -> None:
    check(expression, expression[3:].partition("(")[0], [(x,) for x in [rows(), *TURNED, *ODD]])


@pytest.mark.parametrize("expression", [
    "np.median(x)", "np.nanmedian(x)", "np.percentile(x, 50.0)", "np.quantile(x, 0.9)",
    "np.nanquantile(x, [0.0, 0.2])",
])
def test_order_statistics_of_all_elements(expression: str) -> None:
    cases = [rows("d", 1000), rows("d", 301), rows("f", 7), rows("l", 400), rows("d", 1), *ODD]
    cases.append(np.where(np.arange(400) == 7, np.nan, rows("d", 400)))
    check(expression, expression[3:].partition("(")[0], [(x,) for x in cases])


def test_quantiles_that_only_the_run_knows() -> None:
    check("np.percentile(x, q)", "percentile", [(rows("d", 300), q) for q in (10.0, 0.0, 100.0)]
          + [(rows("d", 300), 101.0), (rows("d", 300), np.nan)], "x, q")


def test_partitions() -> None:
    cases = [(rows("d", 300), 7), (rows("d", 300), 299), (rows("f", 4), -1), (rows("l", 4), 4)]
    check("np.partition(x, k), np.argpartition(x, k)", "median", cases, "x, k")


SETS = [rows("l", 60), rows("d", 60), rows("i", 3, 4), np.arange(9) * 2**58, np.array([3]), *ODD]


@pytest.mark.parametrize("expression", [
    "np.unique(x)", "np.unique(x, return_counts=True)", "np.unique(x, return_inverse=True)",
    "np.unique_all(x)", "np.union1d(x, x[:2] + 1)", "np.intersect1d(x, x[:3])",
    "np.setxor1d(x, x[1:] * 2)", "np.setdiff1d(x, x[:2])",
])
def test_sets(expression: str) -> None:
    check(expression, expression[3:].partition("(")[0], [(x,) for x in SETS])


def test_membership() -> None:
    near, far = np.arange(40) % 7, np.arange(40) * 2**57
    tests = [near[:3], near + 3, far, near[:0], np.array([2**63 - 1, -(2**63)] * 20)]
    cases = [(x, t) for x in (near.reshape(5, 8), far) for t in tests]
    cases += [(x, t) for x in ODD for t in (special(np.nan)[0], special(0.0, -0.0).ravel())]
    check("np.isin(x, t), np.isin(x, t, invert=True)", "isin", cases, "x, t")


def test_covariances() -> None:
    cases = [(x,) for x in (rows(), rows("d", 9), rows("l"), rows("f"), rows().T, *ODD)]
    check("np.cov(x)", "cov", cases)
    check("np.corrcoef(x, rowvar=False)", "corrcoef", cases)
    check("np.cov(x[0], x[1], ddof=0)", "cov", cases[:1])


def test_polynomials() -> None:
    cases = [(x, p) for x in (rows("d", 9), rows("l", 9), rows("f", 9), special(np.inf, np.nan)[0])
             for p in (np.array([1.0, -2, 3]), np.array([2, 0, 1]), rows("d", 40)[:0])]
    check("np.polyval(p, x)", "polyval", cases, "x, p")
    check("np.vander(x, 4), np.vander(x[:3], increasing=True)", "vander",
          [(rows(char, 9),) for char in "dfl"])
    check("np.polyfit(x, np.cos(x * 0) + x * x, 2)", "polyfit", [(rows("d", 9),), (rows("d", 2),)])


def test_select() -> None:
    check("np.select([x > 5, x < 0], [x, x * 2], 7)", "select",
          [(x,) for x in (rows(), rows("f"), rows("l"), rows().T, *ODD)])
    check("np.select([x > 5, x[0] < 0], [1, x * 2], np.nan)", "select", [(rows(),), (rows("l"),)])


def test_elements_put_in_and_left_out() -> None:
    cases = [(x, k) for x in (rows(), rows("l"), rows().T) for k in (0, 2, -1, 99)]
    check("np.insert(x, k, 7), np.delete(x, k)", "insert", cases, "x, k")
    check("np.insert(x, k, 2.5, axis=0), np.delete(x, k, axis=1)", "insert", cases, "x, k")
    check("np.insert(x[0], k, x[1]), np.delete(x[0], [0, 1])", "insert", cases, "x, k")
    check("np.ediff1d(x, 1), np.ediff1d(x, to_begin=x[0])", "ediff1d", [(rows(),), (rows("l"),)])


def test_triangles() -> None:
    check("np.triu_indices(n, k), np.tril_indices(n, k, 4)", "triu_indices",
          [(n, k) for n in (5, 1, 0) for k in (0, 2, -1)], "n, k")
    check("np.tril_indices_from(x, 1)", "tril_indices_from", [(rows(),), (rows("d", 3, 3),)])


@pytest.mark.parametrize("expression", [
    "np.hanning(n)", "np.hamming(n)", "np.blackman(n)", "np.bartlett(n)", "np.kaiser(n, 8.6)",
    "np.logspace(0, 2, n)", "np.logspace(1, n, 9, base=2)", "np.geomspace(1, 1000, n)",
    "np.geomspace(-2, -50, n, endpoint=False)", "np.i0(np.arange(n) * 1.5)",
])
def test_windows(expression: str) -> None:
    plain = function(expression, "n")
    compiled = jit(plain)
    for n in (40, 7, 2, 1, 0):
        got, want = compiled(n), plain(n)
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=2e-15, atol=1e-15)
    assert "library" not in str(jit(plain).explain(40))


def test_sliding_products() -> None:
    signs = np.random.default_rng(3).choice([0.0, -0.0, 1.0, np.nan, np.inf], 9)
    cases = [(rows(char, n), rows(char, m)) for char in "dl" for n, m in ((30, 3), (5, 8), (9, 1))]
    cases += [(signs, np.array([1.0, -0.0])), (np.full(9, -0.0), np.ones(3)), (signs[:0], signs),
              (rows("l", 40), rows("d", 4)), (rows("d", 40), rows("d", 30)), (signs, rows())]
    check("np.convolve(x, y), np.convolve(x, y, 'same')", "convolve", cases, "x, y")
    check("np.correlate(x, y), np.correlate(x, y, 'full')", "correlate", cases, "x, y")
    singles = [(rows("f", 30), rows("f", m)) for m in (1, 6, 11)]
    check("np.convolve(x, y, 'valid')", "convolve", singles, "x, y")


@pytest.mark.parametrize("char", "bBhilLQ")
def test_divisors(char: str) -> None:
    ends, rng = np.iinfo(char), np.random.default_rng(5)
    low, high = max(ends.min, -(2**52)), min(ends.max, 2**52)
    cases = [(rng.integers(low, high, 40).astype(char), rng.integers(low, high, 40).astype(char)),
             (np.array([0, 0, 12, 8, 1], char), np.array([0, 5, 0, 12, ends.max], char)),
             (rng.integers(0, 90, (3, 4)).astype(char), np.arange(4).astype(char)),
             (np.array([ends.min, ends.max], char), np.array([6, 9], char))]
    check("np.gcd(x, y), np.lcm(x, y), np.gcd(x, 12)", "gcd", cases, "x, y")


def test_interpolation_over_periods() -> None:
    places = np.sort(rows("d", 20))
    cases = [(rows("d", 50), places, rows("d", 20), p) for p in (3.0, -7, 360.0)]
    cases += [(rows("d", 50), places, rows("d", 20), 0), (rows(), places, places > 0, 5.0)]
    check("np.interp(x, xp, fp, period=p)", "interp", cases, "x, xp, fp, p")
