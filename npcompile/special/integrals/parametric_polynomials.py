"""Gegenbauer's, Jacobi's and generalised Laguerre polynomials of whole degree, as subprograms: by
their recurrences (DLMF 18.9) in two parts, the last two on differences of successive ones."""

from __future__ import annotations

from collections.abc import Callable

from npcompile.graph.expression import Expr, const, floor, where
from npcompile.graph.subprograms import Results, paired_subprogram, repeat
from npcompile.special.arithmetic.double_double import Doubled, product_of, sum_of
from npcompile.special.arithmetic.double_word import two_sum
from npcompile.special.elementary.piecewise import NAN
from npcompile.special.gamma_functions.combinatorics import product

#: from the degree, the last polynomial and the last difference to the next difference
Step = Callable[[Expr, Doubled, Doubled], Doubled]


def _steps(n: Expr, first: Doubled, step: Step) -> Expr:
    """p_n from ``p_0 = 1`` and the first difference."""

    def turn(k: Expr, p: Expr, p_low: Expr, d: Expr, d_low: Expr) -> Results:
        now = Doubled(p, p_low)
        rise = step(k, now, Doubled(d, d_low))
        now = now + rise
        return k < n - 1.0, k + 1.0, now.high, now.low, rise.high, rise.low

    one = const(1.0, n)
    start = first + 1.0
    _, high, low, _, _ = repeat(turn, one, start.high, start.low, first.high, first.low)
    return where(n < 2.0, start.high + start.low, high + low)


def _scaled(n: Expr, a: Expr, value: Expr) -> Expr:
    """``binom(n + a, n) * value``; 1 of degree 0, 0 below."""
    first, low = two_sum(a, const(1.0, n))
    found = product(first, low, where(n > 0.0, n, 1.0), True) * value
    return where(n < 0.0, 0.0, where(n == 0.0, 1.0, found))


@paired_subprogram
def genlaguerre(n: Expr, a: Expr, x: Expr) -> Expr:
    """The generalised Laguerre polynomial."""
    fine = a > -1.0
    a = where(fine, a, 0.0)

    def step(k: Expr, p: Doubled, d: Doubled) -> Doubled:
        return (d * k - p * x) / (sum_of(a, k) + 1.0)

    value = _steps(n, Doubled(-x) / sum_of(a, const(1.0, x)), step)
    return where(fine & (x == x), _scaled(n, a, value), NAN)


@paired_subprogram
def jacobi(n: Expr, a: Expr, b: Expr, x: Expr) -> Expr:
    """Jacobi's polynomial of a degree of 0 or more."""
    both, rise = sum_of(a, b), sum_of(x, const(-1.0, x))

    def step(k: Expr, p: Doubled, d: Doubled) -> Doubled:
        t = both + (k + k)
        top = t * (t + 1.0) * rise * p
        top = (top + sum_of(k, b) * (k + k) * d) * (t + 2.0)
        return top / ((sum_of(a, k) + 1.0) * (both + k + 1.0) * t * 2.0)

    first = (both + 2.0) * rise / ((sum_of(a, const(1.0, a))) * 2.0)
    value = _scaled(n, a, _steps(n, first, step))
    # as SciPy's: a binomial coefficient that has no limit
    value = where((n + a < 0.0) & (a == floor(a)), NAN, value)
    linear = (sum_of(a, const(1.0, a)) + (both + 2.0) * rise * 0.5).joined()
    value = where(n < 2.0, linear, value)
    value = where((a == a) & (b == b) & (x == x), value, NAN)
    return where(n < 1.0, 1.0, value)


@paired_subprogram
def gegenbauer(n: Expr, a: Expr, x: Expr) -> Expr:
    """Gegenbauer's polynomial."""

    def turn(k: Expr, p: Expr, p_low: Expr, q: Expr, q_low: Expr) -> Results:
        first = sum_of(a, k - 1.0) * 2.0 * x / k
        second = sum_of(a + a, k - 2.0) / k
        value = first * Doubled(p, p_low) - second * Doubled(q, q_low)
        size = first.high * p
        far = ~(abs(size) < 1e300)
        high, low = where(far, size, value.high), where(far, 0.0, value.low)
        return k < n, k + 1.0, high, low, p, p_low

    start = product_of(a + a, x)
    zero, one = const(0.0, x), const(1.0, x)
    _, high, low, _, _ = repeat(turn, one + 1.0, start.high, start.low, one, zero)
    value = where(n < 2.0, start.high + start.low, high + low)
    value = where(n < 0.0, 0.0, where(n == 0.0, 1.0, value))
    return where((a == a) & (x == x), value, NAN)
