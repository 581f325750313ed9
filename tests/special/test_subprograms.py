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
from tests.support import oracle
from tests.support.complex_subprograms import FURTHER
from tests.support.interpreter import run
from tests.support.special_functions import (
    Points,
    Samples,
    called,
    chars_of,
    exact_of,
    operands_at,
    ulp_errors,
)
from tests.support.subprogram_families import FAMILIES
from tests.support.subprograms import CALLED, SCIPY_IS_WRONG

CASES = [(name, char) for name in CALLED for char in chars_of(name)]
WIDE = {"f": np.float64, "i": np.int64}
WIDTHS = ("avx512", "avx2")


def compiled(name: str, samples: Samples) -> np.ndarray:
    """The function in machine code; it may raise no flags."""
    function = jit(called(name, len(samples)), fullgraph=True, cache=False)
    with np.errstate(all="raise", under="ignore"):
        return np.asarray(function(*samples))


def are_exact(name: str, operands: Samples, got: np.ndarray) -> np.ndarray:
    """Where results are the function's by mpmath: SciPy's are not then."""
    found = ~np.isnan(got) & np.isfinite(operands).all(0)
    top, tiny = float(np.finfo(got.dtype).max), float(np.finfo(got.dtype).tiny)
    for k in np.flatnonzero(found):
        value = float(got[k])
        try:
            with mp.workprec(200):
                want = exact_of(name)(*(mp.mpf(float(x[k])) for x in operands))
                if np.isinf(value):
                    found[k] = abs(want) >= top and (want > 0) == (value > 0)
                else:
                    found[k] = abs(want - value) <= 1e-5 * abs(want) + tiny
        except (ValueError, ZeroDivisionError):
            found[k] = False
    return found


@pytest.mark.parametrize("name, char", CASES)
def test_error_bound(name: str, char: str) -> None:
    samples = CALLED[name][1](Points(char, 8))
    errors = ulp_errors(name, samples, compiled(name, samples))
    k = int(np.argmax(errors))
    assert errors[k] <= OPERATORS[name].ulp[char], [float(x[k]) for x in samples]


@pytest.mark.parametrize("name, char", CASES)
def test_special_values(name: str, char: str) -> None:
    operands = operands_at(name, char)
    got = compiled(name, operands)
    with np.errstate(all="ignore"):
        want = OPERATORS[name].oracle()(*operands)
        wide = OPERATORS[name].oracle()(*(x.astype(WIDE[x.dtype.kind]) for x in operands))
        want = np.where(np.isfinite(wide), wide.astype(char), want)  # rounded once
        close = np.abs(got - want) <= 1e-5 * np.abs(want) + np.finfo(char).tiny
        wrong = SCIPY_IS_WRONG.get(name, lambda *x: False)(*operands)
    bad = ~(oracle.equal_elements(got, want) | (close & np.isfinite(want)) | wrong)
    if name in FAMILIES or name in FURTHER:
        bad[bad] = ~are_exact(name, tuple(x[bad] for x in operands), got[bad])
    assert not bad.any(), [(*(x[bad][:5] for x in operands), got[bad][:5], want[bad][:5])]


@pytest.mark.parametrize("name, char", CASES)
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
        assert oracle.equal_elements(found[-1][few], want).all(), [x[few] for x in operands]
        one = [compiled(name, tuple(x[k] for x in operands)) for k in few[:3]]
        assert oracle.equal_elements(np.array(one), want[:3]).all()
    fine = oracle.equal_elements(*found)
    assert fine.all(), [x[~fine] for x in operands]


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


def test_ends_of_ranges() -> None:
    """Very small and very large operands, where SciPy's values are no measure."""
    inf = np.inf
    cases = [("betaln", (5e-324, 0.5), 744.4400719213812), ("betaln", (5e-324, 2.0),
             744.4400719213812), ("betaln", (-0.5, inf), inf), ("beta", (-0.5, inf), -inf),
             ("beta", (-1.5, inf), inf), ("zeta", (1e15, 2.0), 0.0), ("zeta", (1e30, 2.0), 0.0),
             ("betaincinv", (inf, 1.0, 0.5), 1.0), ("betaincinv", (1.0, inf, 0.5), 0.0),
             ("betaincinv", (60.0, 1.0, 2.2e-308), 7.453730931933557e-06),
             ("gammainccinv", (1e-300, 1e-30), 0.0), ("expi", (0.25,), -0.5425432646619137)]
    for name, operands, want in cases:
        function = getattr(sp, name)
        got = jit(lambda *x, f=function: f(*x), fullgraph=True, cache=False)(*operands)
        assert got == want or abs(got / want - 1) < 1e-15, (name, operands, got)


WHOLE_NUMBERS = np.array([5, 10, 3, 0, 7]), np.array([2, 11, -1, 0, 3])
COUNTED = [
    *[(sp.comb, WHOLE_NUMBERS), (sp.perm, WHOLE_NUMBERS), (sp.comb, (10.5, 3)), (sp.perm, (3, 10))],
    *[(sp.comb, tuple(x.astype(kind) for x in WHOLE_NUMBERS)) for kind in "bfd"],
    *[(sp.factorial, (x,)) for x in (5, 5.5, -5, 0, np.int64(4), np.float32(3), np.array(3.0))],
    *[(sp.factorial, ((WHOLE_NUMBERS[0] - 3).astype(kind),)) for kind in "lbfd"],
    (sp.factorial, (np.array([0.5, np.nan, -1, 180]),)), (sp.factorial, (np.array([], int),)),
    (sp.factorial, (np.asfortranarray(np.arange(6.0).reshape(2, 3)),)),
    (sp.factorial, (np.arange(6, dtype="u1"),)), (sp.softplus, (WHOLE_NUMBERS[0] * 1.0,)),
    (sp.softplus, (-1.5,)),
]


@pytest.mark.parametrize("case", range(len(COUNTED)))
def test_counting(case: int) -> None:
    """They have the types and layouts of the library's, which are written in Python."""
    function, operands = COUNTED[case]
    want = function(*operands)
    got = jit(lambda *a: function(*a), cache=False)(*operands)
    assert type(got) is type(want) and got.dtype == want.dtype
    assert getattr(got, "strides", ()) == getattr(want, "strides", ())
    rtol = 1e-6 if "f" in {x.dtype.char for x in map(np.asarray, (want, *operands))} else 1e-14
    np.testing.assert_allclose(got, want, rtol=rtol)


WAVES = np.array([0.3, 1.0, 2.5, 7.0, 30.0])
OF_ORDER = [
    *[(getattr(sp, name), (n, x))
      for name in ("jv", "yv", "jve", "yve", "iv", "kv", "ive", "kve", "jn", "yn", "kn")
      for n, x in ((3, WAVES), (2.0, 1.5), (-1, WAVES), (0, WAVES.astype("f")), (2.5, WAVES),
                   (np.array([1, 2, 3, 4, 5]), WAVES))],
    *[(getattr(sp, f"spherical_{kind}n"), (n, x)) for kind in "jyik"
      for n, x in ((3, WAVES), (np.arange(5), -WAVES), (2, 1.5), (1, np.float32(-2.5)),
                   (2, WAVES.astype("f")), (np.arange(3)[:, None], WAVES), (1, 2))],
]


@pytest.mark.parametrize("case", range(len(OF_ORDER)))
def test_of_order(case: int) -> None:
    """Bessel functions, with orders in the program and from outside."""
    function, (order, x) = OF_ORDER[case]
    want = function(order, x)
    for call, operands in ((lambda x: function(order, x), (x,)),
                           (lambda n, x: function(n, x), (order, x))):
        got = jit(call, cache=False)(*operands)
        assert type(got) is type(want) and got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-6 if want.dtype == np.float32 else 1e-13,
                                   atol=1e-14)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 30])
def test_jacobi(n: int) -> None:
    rng = np.random.default_rng(n)
    a, b, x = rng.uniform(-0.9, 4, 12), rng.uniform(-0.9, 4, 12), rng.uniform(-1, 1, 12)
    got = jit(lambda a, b, x: sp.eval_jacobi(n, a, b, x), fullgraph=True, cache=False)(a, b, x)
    with mp.workprec(300):
        want = [mp.jacobi(n, *(mp.mpf(float(v)) for v in at)) for at in zip(a, b, x)]
    assert np.array_equal(got.astype("f"), np.array(want, "f"))
    np.testing.assert_allclose(got, np.array(want, float), rtol=2e-15)
    known = jit(lambda n, x: sp.eval_jacobi(n, 1.0, -0.5, x), cache=False)
    np.testing.assert_allclose(known(n, x), sp.eval_jacobi(n, 1.0, -0.5, x), rtol=1e-11)
    odd = jit(lambda a, x: sp.eval_jacobi(n, a, 1.5, x), cache=False)
    for a in (-1.0, -1.5, -4.0, np.inf, np.nan):
        at = np.array([-2.0, 0.5, np.nan])
        np.testing.assert_allclose(odd(a, at), sp.eval_jacobi(n, a, 1.5, at), rtol=1e-12)


def chebyshev_u(n: int, x: Any) -> Any:
    """By the recurrence: mpmath's fails at zeros."""
    before, now = mp.mpf(0), mp.mpf(1)
    for _ in range(n):
        before, now = now, 2 * x * now - before
    return now


def lambert_points() -> np.ndarray:
    rng = np.random.default_rng(3)
    size, turn = 10.0 ** rng.uniform(-8, 8, 40), np.exp(1j * rng.uniform(-3, 3, 40))
    return np.concatenate([size * turn, -np.exp(-1) + size.clip(0, 1e-2) * 0.1 * turn,
                           rng.normal(size=(40, 2)) @ [1, 1j], size + 0j, -size + 0j])


@pytest.mark.parametrize("branch", [0, -1, 1, 3])
def test_lambertw(branch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors are parts of the modulus; next to the branch point the problem amplifies them."""
    z = lambert_points()
    found = []
    for width in WIDTHS:
        monkeypatch.setenv("NPCOMPILE_CPU_CAPABILITY", width)
        found.append(jit(lambda z: sp.lambertw(z, branch), fullgraph=True, cache=False)(z))
    assert found[0].tobytes() == found[1].tobytes()
    own = sp.lambertw(z, branch)
    for at, got, theirs in zip(z, found[0], own):
        with mp.workprec(120):
            want = mp.lambertw(mp.mpc(at), branch)
            if at.imag == 0 and abs(want - complex(theirs)) > 1e-6:
                want = mp.conj(want)  # the sides of the cut
            error, bound = abs(want - complex(got)), 150 * abs(want) * 2.3e-16
        assert error <= bound, (at, got, want)
    x = np.array([-0.3, -0.1, 0.0, 0.5, 1.0, 10.0, 1e300, np.inf, np.nan, -np.inf])
    got = jit(lambda x: sp.lambertw(x, branch), fullgraph=True)(x)
    assert got.dtype == np.complex128
    np.testing.assert_allclose(got, sp.lambertw(x, branch), 1e-14)
    assert type(jit(lambda x: sp.lambertw(x).real, cache=False)(1.5)) is np.float64


def test_modules_hide_nothing() -> None:
    """Modules of the room are attributes of the namespace."""
    import pkgutil

    import npcompile.special

    modules = {module.name for module in pkgutil.iter_modules(npcompile.special.__path__)}
    assert not modules & set(sp.__all__)


DEGREES = np.array([0, 1, 2, 3, 5, 8, 13, 30, -1, -2, -5])
#: name of a polynomial: exact values, where it is tested
POLYNOMIALS: dict[str, tuple[Any, float, float]] = {
    "eval_chebyt": (mp.chebyt, -1, 1), "eval_chebyu": (chebyshev_u, -1, 1),
    "eval_sh_chebyt": (lambda n, x: mp.chebyt(n, 2 * x - 1), 0, 1),
    "eval_sh_chebyu": (lambda n, x: chebyshev_u(n, 2 * x - 1), 0, 1),
    "eval_chebyc": (lambda n, x: 2 * mp.chebyt(n, x / 2), -2, 2),
    "eval_chebys": (lambda n, x: chebyshev_u(n, x / 2), -2, 2),
    "eval_legendre": (mp.legendre, -1, 1),
    "eval_sh_legendre": (lambda n, x: mp.legendre(n, 2 * x - 1), 0, 1),
    "eval_laguerre": (lambda n, x: mp.laguerre(n, 0, x), 0, 9), "eval_hermite": (mp.hermite, -4, 4),
    "eval_hermitenorm": (
        lambda n, x: mp.hermite(n, x / mp.sqrt(2)) * mp.mpf(2) ** (-mp.mpf(n) / 2), -4, 4),
}


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials(name: str) -> None:
    exact, low, high = POLYNOMIALS[name]
    n, x = map(np.ravel, np.meshgrid(DEGREES, np.linspace(low, high, 9)))
    got, own = compiled(name, (n, x)), getattr(sp, name)(n, x)
    assert got.dtype == own.dtype == np.float64
    np.testing.assert_allclose(got, own, 1e-12, 1e-12)
    for k in range(0, len(n), 3):
        if n[k] >= 0:
            want = float(exact(int(n[k]), mp.mpf(x[k])))
            assert abs(got[k] - want) <= 4e-14 * max(1, abs(want)), (n[k], x[k])
    fixed = jit(lambda x: getattr(sp, name)(5, x), fullgraph=True)(x)
    assert oracle.equal_elements(fixed, compiled(name, (np.full(x.size, 5), x))).all()
    derivative = OPERATORS[name].derivative
    if derivative is not None:
        inside = np.linspace(low + 0.1, high - 0.15, 5)
        _, slopes = run(derivative, np.full(5, 4.0), inside)
        want = [float(mp.diff(lambda x: exact(4, x), mp.mpf(x))) for x in inside]
        np.testing.assert_allclose(slopes, want, 1e-13, 1e-13)
