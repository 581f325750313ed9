"""Bessel functions J and Y of real order, as subprograms.

Away from the turning point, where order and argument are equal, Debye's expansions (DLMF 10.19),
which hold for small orders of large arguments, too; J of small arguments is its power series
(10.2.2).  Elsewhere J runs backward on the recurrence (10.6.1), and its size is that of Debye's
expansions at an order where they hold, or, for small arguments, that of Neumann's series for a
power (10.23.15).  Y runs forward from orders where it is known: from Debye's expansions, from
Temme's series (J. Comput. Phys. 21, 1976), or from J and the continued fraction of the logarithmic
derivative of Hankel's function (Steed's; 10.33 has its coefficients with 10.13.1).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from npcompile.graph.expression import (
    Expr,
    cast,
    ceil,
    complex_,
    const,
    floor,
    fma,
    poly,
    real,
    rint,
    sqrt,
    where,
)
from npcompile.graph.subprograms import Results, choose, repeat, subprogram
from npcompile.special.arithmetic.double_double import Doubled, product_of, sum_of
from npcompile.special.arithmetic.double_word import joined, two_product, two_sum
from npcompile.special.bessel.bessel_real import temme_start
from npcompile.special.coefficients.bessel import DEBYE
from npcompile.special.coefficients.gamma import GAMMA_PAIR
from npcompile.special.elementary.circular import circle, cos, sin
from npcompile.special.elementary.inverse_circular import arctan2
from npcompile.special.elementary.logarithm import log_pair
from npcompile.special.elementary.piecewise import DOUBLE, INFINITY, NAN, exp_sum
from npcompile.special.elementary.roots import cbrt
from npcompile.special.gamma_functions.gamma_function import half_turns
from npcompile.special.gamma_functions.incomplete_gamma import factor_parts

#: the turning point's reach in cube roots, the least argument or order of Debye's expansions
REACH, LEAST = 10.1, 33.0
#: from which order on whole steps are lost, and beyond which arguments are large against them
MOST, FAR = 2.0**50, 1e100
#: up to which argument Y is Temme's series, and below which it is that of the limit
SERIES, TINY = 2.0, 1e-290
PI_4, PI_4_LOW = 0.7853981633974483, 3.061616997868383e-17
Pair = tuple[Expr, Expr]


# ------------------------------------------------------------------ Debye's expansions


def _sums(n: Expr, t: Expr, sign: float) -> Pair:
    """The even and the odd terms, for ``t = 1/sqrt(abs(n*n - x*x))``."""
    p, by_square = n * t, t * t * sign
    p = p * p * sign
    rows = [poly(p, row) for row in DEBYE["d"]]
    return poly(by_square, rows[::2]), t * poly(by_square, rows[1::2])


def _waves(n: Expr, x: Expr) -> Pair:
    """J and Y for arguments above the order."""
    y = where(x > FAR, FAR, x)
    r = (sum_of(y, -n) * sum_of(y, n)).root()
    t = 1.0 / r.high
    even, odd = _sums(n, t, -1.0)
    angle = arctan2(r.high, n)
    s, c = (Doubled(*two_sum(*pair)) for pair in circle(angle))
    rest = (r * c - s * n) / y  # what the angle lacks
    whole = product_of(n, angle) + rest * n + product_of(n, n) / (r + y)
    whole = whole + Doubled(const(PI_4, x), const(PI_4_LOW, x))
    sine, cosine = (joined(pair) for pair in circle(whole.high, whole.low))
    above, beside = sin(x), cos(x)
    cosine, sine = fma(beside, cosine, above * sine), fma(above, cosine, -(beside * sine))
    size = sqrt((2 / math.pi) * where(x > FAR, 1.0 / x, t))
    return size * fma(cosine, even, sine * odd), size * fma(sine, even, -(cosine * odd))


def _exponential(exponent: Doubled, factor: Expr) -> Expr:
    """``exp(exponent) * factor``, rounded once where it is subnormal."""
    small = exponent.high < 0.0
    whole = exponent + where(small, const(100.0, factor), -4.0)
    back = where(small, const(math.exp(-100.0), factor), math.exp(4.0))
    return exp_sum(whole.high, whole.low) * (factor * back)


def _steep(n: Expr, x: Expr, second: bool) -> Expr:
    """J, or Y, for orders above the argument."""
    y = where(x < TINY, TINY, x)
    r = (sum_of(n, -y) * sum_of(n, y)).root()
    q = (r + n) / y
    log, low = log_pair(q.high, DOUBLE)
    exponent = Doubled(*two_sum(log, low + q.low / q.high)) * n - r
    t = 1.0 / r.high
    even, odd = _sums(n, t, 1.0)
    if second:
        return _exponential(exponent, sqrt(t * (2 / math.pi)) * (odd - even))
    return _exponential(-exponent, sqrt(t * (0.5 / math.pi)) * (even + odd))


# ------------------------------------------------------------------ recurrences


class _Recurrence:
    """``2*k/x * p_k - p_other``, on numbers in two parts; the second are not kept small."""

    def __init__(self, u: Expr, x: Expr) -> None:
        self.u, self.w = u, 2.0 / x
        self.w_low = fma(-self.w, x, 2.0) * (0.5 * self.w)

    def step(self, k: Expr, now: Pair, before: Pair) -> Pair:
        """The function after (or below) that of order ``u + k``."""
        order, rest = two_sum(k, self.u)
        factor, low = two_product(order, self.w)
        low = fma(order, self.w_low, fma(rest, self.w, low))
        product, lost = two_product(factor, now[0])
        value, more = two_sum(product, -before[0])
        return value, fma(factor, now[1], fma(low, now[0], lost) + (more - before[1]))


def _backward(u: Expr, m: Expr, x: Expr, summed: bool) -> tuple[Expr, Expr, Expr, Expr]:
    """What is proportional to J of the orders u, u + 1 and u + m, and to ``(x/2)**u / gamma(u+1)``
    if it is summed: from an order on from which it falls enough."""
    recurrence = _Recurrence(u, x)

    def step(k: Expr, now: Expr, low: Expr, above: Expr, rest: Expr, found: Expr,
             total: Expr) -> Results:
        found = where(k == m, now + low, found)
        if summed:
            half = 0.5 * k
            total = fma((u + half) / (half + 1.0), total, (u + k) * (now + low))
        between = recurrence.step(k, (now, low), (above, rest))
        found = where(k - 1.0 == m, between[0] + between[1], found)
        below = recurrence.step(k - 1.0, between, (now, low))
        return k > 2.0, k - 2.0, *below, *between, found, total

    top = where(u + m > x, u + m, x)
    start = 2.0 * ceil(0.5 * fma(cbrt(x), 8.0, top - u + 8.0))
    zero = const(0.0, x)
    _, now, low, above, rest, found, total = repeat(
        step, start, const(1e-100, x), zero, zero, zero, zero, zero)
    now = now + low
    return now, above + rest, where(m == 0.0, now, found), now + total if summed else total


def _forward(u: Expr, m: Expr, x: Expr, first: Expr, second: Expr) -> Expr:
    """Y of order u + m from those of the orders u and u + 1."""
    recurrence = _Recurrence(u, where(x < TINY, TINY, x))

    def step(k: Expr, now: Expr, low: Expr, before: Expr, rest: Expr) -> Results:
        following, lost = recurrence.step(k, (now, low), (before, rest))
        endless = ~(following > -INFINITY)
        return (k + 1.0 < m, k + 1.0, where(endless, -INFINITY, following),
                where(endless, 0.0, lost), now, low)

    zero = const(0.0, x)
    _, value, low, _, _ = repeat(step, const(1.0, x), second, zero, first, zero)
    return where(m == 0.0, first, where(m == 1.0, second, value + low))


def _reached(n: Expr, x: Expr) -> Expr:
    """How many orders below n Debye's expansions hold."""
    steps = ceil(n - fma(cbrt(x), -REACH, x))
    return where(steps > 1.0, steps, 1.0)


def _middle_j(n: Expr, x: Expr) -> Expr:
    """J next to its turning point, for large arguments."""
    m = _reached(n, x)
    u = n - m
    first, _ = _waves(u, x)
    second, _ = _waves(u + 1.0, x)
    a, b, found, _ = _backward(u, m, x, False)
    return found / fma(a, a, b * b) * fma(a, first, b * second)


def _near_j(n: Expr, x: Expr) -> tuple[Expr, Expr, Expr]:
    """J of order n and of the two orders that differ from it by a whole number and are next to
    -1/2."""
    m = rint(n)
    u = n - m
    first, second, found, total = _backward(u, m, x, True)
    z = u * u
    odd, even = (poly(z, row) for row in GAMMA_PAIR["d"])
    log, low = log_pair(0.5 * x, DOUBLE)
    product, rest = two_product(u, log)
    size = exp_sum(product, fma(u, low, rest)) * fma(u, -odd, even) / total
    return first * size, second * size, found * size


# ------------------------------------------------------------------ Y of small arguments


def _temme(u: Expr, x: Expr) -> Pair:
    """Y of the orders u and u + 1, ``|u| <= 1/2``, for small x."""
    top, bottom, grown, fallen, less, more = temme_start(u, x)
    first = (2 / math.pi) * top / bottom
    p, q = grown / less * (1 / math.pi), fallen / more * (1 / math.pi)
    sine, _ = half_turns(0.5 * u)
    flat = abs(u) < 1e-150
    bend = where(flat, 0.0, 2.0 * sine * sine / where(flat, 1.0, u))
    d = -0.25 * x * x

    def step(k: Expr, f: Expr, p: Expr, q: Expr, c: Expr, total: Expr, other: Expr) -> Results:
        below, above = k - u, k + u
        inverse = 1.0 / (below * above * k)
        f = fma(k, f, p + q) * (inverse * k)
        p, q, c = p * (above * k * inverse), q * (below * k * inverse), c * (
            d * (below * above * inverse))
        rise, lift = c * fma(bend, q, f), c * fma(-k, fma(bend, q, f), p)
        return (abs(c) * (abs(f) + abs(p)) > 1e-18 * abs(total), k + 1.0, f, p, q, c, total + rise,
                other + lift)

    one = const(1.0, x)
    *_, total, other = repeat(step, one, first, p, q, one, fma(bend, q, first), p)
    return -total, -other * (2.0 / x)


def _slope(u: Expr, x: Expr) -> Pair:
    """Real and imaginary part of Hankel's function's logarithmic derivative, for ``x >= 2``: a
    continued fraction backward, as a quotient of continuants."""
    z = u * u

    def step(k: Expr, re: Expr, im: Expr, later: Expr, late: Expr) -> Results:
        twice = k + k
        half = k + 0.5
        a = fma(half, half, -z)
        new = fma(b, re, fma(-twice, im, a * later))
        return (k > 1.0, k - 1.0, new, fma(b, im, fma(twice, re, a * late)), re, im)

    b = x + x
    start = ceil(fma(180.0 / x, 1.0 / x, 5.0 + 18.0 / x))
    one, zero = const(1e-150, x), const(0.0, x)
    _, re, im, later, late = repeat(step, start, one, zero, zero, zero)
    inverse = (0.25 - z) / (x * fma(re, re, im * im))
    # i / x * (0.25 - z) * (later + i*late) / (re + i*im)
    top, side = fma(later, re, late * im), fma(late, re, -(later * im))
    return fma(-side, inverse, -0.5 / x), fma(top, inverse, 1.0)


def _near_y(u: Expr, x: Expr) -> Results:
    """Y of the orders u and u + 1, ``|u| <= 1/2``, for x of [2, LEAST)."""
    j, other, _ = _near_j(u, x)
    p, q = _slope(u, x)
    at = u / x
    slope = fma(at, j, -other)
    y = fma(p, j, -slope) / q
    return y, fma(at, y, -fma(q, j, p * y))


# ------------------------------------------------------------------ positive numbers


def _zones(n: Expr, x: Expr) -> tuple[Expr, Expr]:
    """Where Debye's expansions are used, above the order and below it."""
    waves = (x >= LEAST) & (n <= fma(cbrt(x), -REACH, x))
    return waves, (n >= LEAST) & (x <= fma(cbrt(n), -REACH, n))


@subprogram
def positive_j(n: Expr, x: Expr) -> Expr:
    """The Bessel function J of an order and an argument that are not negative."""
    waves, steep = _zones(n, x)
    flat = 0.25 * x * x <= n + 1.0

    def series() -> Results:
        half = 0.5 * where(x < 1e-323, 1e-323, x)
        square = half * half

        def step(k: Expr, term: Expr, total: Expr) -> Results:
            term = -(term * square) / (k * (n + k))
            return abs(term) > 1e-17, k + 1.0, term, total + term

        one = const(1.0, x)
        high, low, size = factor_parts(n, half)
        total = repeat(step, one, one, one)[2]
        return (_exponential(Doubled(high, low) + half, size * total),)

    def elsewhere() -> Results:
        return choose(x >= LEAST, lambda: (_middle_j(n, x),), lambda: (_near_j(n, x)[2],))

    def asymptotic() -> Results:
        return choose(waves, lambda: (_waves(n, x)[0],), lambda: (_steep(n, x, False),))

    return choose((waves | steep) & ~flat, asymptotic,
                  lambda: choose(flat, series, elsewhere))[0]


@subprogram
def positive_y(n: Expr, x: Expr) -> Expr:
    """The Bessel function Y of an order that is not negative and a positive argument."""
    waves, steep = _zones(n, x)

    def middle() -> Results:
        m = _reached(n, x)
        u = n - m
        return u, m, _waves(u, x)[1], _waves(u + 1.0, x)[1]

    def near() -> Results:
        m = rint(n)
        u = n - m
        return u, m, *choose(x < SERIES, lambda: _temme(u, x), lambda: _near_y(u, x))

    def recurrent() -> Results:
        u, m, first, second = choose(x >= LEAST, middle, near)
        return (_forward(u, m, x, first, second),)

    def asymptotic() -> Results:
        return choose(waves, lambda: (_waves(n, x)[1],), lambda: (_steep(n, x, True),))

    return choose(waves | steep, asymptotic, recurrent)[0]


# ------------------------------------------------------------------ all numbers


def _turned(v: Expr) -> Pair:
    """Cosine and sine of ``pi * v`` for positive v."""
    sine, cosine = half_turns(v)
    half, whole = 0.5 * floor(v), 0.5 * rint(v)
    return (where(whole == floor(whole), cosine, -cosine),
            where(half == floor(half), sine, -sine))


def _product(factor: Expr, value: Expr) -> Expr:
    """0 times infinity is 0."""
    return where(factor == 0.0, 0.0, factor * value)


def _inside(n: Expr, x: Expr) -> tuple[Expr, Expr, Expr]:
    """Numbers that can be computed with, and where they are."""
    fine = (x > 0.0) & (x < INFINITY) & (n <= MOST)
    return where(fine, n, 0.5), where(fine, x, 1.0), fine


@subprogram
def jv_of_real(v: Expr, x: Expr) -> Expr:
    """The Bessel function J."""
    n, whole = abs(v), v == floor(v)
    order, y, fine = _inside(n, abs(x))
    mirrored = (v < 0.0) & ~whole

    def other() -> Results:
        c, s = _turned(order)
        return (_product(c, positive_j(order, y)) - _product(s, positive_y(order, y)),)

    value, = choose(mirrored, other, lambda: (positive_j(order, y),))
    half = 0.5 * n
    odd = half != floor(half)
    turned = odd & whole & ((v < 0.0) ^ (x < 0.0))
    value = where(turned, -value, value)
    _, s = _turned(where(n < INFINITY, n, 2.0))
    pole = where(mirrored, where(s > 0.0, const(INFINITY, x), -INFINITY), 0.0)
    steep = (x == 0.0) | (n > MOST) & (abs(x) < 0.5 * n)
    value = where(steep, where(v == 0.0, 1.0, pole), value)
    value = where(abs(x) == INFINITY, 0.0, value)
    known = fine | (abs(x) == INFINITY) & (n < INFINITY) | steep
    return where(known & (whole | (x >= 0.0)) & (v == v) & (x == x), value, NAN)


@subprogram
def yv_of_real(v: Expr, x: Expr) -> Expr:
    """The Bessel function Y."""
    n = abs(v)
    order, y, fine = _inside(n, x)

    def other() -> Results:
        c, s = _turned(order)
        return (_product(s, positive_j(order, y)) + _product(c, positive_y(order, y)),)

    value, = choose(v < 0.0, other, lambda: (positive_y(order, y),))
    c, _ = _turned(where(n < INFINITY, n, 2.0))
    pole = where((v < 0.0) & (c <= 0.0), where(c < 0.0, const(INFINITY, x), 0.0), -INFINITY)
    steep = (x == 0.0) | (n > MOST) & (x > 0.0) & (x < 0.5 * n)
    value = where(steep, pole, where(x == INFINITY, 0.0, value))
    known = fine | (x == INFINITY) & (n < INFINITY) | steep
    return where(known & (v == v), value, NAN)


# ------------------------------------------------------------------ Hankel's functions


def hankel(sign: float, scaled: bool) -> Callable[[Expr, Expr], Expr]:
    """``J + sign * 1j * Y`` of complex numbers that are real; scaled: times
    ``exp(-sign * 1j * x)``.  Negative numbers are on the upper side of the cut (DLMF 10.11)."""

    def program(v: Expr, z: Expr) -> Expr:
        order, x = cast(v, "d"), cast(real(z), "d")
        negative, left, (n, a, fine) = order < 0.0, x < 0.0, _inside(abs(order), abs(x))
        j, y = positive_j(n, a), positive_y(n, a)
        c, s = _turned(n)
        other, second = _product(c, j) - _product(s, y), _product(s, j) + _product(c, y)
        re, im = where(negative, other, j), where(negative, second, y)
        other, second = where(negative, j, other), where(negative, y, second)
        if sign > 0.0:
            re, im = where(left, -other, re), where(left, second, im)
        else:  # what both kinds add up to is twice J
            again = 2.0 * re
            im = where(left, fma(where(negative, -s, s), again, -second), -im)
            re = where(left, fma(c, again, other), re)
        if scaled:
            c, s = cos(x), sign * sin(x)
            re, im = fma(c, re, s * im), fma(c, im, -(s * re))
        beyond = where((abs(x) == INFINITY) & (abs(order) < INFINITY), 0.0, const(NAN, x))
        re, im = where(fine, re, beyond), where(fine, im, beyond)
        return complex_(cast(re, real(z).dtype), cast(im, real(z).dtype))

    return program
