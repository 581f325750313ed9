"""Complex elementary functions: against mpmath, and at special points NumPy's values and flags."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from npcompile import jit
from npcompile.ops.record import OPERATORS
from tests.support import oracle
from tests.support.complex_subprograms import FADDEEVA
from tests.support.interpreter import flags_of, run

EXACT: dict[str, Callable[[Any], Any]] = {
    "exp": mp.exp, "exp2": lambda z: mp.power(2, z), "expm1": lambda z: mp.exp(z) - 1,
    "sin": mp.sin, "cos": mp.cos, "tan": mp.tan, "sinh": mp.sinh, "cosh": mp.cosh,
    "tanh": mp.tanh, "log": mp.log, "log2": lambda z: mp.log(z) / mp.log(2), "log10": mp.log10,
    "log1p": lambda z: mp.log(1 + z), "arcsin": mp.asin, "arccos": mp.acos, "arctan": mp.atan,
    "arcsinh": mp.asinh, "arccosh": mp.acosh, "arctanh": mp.atanh, "sqrt": mp.sqrt,
}
SPECIALS = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, np.inf, -np.inf, np.nan, 700.0, 1e-30, 3e30)


def program(name: str) -> Callable[..., Any]:
    found = OPERATORS[name].lower
    assert callable(found)
    return found


def numbers(re: np.ndarray, im: np.ndarray, char: str) -> np.ndarray:
    z = np.empty(len(re), char)
    z.real, z.imag = re, im
    return z


def points(char: str, count: int) -> np.ndarray:
    """Ordinary numbers, and numbers next to the unit circle and to 1 and i."""
    rng = np.random.default_rng(5)
    angle, away = rng.uniform(-4, 4, count), 10.0 ** rng.uniform(-7, 0, count)
    sign = rng.choice([-1, 1], (2, count))
    ordinary = rng.uniform(-3, 3, (2, count)), rng.uniform(-40, 40, (2, count))
    rows = [*ordinary, (1 + away) * np.array([np.cos(angle), np.sin(angle)]),
            np.array([sign[0] * (1 + away), away[::-1]]), np.array([away, sign[1] + away[::-1]]),
            away * sign]
    re, im = np.concatenate(rows, axis=1)
    return numbers(re, im, char)


def special_points(char: str) -> np.ndarray:
    grid = np.array(SPECIALS)
    return numbers(np.repeat(grid, len(grid)), np.tile(grid, len(grid)), char)


def modulus_errors(name: str, z: np.ndarray, got: np.ndarray) -> np.ndarray:
    """Errors in units in the last place of the result's modulus."""
    unit = float(np.finfo(got.dtype).eps)
    errors = np.zeros(z.shape)
    for k, (x, value) in enumerate(zip(z.tolist(), got.tolist())):
        with mp.workprec(200):
            exact = (EXACT.get(name) or FADDEEVA[name])(mp.mpc(x))
            if 1e-30 < abs(exact) < 1e30 and np.isfinite(value):
                errors[k] = abs(mp.mpc(value) - exact) / abs(exact) / unit
    return errors

# parts of numbers: bits of those that are not finite, signs, and values roughly
close = partial(oracle.equal_elements, rtol=1e-5)


@pytest.mark.parametrize("char", "DF")
@pytest.mark.parametrize("name", EXACT)
def test_error_bound(name: str, char: str) -> None:
    z = points(char, 40)
    with np.errstate(all="ignore"):
        got = np.asarray(run(program(name), z))
    errors = modulus_errors(name, z, got)
    bad = errors > OPERATORS[name].ulp[char]
    assert not bad.any(), (z[bad][:5], got[bad][:5], errors[bad][:5])


@pytest.mark.parametrize("char", "DF")
@pytest.mark.parametrize("name", EXACT)
def test_special_values(name: str, char: str) -> None:
    z = special_points(char)
    with np.errstate(all="ignore"):
        got, want = np.asarray(run(program(name), z)), getattr(np, name)(z)
    bad = ~(close(got.real, want.real) & close(got.imag, want.imag))
    if name == "log1p":  # NumPy's loses tiny arguments
        bad &= ~(np.abs(z) < 1e-20)
    if name == "exp2":  # NumPy rounds y*log(2)
        bad &= ~(np.abs(z.imag) > 100)
    assert not bad.any(), (z[bad][:5], got[bad][:5], want[bad][:5])


def _flags(function: Callable[..., Any], *operands: Any) -> set[str]:
    raised: set[str] = set()
    with np.errstate(all="call", under="ignore", call=lambda kind, flag: raised.add(kind)):
        function(*operands)
    return {kind.split()[0] for kind in raised}


@pytest.mark.parametrize("char", "DF")
@pytest.mark.parametrize("name", [*EXACT, "reciprocal"])
def test_flags_are_numpys(name: str, char: str) -> None:
    ordinary = np.array([0.25 + 0.5j], char)
    for x in special_points(char):
        lanes = np.append(ordinary, x)
        assert flags_of(program(name), lanes) == _flags(getattr(np, name), lanes), x


@pytest.mark.parametrize("char", "DF")
@pytest.mark.parametrize("name", ["less", "less_equal", "greater", "greater_equal", "divide"])
def test_flags_of_pairs(name: str, char: str) -> None:
    grid = np.array([0.0, 1.0, np.inf, np.nan])
    z = numbers(np.repeat(grid, 4), np.tile(grid, 4), char)
    for x, y in zip(np.repeat(z, len(z)), np.tile(z, len(z))):
        lanes = np.array([0.5 + 1j, x], char), np.array([1.5 - 1j, y], char)
        got, want = flags_of(program(name), *lanes), _flags(getattr(np, name), *lanes)
        assert got == want, (x, y)


# ------------------------------------------------------------------ powers


@pytest.mark.parametrize("char", "DF")
def test_whole_powers_are_numpys(char: str) -> None:
    rng = np.random.default_rng(2)
    z = numbers(rng.normal(size=400), rng.normal(size=400), char)
    w = rng.integers(-99, 100, 400).astype(char)
    with np.errstate(all="ignore"):
        assert np.array_equal(run(program("power"), z, w), np.power(z, w), equal_nan=True)


@pytest.mark.parametrize("char", "DF")
def test_powers_at_special_points(char: str) -> None:
    grid = np.array([0.0, -0.0, 1.0, 3.0, np.inf, -np.inf, np.nan])
    points = numbers(np.repeat(grid, 7), np.tile(grid, 7), char)
    z, w = np.repeat(points, len(points)), np.tile(points, len(points))
    with np.errstate(all="ignore"):
        got = np.asarray(run(program("power"), z, w))
        want = np.power(z.astype("D"), w.astype("D")).astype(char)  # float32 angles lose zeros
    bad = ~(close(got.real, want.real) & close(got.imag, want.imag))
    assert not bad.any(), (z[bad][:5], w[bad][:5], got[bad][:5], want[bad][:5])
    for x, y in list(zip(z, w))[::11]:
        lanes = np.array([0.5 + 1j, x], char), np.array([1.5 - 1j, y], char)
        assert flags_of(program("power"), *lanes) == _flags(np.power, *lanes), (x, y)


EXTREMES = [
    ("D", complex(np.inf, 0), -1), ("D", -3.5e-90 + 3.5e284j, -2), ("F", 1e23 + 8e-25j, -2),
    ("F", complex(6e30, 3e-27), complex(2, np.inf)), ("F", complex(np.nan, np.inf), 4),
    ("F", complex(np.nan, np.inf), 5), ("D", complex(np.nan, np.inf), 2), ("F", 1 + 1e-30j, 1e30),
    ("D", -1.6036547244151411e67 + 7.36921881967e213j, 1.44036268 - 0.01364328j),
    ("F", 1e20 + 1j, 1e38), ("D", 1e-200j, 2), ("F", 1e-30 + 1e-30j, 7), ("D", 2.0 + 1j, 2000.5),
]


@pytest.mark.parametrize("char, z, w", EXTREMES)
def test_powers_of_extreme_numbers(char: str, z: complex, w: complex) -> None:
    lanes = np.array([0.5 + 1j, z], char), np.array([1.5 - 1j, w], char)
    with np.errstate(all="ignore"):
        got, want = np.asarray(run(program("power"), *lanes)), np.power(*lanes)
    assert (close(got.real, want.real) & close(got.imag, want.imag)).all(), (got, want)
    assert flags_of(program("power"), *lanes) == _flags(np.power, *lanes)


@pytest.mark.parametrize("exponent", [-1, 0, 0.5, 1, 2, 3, -7, 2.5, 1 - 2j])
def test_power_operator(exponent: complex) -> None:
    z = points("D", 5)
    compiled = jit(lambda z: (z**exponent, np.power(z, exponent)), fullgraph=True, cache=False)
    for got, want in zip(compiled(z), (z**exponent, np.power(z, exponent))):
        if exponent in (0.5, 2.5, 1 - 2j):
            assert np.allclose(got, want, rtol=1e-14)
        else:
            assert np.array_equal(got, want)


@pytest.mark.parametrize("n", [-3, -1, 0, 1, 2, 3, 5, 100])
def test_python_powers(n: int) -> None:
    compiled = jit(lambda z: z**n, fullgraph=True, cache=False)
    for z in (1 + 2j, 0.3 - 0.7j, complex(-0.0, 1.0), complex(0.0, 0.0), 1e200 + 1j,
              complex(math.inf, 1)):
        try:
            want = z**n
        except (OverflowError, ZeroDivisionError) as error:
            with pytest.raises(type(error), match=str(error).split()[0]):
                compiled(z)
        else:
            assert repr(compiled(z)) == repr(want)


# ------------------------------------------------------------------ compiled


@pytest.mark.parametrize("width", ["avx512", "avx2"])
@pytest.mark.parametrize("char", "DF")
@pytest.mark.parametrize("name", ["exp", "tanh", "log", "sqrt", "arcsin", "arctanh"])
def test_bits(name: str, char: str, width: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPCOMPILE_CPU_CAPABILITY", width)
    function = getattr(np, name)
    z = np.concatenate([points(char, 9), special_points(char)])
    with np.errstate(all="ignore"):
        want = np.asarray(run(program(name), z)).view(char.lower())
        got = jit(lambda z: function(z), fullgraph=True, cache=False)(z).view(char.lower())
    fine = ((got == want) & (np.signbit(got) == np.signbit(want))) | (
        np.isnan(got) & np.isnan(want))
    assert fine.all()


@pytest.mark.parametrize("name", [
    "exp", "log", "sqrt", "sin", "tanh", "asin", "acosh", "atanh", "phase", "polar", "isfinite"])
def test_cmath(name: str) -> None:
    function = getattr(cmath, name)
    compiled = jit(lambda z: function(z), fullgraph=True, cache=False)
    for z in (1 + 2j, -0.5 - 0.25j, 0.5, 3, 1 + 0j):
        try:
            want = function(z)
        except ValueError as error:
            with pytest.raises(ValueError, match=str(error)):
                compiled(z)
            continue
        got = compiled(z)
        assert type(got) is type(want)
        assert np.allclose(got, want, rtol=1e-14, atol=1e-300)


def test_cmath_leaves_for_python() -> None:
    compiled = jit(lambda z: cmath.exp(z) + cmath.log(z), cache=False)
    assert repr(compiled(complex(math.inf, 0))) == repr(
        cmath.exp(complex(math.inf, 0)) + cmath.log(complex(math.inf, 0)))
    with pytest.raises(OverflowError):
        compiled(1e3 + 0j)
    with pytest.raises(ValueError, match="math domain error"):
        compiled(0j)
    assert jit(lambda z: abs(z), cache=False)(3 + 4j) == 5.0
    with pytest.raises(OverflowError):
        jit(lambda z: abs(z), cache=False)(complex(1.7e308, 1.7e308))


def test_rect() -> None:
    assert np.allclose(jit(lambda r, p: cmath.rect(r, p), cache=False)(2.0, 0.5),
                       cmath.rect(2.0, 0.5), rtol=1e-15)


# ------------------------------------------------------------------ order and sign


def equal_parts(got: np.ndarray, want: np.ndarray) -> bool:
    return all(np.array_equal(x, y, equal_nan=True)
               for x, y in ((got.real, want.real), (got.imag, want.imag)))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_clip_and_sign() -> None:
    grid = np.array([0.0, -0.0, 1.0, -2.0, np.inf, -np.inf, np.nan])
    points = numbers(np.repeat(grid, 7), np.tile(grid, 7), "D")
    x, y = np.repeat(points, 49), np.tile(points, 49)
    for function in (lambda x, y: np.clip(x, y, 1 + 1j), lambda x, y: np.clip(x, -1, y),
                     lambda x, y: np.sign(x), lambda x, y: np.maximum(x, y)):
        compiled = jit(function, fullgraph=True, cache=False)
        assert equal_parts(compiled(x, y), function(x, y))


@pytest.mark.parametrize("text", [
    "np.min(z)", "np.max(z, axis=0)", "z.min(axis=(0, 2))", "z.max(axis=-1, keepdims=True)",
    "np.argmax(z)", "np.argmin(z, axis=1)", "z.argmax(axis=-1, keepdims=True)", "z.prod(axis=1)",
    "np.argmin(z[:, ::2, 1])", "np.maximum.reduce(z)", "np.min(z.T, axis=1)", "np.prod(z)"])
def test_reductions(text: str) -> None:
    rng = np.random.default_rng(0)
    z = rng.integers(-3, 4, (4, 5, 6)) + 1j * rng.integers(-3, 4, (4, 5, 6))
    function = eval(f"lambda z: {text}", {"np": np})
    compiled = jit(function, fullgraph=True, cache=False)
    for last in (z[1, 2, 3], complex(1, np.nan)):
        z[1, 2, 3] = last
        got, want = compiled(z), function(z)
        assert type(got) is type(want) and got.dtype == want.dtype
        assert got.strides == want.strides
        assert equal_parts(np.asarray(got), np.asarray(want))
