"""beta, betaln and the incomplete beta functions, as subprograms.

With ``c = a + b`` and Stirling's formula, ``x**a * y**b / B(a, b)`` is ``exp(a*log(x*c/a) +
b*log(y*c/b))`` times a factor that changes slowly, and nothing large cancels.  The continued
fraction is DiDonato's and Morris's (ACM TOMS 18, 1992, eq. 9), freed from divisions.
"""

from __future__ import annotations

import math

from npcompile.graph.expression import Expr, const, copysign, floor, fma, sqrt, where
from npcompile.graph.subprograms import (
    Results,
    choose,
    choose_among,
    packed_subprogram,
    repeat,
    subprogram,
)
from npcompile.special.arithmetic.double_word import quick_two_sum, two_product, two_sum
from npcompile.special.coefficients.gamma import GAMMALN
from npcompile.special.elementary.logarithm import log1p, log_pair, log_sum
from npcompile.special.elementary.piecewise import (
    DOUBLE,
    INFINITY,
    NAN,
    Pair,
    exp_sum,
    expm1_sum,
    halves,
    log_of,
    piece,
)
from npcompile.special.error.probability import ndtr
from npcompile.special.gamma_functions.gamma_function import gammaln
from npcompile.special.gamma_functions.incomplete_gamma import ROOT_TURN, gammaincc, stirling_rest


class _Shifted:
    """Parameters with 1 added where they are below 1, their sum and reciprocals."""

    def __init__(self, a: Expr, b: Expr) -> None:
        self.low_a, self.low_b = a < 1.0, b < 1.0
        self.a, self.b = where(self.low_a, a + 1.0, a), where(self.low_b, b + 1.0, b)
        self.sum, self.sum_low = two_sum(self.a, self.b)
        self.by_a, self.by_b, self.by_sum = 1.0 / self.a, 1.0 / self.b, 1.0 / self.sum
        self.rest = stirling_rest(self.by_sum) - stirling_rest(self.by_a) - stirling_rest(self.by_b)

    def share(self, x: Pair, of: Expr, by: Expr) -> Pair:
        """``-log(x * sum / of)``, in two parts."""
        tiny = x[0] < 1e-200
        lift = where(tiny, const(2.0**400, of), 1.0)
        high, low = two_product(x[0] * lift, self.sum)
        low = low + fma(x[0] * lift, self.sum_low, x[1] * self.sum)
        q = of / high
        log, log_low = log_pair(q, DOUBLE)
        log, log_low = two_sum(log, log_low + where(tiny, const(400 * math.log(2), of), 0.0))
        return quick_two_sum(log, fma(fma(-q, high, of) - q * low, by, log_low))

    def exponent(self, a: Expr, x: Pair, b: Expr, y: Pair) -> Pair:
        """``a*log(x*sum/a) + b*log(y*sum/b)`` and what Stirling's formula leaves."""
        left, left_low = self.share(x, self.a, self.by_a)
        right, right_low = self.share(y, self.b, self.by_b)
        p, p_low = two_product(a, -left)
        q, q_low = two_product(b, -right)
        s, e = two_sum(p, q)
        low = fma(-a, left_low, p_low) + fma(-b, right_low, q_low)
        return two_sum(s, e + low + self.rest)

    def root(self) -> Expr:
        """``sqrt(a * b / (2*pi * (a + b)))``"""
        return ROOT_TURN * sqrt(self.a * self.by_sum * self.b)


def beta_factor(a: Expr, b: Expr, x: Pair, y: Pair) -> Expr:
    """``x**a * y**b / (a * B(a, b))`` for positive numbers, ``x + y = 1``."""
    of = _Shifted(a, b)
    size = exp_sum(*of.exponent(a, x, b, y)) * of.root()
    whole = a + b
    up_a, up_b = of.sum * of.by_a, of.sum * of.by_b
    size = size * where(of.low_a, up_a, of.by_a) * where(of.low_b, up_b * b, 1.0)
    bottom = where(of.low_a & of.low_b, whole * (whole + 1.0), whole)
    return where(of.low_a | of.low_b, size / bottom, size)


def _fraction(a: Expr, b: Expr, x: Pair, y: Pair) -> Expr:
    """I_x(a, b) over the factor, for ``x <= (a + 1) / (a + b + 2)``."""
    one, zero = const(1.0, a), const(0.0, a)
    p, p_low = two_product(a, y[0])
    q, q_low = two_product(b, x[0])
    excess = (p - q) + ((p_low - q_low) + fma(a, y[1], -b * x[1])) + 1.0
    square, step_up = x[0] * x[0], 1.0 + y[0]

    def step(n: Expr, before: Expr, tops: Expr, top: Expr, bottoms: Expr, value: Expr) -> Results:
        bottom = one
        for _ in range(3):
            last, here = a + (n + n - 1.0), a + (n + n + 1.0)
            left = n * (b - n)
            own = fma(n * last, here, left * x[0] * here)
            own = fma((a + n) * fma(n, step_up, excess), last, own)
            factor = ((a + b) + (n - 1.0)) * left * square * (here * before)
            tops, top = top, fma(own, top, factor * tops)
            bottoms, bottom = bottom, fma(own, bottom, factor * bottoms)
            n, before = n + 1.0, (a + n) * last
        inverse = 1.0 / bottom
        better = top * inverse
        more = (abs(better - value) > 2.0**-53 * better) & (n < 2e6)
        return more, n, before, tops * inverse, better, bottoms * inverse, better

    inverse = 1.0 / excess
    value = repeat(step, one, one, zero, inverse, inverse, zero)[5]
    return value * (a + 1.0)


def _large(a: Expr, b: Expr, x: Expr, y: Expr) -> Expr:
    """I_x(a, b) where a parameter is beyond 1e11: next to it the other one's gamma distribution
    (Johnson, Kotz & Balakrishnan, vol. 2, section 25.5), or the normal one with its skewness."""
    swapped = a < b
    p, q = where(swapped, b, a), where(swapped, a, b)
    above, below = where(swapped, y, x), where(swapped, x, y)
    high, low = log_sum(*two_sum(const(1.0, a), -where(below < 1.0, below, 0.5)), DOUBLE)
    steps = -(p + 0.5 * (q - 1.0)) * (high + low)
    steps = where(below < 1.0, steps, INFINITY)
    whole = p + q
    product, lost = two_product(above, whole)
    z = ((product - p) + lost) / (sqrt(p) * sqrt(q / whole))
    skew = (q - p) / (sqrt(whole) * sqrt(p)) / sqrt(q) * (1 / 3)
    z = where(abs(z) < 100.0, z - skew * (z * z - 1.0), z)
    value, = choose(q < 1e-5 * p, lambda: (gammaincc(q, steps),), lambda: (ndtr(z),))
    return where(swapped, 1.0 - value, value)


#: of log(gamma(x)) less the first terms of Stirling's formula, in 1/x (DLMF 5.11.1)
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
RAISED = 10


def _next_to_1(a: Expr, b: Expr, y: Expr) -> Expr:
    """I_x(a, b) for small b and ``y = 1 - x``, where it is much less than 1: with the series
    of I_y(b, a) (DLMF 8.17.7), ``1 - exp(e) * (1 + b * sum)``, and e proportional to b."""

    def step(n: Expr, term: Expr, total: Expr) -> Results:
        m, p, q = n + 1.0, b + n, b + (n + 1.0)
        first = term * ((n - a) * y) / (n * m * p * q)
        second = first * ((m - a) * y) * p
        return abs(second) > 1e-18, n + 2.0, second * q, fma(first * m, q, total + second)

    one, zero = const(1.0, a), const(0.0, a)
    total = repeat(step, one, one, zero)[2]
    low = a < RAISED
    near = where(low, a, 1.0)
    bottom, more = near, b  # of the product of 1 + b/(a + k), and what it exceeds 1 by
    for k in range(1, RAISED):
        here = near + float(k)
        bottom, more = bottom * here, fma(more, here + b, b * bottom)
    raised = where(low, log1p(more / bottom, True), 0.0)
    c = where(low, a + RAISED, a)
    u, share = 1.0 / c, b / c
    v = 1.0 / (c + b)
    # the difference of Stirling's series at u and v, which is u - v times this
    powers, last, slope = one, v, const(_STIRLING[0], a)
    for term in _STIRLING[1:]:
        powers, last = fma(u * u, powers, (u + v) * last), last * (v * v)
        slope = fma(powers, term, slope)
    growth = fma(c + (b - 0.5), log1p(share, True), -b) - share * v * slope
    value, tail = piece(b + 1.0, None, halves(b + 1.0), GAMMALN["d"])
    factorial = b * (b - 1.0) * (value + tail)
    tiny = y < 1e-280
    log = log_of(y * where(tiny, const(2.0**400, y), 1.0) * c)
    log = log - where(tiny, const(400 * math.log(2), y), 0.0)
    e = fma(b, log, growth - raised - factorial)
    part = expm1_sum(e)
    return -fma(part + 1.0, b * total, part)


def _shares(a: Expr, b: Expr, x: Pair, y: Pair) -> Expr:
    """I_x(a, b) for ``x + y = 1``."""
    fine = (a > 0.0) & (a < INFINITY) & (b > 0.0) & (b < INFINITY) & (x[0] > 0.0) & (y[0] > 0.0)
    a, b = where(fine, a, 1.0), where(fine, b, 1.0)
    x, y = ((where(fine, p[0], 0.5), where(fine, p[1], 0.0)) for p in (x, y))
    # where b is small, I is much less than 1 nearly up to x = 1
    swapped = (x[0] * (a + b + 2.0) > a + 1.0) & (b >= 0.6)
    near = (b < 0.6) & (y[0] < 0.3) & (y[0] * a < 0.8)

    def usual() -> Expr:
        p, q = where(swapped, b, a), where(swapped, a, b)
        left = where(swapped, y[0], x[0]), where(swapped, y[1], x[1])
        right = where(swapped, x[0], y[0]), where(swapped, x[1], y[1])
        value = beta_factor(p, q, left, right)
        value = where(value == 0.0, 0.0, value * _fraction(p, q, left, right))
        return where(swapped, 1.0 - value, value)

    large = (a > 1e11) | (b > 1e11)
    value = choose_among(
        const(0.0, a), (near, lambda: _next_to_1(a, b, y[0])),
        (~near & large, lambda: _large(a, b, x[0], y[0])), (~near & ~large, usual))
    return where(value > 0.0, where(value < 1.0, value, 1.0), 0.0)


@packed_subprogram
def beta_shares(a: Expr, b: Expr, x: Expr, x_low: Expr, y: Expr, y_low: Expr) -> Expr:
    """I_x(a, b) where ``1 - x`` is given, too, each in two parts."""
    value = _shares(a, b, (x, x_low), (y, y_low))
    value = where((x <= 0.0) | (b == 0.0), 0.0, value)
    return where((y <= 0.0) | (a == 0.0), 1.0, value)


def _edges(a: Expr, b: Expr, x: Expr, inside: Expr, start: float) -> Expr:
    """What is left where a parameter or x is at the end of its range, outside of it, or NaN;
    ``start`` is the value at 0."""
    end = 1.0 - start
    first = (a == 0.0) | (b == INFINITY)
    second = (b == 0.0) | (a == INFINITY)
    value = where(first, const(end, x), where(second, const(start, x), inside))
    value = where(x == 0.0, const(start, x), where(x == 1.0, const(end, x), value))
    wrong = ~((a >= 0.0) & (b >= 0.0) & (x >= 0.0) & (x <= 1.0)) | (first & second)
    return where(wrong, const(NAN, x), value)


@packed_subprogram
def betainc(a: Expr, b: Expr, x: Expr) -> Expr:
    """The regularised incomplete beta function."""
    inside = _shares(a, b, (x, const(0.0, x)), two_sum(const(1.0, x), -x))
    return _edges(a, b, x, inside, 0.0)


@packed_subprogram
def betaincc(a: Expr, b: Expr, x: Expr) -> Expr:
    """One less the regularised incomplete beta function."""
    inside = _shares(b, a, two_sum(const(1.0, x), -x), (x, const(0.0, x)))
    return _edges(a, b, x, inside, 1.0)


@subprogram
def beta_size(a: Expr, b: Expr, x: Expr) -> Expr:
    """``x**a * y**(b - 1) / B(a, b)`` with ``y = 1 - x``, the slope of betainc in log(x)."""
    y = two_sum(const(1.0, x), -x)
    return beta_factor(a, b, (x, x * 0.0), y) * a / y[0]


@subprogram
def beta_density(a: Expr, b: Expr, x: Expr) -> Expr:
    """``x**(a - 1) * y**(b - 1) / B(a, b)`` with ``y = 1 - x``, the slope of betainc."""
    y = two_sum(const(1.0, x), -x)
    return beta_factor(a, b, (x, x * 0.0), y) * a / (x * y[0])


# ------------------------------------------------------------------ the complete function


def _complete(a: Expr, b: Expr) -> tuple[Pair, Expr]:
    """B(a, b) for positive numbers: the logarithm of a factor, in two parts, and the other one."""
    of, one = _Shifted(a, b), (const(1.0, a), const(0.0, a))
    high, low = of.exponent(a, one, b, one)
    more = where(of.low_a, a + b + 1.0, a + b)
    up_a = where(of.low_a, of.a * ((a + b) * of.by_sum) / a, 1.0)
    up_b = where(of.low_b, of.b * (more * of.by_sum) / b, 1.0)
    return (-high, -low), up_a * up_b / of.root()


def _positive(a: Expr, b: Expr, log: bool) -> Expr:
    """B(a, b) or its logarithm for positive numbers; exact where one of them is 1."""
    (high, low), factor = _complete(a, b)
    value = high + (log_of(factor) + low) if log else exp_sum(high, low) * factor
    if log:  # next to a pole B is the sum of reciprocals
        least, most = where(a < b, a, b), where(a < b, b, a)
        pole = log1p(least / most, True) - log_of(least)
        value = where(least < 1e-290, pole, value)
    other = where(a == 1.0, b, a)
    return where((a == 1.0) | (b == 1.0), -log_of(other) if log else 1.0 / other, value)


@subprogram
def log_gamma(x: Expr) -> Expr:
    """``log(abs(gamma(x)))``"""
    return gammaln(x)


def _sign(x: Expr) -> Expr:
    """gamma's sign."""
    half = 0.5 * floor(x)
    return where((x < 0.0) & (half != floor(half)), const(-1.0, x), 1.0)


def _raised(a: Expr, b: Expr) -> Results:
    """Positive parameters and the factor that takes their B to that of a and b:
    ``B(a, b) = B(a + 1, b) * (a + b) / a`` (DLMF 5.12.1)."""

    def step(p: Expr, q: Expr, factor: Expr) -> Results:
        first = p < 0.0
        lower = where(first, p, q)
        factor = where(lower < 0.0, factor * ((p + q) / lower), factor)
        p, q = where(first, p + 1.0, p), where(~first & (q < 0.0), q + 1.0, q)
        return (p < 0.0) | (q < 0.0), p, q, factor

    return repeat(step, a, b, const(1.0, a))


def _reflected(a: Expr, b: Expr, log: bool) -> Expr:
    """B(a, b), or its logarithm, where a number is not positive."""
    whole_a, whole_b = (a == floor(a)) & (a <= 0.0), (b == floor(b)) & (b <= 0.0)
    p, q = where(whole_a, a, b), where(whole_a, b, a)
    poles = whole_a | whole_b
    mirror = 1.0 - p - q
    whole = (q == floor(q)) & (mirror > 0.0)
    fine, odd = poles & whole & (q > 0.0), 0.5 * q != floor(0.5 * q)
    far = poles | ~((a > -1000.0) & (b > -1000.0) & (a + b < 1e16))
    up_a, up_b, raised = _raised(where(far, 1.0, a), where(far, 1.0, b))
    value = _positive(where(fine, mirror, up_a), where(fine, q, up_b), log)
    large, small = where(a > b, a, b), where(a > b, b, a)
    logs = log_gamma(small) + (log_gamma(large) - log_gamma(a + b))
    wide = large > 1e17 * abs(small)
    logs = where(wide, log_gamma(small) - small * log_of(where(wide, large, 1.0)), logs)
    endless = const(INFINITY, a)
    if log:
        value = where(far & ~fine, logs, value + log_of(abs(raised)))
        value = where(raised == 0.0, -INFINITY, value)
    else:
        signs = _sign(a) * _sign(b) * _sign(a + b)
        value = where(fine & odd, -1.0, raised) * value
        value = where(far & ~fine, signs * exp_sum(logs), value)
        endless = where(whole & (q <= 0.0) & odd, -INFINITY, endless)
    unbounded = (large == INFINITY) & ~poles & (small > -INFINITY)
    limit = const(INFINITY, a) if log else copysign(INFINITY, _sign(small))
    return where(poles & ~fine, endless, where(unbounded, limit, value))


def _beta(a: Expr, b: Expr, log: bool) -> Expr:
    positive, endless = (a > 0.0) & (b > 0.0), (a == INFINITY) | (b == INFINITY)
    wrong = ~((a == a) & (b == b))
    return choose_among(
        where(wrong, NAN, const(-INFINITY if log else 0.0, a)),
        (positive & ~endless, lambda: _positive(a, b, log)),
        (~positive & ~wrong, lambda: _reflected(a, b, log)))


@packed_subprogram
def beta(a: Expr, b: Expr) -> Expr:
    """The beta function."""
    return _beta(a, b, False)


@packed_subprogram
def betaln(a: Expr, b: Expr) -> Expr:
    """``log(abs(beta(a, b)))``"""
    return _beta(a, b, True)

