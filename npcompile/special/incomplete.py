"""The incomplete gamma functions, as subprograms.

With ``D = x**a * exp(-x) / gamma(a)``: next to a large a Temme's uniform expansion (DLMF 8.12),
below a power series (8.11.4), above a continued fraction (8.9.2), for small x a series of the upper
function's small part (8.7.1).  What is not computed directly is one less the other.
"""

from __future__ import annotations

import math

from npcompile.graph.expression import Expr, ceil, const, fma, poly, sqrt, where
from npcompile.graph.subprograms import Results, choose, repeat, subprogram
from npcompile.special.coefficients.gamma import GAMMALN, STIRLING
from npcompile.special.coefficients.incomplete import ENTROPY, TEMME
from npcompile.special.logarithm import log_pair
from npcompile.special.pieces import (
    DOUBLE,
    INFINITY,
    NAN,
    exp_sum,
    expm1_sum,
    halves,
    log_of,
    piece,
    uniform,
)
from npcompile.special.probability import scaled_tail
from npcompile.special.words import joined, quick_two_sum, two_product, two_sum

ROOT_TURN, ROOT_HALF = 1 / math.sqrt(2 * math.pi), math.sqrt(0.5)
#: where the uniform expansion is used: the smallest a, and up to which |x/a - 1|
LEAST, NEAR = 20.0, 0.32


def stirling_rest(u: Expr) -> Expr:
    """``log(gamma(x))`` less the first terms of Stirling's formula, for ``u = 1/x <= 1``."""
    value, tail = piece(u, None, uniform(u, 16.0), STIRLING["d"])
    return u * (value + tail)


def gamma_factor(a: Expr, x: Expr) -> Expr:
    """``x**a * exp(-x) / gamma(a + 1)`` for positive numbers, away from a large a."""
    high, low, size = factor_parts(a, x)
    return exp_sum(high, low) * size


def factor_parts(a: Expr, x: Expr) -> tuple[Expr, Expr, Expr]:
    """The same as the logarithm of a factor, in two parts, and the other one."""
    b = where(a < 1.0, a + 1.0, a)
    inverse = 1.0 / b
    tiny = x < 1e-280
    lifted = x * where(tiny, const(2.0**400, x), 1.0)
    q = b / lifted
    high, low = log_pair(q, DOUBLE)
    high, low = two_sum(high, low + where(tiny, const(400 * math.log(2), x), 0.0))
    product, lost = two_product(a, high)
    lost = fma(a, fma(fma(-q, lifted, b), inverse, low), lost)
    distance, rest = two_sum(b, -x)
    total, e = two_sum(distance, -product)
    low = (e - lost) + (rest - stirling_rest(inverse))
    return *two_sum(total, low), ROOT_TURN * sqrt(inverse)


def _uniform(a: Expr, x: Expr) -> Results:
    """The smaller of P and Q next to a large a, as the logarithm of a factor, in two parts, and
    the other one, and whether it is Q: with ``m = x/a - 1`` and
    ``eta**2 / 2 = m - log(1 + m)``, exp(-a * eta**2 / 2) is factored out."""
    inverse = 1.0 / a
    d, rest = two_sum(x, -a)
    m = d * inverse
    m_low = (fma(-m, a, d) + rest) * inverse
    shape = m * poly(m, ENTROPY["d"])
    high, low = two_product(d, m)
    low = fma(high, shape, low + fma(d, m_low, rest * m))
    high, low = quick_two_sum(-0.5 * high, -0.5 * low)
    eta, root = m * sqrt(shape + 1.0), sqrt(a)
    z = abs(eta) * root * ROOT_HALF
    tail = joined(scaled_tail(where(z < 27.5, z, 27.5)))
    upper = eta >= 0.0
    series = poly(inverse, [poly(eta, row) for row in TEMME["d"]]) * (ROOT_TURN * root * inverse)
    return high, low, fma(tail, 0.5, where(upper, series, -series)), upper


def _lower(a: Expr, x: Expr) -> Expr:
    """The sum of ``x**n / ((a+1)...(a+n))``, eight terms by one division."""
    powers = [x]
    for _ in range(7):
        powers.append(powers[-1] * x)

    def step(n: Expr, term: Expr, total: Expr) -> Results:
        bottom, top = n + 1.0, const(1.0, x)
        for k in range(1, 8):
            last = n + (k + 1.0)
            bottom, top = bottom * last, fma(top, last, powers[k - 1])
        share = term / bottom
        following = share * powers[7]
        return following > 1e-17 * total, n + 8.0, following, fma(share * x, top, total)

    one = const(1.0, x)
    return repeat(step, a, one, one)[2]


def upper_fraction(a: Expr, x: Expr) -> Expr:
    """``gamma(a, x) * exp(x) / x**a`` by its continued fraction, as a quotient of continuants:
    backward, so that errors die out."""

    def step(n: Expr, later: Expr, last: Expr) -> Results:
        for _ in range(4):
            later, last = fma(fma(n, 2.0, base), later, (a - n) * n * last), later
            n = n - 1.0
        return n > 0.0, n, later, last

    base = x - 1.0 - a
    # as many steps as it takes, found by trial
    terms = 104.0 / x + where(a < 22.0, a, 22.0) * (a / x) + 6.0
    start = ceil(where(terms < 128.0, terms, 128.0) * 0.25) * 4.0
    _, bottom, top = repeat(step, start, const(1e-280, x), const(0.0, x))
    return top / bottom


def _small_upper(a: Expr, x: Expr) -> Expr:
    """Q for small x, where it is not much less than 1 - P: four terms by one division."""
    series, power = const(0.0, x), x
    for n in range(1, 21, 4):
        p, q, r, s = (a + float(k) for k in range(n, n + 4))
        one, two, three, four = ((-1.0) ** k / math.factorial(k) for k in range(n, n + 4))
        pq, rs, square = p * q, r * s, x * x
        first = rs * fma(p * two, x, q * one)
        second = pq * fma(r * four, x, s * three)
        series = fma(power * a, fma(square, second, first) / (pq * rs), series)
        power = power * (square * square)
    y = a + 1.0
    value, tail = piece(y, None, halves(y), GAMMALN["d"])
    exponent = fma(a, log_of(x), a * (1.0 - a) * (value + tail))
    part = expm1_sum(exponent)
    return -fma(part, series, series) - part


def _elsewhere(a: Expr, x: Expr, upper: bool) -> Results:
    """P or Q elsewhere, like :func:`_uniform`."""
    high, low, size = factor_parts(a, x)
    above = (x > 1.1) & (x >= a + 0.5) if upper else (x > 5.0) & (x >= a + 2.0)

    def below() -> Results:
        return high, low, size * _lower(a, x), ~(x == x)

    def small_or_below() -> Results:
        if not upper:
            return below()
        limit = where(x <= 0.5, -0.4 / log_of(where(x <= 0.5, x, 0.5)), x * 1.1)
        small = (x <= 1.1) & (a <= limit)
        return choose(small, lambda: (0.0 * x, 0.0 * x, _small_upper(a, x), small), below)

    return choose(
        above, lambda: (high, low, size * (a * upper_fraction(a, x)), above), small_or_below)


def _regularised(a: Expr, x: Expr, upper: bool) -> Expr:
    """P, or Q if upper."""
    fine = (a > 0.0) & (a < INFINITY) & (x > 0.0) & (x < INFINITY)
    far = (a > 1e6) & (abs(x - a) > 0.5 * a)
    above = x > a
    a, x = where(fine & ~far, a, 1.0), where(fine & ~far, x, 1.0)
    near = (a >= LEAST) & (abs(x - a) <= NEAR * a)
    high, low, rest, is_upper = choose(
        near, lambda: _uniform(a, x), lambda: _elsewhere(a, x, upper))
    value = exp_sum(high, low)
    value = where(value == 0.0, 0.0, value * rest)
    value = where(is_upper if upper else ~is_upper, value, 1.0 - value)
    value = where(value < 1.0, value, 1.0)
    return where(far, where(above ^ upper, const(1.0, x), 0.0), value)


def _edges(a: Expr, x: Expr, inside: Expr, below: float) -> Expr:
    """What is left of P (``below`` is 0) or Q (1) where a or x is 0, infinite, negative or NaN."""
    above = 1.0 - below
    value = where(a == INFINITY, const(below, x), inside)
    value = where(x == INFINITY, const(above, x), where(x == 0.0, const(below, x), value))
    value = where((a == 0.0) & (x > 0.0), const(above, x), value)
    wrong = ~((a >= 0.0) & (x >= 0.0)) | ((a == x) & ((a == 0.0) | (a == INFINITY)))
    return where(wrong, const(NAN, x), value)


@subprogram
def gamma_size(a: Expr, x: Expr) -> Expr:
    """``x**a * exp(-x) / gamma(a)``, the slope of P in the logarithm of x."""
    return gamma_factor(a, x) * a


@subprogram
def gamma_density(a: Expr, x: Expr) -> Expr:
    """``x**(a - 1) * exp(-x) / gamma(a)``, the slope of P."""
    return gamma_factor(a, x) * (a / x)


@subprogram
def gammainc(a: Expr, x: Expr) -> Expr:
    """The regularised lower incomplete gamma function P."""
    return _edges(a, x, _regularised(a, x, False), 0.0)


@subprogram
def gammaincc(a: Expr, x: Expr) -> Expr:
    """The regularised upper incomplete gamma function Q."""
    return _edges(a, x, _regularised(a, x, True), 1.0)
