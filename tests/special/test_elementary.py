"""Elementary functions against mpmath, and at their special points against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import npcompile
from npcompile.graph.expression import const
from npcompile.graph.primitives import PRIMITIVES
from npcompile.ops.record import OPERATORS
from npcompile.special.elementary.powers import MODERATE
from tests.support.interpreter import flags_of, fma, run
from tests.support.special_functions import (
    FUNCTIONS,
    SLOW,
    Points,
    operands_at,
    scipy_is_wrong,
    ulp_errors,
)

CHARS = "df"


def _program(name: str) -> Callable[..., Any]:
    lower = OPERATORS[name].lower
    assert callable(lower)
    return lower


def worst(name: str, char: str, count: int, seed: int = 0) -> tuple[float, str, int]:
    """The largest error, where it is, and the number of points."""
    samples = FUNCTIONS[name][1](Points(char, count, seed))
    with np.errstate(all="ignore"):
        got = np.asarray(run(_program(name), *samples))
    errors = ulp_errors(name, samples, got)
    k = int(np.argmax(errors))
    return float(errors[k]), f"{[float(x[k]) for x in samples]}", got.size


@pytest.mark.parametrize("char", CHARS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_error_bound(name: str, char: str) -> None:
    error, place, _ = worst(name, char, 30 if name in SLOW else 600)
    assert error <= OPERATORS[name].ulp[char], place


@pytest.mark.parametrize("char", CHARS)
def test_powers_next_to_the_smallest_normal_number(char: str) -> None:
    """Where the exponential's argument has a second part that decides on which side they are."""
    p = Points(char, 400)
    x = p.near(1.0) if char == "f" else p.span(1.001, 50)
    x = np.where(x == 1, p.kind(3), x)
    size = np.log(float(p.info.smallest_normal)) + p.rng.uniform(-0.3, 0.3, p.count)
    y = (size / np.log(x.astype(float))).astype(char)
    errors = ulp_errors("pow", (x, y), np.asarray(run(_program("pow"), x, y)))
    k = int(np.argmax(errors))
    assert errors[k] <= OPERATORS["pow"].ulp[char], (float(x[k]), float(y[k]))


@pytest.mark.parametrize("char", CHARS)
@pytest.mark.parametrize("n", [3, 4])
def test_small_whole_powers(char: str, n: int) -> None:
    """Products, whose bits don't depend on whether the exponent is known, nor on its neighbours;
    right up to both ends of where they serve."""
    p = Points(char, 200)
    ends = [*MODERATE[char], np.inf, np.nan, -0.0, 0.0, -1.0]
    ends += [np.nextafter(p.kind(end), p.kind(0)) for end in MODERATE[char]]
    x = np.concatenate([p.span(-3, 3), p.kind(2.0) ** p.rng.uniform(-20, 32, 200), ends])
    x = x.astype(char)
    y = np.where(p.rng.random(x.size) < 0.8, n, p.rng.integers(0, 7, x.size)).astype(char)
    with np.errstate(all="ignore"):
        known = np.asarray(run(lambda x: _program("pow")(x, const(float(n), x)), x))
        mixed = np.asarray(run(_program("pow"), x, y))
        want = x ** p.kind(n)
    np.testing.assert_array_equal(known[y == n], mixed[y == n])
    there = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(known)[there], np.signbit(want)[there])
    inside = np.isfinite(x) & (abs(x) >= MODERATE[char][0]) & (abs(x) < MODERATE[char][1])
    for base, power in zip(x[inside].tolist(), known[inside]):
        off = abs(Fraction(base) ** n - Fraction(float(power)))
        assert off <= Fraction(0.5 + 2**-16) * Fraction(float(np.spacing(abs(power)))), base


# ------------------------------------------------------------------ special points


@pytest.mark.parametrize("char", CHARS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_special_values(name: str, char: str) -> None:
    operands = operands_at(name, char)
    with np.errstate(all="ignore"):
        got = np.asarray(run(_program(name), *operands))
        want = OPERATORS[name].oracle()(*operands)
        close = np.abs(got - want) <= 1e-5 * np.abs(want)
    assert got.dtype == want.dtype
    same = (got == want) | (np.isnan(got) & np.isnan(want)) | (close & np.isfinite(want))
    signs = np.isnan(got) | (np.signbit(got) == np.signbit(want))
    bad = ~(same & signs) & ~scipy_is_wrong(name, operands[0])
    assert not bad.any(), [(*(x[bad][:5] for x in operands), got[bad][:5], want[bad][:5])]


def _flags(function: Callable[..., Any], operands: tuple[Any, ...]) -> set[str]:
    raised: set[str] = set()
    with np.errstate(all="call", under="ignore", call=lambda kind, flag: raised.add(kind)):
        function(*operands)
    return {kind.split()[0] for kind in raised}


@pytest.mark.parametrize("char", CHARS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_flags_are_numpys(name: str, char: str) -> None:
    """One point at a time, with ordinary lanes beside it: spurious flags of theirs would show."""
    operands = operands_at(name, char)
    if name == "pow":  # NumPy's reports an overflow of max**inf, which is exactly infinite
        operands = tuple(x[np.isfinite(operands[1])] for x in operands)
    ordinary = np.array([0.25, 0.5], char)
    bad = []
    for point in zip(*operands):
        lanes = tuple(np.append(ordinary, x).astype(char) for x in point)
        got = flags_of(_program(name), *lanes)
        want = _flags(OPERATORS[name].oracle(), lanes)
        if got != want:
            bad.append((point, got, want))
    assert not bad, bad[:10]


# ------------------------------------------------------------------ the harness itself


@pytest.mark.parametrize("char", CHARS)
def test_fast_fma_is_the_exact_one(char: str) -> None:
    p = Points(char, 400)
    a, b = p.signed(p.bits()), p.signed(p.bits())
    with np.errstate(all="ignore"):
        c = p.signed(a * b * p.near(1.0))
        ones = p.near(1.0), p.near(1.0), -p.near(1.0)
        a, b, c = (np.concatenate(parts) for parts in zip((a, b, c), ones))
        slow = PRIMITIVES["fma"].meaning(a, b, c)
        fast = fma(a, b, c)
    assert np.array_equal(np.asarray(slow, a.dtype), fast, equal_nan=True)


@pytest.mark.parametrize("char", ["f", "d"])
def test_cube_roots_raise_no_flags(char: str) -> None:
    limits = np.finfo(char)
    exponents = np.arange(np.log2(float(limits.smallest_subnormal)), limits.maxexp)
    x = np.outer([1.0, 1.3, 1.9], 2.0**exponents).astype(char).ravel()
    whole = np.arange(-300, 301).astype(char)
    cubes = whole**3
    with np.errstate(all="raise"):
        found = npcompile.cbrt(x)
        assert np.array_equal(npcompile.cbrt(cubes), whole)
    np.testing.assert_allclose(found, np.cbrt(x), rtol=3 * limits.eps)
