"""Orthogonal polynomials of whole degree by their recurrences (DLMF 18.9), as subprograms.

Legendre's and Laguerre's run on differences of successive ones, which lose nothing next to the end
where all of them are equal.
"""

from __future__ import annotations

from collections.abc import Callable

from npcompile.graph.expression import Expr, cast, const, fma, where
from npcompile.graph.subprograms import Results, repeat, subprogram
from npcompile.special.elementary.piecewise import NAN

Step = Callable[[Expr, Expr, Expr], Expr]


def _recurrence(n: Expr, first: Expr, step: Step) -> Expr:
    """p_n from p_0 = 1, p_1 and ``p_(k+1) = step(k, p_k, p_(k-1))``; for ``n < 0`` it is p_0."""

    def turn(k: Expr, now: Expr, before: Expr) -> Results:
        return k < n - 1.0, k + 1.0, step(k, now, before), now

    one = const(1.0, n)
    return where(n < 1.0, 1.0, where(n < 2.0, first, repeat(turn, one, first, one)[1]))


def _steps(n: Expr, start: Expr, change: Expr, step: Step) -> Expr:
    """The same by differences: ``d_(k+1) = step(k, p_k, d_k)`` and ``p_(k+1) = p_k + d_(k+1)``."""

    def turn(k: Expr, now: Expr, last: Expr) -> Results:
        following = step(k, now, last)
        return k < n - 1.0, k + 1.0, now + following, following

    one = const(1.0, n)
    found = repeat(turn, one, start, change)[1]
    return where(n < 1.0, 1.0, where(n < 2.0, start, found))


def _doubled(x: Expr) -> Step:
    return lambda k, now, before: fma(x + x, now, -before)


@subprogram
def chebyshev_t(n: Expr, x: Expr) -> Expr:
    """Chebyshev's polynomial of the first kind."""
    return _recurrence(abs(n), x, _doubled(x))


@subprogram
def chebyshev_u(n: Expr, x: Expr) -> Expr:
    """Chebyshev's polynomial of the second kind; U of ``-2 - n`` is -U of n."""
    value = _recurrence(where(n < -1.0, -2.0 - n, n), x + x, _doubled(x))
    return where(n == -1.0, 0.0, where(n < -1.0, -value, value))


@subprogram
def chebyshev_c(n: Expr, x: Expr) -> Expr:
    """``2 * T(n, x/2)``"""
    return 2.0 * chebyshev_t(n, 0.5 * x)


@subprogram
def chebyshev_s(n: Expr, x: Expr) -> Expr:
    """``U(n, x/2)``"""
    return chebyshev_u(n, 0.5 * x)


@subprogram
def legendre(n: Expr, x: Expr) -> Expr:
    """Legendre's polynomial; P of ``-1 - n`` is P of n."""
    below = x - 1.0

    def step(k: Expr, now: Expr, last: Expr) -> Expr:
        return fma((k + k + 1.0) * below, now, k * last) / (k + 1.0)

    return _steps(where(n < 0.0, -1.0 - n, n), x, below, step)


@subprogram
def laguerre(n: Expr, x: Expr) -> Expr:
    """Laguerre's polynomial."""

    def step(k: Expr, now: Expr, last: Expr) -> Expr:
        return fma(-x, now, k * last) / (k + 1.0)

    return where(n < 0.0, 0.0, _steps(n, 1.0 - x, -x, step))


@subprogram
def hermite(n: Expr, x: Expr) -> Expr:
    """Hermite's polynomial of physics."""
    twice = x + x
    value = _recurrence(n, twice, lambda k, now, before: fma(twice, now, -((k + k) * before)))
    return where(n < 0.0, NAN, value)


@subprogram
def hermite_monic(n: Expr, x: Expr) -> Expr:
    """Hermite's polynomial of statistics."""
    value = _recurrence(n, x, lambda k, now, before: fma(x, now, -(k * before)))
    return where(n < 0.0, NAN, value)


@subprogram
def shifted_argument(x: Expr) -> Expr:
    """``2*x - 1``"""
    return fma(x, 2.0, -1.0)


Program = Callable[[Expr, Expr], Expr]


def of_degree(program: Program, shifted: bool = False) -> Program:
    """The program for an integer degree; ``shifted``: to the interval from 0 to 1."""

    def run(n: Expr, x: Expr) -> Expr:
        return program(cast(n, "d"), shifted_argument(x) if shifted else x)

    return run


Partials = Callable[[Expr, Expr], tuple[None, Expr]]


def _slope(of: Program) -> Partials:
    return lambda n, x: (None, of(n, x))


#: derivatives with respect to the second operand
SLOPES: dict[str, Partials] = {
    "eval_chebyt": _slope(lambda n, x: n * chebyshev_u(n - 1.0, x)),
    "eval_hermite": _slope(lambda n, x: 2.0 * n * hermite(n - 1.0, x)),
    "eval_hermitenorm": _slope(lambda n, x: n * hermite_monic(n - 1.0, x)),
    "eval_legendre": _slope(
        lambda n, x: n * (x * legendre(n, x) - legendre(n - 1.0, x)) / (x * x - 1.0)),
    "eval_laguerre": _slope(lambda n, x: n * (laguerre(n, x) - laguerre(n - 1.0, x)) / x),
}
