"""Lambert's W and Wright's omega, as subprograms: the solutions of ``w * exp(w) = z`` and of
``w + log(w) = x`` by Halley's and by Fritsch's, Shafer's and Crowley's iteration.

Corless, Gonnet, Hare, Jeffrey and Knuth, On the Lambert W function, Adv. Comp. Math. 5 (1996);
Lawrence, Corless and Jeffrey, Algorithm 917, ACM TOMS 38 (2012).
"""

from __future__ import annotations

from npcompile.core.records import record
from npcompile.graph.expression import Expr, cast, complex_, const, fma, imag, real, sqrt, where
from npcompile.graph.subprograms import Results, paired_subprogram, repeat, subprogram
from npcompile.special.arithmetic.double_word import two_product, two_sum
from npcompile.special.elementary.circular import cos, sin
from npcompile.special.elementary.inverse_circular import arctan2
from npcompile.special.elementary.logarithm import log_pair
from npcompile.special.elementary.piecewise import DOUBLE, INFINITY, exp_sum, log_of
from npcompile.special.elementary.roots import hypot

TWO_PI = 6.283185307179586
BRANCH = 0.36787944117144233  # exp(-1)
E, E_LOW = 2.718281828459045, 1.4456468917292502e-16


@paired_subprogram
def wrightomega(x: Expr) -> Expr:
    """Wright's omega of real numbers."""
    fine = (x > -700.0) & (x < 1e20)
    inside = where(fine, x, 1.0)
    large = inside > 1.0
    log = log_of(where(large, inside, 2.0))
    start = where(inside < -2.0, inside, (inside - 1.0) * (2 / 3))
    w = where(large, inside - log + log / where(large, inside, 1.0), exp_sum(
        where(large, 0.0, start)))
    for _ in range(3):
        high, low = log_pair(w, DOUBLE)
        d, rest = two_sum(inside, -w)
        r, more = two_sum(d, -high)
        r = r + (rest + (more - low))
        up = w + 1.0
        square = 2.0 * up * (up + 2 / 3 * r)
        w = w + w * (r / up) * ((square - r) / (square - 2.0 * r))
    value = where(x <= -700.0, exp_sum(x), where(x >= 1e20, x, w))
    return where(x == x, value, x)


# ------------------------------------------------------------------ W of complex numbers


@record
class Complex:
    """A complex number in two parts."""

    re: Expr
    im: Expr

    def __add__(self, other: Complex) -> Complex:
        return Complex(self.re + other.re, self.im + other.im)

    def __sub__(self, other: Complex) -> Complex:
        return Complex(self.re - other.re, self.im - other.im)

    def __mul__(self, other: Complex) -> Complex:
        return Complex(self.re * other.re - self.im * other.im,
                       self.re * other.im + self.im * other.re)

    def __truediv__(self, other: Complex) -> Complex:
        size = other.re * other.re + other.im * other.im
        return Complex((self.re * other.re + self.im * other.im) / size,
                       (self.im * other.re - self.re * other.im) / size)

    def plus(self, number: float) -> Complex:
        return Complex(self.re + number, self.im)

    def times(self, number: Expr | float) -> Complex:
        return Complex(self.re * number, self.im * number)

    def exp(self) -> Complex:
        size = exp_sum(self.re)
        return Complex(size * cos(self.im), size * sin(self.im))

    def log(self) -> Complex:
        return Complex(log_of(hypot(self.re, self.im)), arctan2(self.im, self.re))

    def root(self) -> Complex:
        """The square root with a real part that is not negative."""
        size = hypot(self.re, self.im)
        one = sqrt(0.5 * (size + abs(self.re)))
        other = abs(self.im) * 0.5 / where(one > 0.0, one, 1.0)
        right = self.re >= 0.0
        turned = where(self.im < 0.0, -1.0, const(1.0, size))
        return Complex(where(right, one, other), turned * where(right, other, one))

    def where(self, condition: Expr, other: Complex) -> Complex:
        return Complex(where(condition, self.re, other.re), where(condition, self.im, other.im))


def _guess(z: Complex, k: Expr) -> Complex:
    """About the branch point, about 0, and elsewhere by logarithms."""
    log = z.log()
    log = Complex(log.re, log.im + TWO_PI * k)
    zero = (log.re == 0.0) & (log.im == 0.0)
    found = log - Complex(where(zero, 1.0, log.re), log.im).log()
    about_0 = (z.re > -1.0) & (z.re < 1.5) & (abs(z.im) < 1.0) & (
        -2.5 * abs(z.im) - 0.2 < z.re)
    series = z * (z * z.times(17.0).plus(114.0)).plus(60.0) / (
        z * z.times(101.0).plus(174.0)).plus(60.0)
    found = series.where((k == 0.0) & about_0, found)
    p = z.times(2.0 / BRANCH).plus(2.0).root()
    near = hypot(z.re + BRANCH, z.im) < 0.3
    found = (p * p.times(-1 / 3).plus(1.0)).plus(-1.0).where((k == 0.0) & near, found)
    other = (k == -1.0) & (z.im == 0.0) & (z.re < 0.0) & (z.re >= -BRANCH)
    negative = Complex(log_of(where(other, -z.re, 1.0)), z.im * 0.0)
    close = other & (z.re < -0.2)
    found = negative.where(other, found)
    return (p * p.times(1 / 3).plus(1.0)).times(-1.0).plus(-1.0).where(close, found)


def _solved(z: Complex, k: Expr) -> Complex:
    """Halley's iteration, on ``w - z * exp(-w)`` or on ``w * exp(w) - z``."""

    def step(n: Expr, re: Expr, im: Expr) -> Results:
        w = Complex(re, im)
        right = w.re >= 0.0
        power = w.where(~right, w.times(-1.0)).exp()
        grown = w * power
        miss = (w - z * power).where(right, grown - z)
        slope = w.plus(1.0).where(right, grown + power)
        twice = w.plus(1.0).times(2.0)
        flat = (twice.re == 0.0) & (twice.im == 0.0)
        twice = Complex(where(flat, 1.0, twice.re), twice.im)
        bottom = slope - w.plus(2.0) * miss / twice
        done = (miss.re == 0.0) & (miss.im == 0.0)
        bottom = Complex(where(done, 1.0, bottom.re), bottom.im)
        change = miss / bottom
        following = w - change
        size = hypot(change.re, change.im)
        more = (size > 1e-8 * hypot(following.re, following.im)) & (n < 60.0)
        return more, n + 1.0, following.re, following.im

    start = _guess(z, k)
    _, re, im = repeat(step, const(0.0, k), start.re, start.im)
    return Complex(re, im)


#: W = -1 + p - p**2/3 + ..., p = sqrt(2*(e*z + 1)): Corless et al., eq. 4.22
SERIES = (-1.0, 1.0, -1 / 3, 11 / 72, -43 / 540, 769 / 17280, -221 / 8505, 680863 / 43545600,
          -1963 / 204120, 226287557 / 37623398400)


def _at_branch(z: Complex, k: Expr) -> tuple[Complex, Expr]:
    """W next to its branch point, and where this is to be used."""
    product, low = two_product(z.re, E)
    p = Complex(2.0 * ((product + 1.0) + fma(z.re, E_LOW, low)), 2.0 * E * z.im).root()
    lower = (k == -1.0) & (z.im >= 0.0) | (k == 1.0) & (z.im < 0.0)
    p = p.times(-1.0).where(lower, p)
    found = Complex(const(SERIES[-1], k), const(0.0, k))
    for coefficient in reversed(SERIES[:-1]):
        found = (found * p).plus(coefficient)
    return found, (hypot(p.re, p.im) < 0.02) & ((k == 0.0) | lower)


def _lambert(re: Expr, im: Expr, k: Expr) -> Complex:
    fine = (abs(re) < INFINITY) & (abs(im) < INFINITY) & ((re != 0.0) | (im != 0.0))
    z = Complex(where(fine, re, 1.0), where(fine, im, 0.0))
    found, near = _at_branch(z, k)
    found = found.where(near, _solved(Complex(where(near, 1.0, z.re), where(near, 0.0, z.im)), k))
    nan = (re != re) | (im != im)
    at_zero = Complex(where(k == 0.0, re, -INFINITY), where(k == 0.0, im, 0.0))
    zero = (re == 0.0) & (im == 0.0)
    endless = Complex(abs(re), where(re > 0.0, im + TWO_PI * k, 0.5 * TWO_PI * (k + k + 1.0) - im))
    edge = at_zero.where(zero, endless)
    edge = Complex(re, im).where(nan, edge)
    return found.where(fine, edge)


@subprogram
def lambert_real(re: Expr, im: Expr, k: Expr) -> Expr:
    """The real part of branch k of Lambert's W."""
    return _lambert(re, im, k).re


@subprogram
def lambert_imaginary(re: Expr, im: Expr, k: Expr) -> Expr:
    """The imaginary part of branch k of Lambert's W."""
    return _lambert(re, im, k).im


def lambertw(z: Expr, k: Expr, tolerance: Expr) -> Expr:
    """Branch k of Lambert's W; iterations end where they change nothing."""
    re, im = real(z), imag(z)
    order = cast(k, "d")
    return complex_(lambert_real(re, im, order), lambert_imaginary(re, im, order))
