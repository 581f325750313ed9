"""Computes the constants of the special functions and writes their modules.

Run from the repository's root::

    python tools/special_coefficients.py              # all tables, with their errors
    python tools/special_coefficients.py BESSEL_I0    # some: the others are kept

A table of pieces has a row of centres, two rows that hold the value there in two parts, and rows
of the other coefficients in the distance from the centre; errors are relative to the function.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import mpmath as mp
from minimax import interpolation, minimax, rounded, split
from tables import SMALL, Rows, Tables, main, table

mp.mp.prec = 200
PIECES = 16
DEBYE_TERMS = 14
LOG_GAMMA_COUNT = 16
Real = Callable[[Any], Any]


def pieces(function: Real, edges: list[Any], count: int, in_two: int = 1) -> Rows:
    """Rows for the intervals between successive edges; so many coefficients are in two parts."""
    rows, worst = [], mp.mpf(0)
    function = cache(function)
    for low, high in pairwise(edges):
        fit = interpolation(function, count, low, high, 53, in_two)
        rows.append((float((mp.mpf(low) + mp.mpf(high)) / 2), *fit.coefficients))
        worst = max(worst, fit.error)
    return {"d": Tables(tuple(zip(*rows)), worst)}


def uniform(last: Any, count: int = PIECES) -> list[Any]:
    return [mp.mpf(last) * k / count for k in range(count + 1)]


def octaves(first: int, steps: int, count: int = PIECES) -> list[Any]:
    """Binades from 2**first on, each cut into equal steps."""
    return [mp.ldexp(1 + mp.mpf(k % steps) / steps, first + k // steps) for k in range(count + 1)]


def polynomial(function: Real, count: int, low: Any, high: Any, weight: Real | None = None) -> Rows:
    """One polynomial, its error relative unless a weight is given."""
    function = cache(function)
    return {"d": minimax(function, range(count), low, high, 53,
                         weight or (lambda x: 1 / function(x)))}


# ---------------------------------------------------------------- gamma


@table("gamma")
def stirling() -> Rows:
    """x * (log(gamma(x)) - (x - 1/2)*log(x) + x - log(2*pi)/2) in u = 1/x <= 1 (DLMF 5.11.1)."""
    def rest(u: Any) -> Any:
        x = 1 / u
        return x * (mp.loggamma(x) - (x - 0.5) * mp.log(x) + x - mp.log(2 * mp.pi) / 2)

    return pieces(rest, uniform(1), 10)


@table("gamma")
def factorials() -> Rows:
    """gamma(n) for whole n, and 0 where it is no double."""
    return {"d": tuple(float(mp.factorial(n - 1)) if 0 < n < 24 else 0.0 for n in range(32))}


@table("gamma")
def half_log_2pi() -> Rows:
    """log(2*pi)/2 and pi, each in two parts."""
    return {"d": (split(mp.log(2 * mp.pi) / 2, 53), split(+mp.pi, 53))}


@table("log_gamma")
def log_pi() -> Rows:
    """log(pi) in two parts."""
    return {"d": split(mp.log(mp.pi), 53)}


@table("gamma")
def gammaln() -> Rows:
    """log(gamma(x)) / ((x - 1)*(x - 2)) on [1, 256)."""
    def smooth(x: Any) -> Any:
        return mp.loggamma(x) / ((x - 1) * (x - 2))

    return pieces(smooth, octaves(0, 2), 18)


def _accurate_centre(function: Real, slope: Real, low: Any, high: Any) -> Any:
    """A double near the middle of an interval where the function is nearly a double, and so is
    its derivative (Gal & Bachelis, An accurate elementary mathematical library for the IEEE
    floating point standard, ACM TOMS 17, 1991)."""
    step = (high - low) / 64
    for k in range(1, 1 << 16):
        centre = mp.mpf(rounded((low + high) / 2 + step * (k * mp.phi % 1), 53))
        if all(abs(of(centre) / mp.mpf(rounded(of(centre), 53)) - 1) < mp.mpf(2) ** -bits
               for of, bits in ((function, 61), (slope, 58))):
            return centre
    raise ValueError(f"no centre between {low} and {high}")


@table("log_gamma")
def log_gamma() -> Rows:
    """log(gamma(x)) / ((x - 1)*(x - 2)) on [1/2, 128), halves of octaves in the order of the last
    bits of exponents: rows of centres, of values and slopes there, which are nearly exact, and of
    the coefficients of (it at c + t - value - slope*t) / t**2, relative error."""
    def smooth(x: Any) -> Any:
        return mp.loggamma(x) / ((x - 1) * (x - 2))

    def slope(x: Any) -> Any:
        return smooth(x) * (mp.digamma(x) / mp.loggamma(x) - 1 / (x - 1) - 1 / (x - 2))

    def row(low: Any, high: Any) -> tuple[tuple[float, ...], Any]:
        centre = _accurate_centre(smooth, slope, low, high)
        value, rise = rounded(smooth(centre), 53), rounded(slope(centre), 53)

        def rest(t: Any) -> Any:
            return (smooth(centre + t) - mp.mpf(value) - mp.mpf(rise) * t) / t**2

        fit = minimax(cache(rest), range(LOG_GAMMA_COUNT), low - centre, high - centre, 53,
                      lambda t: t**2 / smooth(centre + t))
        inexact = abs(smooth(centre) / mp.mpf(value) - 1)
        return (float(centre), value, rise, *fit.coefficients), max(fit.error, inexact)

    made = [row(low, high) for low, high in pairwise(octaves(-1, 2))]
    made = made[4:] + made[:4]
    return {"d": Tables(tuple(zip(*(row for row, _ in made))), max(error for _, error in made))}


@table("gamma")
def digamma_root() -> Rows:
    """The positive root of digamma in two parts."""
    return {"d": split(mp.findroot(mp.digamma, mp.mpf("1.46163")), 53)}


@table("gamma")
def digamma() -> Rows:
    """digamma(x) / (x - root) on [1, 256)."""
    root = mp.findroot(mp.digamma, mp.mpf("1.46163"))
    return pieces(lambda x: mp.digamma(x) / (x - root), octaves(0, 2), 18)


@table("gamma")
def digamma_far() -> Rows:
    """(log(x) - 1/(2*x) - digamma(x)) * x**2 in v = 1/x**2, 1/x <= 1/128 (DLMF 5.11.2)."""
    def rest(v: Any) -> Any:
        x = 1 / mp.sqrt(v)
        return (mp.log(x) - 1 / (2 * x) - mp.digamma(x)) / v

    return polynomial(rest, 3, mp.mpf(10) ** -12, mp.mpf(1) / 128**2)


@table("gamma")
def gamma_pair() -> Rows:
    """(1/gamma(1-u) - 1/gamma(1+u)) / (2*u) and (1/gamma(1-u) + 1/gamma(1+u)) / 2 in u**2,
    |u| <= 1/2."""
    def odd(z: Any) -> Any:
        u = mp.sqrt(z)
        return (mp.rgamma(1 - u) - mp.rgamma(1 + u)) / (2 * u) if u > SMALL else -mp.euler

    def even(z: Any) -> Any:
        u = mp.sqrt(z)
        return (mp.rgamma(1 - u) + mp.rgamma(1 + u)) / 2

    fits = [minimax(cache(f), range(9), SMALL, mp.mpf(1) / 4, 53) for f in (odd, even)]
    return {"d": Tables(tuple(fit.coefficients for fit in fits), max(fit.error for fit in fits))}


# ---------------------------------------------------------------- normal distribution


def inverse_erfc(s: Any) -> Any:
    """The argument where erfc is z, with ``z * (2 - z) = exp(-s*s)``, over ``1 - z``."""
    s = mp.mpf(s)
    if s < mp.mpf(10) ** -8:
        return mp.sqrt(mp.pi) / 2 * (1 + s * s * (mp.pi / 12))
    small = mp.exp(-s * s)
    y = mp.sqrt(1 - small)
    log_z = mp.log(small / (1 + y))
    t = s
    for _ in range(60):
        tail = mp.erfc(t)
        step = (mp.log(tail) - log_z) * tail * mp.exp(t * t) * mp.sqrt(mp.pi) / 2
        t += step
        if abs(step) < mp.mpf(2) ** -150:
            break
    return t / y


@table("normal_tails")
def erfinv() -> Rows:
    """erfinv(y) / y in s = sqrt(-log(1 - y*y)): 16 pieces on [2, 6.5), 16 on [6.5, 27.5); four
    coefficients are in two parts each."""
    near = [2 + mp.mpf("4.5") * k / PIECES for k in range(PIECES)]
    far = [mp.mpf("6.5") + mp.mpf("1.3125") * k for k in range(PIECES + 1)]
    return pieces(inverse_erfc, near + far, 16, 4)


def _middle(z: Any) -> Any:
    """erfcinv(z) / (1 - z)"""
    return inverse_erfc(mp.sqrt(-mp.log(z * (2 - z))) if z < 1 else 0)


@table("normal")
def half_root_pi() -> Rows:
    """sqrt(pi)/2 in two parts."""
    return {"d": split(mp.sqrt(mp.pi) / 2, 53)}


@table("normal")
def erfcinv_middle() -> Rows:
    """erfcinv(z) / (1 - z) on [2**-8, 1]; four coefficients are in two parts each."""
    return pieces(_middle, octaves(-8, 2), 22, 4)


@table("normal")
def ndtri_middle() -> Rows:
    """ndtri(p) / (p - 1/2) on [2**-9, 1/2]; four coefficients are in two parts each."""
    return pieces(lambda p: mp.sqrt(8) * _middle(2 * p), octaves(-9, 2), 22, 4)


# ---------------------------------------------------------------- Bessel functions

I_CENTRE = 8


def _folded(function: Real) -> Real:
    """In v = 8 / (8 + x)."""
    return lambda v: function(I_CENTRE * (1 - v) / v)


@table("bessel")
def debye() -> Rows:
    """Rows v_k with U_k(p) = p**k * v_k(p**2), the polynomials of Debye's expansions (DLMF
    10.41.9), as far as they matter where order and argument are 40 from 0; the error is the first
    row that is left out, at that distance."""
    power = [Fraction(1)]
    rows = []
    for k in range(DEBYE_TERMS + 1):
        rows.append([power[k + 2 * j] for j in range(k + 1)])
        following = [Fraction(0)] * (len(power) + 3)
        for n, c in enumerate(power):
            following[n + 1] += c * n / 2 + c / (8 * (n + 1))
            following[n + 3] -= c * n / 2 + 5 * c / (8 * (n + 3))
        power = following
    left = max(abs(sum(mp.mpf(c.numerator) / c.denominator * (mp.mpf(q) / 100) ** j
                       for j, c in enumerate(rows[-1]))) for q in range(101))
    return {"d": Tables(tuple(tuple(float(c) for c in row) for row in rows[:-1]),
                        left / mp.mpf(40) ** DEBYE_TERMS)}


@table("bessel_modified")
def bessel_i0() -> Rows:
    """sqrt(1 + x) * exp(-x) * I0(x) in v = 8 / (8 + x)."""
    return pieces(_folded(lambda x: mp.sqrt(1 + x) * mp.exp(-x) * mp.besseli(0, x)), uniform(1), 16)


@table("bessel_modified")
def bessel_i1() -> Rows:
    """(1 + x)**1.5 * exp(-x) * I1(x) / x in v = 8 / (8 + x)."""
    return pieces(_folded(
        lambda x: mp.mpf(1) / 2 if not x else
        (1 + x) ** mp.mpf("1.5") * mp.exp(-x) * mp.besseli(1, x) / x), uniform(1), 15)


@table("bessel_modified")
def bessel_k0() -> Rows:
    """sqrt(x) * exp(x) * K0(x) in u = 1/x <= 1."""
    return pieces(lambda u: mp.exp(1 / u) * mp.besselk(0, 1 / u) / mp.sqrt(u), uniform(1), 14)


@table("bessel_modified")
def bessel_k1() -> Rows:
    """sqrt(x) * exp(x) * K1(x) in u = 1/x <= 1."""
    return pieces(lambda u: mp.exp(1 / u) * mp.besselk(1, 1 / u) / mp.sqrt(u), uniform(1), 14)


@table("bessel_modified")
def bessel_small() -> Rows:
    """In z = x*x <= 1 (DLMF 10.31): I0(x), K0(x) + log(x)*I0(x), I1(x)/x,
    (K1(x) - 1/x - log(x)*I1(x)) / x."""
    functions = [
        lambda x: mp.besseli(0, x),
        lambda x: mp.besselk(0, x) + mp.log(x) * mp.besseli(0, x),
        lambda x: mp.besseli(1, x) / x,
        lambda x: (mp.besselk(1, x) - 1 / x - mp.log(x) * mp.besseli(1, x)) / x,
    ]
    fits = [polynomial(lambda z, f=f: f(mp.sqrt(z)), 10, SMALL, 1)["d"] for f in functions]
    return {"d": Tables(tuple(fit.coefficients for fit in fits), max(fit.error for fit in fits))}


@table("bessel")
def bessel_j0() -> Rows:
    """J0(x) on [0, 8)."""
    return pieces(lambda x: mp.besselj(0, x), uniform(8), 13)


@table("bessel")
def bessel_j1() -> Rows:
    """J1(x) / x on [0, 8)."""
    return pieces(lambda x: mp.besselj(1, x) / x, uniform(8), 13)


def _left(x: Any) -> Any:
    return 2 / mp.pi * mp.log(x)


@table("bessel")
def bessel_y0() -> Rows:
    """Y0(x) - 2/pi * log(x) * J0(x) on [0, 8) (DLMF 10.8.2)."""
    return pieces(lambda x: mp.bessely(0, x) - _left(x) * mp.besselj(0, x), uniform(8), 13)


@table("bessel")
def bessel_y1() -> Rows:
    """(Y1(x) - 2/pi * (log(x) * J1(x) - 1/x)) / x on [0, 8)."""
    return pieces(lambda x: (mp.bessely(1, x) - _left(x) * mp.besselj(1, x) + 2 / mp.pi / x) / x,
                  uniform(8), 13)


def _modulus(order: int, which: str) -> Real:
    """P and Q / u of Hankel's expansion, in z = u*u, u = 8/x (DLMF 10.17.3)."""

    def value(z: Any) -> Any:
        u = mp.sqrt(z)
        x = 8 / u
        angle = x - (2 * order + 1) * mp.pi / 4
        size = mp.sqrt(mp.pi * x / 2)
        j, y = mp.besselj(order, x), mp.bessely(order, x)
        if which == "P":
            return size * (j * mp.cos(angle) + y * mp.sin(angle))
        return size * (y * mp.cos(angle) - j * mp.sin(angle)) / u

    return value


@table("bessel")
def bessel_hankel() -> Rows:
    """P0, Q0, P1, Q1 of Hankel's expansion, in z = (8/x)**2, Q over 8/x, for x >= 8."""
    fits = [polynomial(_modulus(order, which), 15, mp.mpf("1e-6"), 1)["d"]
            for order in (0, 1) for which in "PQ"]
    return {"d": Tables(tuple(fit.coefficients for fit in fits), max(fit.error for fit in fits))}


@table("bessel")
def root_pi() -> Rows:
    """1/sqrt(pi), and 2/pi in two parts."""
    return {"d": (rounded(1 / mp.sqrt(mp.pi), 53), *split(2 / mp.pi, 53))}


# ---------------------------------------------------------------- integrals


def _dawson(x: Any) -> Any:
    """By the error function of an imaginary argument (DLMF 7.5.1)."""
    with mp.workprec(400 + int(4 * x * x)):
        return mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)


@table("integrals")
def dawson() -> Rows:
    """(1 + 2*x*x) * dawsn(x) / x in v = 2 / (2 + x*x), by 32 pieces."""
    def value(v: Any) -> Any:
        x = mp.sqrt(2 * (1 - v) / v)
        if x > 30:
            total, term = mp.mpf(0), 1 / (2 * x)
            for k in range(1, 40):
                total += term
                term *= (2 * k - 1) / (2 * x * x)
            return (1 + 2 * x * x) * total / x
        return (1 + 2 * x * x) * (_dawson(x) / x if x else 1)

    return pieces(value, uniform(1, 32), 13)


@table("integrals")
def exponential_far() -> Rows:
    """x * exp(x) * E1(x) in u = 1/x <= 1."""
    return pieces(lambda u: mp.exp(1 / u) * mp.e1(1 / u) / u, uniform(1), 16)


@table("integrals")
def exponential_near() -> Rows:
    """E1(x) + log(x) on (0, 1] (DLMF 6.6.2)."""
    return polynomial(lambda x: mp.e1(x) + mp.log(x), 15, SMALL, 1,
                      lambda x: 1 / mp.e1(x))


# ---------------------------------------------------------------- zeta


@table("zeta")
def riemann() -> Rows:
    """zeta(s) - 1/(s - 1) on [-2, 62)."""
    return pieces(lambda s: mp.zeta(s) - 1 / (s - 1) if s != 1 else +mp.euler,
                  [mp.mpf(k) for k in range(-2, 63, 2)], 13)


@table("zeta")
def bernoulli() -> Rows:
    """B(2*j) / (2*j)! for j = 1 ... 12 (DLMF 24.2)."""
    return {"d": tuple(rounded(mp.bernoulli(2 * j) / mp.factorial(2 * j), 53)
                       for j in range(1, 13))}


@table("zeta")
def log_2pi() -> Rows:
    """log(2*pi) in two parts."""
    return {"d": split(mp.log(2 * mp.pi), 53)}


if __name__ == "__main__":
    main("special_coefficients.py", sys.argv[1:])
