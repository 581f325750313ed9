"""Compiled functions of SymPy's expressions beside SymPy's own numbers."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import sympy

from npcompile import lambdify
from npcompile.api.sympy_names import NAMES

X, Y, Z = SYMBOLS = sympy.symbols("x y z", real=True)
POINTS = [(0.3, 1.2, 2.5), (1.7, 0.4, 1.5), (0.9, 0.9, 3.25)]


def exactly(expression: Any, point: tuple[float, ...]) -> complex:
    expression = expression.replace(sympy.erfcinv, lambda a: sympy.erfinv(1 - a))  # evalf can
    numbers = [sympy.Rational(str(number)) for number in point]
    return complex(expression.subs(dict(zip(SYMBOLS, numbers))).evalf(30))


def verify(expression: Any, **options: Any) -> None:
    made = lambdify(SYMBOLS, expression, **options)
    wanted = [exactly(expression, point) for point in POINTS]
    got = [made(*point) for point in POINTS]
    np.testing.assert_allclose(np.array(got, complex), wanted, rtol=1e-11, atol=1e-13)
    whole = made(*np.array(POINTS).T)
    np.testing.assert_allclose(np.array(whole, complex) + np.zeros(3), wanted, rtol=1e-11,
                               atol=1e-13)


@pytest.mark.parametrize("expression", [
    X + Y - Z, X - (Y - Z), X / (Y * Z), X / Y / 3, -X * Y, X ** 2 - Y ** -3, (X + Y) ** Z,
    2 ** X, sympy.Rational(2, 3) * X, sympy.sqrt(X + Y) / 2, X ** sympy.Rational(3, 2),
    1 / sympy.sqrt(Y), (X + 1) ** sympy.Rational(1, 3), -(X + Y), -X ** 2, sympy.exp(-X * Y),
    sympy.pi * X + sympy.E, sympy.Float(0.1) * X, (-2) ** 3 * X, sympy.I * X + Y,
    sympy.Abs(X - Y), sympy.Max(X, Y, Z) + sympy.Min(X, Y), sympy.Mod(Z, X), sympy.sign(X - Y),
    sympy.Piecewise((X, X > 1), (Y ** 2, sympy.And(Y > 0, Z > 2)), (Z, True)),
    sympy.Piecewise((X, sympy.Or(X > 1, sympy.Not(Y > 1))), (Z, True)), sympy.atan2(Y, X),
    sympy.floor(Z) + sympy.ceiling(X), sympy.Heaviside(X - Y, 1), X / (Y / Z) - (X * Y) ** 2,
], ids=str)
def test_expressions(expression: Any) -> None:
    verify(expression)


#: functions of whose arguments the table's points are none
_ARGS = {
    "polygamma": (2, X), "besselj": (1, X), "bessely": (1, X), "besseli": (1, X),
    "besselk": (1, X), "expint": (2, X), "legendre": (3, X), "hermite": (3, X), "laguerre": (3, X),
    "chebyshevt": (3, X), "chebyshevu": (3, X), "gegenbauer": (3, Y, X), "jacobi": (2, 1, 2, X),
    "acosh": (X + 1,), "acoth": (X + 2,), "asin": (X / 3,), "acos": (X / 3,), "atanh": (X / 3,),
    "asec": (X + 1,), "acsc": (X + 1,), "erfinv": (X / 3,),
    "erfcinv": (X / 3 + sympy.Rational(1, 9),),
    "asech": (X / 3,), "zeta": (X + 2,), "elliptic_k": (X / 3,), "elliptic_e": (X / 3,),
    "LambertW": (X,), "Heaviside": (X, 1), "E1": (X,),
}


@pytest.mark.parametrize("name", sorted(n for n in NAMES if hasattr(sympy, n)))
def test_each_function_of_the_table(name: str) -> None:
    function = getattr(sympy, name)
    two = {"atan2", "Mod", "beta", "binomial", "RisingFactorial", "lowergamma", "uppergamma"}
    verify(function(*_ARGS.get(name, (Y, X) if name in two else (X,))))


def test_matrices_and_lists() -> None:
    matrix = sympy.Matrix([[sympy.sin(X), X * Y, 0], [1, sympy.sin(X) ** 2, Z]])
    made = lambdify(SYMBOLS, matrix)
    for point in POINTS:
        wanted = np.array(matrix.evalf(subs=dict(zip(SYMBOLS, point)))).astype(float)
        np.testing.assert_allclose(made(*point), wanted, rtol=1e-14)
    whole = made(*np.array(POINTS).T)
    assert whole.shape == (2, 3, 3)
    np.testing.assert_allclose(whole[..., 1], made(*POINTS[1]), rtol=1e-14)
    first, (second,) = lambdify(SYMBOLS, [X + Y, (Z,)])(1.0, 2.0, 3.0)
    assert (first, second) == (3.0, 3.0)
    vector = sympy.Matrix([X, Y])
    assert lambdify((vector, Z), X * Y * Z)(np.array([[2.0], [3.0]]), 4.0) == 24.0
    assert lambdify(((X, Y), Z), X * Y * Z)((2.0, 3.0), 4.0) == 24.0
    assert lambdify(X, X + 1)(1.0) == 2.0


def test_names_and_functions_of_time() -> None:
    time = sympy.Symbol("t")
    angle = sympy.Function("q")(time)
    made = lambdify([angle, angle.diff(time)], angle.diff(time) ** 2 * sympy.cos(angle))
    assert made(0.0, 3.0) == 9.0
    odd = sympy.symbols("lambda np t0 t0")
    assert lambdify(odd[:3], odd[0] + odd[1] * odd[2])(1.0, 2.0, 3.0) == 7.0
    with pytest.raises(TypeError, match="does not know SymPy's Unknown"):
        lambdify(X, sympy.Function("Unknown")(X))


def test_ufuncs_and_sources() -> None:
    made = lambdify((X, Y), sympy.sin(X) * Y + sympy.sin(X) ** 2, ufunc=True)
    assert made(np.zeros((2, 1)), np.ones(3)).shape == (2, 3)
    assert "t0 = np.sin(x)" in made.source
    assert "t0" not in lambdify((X, Y), sympy.sin(X) + sympy.sin(X) ** 2, cse=False).source


@pytest.mark.parametrize("seed", range(6))
def test_random_expressions(seed: int) -> None:
    rng = random.Random(seed)

    def grown(depth: int) -> Any:
        if depth == 0:
            return rng.choice([X, Y, Z, sympy.Integer(rng.randint(1, 4)), sympy.Rational(1, 3)])
        a, b = grown(depth - 1), grown(depth - 1)
        return rng.choice([
            lambda: a + b, lambda: a - b, lambda: a * b, lambda: a / (1 + b ** 2),
            lambda: sympy.sin(a), lambda: sympy.exp(-a ** 2), lambda: sympy.sqrt(1 + a ** 2),
            lambda: sympy.Max(a, b), lambda: sympy.Piecewise((a, X < Y), (b, True)),
        ])()

    verify(sympy.Matrix([grown(4)])[0])


def test_a_long_expression() -> None:
    terms = [sympy.sin(k * X) * Y ** (k % 3) / (1 + Z ** 2 * k) for k in range(1, 60)]
    verify(sympy.Add(*terms))
