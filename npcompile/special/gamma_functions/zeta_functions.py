"""Zeta functions and polygamma, as subprograms: Hurwitz's by Euler's and Maclaurin's summation
(DLMF 25.11.5), Riemann's by pieces and reflection (25.4.1)."""

from __future__ import annotations

from npcompile.graph.expression import Expr, const, floor, fma, where
from npcompile.graph.subprograms import (
    Results,
    choose,
    choose_among,
    packed_subprogram,
    repeat,
    subprogram,
)
from npcompile.special.arithmetic.double_word import two_product, two_sum
from npcompile.special.coefficients.zeta import BERNOULLI, LOG_2PI, RIEMANN
from npcompile.special.elementary.logarithm import log_pair
from npcompile.special.elementary.piecewise import (
    DOUBLE,
    INFINITY,
    NAN,
    exp_sum,
    log_of,
    piece,
    uniform,
)
from npcompile.special.gamma_functions.gamma_function import digamma, gamma, half_turns, stirling

#: from where on the summation formula is used, and where its first terms are enough
START, FAR = 12.0, 1e8


def _power(w: Expr, low: Expr, s: Expr) -> Expr:
    """``abs(w + low)**-s``"""
    log, log_low = log_pair(abs(w), DOUBLE)
    high, rest = two_product(-s, log)
    return exp_sum(high, fma(-s, log_low + low / w, rest))


def _is_odd(n: Expr) -> Expr:
    half = 0.5 * n
    return floor(half) != half


def _hurwitz(s: Expr, q: Expr) -> Expr:
    """For ``s > 1``; q is positive, or not whole and s is."""
    odd, start = _is_odd(s), where(s > START - 6.0, s + 6.0, START)

    def step(k: Expr, w: Expr, low: Expr, total: Expr, lost: Expr, term: Expr) -> Results:
        term = _power(w, low, s)
        total, e = two_sum(total, where((w < 0.0) & odd, -term, term))
        k = k + 1.0
        w, low = two_sum(q, k)
        more = (w < start) & ((term > 2.0**-56 * total) | (w < 1.0))
        return more, k, w, low, total, lost + e, term

    zero = const(0.0, s)

    def near() -> Results:
        _, w, low, total, lost, _ = repeat(step, zero, q, zero, zero, zero, zero)
        return w, low, total, lost

    w, low, total, lost = choose(q < start, near, lambda: (q, zero, zero, zero))
    term = _power(w, low, s)
    u = 1.0 / w
    rest, rising, square = 0.5 + w / (s - 1.0), s * u, u * u
    for j, number in enumerate(BERNOULLI["d"]):
        rest = fma(rising, number, rest)
        rising = rising * square * ((s + (2.0 * j + 1.0)) * (s + (2.0 * j + 2.0)))
    done = ((total > 0.0) & ~(term * rest > total * 2.0**-60)) | (term == 0.0)
    value = total + fma(term, where(done, 0.0, rest), lost)
    return where(abs(total) < INFINITY, value, total)


@subprogram
def hurwitz_zeta(s: Expr, q: Expr) -> Expr:
    """Hurwitz's zeta function."""
    whole_q = floor(q) == q
    fine = (s > 1.0) & (s < INFINITY) & (q < INFINITY) & ((q > 0.0) | ~whole_q & (floor(s) == s))
    steep = fine & (s > 1e25)
    usual = fine & ~steep & (q > -1e6)
    value = where(usual, _hurwitz(where(usual, s, 2.0), where(usual, q, 1.0)), NAN)
    value = where(steep | ((s == INFINITY) & (q > 0.0)),
                  where(q < 1.0, INFINITY, where(q > 1.0, const(0.0, s), 1.0)), value)
    value = where((q == INFINITY) & (s > 1.0), 0.0, value)
    value = where((q <= 0.0) & whole_q & (s > 1.0), INFINITY, value)
    return where(s == 1.0, INFINITY, value)  # SciPy's too, whatever q is


def _riemann(s: Expr) -> Expr:
    """For ``s >= -1``."""
    inside = where(s < 60.0, s, 60.0)
    value, tail = piece(inside, None, uniform(inside + 2.0, 0.5), RIEMANN["d"])
    d, rest = two_sum(inside, const(-1.0, s))
    pole = 1.0 / d
    lost = fma(-pole, d, 1.0 - pole * rest) * pole
    total, e = two_sum(pole, value)
    return where(s < 60.0, total + (e + (tail + lost)), 1.0)


@packed_subprogram
def riemann_zeta(s: Expr) -> Expr:
    """Riemann's zeta function of real numbers."""

    def negative() -> Expr:
        x = where(s > -1e5, 1.0 - s, 1.0)
        high, low = stirling(x, log_pair(x, DOUBLE))
        p, p_low = two_product(x, -LOG_2PI["d"][0])
        total, e = two_sum(high, p)
        lost = (1.0 - x) - s  # 1 - s is x + lost; digamma is about the logarithm
        low = fma(lost, log_of(x) - LOG_2PI["d"][0], low)
        size = exp_sum(total, e + (low + fma(x, -LOG_2PI["d"][1], p_low)))
        size = where(s > -1e5, size, INFINITY)
        sine, _ = half_turns(-0.5 * s)
        sign = where(_is_odd(floor(-0.5 * s)), const(2.0, s), -2.0)
        value = where(sine == 0.0, 0.0, sign * sine * size * _riemann(x))
        return where(s == -INFINITY, NAN, value)

    value = choose_among(s, (s < -1.0, negative), (s >= -1.0, lambda: _riemann(s)))
    return where(s == 1.0, const(INFINITY, s), value)


@packed_subprogram
def zetac(s: Expr) -> Expr:
    """Riemann's zeta function less 1."""
    return choose_among(
        where(s == s, NAN, s), (s > 1.5, lambda: hurwitz_zeta(s, const(2.0, s))),
        ((s <= 1.5) & (s > -INFINITY), lambda: riemann_zeta(s) - 1.0))


@subprogram
def derived_gamma(n: Expr, x: Expr) -> Expr:
    """The derivative of order n of digamma, for whole ``n >= 0``; NaN, as SciPy's, for others."""

    def higher() -> Results:
        size = gamma(n + 1.0) * hurwitz_zeta(n + 1.0, x)
        return (where(floor(n) == n, where(_is_odd(n) | (n == INFINITY), size, -size), NAN),)

    return choose(n == 0.0, lambda: (digamma(x),), higher)[0]
