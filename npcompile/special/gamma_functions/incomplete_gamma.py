"""The incomplete gamma functions, as subprograms.

With ``D = x**a * exp(-x) / gamma(a)``: next to a large a Temme's uniform expansion (DLMF 8.12),
below a power series (8.11.4), above a continued fraction (8.9.2), for small x a series of the upper
function's small part (8.7.1).  What is not computed directly is one less the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from npcompile.graph.expression import (
    Expr,
    cast,
    ceil,
    const,
    fma,
    poly,
    sqrt,
    to_bits,
    where,
)
from npcompile.graph.subprograms import (
    Results,
    choose_among,
    packed_subprogram,
    repeat,
    subprogram,
)
from npcompile.special.arithmetic.double_double import Doubled, product_of, sum_of
from npcompile.special.arithmetic.double_word import joined, quick_two_sum, two_product, two_sum
from npcompile.special.arithmetic.formats import power_of_two
from npcompile.special.coefficients.gamma import GAMMALN, STIRLING
from npcompile.special.coefficients.incomplete import ENTROPY, TEMME
from npcompile.special.elementary.exponential import expm1_parts
from npcompile.special.elementary.logarithm import log_pair, log_pair_of_normal
from npcompile.special.elementary.piecewise import (
    DOUBLE,
    INFINITY,
    NAN,
    exp_sum,
    halves,
    piece,
    uniform,
)
from npcompile.special.error.probability import scaled_tail

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
    high, low = log_pair_of_normal(q, DOUBLE)  # a subnormal one does not count beside x
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
    terms = fma(where(a < 22.0, a, 22.0), a, 104.0) / x + 6.0
    start = ceil(where(terms < 128.0, terms, 128.0) * 0.25) * 4.0
    _, bottom, top = repeat(step, start, const(1e-280, x), const(0.0, x))
    return top / bottom


def _small_upper(a: Expr, x: Expr) -> Expr:
    """Q for small x, where it is not much less than 1 - P: ``1 - (1 + p) * (1 + q)``, where p and
    q are ``x**a / gamma(1 + a) - 1`` and DLMF 8.7.1 less its first term, both in two parts."""
    # the first two terms in two parts, then four terms by one division
    rest, power = const(0.0, x), const(1.0, x)
    for n in range(3, 19, 4):
        p, q, r, s = (a + float(k) for k in range(n, n + 4))
        one, two, three, four = (-((-1.0) ** k) / math.factorial(k) for k in range(n, n + 4))
        pq, rs, square = p * q, r * s, x * x
        first = rs * fma(p * two, x, q * one)
        second = pq * fma(r * four, x, s * three)
        rest = fma(power, fma(square, second, first) / (pq * rs), rest)
        power = power * (square * square)
    unit = const(1.0, x)
    start = Doubled(unit) / sum_of(unit, a) - Doubled(0.5 * x) / sum_of(unit + unit, a)
    series = -((start + rest * (x * x)) * product_of(a, x))
    y = a + 1.0
    slope = Doubled(*quick_two_sum(*piece(y, None, halves(y), GAMMALN["d"])))
    exponent = (sum_of(unit, -a) * slope + Doubled(*log_pair(x, DOUBLE))) * a
    head, tail, k = expm1_parts(exponent.high, DOUBLE)
    up = power_of_two(k, DOUBLE)
    part = Doubled(*quick_two_sum(head * up, tail * up))
    part = part + fma(part.high, exponent.low, exponent.low)
    return -((part + 1.0) * series + part).joined()


def _regularised(a: Expr, x: Expr, upper: bool) -> Expr:
    """P, or Q if upper."""
    fine = (a > 0.0) & (a < INFINITY) & (x > 0.0) & (x < INFINITY)
    far = (a > 1e6) & (abs(x - a) > 0.5 * a)
    use = fine & ~far
    near = (a >= LEAST) & (abs(x - a) <= NEAR * a)
    above = (x > 1.1) & (x >= a + 0.5) if upper else (x > 5.0) & (x >= a + 2.0)
    # next to -0.4/log(x), by the logarithm to base 2 between powers of two
    log = fma(cast(to_bits(x), "d"), -math.log(2) / 2.0**52, 1023 * math.log(2))
    small = (x <= 1.1) & (a <= 1.1 * x) | (x <= 0.5) & (a * log <= 0.4)

    def expansion() -> Expr:
        high, low, rest, is_upper = _uniform(a, x)
        value = _product(high, low, rest)
        return _at_most_1(where(is_upper ^ upper, 1.0 - value, value))

    def elsewhere(part: Callable[[Expr, Expr], Expr], is_upper: bool) -> Callable[[], Expr]:
        def arm() -> Expr:
            high, low, size = factor_parts(a, x)
            value = _product(high, low, size * part(a, x))
            return _at_most_1(value if is_upper == upper else 1.0 - value)

        return arm

    arms = [(use & near, expansion),
            (use & ~near & above, elsewhere(lambda a, x: a * upper_fraction(a, x), True))]
    below = use & ~near & ~above
    if upper:
        arms.append((below & small, lambda: _at_most_1(_small_upper(a, x))))
        below = below & ~small
    arms.append((below, elsewhere(_lower, False)))
    arms.append((~use, lambda: where(
        fine, where((x > a) ^ upper, const(1.0, x), 0.0), _edges(a, x, float(upper)))))
    return choose_among(const(0.0, x), *arms)


def _at_most_1(value: Expr) -> Expr:
    return where(value < 1.0, value, 1.0)


def _product(high: Expr, low: Expr, rest: Expr) -> Expr:
    """``exp(high + low) * rest``, 0 where the first is."""
    value = exp_sum(high, low)
    return where(value == 0.0, 0.0, value * rest)


def _edges(a: Expr, x: Expr, below: float) -> Expr:
    """P (``below`` is 0) or Q (1) where a or x is 0, infinite, negative or NaN."""
    less = (x == 0.0) | (a == INFINITY)
    value = where(less, const(below, x), 1.0 - below)
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


@packed_subprogram
def gammainc(a: Expr, x: Expr) -> Expr:
    """The regularised lower incomplete gamma function P."""
    return _regularised(a, x, False)


@packed_subprogram
def gammaincc(a: Expr, x: Expr) -> Expr:
    """The regularised upper incomplete gamma function Q."""
    return _regularised(a, x, True)
