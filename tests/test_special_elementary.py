"""Elementary functions against mpmath, and at their special points against NumPy."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from npcompile.graph.primitives import PRIMITIVES
from npcompile.ops.record import OPERATORS
from tests.support_fma import flags_of, fma, run

importlib.import_module("npcompile.special")

Samples = tuple[np.ndarray, ...]
CHARS = "df"


def _program(name: str) -> Callable[..., Any]:
    lower = OPERATORS[name].lower
    assert callable(lower)
    return lower


# ------------------------------------------------------------------ points


class Points:
    """Random points of one format."""

    def __init__(self, char: str, count: int, seed: int = 0) -> None:
        self.kind: Any = np.dtype(char).type
        self.integer = {8: np.int64, 4: np.int32}[np.dtype(char).itemsize]
        self.info = np.finfo(self.kind)
        self.count = count
        self.rng = np.random.default_rng(seed)

    def bits(self, top: float = np.inf) -> np.ndarray:
        """Random bit patterns of positive numbers below ``top``, subnormal ones too."""
        top = min(top, float(self.info.max))
        last = int(np.array(top, self.kind).view(self.integer))
        return self.rng.integers(1, last, self.count).astype(self.integer).view(self.kind)

    def signed(self, x: np.ndarray) -> np.ndarray:
        return x * self.rng.choice([-1, 1], x.size).astype(x.dtype)

    def span(self, low: float, high: float) -> np.ndarray:
        return self.rng.uniform(low, high, self.count).astype(self.kind)

    def subnormal(self) -> np.ndarray:
        return self.info.smallest_subnormal * self.rng.integers(1, 1 << 20, self.count // 8)

    def near(self, centres: np.ndarray | float) -> np.ndarray:
        """Next to given points: within a few units in the last place and further out."""
        centre = np.broadcast_to(np.asarray(centres, np.float64), self.count)
        away = self.rng.standard_normal(self.count) * 2.0 ** -self.rng.uniform(
            2, self.info.nmant + 1, self.count)
        return (centre * (1 + away)).astype(self.kind)

    def every(self, *parts: np.ndarray) -> np.ndarray:
        """The parts together, infinities left out."""
        with np.errstate(all="ignore"):
            whole = np.concatenate([np.asarray(part).astype(self.kind) for part in parts])
        return whole[np.isfinite(whole)]

    def overflow(self) -> float:
        """The logarithm of the largest number."""
        return float(np.log(float(self.info.max)))


def exponents(p: Points) -> Samples:
    top = p.overflow()
    return (p.every(p.span(-1, 1), p.span(-top * 1.06, top * 1.01), p.signed(p.bits(top)),
                    p.span(-20, 20), p.span(-top * 1.055, -top * 0.98),
                    np.arange(-60, 61) * np.log(2) / 2),)


def binary_exponents(p: Points) -> Samples:
    return (exponents(p)[0] * np.array(1 / np.log(2), p.kind),)


def positives(p: Points) -> Samples:
    return (p.every(p.bits(), p.span(0.4, 2.1), p.near(1.0), p.subnormal(),
                    p.near(np.resize(np.arange(0.703125, 1.5, 1 / 32), p.count)),
                    2.0 ** np.arange(-120, 120), 10.0 ** np.arange(-30, 30)),)


def above_minus_1(p: Points) -> Samples:
    x = positives(p)[0]
    return (p.every(x, -x[x < 1], p.near(1.0) - 1, -p.bits(1.0)),)


def angles(p: Points) -> Samples:
    multiples = np.exp(p.rng.uniform(0, 40, p.count)).round()
    # the double and the float nearest to a multiple of pi/2 (Muller, Elementary Functions, 11.3)
    hardest = [6381956970095103 * 2.0**797, 16367173 * 2.0**72]
    return (p.every(p.signed(p.bits()), p.signed(p.near(multiples * np.pi / 2)),
                    p.span(-1, 1), p.span(-100, 100), p.near(np.resize(
                        np.arange(1, 99) * np.pi / 4, p.count)), hardest),)


def hyperbolic(p: Points) -> Samples:
    return (p.every(p.span(-1, 1), p.span(-25, 25), p.signed(p.bits(p.overflow() * 1.001))),)


def everywhere(p: Points) -> Samples:
    return (p.every(p.signed(p.bits()), p.span(-2, 2), p.signed(p.bits(1.0)), p.subnormal()),)


def unit(p: Points) -> Samples:
    return (p.every(p.signed(p.bits(1.0)), p.span(-1, 1), 1 - p.bits(1.0), p.near(0.5)),)


def erf_points(p: Points) -> Samples:
    edges = np.resize(np.arange(1, 24) / 4, p.count)
    return (p.every(p.signed(p.bits(7.0)), p.span(-6, 6), p.span(-1, 1), p.near(edges),
                    p.near(edges * 1.5)),)


def pairs(p: Points) -> Samples:
    a, b = p.signed(p.bits()), p.signed(p.bits())
    shift = 2.0 ** p.rng.integers(-12, 12, p.count)
    with np.errstate(all="ignore"):
        x = np.concatenate([a, p.span(-1, 1), a]).astype(p.kind)
        y = np.concatenate([b, p.span(-1, 1), a * shift]).astype(p.kind)
    fine = np.isfinite(x) & np.isfinite(y)
    return x[fine], y[fine]


def powers(p: Points) -> Samples:
    top = p.overflow()
    x = p.every(np.exp(p.rng.uniform(-top, top, p.count) * 0.99), p.span(0.5, 2), p.near(1.0),
                p.subnormal(), p.near(np.resize(np.arange(0.703125, 1.5, 1 / 32), p.count)))
    x = x[(x > 0) & (x != 1)]
    y = p.rng.uniform(-top * 1.07, top * 1.01, x.size) / np.log(x.astype(np.float64))
    with np.errstate(over="ignore"):
        y = np.where(np.arange(x.size) % 4 == 0, np.rint(y), y).astype(p.kind)
    return x[np.isfinite(y)], y[np.isfinite(y)]


def _exact(function: Callable[..., Any], digits: int = 200) -> Callable[..., Any]:
    def at(*args: Any) -> Any:
        with mp.workprec(digits):
            return function(*args)

    return at


#: name: exact function, points
FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[[Points], Samples]]] = {
    "exp": (mp.exp, exponents), "exp2": (lambda x: mp.power(2, x), binary_exponents),
    "expm1": (mp.expm1, exponents), "log": (mp.log, positives),
    "log2": (lambda x: mp.log(x) / mp.log(2), positives), "log10": (mp.log10, positives),
    "log1p": (mp.log1p, above_minus_1),
    "sin": (_exact(mp.sin, 1300), angles), "cos": (_exact(mp.cos, 1300), angles),
    "tan": (_exact(mp.tan, 1300), angles),
    "sinh": (mp.sinh, exponents), "cosh": (mp.cosh, exponents), "tanh": (mp.tanh, hyperbolic),
    "arctan": (mp.atan, everywhere), "arcsin": (mp.asin, unit), "arccos": (mp.acos, unit),
    "cbrt": (lambda x: mp.cbrt(x) if x >= 0 else -mp.cbrt(-x), everywhere),
    "hypot": (mp.hypot, pairs), "arctan2": (mp.atan2, pairs), "pow": (mp.power, powers),
    "erf": (mp.erf, erf_points),
}


def ulp_errors(name: str, samples: Samples, got: np.ndarray) -> np.ndarray:
    """Errors in units in the last place of the exact result; subnormal numbers have theirs."""
    function = _exact(FUNCTIONS[name][0])
    info = np.finfo(got.dtype)
    digits, lowest = int(info.nmant), int(info.minexp)
    limit = mp.mpf(2) ** int(info.maxexp) * (1 - mp.mpf(2) ** (-digits - 2))
    errors = np.empty(got.size)
    for k, value in enumerate(got.tolist()):
        exact = function(*(mp.mpf(float(x[k])) for x in samples))
        if not np.isfinite(value):
            errors[k] = 0 if abs(exact) >= limit and (exact > 0) == (value > 0) else np.inf
        else:
            exponent = mp.frexp(exact)[1] - 1 if exact else lowest
            unit_ = mp.mpf(2) ** (max(int(exponent), lowest) - digits)
            errors[k] = abs(mp.mpf(value) - exact) / unit_
    return errors


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
    error, place, _ = worst(name, char, 2000)
    assert error <= OPERATORS[name].ulp[char], place


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("char", CHARS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_error_bound_on_a_million_points(name: str, char: str) -> None:
    error, place, points = worst(name, char, 250_000, seed=1)
    assert points >= 500_000
    assert error <= OPERATORS[name].ulp[char], place


# ------------------------------------------------------------------ special points


def specials(char: str) -> np.ndarray:
    info = np.finfo(np.dtype(char))
    positive = [0.0, np.inf, 1.0, 0.5, 2.0, 3.0, 2.5, 1e30, 1e-30, 1e4, 60.0,
                float(info.smallest_subnormal), float(info.tiny), float(info.max),
                2.0 ** (info.nmant + 1) + 2]
    return np.array([*positive, *(-x for x in positive), np.nan], char)


def operands_at(name: str, char: str) -> Samples:
    points = specials(char)
    if OPERATORS[name].signatures.split("->")[0] in ("e", "f"):
        return (points,)
    return tuple(np.ravel(grid) for grid in np.meshgrid(points, points))


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
    bad = ~(same & signs)
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
