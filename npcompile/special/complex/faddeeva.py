"""Faddeeva's function and the error functions of complex numbers, as subprograms.

The trapezoidal or the midpoint rule, whichever has its points further from the pole, for
``w(z) = 2*i*z/pi * integral of exp(-t*t) / (z*z - t*t)``, and what the pole leaves (Al Azah and
Chandler-Wilde, Computation of the complex error function using modified trapezoidal rules, SIAM J.
Numer. Anal. 59, 2021, equations 1.5 to 1.8).  With E = exp(2*pi*i*z/h), h the points' distance,
the pole leaves ``2 * exp(-z*z) * E / (E + 1)`` beside the midpoint rule, so that ``w - exp(-z*z)``
is the rule and ``exp(-z*z) * (E - 1) / (E + 1)``: Dawson's and the error function, which are odd,
come from this without cancellation next to the axes.  Everything is computed in the first quadrant.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from npcompile.graph.expression import (
    Expr,
    complex_,
    const,
    copysign,
    fma,
    imag,
    real,
    rint,
    where,
)
from npcompile.graph.subprograms import Results, choose, subprogram
from npcompile.special.arithmetic.double_double import Doubled, product_of, sum_of
from npcompile.special.arithmetic.double_word import joined
from npcompile.special.elementary.circular import circle, turned, with_sign
from npcompile.special.elementary.piecewise import (
    DOUBLE,
    INFINITY,
    NAN,
    exp_sum,
    expm1_sum,
    in_double,
)
from npcompile.special.integrals.omega import Complex

#: the points' distance, by which both rules' errors are alike, and how many count
STEP = math.sqrt(math.pi / 12)
POINTS = 14
#: from which distance on w is that of the pole
FAR = 1e8
ROOT_HALF = math.sqrt(0.5)
Function = Callable[[Expr, Expr], Complex]
Program = Callable[[Expr], Expr]


class _Power:
    """``exp(exponent + i*angle)``, which is multiplied without undue overflow."""

    def __init__(self, exponent: Doubled, angle: Doubled) -> None:
        self.root = exp_sum(0.5 * exponent.high, 0.5 * exponent.low)
        turn = turned(angle.high, DOUBLE)
        low = where(abs(angle.high) < 1e12, angle.low, 0.0)
        square = low * low
        s, c = with_sign(joined(turn.sine), turn.sine_sign), with_sign(
            joined(turn.cosine), turn.cosine_sign)
        low, near = fma(square * low, -1 / 6, low), fma(square, -0.5, 1.0)
        self.cosine, self.sine = fma(c, near, -(s * low)), fma(s, near, c * low)

    def times(self, z: Complex) -> Complex:
        """The product with a number of modest size; 0 times infinity is 0."""
        re = fma(self.cosine, z.re, -(self.sine * z.im))
        im = fma(self.cosine, z.im, self.sine * z.re)
        parts = [where(part == 0.0, 0.0, self.root * (self.root * part)) for part in (re, im)]
        return Complex(*(where(self.root == 0.0, 0.0, part) for part in parts))


def _conjugate(a: Complex) -> Complex:
    return Complex(a.re, -a.im)


class _Point:
    """What all functions are made of, at a point of the first quadrant."""

    def __init__(self, x: Expr, y: Expr) -> None:
        size = where(x > y, x, y)
        far, self.endless = size > FAR, size == INFINITY
        p, q = x / size, y / size
        p, q = where(p == p, p, 1.0), where(q == q, q, 1.0)
        huge = size > 1e100
        self.x, self.y = where(huge, p * 1e100, x), where(huge, q * 1e100, y)
        inside = where(far, 1.0, x)
        place = rint(inside * (1.0 / STEP))
        f = fma(-place, STEP, inside) * (1.0 / STEP)
        self.far = far
        self.near = (y < x) | (y < math.pi / STEP)
        self.whole = (abs(f) > 0.25) & (y < x)
        self.sign = where(self.whole, -1.0, const(1.0, x))
        self.sine, self.cosine = (joined(pair) for pair in circle(f * (2 * math.pi)))
        flat = (x == 0.0) | (y == 0.0)
        self.angle = where(flat, 0.0, x), where(flat, 0.0, y)
        inverse = (1.0 / math.sqrt(math.pi)) / fma(p, p, q * q) / where(size < 1e300, size, 1e300)
        found = self._rule(inside, where(far, 1.0, y))
        self.rule = Complex(q * inverse, p * inverse).where(far, found)

    def _rule(self, x: Expr, y: Expr) -> Complex:
        squared = y * y
        zero, one = const(0.0, x), const(1.0, x)
        re, im, bottom = zero, zero, one
        total = Complex(zero, zero)
        for k in range(POINTS):
            points = k * STEP, (k + 0.5) * STEP
            weights = [math.exp(-t * t) for t in points]
            weights[0] *= 0.5 if k == 0 else 1.0
            t = where(self.whole, const(points[0], x), points[1])
            weight = where(self.whole, const(weights[0], x), weights[1])
            below, above = x - t, x + t
            p, q = fma(below, below, squared), fma(above, above, squared)
            over, share = p * q, weight * bottom
            re = fma(re, over, share * (p + q))
            im = fma(im, over, share * fma(below, above, squared))
            bottom = bottom * over
            if k % 2:  # two terms by one division
                inverse = 1.0 / bottom
                total = Complex(fma(re, inverse, total.re), fma(im, inverse, total.im))
                re, im, bottom = zero, zero, one
        return Complex((STEP / math.pi) * y * total.re, (2 * STEP / math.pi) * x * total.im)

    def power(self, sign: float = -1.0) -> _Power:
        """``exp(sign * z*z)``"""
        below, above = sum_of(self.y, -self.x), sum_of(self.y, self.x)
        x, y = self.angle
        return _Power(below * above * -sign, product_of((2.0 * sign) * x, y))

    def _bottom(self, shrunk: Expr) -> Expr:
        """``abs(E + 1)**2`` or ``abs(E - 1)**2``, by the size of E"""
        return fma(shrunk, shrunk, fma(self.sign * (shrunk + shrunk), self.cosine, 1.0))

    def odd(self) -> Complex:
        """``(E - 1) / (E + 1)`` or its inverse, beyond the poles' reach -1."""
        depth = self.y * (-2 * math.pi / STEP)
        shrunk = exp_sum(depth)
        inverse = 1.0 / self._bottom(shrunk)
        re = expm1_sum(depth + depth) * inverse
        im = self.sign * (shrunk + shrunk) * self.sine * inverse
        return Complex(where(self.near, re, -1.0), where(self.near, im, 0.0))

    def faddeeva(self) -> Complex:
        """w"""
        depth = self.y * (-2 * math.pi / STEP)
        shrunk = exp_sum(depth)
        s, c = (joined(pair) for pair in circle(2.0 * self.x * self.y))
        re = fma(shrunk, c, self.sign * fma(self.cosine, c, self.sine * s))
        im = fma(-shrunk, s, self.sign * fma(self.sine, c, -(self.cosine * s)))
        exponent = sum_of(self.y, -self.x) * sum_of(self.y, self.x) + depth
        size = 2.0 * exp_sum(exponent.high, exponent.low) / self._bottom(shrunk)
        size = where(self.near & ~self.far, size, 0.0)
        return Complex(fma(size, re, self.rule.re), fma(size, im, self.rule.im))


def _series(z: Complex, coefficients: list[float]) -> Complex:
    """``z * (coefficients[0] + coefficients[1] * z*z + ...)``"""
    square = Complex(fma(z.re, z.re, -(z.im * z.im)), 2.0 * z.re * z.im)
    total = Complex(const(coefficients[-1], z.re), const(0.0, z.re))
    for c in reversed(coefficients[:-1]):
        total = Complex(fma(total.re, square.re, fma(-total.im, square.im, c)),
                        fma(total.re, square.im, total.im * square.re))
    return Complex(fma(total.re, z.re, -(total.im * z.im)), fma(total.re, z.im, total.im * z.re))


# ------------------------------------------------------------------ the functions

#: in which circle the odd functions are their series
NEAR = 0.64
ERF = [2 / math.sqrt(math.pi) * (-1) ** k / math.factorial(k) / (2 * k + 1) for k in range(15)]
DAWSON = [(-2.0) ** k / math.prod(range(1, 2 * k + 2, 2)) for k in range(17)]


def _edges(x: Expr, y: Expr, value: Complex) -> Complex:
    """NaN where an operand is."""
    nan = (x != x) | (y != y)
    return Complex(where(nan, NAN, value.re), where(nan, NAN, value.im))


def _endless(x: Expr, y: Expr) -> Expr:
    """Where a function turns without end."""
    return (abs(y) == INFINITY) & (x != 0.0)


def _w(x: Expr, y: Expr) -> Complex:
    point = _Point(abs(x), abs(y))
    upper = point.faddeeva()
    upper = Complex(*(where(point.endless, 0.0, part) for part in (upper.re, upper.im)))

    def lower() -> Results:
        twice = point.power().times(Complex(const(2.0, x), const(0.0, x)))
        return twice.re - upper.re, upper.im - twice.im

    re, im = choose(y < 0.0, lower, lambda: (upper.re, upper.im))
    im = copysign(1.0, x) * im
    lost = (y == -INFINITY) & (x != 0.0)
    value = _edges(x, y, Complex(where(lost, NAN, re), where(lost, NAN, im)))
    return Complex(value.re, where(x == 0.0, x, value.im))


def _odd(x: Expr, y: Expr, value: Complex, coefficients: list[float]) -> Complex:
    """An odd function that is real on the real axis, by its value in the first quadrant; about 0 by
    its series."""
    a, b = abs(x), abs(y)
    small = fma(a, a, b * b) < NEAR
    about_0 = _series(Complex(where(small, a, 0.0), where(small, b, 0.0)), coefficients)
    value = about_0.where(small, value)
    value = Complex(copysign(1.0, x) * value.re, copysign(1.0, y) * value.im)
    lost = _endless(x, y)
    value = _edges(x, y, Complex(where(lost, NAN, value.re), where(lost, NAN, value.im)))
    return Complex(where(x == 0.0, x, value.re), where(y == 0.0, y, value.im))


def _dawsn(x: Expr, y: Expr) -> Complex:
    point = _Point(abs(x), abs(y))
    rest, half = point.power().times(point.odd()), 0.5 * math.sqrt(math.pi)
    rule = Complex(*(where(point.endless, 0.0, part) for part in (point.rule.re, point.rule.im)))
    value = Complex(half * (rule.im + rest.im), -half * (rule.re + rest.re))
    value = _odd(x, y, value, DAWSON)
    lost = _endless(x, y) & (abs(x) < INFINITY)
    return Complex(value.re, where(lost, y, value.im))


def _erf(x: Expr, y: Expr) -> Complex:
    point = _Point(abs(y), abs(x))
    odd, rest = point.odd(), _conjugate(point.power(1.0).times(point.rule))
    return _odd(x, y, Complex(-odd.re - rest.re, odd.im - rest.im), ERF)


def _complement(x: Expr, y: Expr, value: Complex) -> Complex:
    """A function of which ``f(-z)`` is ``2 - f(z)``, by its value in the first quadrant."""
    re, im = where(x < 0.0, 2.0 - value.re, value.re), copysign(1.0, y) * value.im
    lost = _endless(x, y)
    value = _edges(x, y, Complex(where(lost, NAN, re), where(lost, NAN, im)))
    return Complex(where(x == 0.0, 1.0, value.re), where(y == 0.0, -y, value.im))


def _erfc(x: Expr, y: Expr) -> Complex:
    point = _Point(abs(y), abs(x))
    return _complement(x, y, _conjugate(point.power(1.0).times(point.faddeeva())))


def _ndtr(x: Expr, y: Expr) -> Complex:
    """``erfc(-z / sqrt(2))``"""
    a, b = abs(x), abs(y)
    point = _Point(b * ROOT_HALF, a * ROOT_HALF)
    flat = (a == 0.0) | (b == 0.0)
    angle = product_of(where(flat, 0.0, -a), where(flat, 0.0, b))
    large = (a > 1e100) | (b > 1e100)
    a, b = where(large, point.y, a), where(large, point.x, b)
    value = _Power(sum_of(b, -a) * sum_of(b, a) * 0.5, angle).times(_conjugate(point.faddeeva()))
    return _complement(-x, -y, value)


def _of_complex(name: str, function: Function) -> Program:
    """A program on complex numbers from one on their parts; each part is a subprogram."""

    def re(x: Expr, y: Expr) -> Expr:
        return function(x, y).re

    def im(x: Expr, y: Expr) -> Expr:
        return function(x, y).im

    parts = [in_double(subprogram(re, name=f"{name}_real")),
             in_double(subprogram(im, name=f"{name}_imaginary"))]

    def program(z: Expr) -> Expr:
        x, y = real(z), imag(z)
        return complex_(parts[0](x, y), parts[1](x, y))

    return program


def _turned(x: Expr, y: Expr) -> Complex:
    """``erf(i*z) / i``"""
    value = _erf(y, x)
    return Complex(value.im, value.re)


def _scaled(value: Complex) -> Complex:
    return Complex(0.5 * value.re, 0.5 * value.im)


wofz = _of_complex("wofz", _w)
dawsn = _of_complex("complex_dawsn", _dawsn)
erf = _of_complex("complex_erf", _erf)
erfi = _of_complex("complex_erfi", _turned)
erfc = _of_complex("complex_erfc", _erfc)
erfcx = _of_complex("complex_erfcx", lambda x, y: _w(-y, x))
ndtr = _of_complex("complex_ndtr", lambda x, y: _scaled(_ndtr(x, y)))
