"""Owen's T function, as a subprogram.

Gauss's quadrature of ``exp(-h*h*(1 + x*x)/2) / (1 + x*x)`` over ``0 <= x <= a <= 1``, as far as the
exponential counts; terms are all positive.  Larger a are mirrored (Patefield and Tandy, Fast and
accurate calculation of Owen's T function, J. Stat. Softw. 5, 2000, equations 2.3 and 2.4).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from npcompile.graph.expression import Expr, const, copysign, fma, where
from npcompile.graph.subprograms import choose_among, packed_subprogram
from npcompile.special.arithmetic.double_word import two_product
from npcompile.special.arithmetic.formats import power_of_two
from npcompile.special.coefficients.owen import GAUSS
from npcompile.special.elementary.exponential import exp_parts
from npcompile.special.elementary.piecewise import DOUBLE, INFINITY, NAN, exp_sum
from npcompile.special.error.error_function import erf
from npcompile.special.error.probability import ndtr

#: up to which h*x the exponential counts
REACH = 8.5
#: terms by one division
TOGETHER = 4
ROOT_HALF = math.sqrt(0.5)


def _integral(h: Expr, a: Expr) -> Expr:
    """T of positive numbers, a at most 1."""
    end = where(h * a > REACH, REACH / where(h > REACH, h, REACH), a)
    square, low = two_product(h, h)
    half = -0.5 * square
    total = top = const(0.0, h)
    bottom = const(1.0, h)
    for count, (node, weight) in enumerate(zip(*GAUSS["d"]), 1):
        x = end * node
        x = x * x
        head, tail, k = exp_parts(half * x, None, DOUBLE)
        term = (head + tail) * power_of_two(k, DOUBLE)
        top, bottom = fma(top, x + 1.0, (weight * bottom) * term), fma(bottom, x, bottom)
        if count % TOGETHER == 0 or count == len(GAUSS["d"][0]):
            total, top, bottom = total + top / bottom, const(0.0, h), const(1.0, h)
    return (end * (0.5 / math.pi)) * total * exp_sum(half, -0.5 * low)


@packed_subprogram
def owens_t(h: Expr, a: Expr) -> Expr:
    """Owen's T function."""
    size, slope = abs(h), abs(a)
    fine = (size < 1e3) & (slope < INFINITY)
    steep, small = slope > 1.0, size < 0.67

    def mirrored(rest: Callable[[Expr, Expr], Expr]) -> Callable[[], Expr]:
        def arm() -> Expr:
            product = size * slope
            far = where(product < 1e3, product, 1e3)
            return rest(size, far) - _integral(far, 1.0 / slope)

        return arm

    def ends() -> Expr:
        return where(slope == INFINITY, 0.5 * ndtr(-size), where(size >= 1e3, 0.0, const(NAN, h)))

    value = choose_among(
        const(0.0, h), (fine & ~steep, lambda: _integral(size, slope)),
        (fine & steep & small, mirrored(_by_erf)), (fine & steep & ~small, mirrored(_by_ndtr)),
        (~fine, ends))
    return where((h == h) & (a == a), copysign(value, a), NAN)


def _by_erf(h: Expr, far: Expr) -> Expr:
    return 0.25 - 0.25 * erf(h * ROOT_HALF) * erf(far * ROOT_HALF)


def _by_ndtr(h: Expr, far: Expr) -> Expr:
    p, q = ndtr(-h), ndtr(-far)
    return fma(-p, q, 0.5 * (p + q))
