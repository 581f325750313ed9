"""Voigt's profile, as a subprogram: the real part of Faddeeva's function.

The trapezoidal or the midpoint rule, whichever has its points further from the pole, for
``w(z) = 2*i*z/pi * integral of exp(-t*t) / (z*z - t*t)``, and what the pole leaves (Al Azah and
Chandler-Wilde, Computation of the complex error function using modified trapezoidal rules, SIAM J.
Numer. Anal. 59, 2021, equations 1.5 to 1.8).  The real parts of the terms are all positive.
"""

from __future__ import annotations

import math

from npcompile.graph.expression import Expr, const, fma, rint, where
from npcompile.graph.subprograms import subprogram
from npcompile.special.arithmetic.double_double import Doubled
from npcompile.special.elementary.circular import cos, sin
from npcompile.special.elementary.piecewise import INFINITY, NAN, exp_sum

#: the points' distance, by which both rules' errors are alike, and how many count
STEP = math.sqrt(math.pi / 12)
POINTS = 14
ROOT_HALF = math.sqrt(0.5)
#: the distance from which a Cauchy distribution is left
FAR = 1e8


def _rule(x: Expr, y: Expr, whole: Expr) -> Expr:
    """The rule's sum of the real parts, at whole multiples of the step or between them."""
    squared = y * y
    top, bottom = const(0.0, x), const(1.0, x)
    total = top
    for k in range(POINTS):
        points = k * STEP, (k + 0.5) * STEP
        weights = [math.exp(-t * t) for t in points]
        weights[0] *= 0.5 if k == 0 else 1.0
        t = where(whole, const(points[0], x), points[1])
        weight = where(whole, const(weights[0], x), weights[1])
        below, above = x - t, x + t
        p, q = fma(below, below, squared), fma(above, above, squared)
        over = p * q
        top, bottom = fma(top, over, weight * (p + q) * bottom), bottom * over
        if k % 2:  # two terms by one division
            total = total + top / bottom
            top, bottom = const(0.0, x), const(1.0, x)
    return (STEP / math.pi) * y * total


def _real_part(u: Doubled, v: Doubled) -> Expr:
    """The real part of ``w((u + i*v) / sqrt(2))`` of positive numbers, and of ``exp(-z*z)``."""
    x, y = u.high * ROOT_HALF, v.high * ROOT_HALF
    place = x * (1.0 / STEP)
    f = place - rint(place)
    whole = (abs(f) > 0.25) & (y < x)
    value = _rule(x, y, whole)
    power = (v * v - u * u) * 0.5 + y * (-2 * math.pi / STEP)
    shrunk = exp_sum(y * (-2 * math.pi / STEP))
    angle, turn = 2.0 * x * y, f * (2 * math.pi)
    sign = where(whole, -1.0, const(1.0, x))
    top = fma(shrunk, cos(angle), sign * cos(turn - angle))
    bottom = fma(shrunk, shrunk, fma(sign * (shrunk + shrunk), cos(turn), 1.0))
    rest = 2.0 * exp_sum(power.high, power.low) * top / bottom
    return where((y < x) | (y < math.pi / STEP), value + rest, value)


@subprogram
def voigt_profile(x: Expr, sigma: Expr, gamma: Expr) -> Expr:
    """The distribution of a normal and a Cauchy variable's sum."""
    a, width = abs(x), abs(gamma)
    size = where(a > width, a, width)
    wide = ~(size < FAR * abs(sigma))
    fine = ~wide & (abs(sigma) < INFINITY)
    scale = where(fine, abs(sigma), 1.0)
    one = Doubled(const(1.0, x))
    u = Doubled(where(fine, a, 1.0)) / (one * scale)
    v = Doubled(where(fine, width, 1.0)) / (one * scale)
    value = _real_part(u, v)
    square = (v * v - u * u) * 0.5
    angle = u * v
    turned = fma(-angle.low, sin(angle.high), cos(angle.high))
    mirrored = fma(2.0 * exp_sum(square.high, square.low), turned, -value)
    flipped = (sigma < 0.0) ^ (gamma < 0.0)
    value = where(flipped, mirrored, value) * (math.sqrt(0.5 / math.pi) / sigma)
    size = where(size > 0.0, size, 1.0)
    p, q = a / size, gamma / size
    cauchy = q / (math.pi * fma(p, p, q * q)) / size
    value = where(fine, value, where(wide, cauchy, NAN))
    at_0 = (sigma == 0.0) & (gamma == 0.0)
    value = where(at_0, where(x == 0.0, INFINITY, const(0.0, x)), value)
    return where((x == x) & (sigma == sigma) & (gamma == gamma), value, NAN)
