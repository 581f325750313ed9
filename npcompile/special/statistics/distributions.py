"""Distribution functions of statistics over the incomplete gamma and beta functions, as
subprograms (DLMF 8.2, 8.17; Johnson, Kotz & Balakrishnan, Continuous Univariate Distributions)."""

from __future__ import annotations

from npcompile.graph.expression import Expr, const, floor, fma, where
from npcompile.graph.subprograms import choose_among, packed_subprogram
from npcompile.special.arithmetic.double_word import two_product, two_sum
from npcompile.special.elementary.piecewise import INFINITY, NAN, Pair
from npcompile.special.error.probability import ndtr
from npcompile.special.gamma_functions.beta_functions import beta_shares, betainc, betaincc
from npcompile.special.gamma_functions.incomplete_gamma import gammainc, gammaincc


@packed_subprogram
def chdtr(v: Expr, x: Expr) -> Expr:
    """The chi-squared distribution function."""
    return where(x < 0.0, NAN, gammainc(0.5 * v, 0.5 * x))


@packed_subprogram
def chdtrc(v: Expr, x: Expr) -> Expr:
    """One less the chi-squared distribution function."""
    return where(x < 0.0, NAN, gammaincc(0.5 * v, 0.5 * x))


@packed_subprogram
def gdtr(a: Expr, b: Expr, x: Expr) -> Expr:
    """The gamma distribution function."""
    return where(x < 0.0, NAN, gammainc(b, a * x))


@packed_subprogram
def gdtrc(a: Expr, b: Expr, x: Expr) -> Expr:
    """One less the gamma distribution function."""
    return where(x < 0.0, NAN, gammaincc(b, a * x))


@packed_subprogram
def pdtr(k: Expr, m: Expr) -> Expr:
    """The Poisson distribution function."""
    value = where(m == 0.0, 1.0, gammaincc(floor(k) + 1.0, m))
    return where((k < 0.0) | (m < 0.0), NAN, value)


@packed_subprogram
def pdtrc(k: Expr, m: Expr) -> Expr:
    """One less the Poisson distribution function."""
    value = where(m == 0.0, 0.0, gammainc(floor(k) + 1.0, m))
    return where((k < 0.0) | (m < 0.0), NAN, value)


@packed_subprogram
def fdtr(a: Expr, b: Expr, x: Expr) -> Expr:
    """The distribution function of quotients of variances."""
    return _quotient(a, b, x, False)


@packed_subprogram
def fdtrc(a: Expr, b: Expr, x: Expr) -> Expr:
    """One less the distribution function of quotients of variances."""
    return _quotient(a, b, x, True)


def _split(p: Pair, q: Pair) -> tuple[Pair, Pair]:
    """The shares of two positive numbers in their sum."""
    whole, low = two_sum(p[0], q[0])
    low, by = low + p[1] + q[1], 1.0 / whole

    def share(part: Pair) -> Pair:
        value = part[0] / whole
        return value, (fma(-value, whole, part[0]) + fma(-value, low, part[1])) * by

    return share(p), share(q)


def _quotient(a: Expr, b: Expr, x: Expr, upper: bool) -> Expr:
    first, second = _split(two_product(a, x), (b, const(0.0, b)))
    endless = a * x == INFINITY
    if upper:
        value = beta_shares(0.5 * b, 0.5 * a, *second, *first)
    else:
        value = beta_shares(0.5 * a, 0.5 * b, *first, *second)
    value = where(endless, 0.0 if upper else 1.0, value)
    fine = (a > 0.0) & (b > 0.0) & (x >= 0.0) & (a < INFINITY) & (b < INFINITY)
    return where(fine, value, NAN)


@packed_subprogram
def stdtr(v: Expr, t: Expr) -> Expr:
    """Student's distribution function."""
    own, other = _split((v, const(0.0, v)), two_product(t, t))
    tail = 0.5 * beta_shares(0.5 * v, const(0.5, t), *own, *other)
    tail = where(t * t == INFINITY, 0.0, tail)
    value = where(t < 0.0, tail, 1.0 - tail)
    value = choose_among(value, (v > 1e17, lambda: ndtr(t)))
    return where((v > 0.0) & (t == t), value, NAN)


# ------------------------------------------------------------------ of whole numbers


@packed_subprogram
def bdtr(k: Expr, n: Expr, p: Expr) -> Expr:
    """The binomial distribution function."""
    k = floor(k)
    value = where(k == n, 1.0, betaincc(k + 1.0, where(k == n, 1.0, n - k), p))
    return _of_shares(k, n, p, value)


@packed_subprogram
def bdtrc(k: Expr, n: Expr, p: Expr) -> Expr:
    """One less the binomial distribution function."""
    k = floor(k)
    value = where(k == n, 0.0, betainc(k + 1.0, where(k == n, 1.0, n - k), p))
    return where((k < 0.0) & (n >= k) & (p >= 0.0) & (p <= 1.0), 1.0, _of_shares(k, n, p, value))


def _of_shares(k: Expr, n: Expr, p: Expr, value: Expr) -> Expr:
    return where((p >= 0.0) & (p <= 1.0) & (k >= 0.0) & (n >= k), value, NAN)


@packed_subprogram
def nbdtr(k: Expr, n: Expr, p: Expr) -> Expr:
    """The negative binomial distribution function."""
    return where((k >= 0.0) & (n > 0.0), betainc(n, k + 1.0, p), NAN)


@packed_subprogram
def nbdtrc(k: Expr, n: Expr, p: Expr) -> Expr:
    """One less the negative binomial distribution function."""
    return where((k >= 0.0) & (n > 0.0), betaincc(n, k + 1.0, p), NAN)
