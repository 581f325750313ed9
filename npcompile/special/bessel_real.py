"""Modified Bessel functions of real order, as subprograms.

Where order and argument are 40 or more from 0 together, Debye's uniform expansions (DLMF 10.41),
which hold for small orders there, too.  Nearer, I is its power series (10.25.2), and K runs forward
on its recurrence from orders in [-1/2, 3/2], which are Temme's series or Steed's continued fraction
(Temme, On the numerical evaluation of the modified Bessel function of the third kind, J. Comput.
Phys. 19, 1975).
"""

from __future__ import annotations

import math

from npcompile.graph.expression import Expr, const, floor, fma, poly, rint, sqrt, where
from npcompile.graph.subprograms import Results, choose, repeat, subprogram
from npcompile.special.coefficients.bessel import DEBYE
from npcompile.special.coefficients.gamma import GAMMA_PAIR
from npcompile.special.doubled import Doubled, product_of
from npcompile.special.exponential import sinh
from npcompile.special.gamma_functions import half_turns
from npcompile.special.incomplete import factor_parts
from npcompile.special.logarithm import log_pair
from npcompile.special.pieces import DOUBLE, INFINITY, NAN, exp_sum
from npcompile.special.words import two_product, two_sum

#: from which distance from 0 the uniform expansions are used, and beyond which nothing is computed
DISTANCE, MOST = 40.0, 1e100
#: up to which order arguments beyond that are large against it
FEW = 1e40
#: up to which argument K is Temme's series, and below which it is that of the limit
SERIES, TINY = 1.25, 1e-290
TINY_LOG = -math.log(TINY)


def _uniform(n: Expr, x: Expr) -> tuple[Doubled, Expr, Expr, Expr]:
    """For Debye's expansions: the exponent, ``1 / sqrt(n*n + x*x)``, and the sums of their even
    and odd terms."""
    square = product_of(n, n) + product_of(x, x)
    r = square.root()
    q = (r + n) / x
    log, low = log_pair(q.high, DOUBLE)
    exponent = r - Doubled(*two_sum(log, low + q.low / q.high)) * n
    t = 1.0 / r.high
    p = n * t
    p = p * p
    rows = [poly(p, row) for row in DEBYE["d"]]
    by_square = t * t
    return exponent, t, poly(by_square, rows[::2]), t * poly(by_square, rows[1::2])


def _exponential(exponent: Doubled, x: Expr, factor: Expr) -> Expr:
    """``exp(exponent + x) * factor``, rounded once where it is subnormal."""
    whole = exponent + x
    small = whole.high < 0.0
    whole = whole + where(small, const(100.0, x), -4.0)
    back = where(small, const(math.exp(-100.0), x), math.exp(4.0))
    return exp_sum(whole.high, whole.low) * (factor * back)


def _power_series(n: Expr, half: Expr) -> Expr:
    """The sum of ``y**k / (k! * (n + 1)...(n + k))``, ``y = half**2``, four terms by one division;
    the powers that all terms share are corrected for their rounding."""
    y, lost = two_product(half, half)
    square, low = two_product(y, y)
    cube = square * y
    fourth, rest = two_product(square, square)
    rest = fma(square + square, low, rest)

    def step(k: Expr, term: Expr, total: Expr) -> Results:
        bottom, top = (k + 1.0) * (n + (k + 1.0)), const(1.0, y)
        for j, power in enumerate((y, square, cube)):
            last = (k + (j + 2.0)) * (n + (k + (j + 2.0)))
            bottom, top = bottom * last, fma(top, last, power)
        share = term / bottom
        following = fma(share, rest, share * fourth)
        return following > 1e-17 * total, k + 4.0, following, fma(share * y, top, total)

    one = const(1.0, y)
    total = repeat(step, const(0.0, y), one, one)[2]
    largest = 0.5 * (sqrt(fma(n, n, 4.0 * y)) - n)  # the term that is, where they are many
    return fma(total, where(y > 1.0, largest * lost / y, 0.0), total)


def _first(n: Expr, x: Expr, scaled: bool) -> Expr:
    """I of positive numbers, at most MOST."""
    far = n * n + x * x >= DISTANCE**2

    def uniform() -> Results:
        exponent, t, even, odd = _uniform(n, where(x < TINY, TINY, x))
        size = sqrt(t * (0.5 / math.pi)) * (even + odd)
        return (_exponential(exponent, -x if scaled else x * 0.0, size),)

    def series() -> Results:
        half = where(x < 1e-323, 1e-323, 0.5 * x)
        high, low, size = factor_parts(n, half)
        total = _power_series(n, half)
        return (_exponential(Doubled(high, low), -half if scaled else half, size * total),)

    return choose(far, uniform, series)[0]


# ------------------------------------------------------------------ K


def _temme(u: Expr, x: Expr) -> Results:
    """K of the orders u and u + 1, ``|u| <= 1/2``, for small x."""
    tiny = x < TINY
    lifted = where(tiny, x * 2.0**100, x)
    q = 2.0 / lifted
    log, low = log_pair(q, DOUBLE)
    log, low = two_sum(log, low + fma(-q, lifted, 2.0) * 0.5)
    log = where(tiny, log + 100 * math.log(2.0), log)
    e, e_low = two_product(u, log)
    grown = exp_sum(e, fma(u, low, e_low))
    fallen = 1.0 / grown
    small = abs(e) < 1.0
    shrunk = where(small, sinh(where(small, e, 0.0)), 0.5 * (grown - fallen))
    flat = abs(e) < 1e-150
    ratio = where(flat, 1.0, shrunk / where(flat, 1.0, e))
    z = u * u
    odd, even = (poly(z, row) for row in GAMMA_PAIR["d"])
    less, more = fma(u, -odd, even), fma(u, odd, even)  # 1/gamma(1 + u), 1/gamma(1 - u)
    first = fma(odd, 0.5 * (grown + fallen), even * ratio * log) / (less * more)
    p, q = 0.5 * grown / less, 0.5 * fallen / more
    d = 0.25 * x * x

    def step(k: Expr, f: Expr, p: Expr, q: Expr, c: Expr, total: Expr, other: Expr) -> Results:
        below, above = k - u, k + u
        inverse = 1.0 / (below * above * k)
        f = fma(k, f, p + q) * (inverse * k)
        p, q, c = p * (above * k * inverse), q * (below * k * inverse), c * (
            d * (below * above * inverse))
        rise, lift = c * f, c * fma(-k, f, p)
        total, other = total + rise, other + lift
        more = (abs(rise) > 1e-17 * abs(total)) | (abs(lift) > 1e-17 * abs(other))
        return more, k + 1.0, f, p, q, c, total, other

    one = const(1.0, x)
    *_, total, other = repeat(step, one, first, p, q, one, first, p)
    return total, other * (2.0 / x)


def _steed(u: Expr, x: Expr) -> Results:
    """The same for larger x, times exp(x)."""
    start = 0.25 - u * u
    b = 2.0 * (1.0 + x)
    d = 1.0 / b

    def step(i: Expr, a: Expr, b: Expr, c: Expr, d: Expr, last: Expr, now: Expr, q: Expr,
             rise: Expr, h: Expr, s: Expr) -> Results:
        a, after = a - 2.0 * (i - 1.0), b + 2.0
        bottom = fma(a, d, after)
        inverse = 1.0 / (i * a * bottom)  # one division for three
        c = -a * c * (inverse * (a * bottom))
        following = fma(-b, now, last) * (inverse * (i * bottom))
        q = fma(c, following, q)
        b, d = after, inverse * (i * a)
        rise = fma(b, d, -1.0) * rise
        more = q * rise
        return (abs(more) > 1e-17 * abs(s + more), i + 1.0, a, b, c, d, now, following, q, rise,
                h + rise, s + more)

    zero, one = const(0.0, x), const(1.0, x)
    *_, h, s = repeat(step, one + 1.0, -start, b, start, d, zero, one, start, d, d,
                      fma(start, d, one))
    value = sqrt((0.5 * math.pi) / x) / s
    return value, value * (u + x + 0.5 - start * h) / x


def _second(n: Expr, x: Expr, scaled: bool) -> Expr:
    """K of positive numbers, at most MOST."""
    far = n * n + x * x >= DISTANCE**2

    def uniform() -> Results:
        exponent, t, even, odd = _uniform(n, where(x < TINY, TINY, x))
        size = sqrt(t * (0.5 * math.pi)) * (even - odd)
        return (_exponential(-exponent, x if scaled else x * 0.0, size),)

    def forward() -> Results:
        order = rint(n)
        u = n - order
        small = x <= SERIES
        first, second = choose(small, lambda: _temme(u, x), lambda: _steed(u, x))

        def step(k: Expr, high: Expr, low: Expr, before: Expr, before_low: Expr) -> Results:
            factor = Doubled(*two_sum(u, k)) * 2.0 / base
            size = high * factor.high
            endless = ~(abs(size) < 1e300)
            now = Doubled(high, low) * factor + Doubled(before, before_low)
            return (k + 1.0 < order, k + 1.0, where(endless, size, now.high),
                    where(endless, 0.0, now.low), high, low)

        base = where(x < TINY, TINY, x)
        one, zero = const(1.0, x), const(0.0, x)
        _, high, low, _, _ = repeat(step, one, second, zero, first, zero)
        value = where(order < 1.0, first, where(order < 2.0, second, high + low))
        # the fraction's is scaled
        back = value * exp_sum(where(small, x, -x))
        return (where(small, back, value) if scaled else where(small, value, back),)

    return choose(far, uniform, forward)[0]


# ------------------------------------------------------------------ all numbers


def _iv(v: Expr, x: Expr, scaled: bool) -> Expr:
    n, y = abs(v), abs(x)
    whole, odd = n == floor(n), 0.5 * n != floor(0.5 * n)
    fine = (n <= MOST) & (y <= MOST) & (y > 0.0) & (whole | (x > 0.0))
    n, y = where(fine, n, 0.5), where(fine, y, 1.0)
    mirrored = fine & (v < 0.0) & ~whole

    def other() -> Results:
        """``I_n + 2/pi * sin(pi*n) * K_n`` (DLMF 10.27.2)."""
        sine, _ = half_turns(n)
        half = 0.5 * floor(n)
        sine = where(half == floor(half), sine, -sine)
        more = _second(n, y, False) * exp_sum(-y) if scaled else _second(n, y, False)
        return (_first(n, y, scaled) + (2 / math.pi) * sine * more,)

    value, = choose(mirrored, other, lambda: (_first(n, y, scaled),))
    value = where(fine, value, NAN)
    value = where((x < 0.0) & odd, -value, value)
    at_0 = where(v == 0.0, 1.0, where((v > 0.0) | (v == floor(v)), const(0.0, x), INFINITY))
    value = where((x == 0.0) & (v == v), at_0, value)
    far = sqrt((0.5 / math.pi) / abs(x)) if scaled else const(INFINITY, x)
    far = where((x < 0.0) & odd, -far, far)
    value = where((abs(x) > MOST) & (abs(v) < FEW) & ((x > 0.0) | whole), far, value)
    value = where((abs(v) > MOST) & (abs(x) <= MOST) & (x != 0.0), 0.0, value)
    return where((x == x) & (v == v), value, NAN)


def _kv(v: Expr, x: Expr, scaled: bool) -> Expr:
    n = abs(v)
    fine = (n <= MOST) & (x > 0.0) & (x <= MOST)
    value = _second(where(fine, n, 0.5), where(fine, x, 1.0), scaled)
    value = where(fine, value, NAN)
    far = sqrt((0.5 * math.pi) / x) if scaled else const(0.0, x)
    value = where((x > MOST) & (n < FEW), far, value)
    return where((n == n) & ((x == 0.0) | ((n > MOST) & (x > 0.0) & (x <= MOST))), INFINITY, value)


@subprogram
def iv_of_real(v: Expr, x: Expr) -> Expr:
    """The modified Bessel function I."""
    return _iv(v, x, False)


@subprogram
def ive_of_real(v: Expr, x: Expr) -> Expr:
    """``exp(-abs(x)) * iv(v, x)``"""
    return _iv(v, x, True)


@subprogram
def kv_of_real(v: Expr, x: Expr) -> Expr:
    """The modified Bessel function K."""
    return _kv(v, x, False)


@subprogram
def kve_of_real(v: Expr, x: Expr) -> Expr:
    """``exp(x) * kv(v, x)``"""
    return _kv(v, x, True)
