"""Owen's T function, as a subprogram.

Gauss's quadrature of ``exp(-h*h*(1 + x*x)/2) / (1 + x*x)`` over ``0 <= x <= a <= 1``, as far as the
exponential counts; terms are all positive.  Larger a are mirrored (Patefield and Tandy, Fast and
accurate calculation of Owen's T function, J. Stat. Softw. 5, 2000, equations 2.3 and 2.4).
"""

from __future__ import annotations

import math

from npcompile.graph.expression import Expr, const, copysign, fma, where
from npcompile.graph.subprograms import Results, choose, subprogram
from npcompile.special.coefficients.owen import GAUSS
from npcompile.special.error import erf
from npcompile.special.pieces import INFINITY, NAN, exp_sum
from npcompile.special.probability import ndtr
from npcompile.special.words import two_product

#: up to which h*x the exponential counts
REACH = 8.5
ROOT_HALF = math.sqrt(0.5)


def _integral(h: Expr, a: Expr) -> Expr:
    """T of positive numbers, a at most 1."""
    end = where(h * a > REACH, REACH / where(h > REACH, h, REACH), a)
    square, low = two_product(h, h)
    half = -0.5 * square
    total = const(0.0, h)
    for node, weight in zip(*GAUSS["d"]):
        x = end * node
        x = x * x
        total = total + weight * exp_sum(half * x) / (x + 1.0)
    return (end * (0.5 / math.pi)) * total * exp_sum(half, -0.5 * low)


@subprogram
def owens_t(h: Expr, a: Expr) -> Expr:
    """Owen's T function."""
    size, slope = abs(h), abs(a)
    fine = (size < 1e3) & (slope < INFINITY)
    size, slope = where(fine, size, 0.0), where(fine, slope, 0.0)
    steep = slope > 1.0
    product = size * slope
    far = where(product < 1e3, product, 1e3)
    value = _integral(where(steep, far, size), where(steep, 1.0 / where(steep, slope, 1.0), slope))

    def mirrored() -> Results:
        small = size < 0.67
        inner = 0.25 - 0.25 * erf(size * ROOT_HALF) * erf(far * ROOT_HALF) - value
        p, q = ndtr(-size), ndtr(-far)
        outer = fma(-p, q, 0.5 * (p + q)) - value
        return (where(small, inner, outer),)

    value, = choose(steep, mirrored, lambda: (value,))
    endless = 0.5 * ndtr(-abs(h))
    value = where(abs(a) == INFINITY, endless, where(abs(h) >= 1e3, 0.0, value))
    return where((h == h) & (a == a), copysign(value, a), NAN)
