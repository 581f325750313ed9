"""Binomial coefficients and rising factorials of real numbers, as subprograms.

Of few factors they are products in two parts; else quotients of gamma functions (DLMF 1.2.6,
5.2.5).
"""

from __future__ import annotations

from npcompile.graph.expression import Expr, const, copysign, floor, fma, rint, where
from npcompile.graph.subprograms import (
    Results,
    choose_among,
    packed_subprogram,
    repeat,
    subprogram,
)
from npcompile.special.arithmetic.double_double import Doubled
from npcompile.special.arithmetic.double_word import two_product, two_sum
from npcompile.special.elementary.logarithm import log_pair
from npcompile.special.elementary.piecewise import DOUBLE, INFINITY, NAN, exp_sum
from npcompile.special.gamma_functions.beta_functions import beta, betaln, log_gamma
from npcompile.special.gamma_functions.gamma_function import PI, digamma, gamma, half_turns, rgamma

#: up to how many factors are multiplied
FACTORS = 40.0
#: beyond it products of some of them overflow
HUGE = 1e60


def sign_of_gamma(x: Expr) -> Expr:
    """gamma's sign."""
    half = 0.5 * floor(x)
    return where((x < 0.0) & (half != floor(half)), const(-1.0, x), 1.0)


@subprogram
def gammasgn(x: Expr) -> Expr:
    """The sign of gamma."""
    value = where(x == 0.0, copysign(1.0, x), sign_of_gamma(x))
    return where(((x < 0.0) & (x == floor(x))) | (x != x), NAN, value)


#: factors of a turn
TOGETHER = 4


def product(first: Expr, lost: Expr, count: Expr, divided: bool) -> Expr:
    """``first * (first + 1) * ...`` of ``count`` factors, over its factorial if divided; what
    roundings lose is added at the end (Graillat, Accurate floating-point product and
    exponentiation, IEEE Trans. Comput. 58, 2009)."""

    def step(k: Expr, value: Expr, error: Expr) -> Results:
        bottom = const(1.0, k)
        for n in range(TOGETHER):
            here, more = k + float(n), k + float(n) < count
            high, low = two_sum(first, here)
            high, low = where(more, high, 1.0), where(more, low + lost, 0.0)
            error = error * high
            following, rest = two_product(value, high)
            error = error + fma(value, low, rest)
            value = following
            bottom = where(more, bottom * (here + 1.0), bottom)
        if divided:
            inverse = 1.0 / bottom
            share = value * inverse
            value, error = share, (fma(-share, bottom, value) + error) * inverse
        k = k + float(TOGETHER)
        return k < count, k, value, error

    one, zero = const(1.0, first), const(0.0, first)
    _, value, error = repeat(step, zero, one, zero)
    return where((abs(value) < INFINITY) & (abs(error) < INFINITY), value + error, value)


def _quotient(n: Expr, k: Expr) -> Expr:
    """``1 / ((n + 1) * B(n - k + 1, k + 1))``"""
    one = const(1.0, n)
    rest, lost = two_sum(n, -k)
    top, more = two_sum(rest, one)
    bottom, lost_k = two_sum(k, one)
    bulk, lost_n = two_sum(n, one)
    value = 1.0 / (beta(top, bottom) * bulk)
    whole, lost = digamma(abs(top + bottom)), lost + more
    slope = lost * (whole - digamma(abs(top))) + lost_k * (whole - digamma(abs(bottom)))
    slope = where((top > 0.0) & (bottom > 0.0), slope - lost_n / bulk, 0.0)
    return where(abs(slope) < 1e-3, value * (1.0 + slope), value)


def _odd(x: Expr) -> Expr:
    half = 0.5 * x
    return half != floor(half)


def _sine(k: Expr, n: Expr) -> Expr:
    """``sin(pi * (k - n))``"""
    whole_k, whole_n = rint(k), rint(n)
    f, low = two_sum(k - whole_k, whole_n - n)
    sine, cosine = half_turns(abs(f))
    sine = copysign(fma(where(f < 0.0, -low, low) * PI, cosine, sine), f)
    return where(_odd(whole_k) ^ _odd(whole_n), -sine, sine)


def _mirrored(n: Expr, k: Expr) -> Expr:
    """``B(n + 1, z) * sin(pi*z) / pi`` with the positive one of ``z = k - n`` and ``z = -k``."""
    below = k < 0.0
    z, lost_z = two_sum(where(below, 0.0, k), -where(below, k, n))
    sine = _sine(where(below, 0.0, k), where(below, k, n))
    tiny = z < 1e-290
    value = _beta_of(Doubled(*two_sum(n, const(1.0, n))), Doubled(where(tiny, 1.0, z), lost_z))
    return where(tiny, 1.0, value * (sine * (1 / PI)))


def _beta_of(a: Doubled, b: Doubled) -> Expr:
    """B(a, b) of positive numbers, by its slopes."""
    value, whole = beta(a.high, b.high), digamma(a.high + b.high)
    slope = a.low * (digamma(a.high) - whole) + b.low * (digamma(b.high) - whole)
    return where(abs(slope) < 1e-3, value * (1.0 + slope), value)


def _negative(n: Expr, k: Expr) -> Expr:
    """``sin(pi*(k - n)) / (sin(pi*(n + 1)) * (k - n) * B(k + 1, -n))``"""
    value = _beta_of(Doubled(*two_sum(k, const(1.0, k))), Doubled(-n))
    return -_sine(k, n) / (_sine(n, n * 0.0) * ((k - n) * value))


def _steep(n: Expr, k: Expr) -> Expr:
    """``n**k / gamma(k + 1)``, the coefficient for a very large n."""
    log, low = log_pair(where((n > 0.0) & (n < INFINITY), n, 1.0), DOUBLE)
    high, lost = two_product(k, log)
    value = exp_sum(high, fma(k, low, lost)) / gamma(where(k < 170.0, k, 1.0) + 1.0)
    return where((k >= 170.0) | (n == INFINITY), INFINITY, value)


@packed_subprogram
def binom(n: Expr, k: Expr) -> Expr:
    """The binomial coefficient of real numbers."""
    whole_n, whole_k = n == floor(n), k == floor(k)
    mirrored = whole_n & whole_k & (n > 0.0) & (k > 0.5 * n)
    few = where(mirrored, n - k, k)
    by_product = whole_k & (few >= 0.0) & (few < FACTORS) & (abs(n) < HUGE)
    steep = ~by_product & (n > 1e20) & (k > 0.0) & (k * k < 1e-18 * n)
    general = ~by_product & ~steep
    mirrored, negative = (n > -1.0) & ((k > n) | (k < 0.0)), (n < -1.0) & (k > -1.0)

    def multiplied() -> Expr:
        first, lost = two_sum(n, -few)
        first, more = two_sum(first, const(1.0, n))
        return product(first, lost + more, few, True)

    value = choose_among(
        const(0.0, n), (by_product, multiplied), (steep, lambda: _steep(n, k)),
        (general & mirrored, lambda: _mirrored(n, k)),
        (general & negative, lambda: _negative(n, k)),
        (general & ~mirrored & ~negative, lambda: _quotient(n, k)))
    value = where(whole_n & whole_k & (n >= 0.0) & ((k > n) | (k < 0.0)), 0.0, value)
    value = where((n == INFINITY) & (k == 0.0), 1.0, value)
    wrong = (n < 0.0) & whole_n | (n != n) | ~(abs(k) < INFINITY)
    return where(wrong, NAN, value)


def _part(a: Expr, f: Expr) -> Expr:
    """``gamma(a + f) / gamma(a)`` for f between -1/2 and 1, by the beta function."""
    falls = f < 0.0
    size = where(abs(f) > 1e-290, abs(f), 0.5)
    start = where(falls, a + f, a)
    top, bottom = gamma(size), beta(start, size)
    value = where(falls, bottom / top, top / bottom)
    return where(abs(f) > 1e-290, value, 1.0)


@packed_subprogram
def poch(a: Expr, m: Expr) -> Expr:
    """``gamma(a + m) / gamma(a)``, a rising factorial for whole m."""
    whole = rint(m)
    whole = where((m < whole) & (a < 2.0), whole - 1.0, whole)
    f = m - whole
    near = abs(whole) <= 200.0
    pole = (a <= 0.0) & (a == floor(a))
    end, lost = two_sum(a, m)
    end_pole = (end <= 0.0) & (end == floor(end)) & (lost == 0.0)

    shifted, rest = two_sum(a, f)
    stuck = (shifted <= 0.0) & (shifted == floor(shifted)) & ~pole & (f != 0.0)

    def multiplied() -> Expr:
        falls = whole < 0.0
        first, low = where(falls, end, shifted), where(falls, lost, rest)
        value = product(first, low, abs(whole), False)
        return where(falls, 1.0 / value, value)

    def with_part() -> Expr:
        return where(pole, 0.0, multiplied() * _part(where(pole, 1.5, a), f))

    def far() -> Expr:
        fine = (abs(a) < INFINITY) & (abs(m) < INFINITY) & (pole == end_pole)
        start, stop, step = where(fine, a, 1.5), where(fine, end, 1.5), where(fine, m, 1.0)
        start, stop = where(pole, 1.0 - stop, start), where(pole, 1.0 - start, stop)
        positive = (start > 0.0) & (stop > 0.0)
        least, size = where(start < stop, start, stop), abs(step)
        log = log_gamma(size) - betaln(where(positive, least, 1.0), size)
        plain = where(stop < -1e15, -INFINITY, log_gamma(stop)) - log_gamma(start)
        value = exp_sum(where(positive, where(m < 0.0, -log, log), plain))
        signs = sign_of_gamma(start) * sign_of_gamma(stop)
        signs = where(pole, where(_odd(whole), -1.0, const(1.0, m)), signs)
        value = where(fine, value * signs, INFINITY)
        return where(pole & ~end_pole, 0.0, value)

    value = choose_among(
        const(0.0, a), (near & (f == 0.0), multiplied),
        (near & stuck, lambda: gamma(end) * rgamma(a)),
        (near & (f != 0.0) & ~stuck, with_part), (~near, far))
    value = where(end_pole & ~pole, INFINITY, value)
    return where(m == 0.0, 1.0, where((a == a) & (m == m), value, NAN))
