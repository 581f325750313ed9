"""The modified Struve function of real order, as a subprogram: its power series (DLMF 11.2.2) in
two parts, whose terms are positive from the order -3/2 on; of large arguments I (11.2.6)."""

from __future__ import annotations

import math

from npcompile.graph.expression import Expr, const, floor, sqrt, where
from npcompile.graph.subprograms import Results, choose, repeat, subprogram
from npcompile.special.arithmetic.double_double import Doubled, product_of, sum_of
from npcompile.special.bessel.bessel_real import iv_of_real
from npcompile.special.coefficients.exponential import LN2
from npcompile.special.elementary.piecewise import INFINITY, NAN, exp_sum
from npcompile.special.gamma_functions.gamma_function import half_turns
from npcompile.special.gamma_functions.incomplete_gamma import factor_parts

#: from which argument on L is I, up to half of it as the order
FAR = 120.0
#: beyond which arguments, and orders, nothing is computed
MOST, MOST_ORDER = 5000.0, 1e6


def _leading(b: Expr, h: Expr) -> tuple[Doubled, Expr]:
    """``h**b / gamma(b + 1)`` as the logarithm of a factor and the other one; of negative b by
    reflection, next to 0 by the order above (DLMF 5.5)."""
    raised, mirrored = (b < 0.0) & (b >= -1.0), b < -1.0
    order = where(mirrored, -b - 1.0, where(raised, b + 1.0, b))
    high, low, size = factor_parts(order, h)
    exponent = Doubled(high, low) + h
    sine, _ = half_turns(order)
    half = 0.5 * floor(order)
    sine = where(half == floor(half), sine, -sine)
    factor = where(raised, order / h * size, where(mirrored, -sine / (math.pi * h * size), size))
    return Doubled(where(mirrored, -exponent.high, exponent.high),
                   where(mirrored, -exponent.low, exponent.low)), factor


def _series(v: Expr, x: Expr) -> Expr:
    """L of a positive argument."""
    tiny = x < 2.0**-960  # the argument times 2**128
    h = 0.5 * where(tiny, x * 2.0**128, x)
    square, shifted = product_of(h, h), sum_of(v, const(0.5, v))

    def step(k: Expr, high: Expr, low: Expr, total: Expr, rest: Expr) -> Results:
        bottom = (shifted + k) * (k + 0.5)
        term = Doubled(high, low) * square / bottom
        whole = Doubled(total, rest) + term
        more = (abs(term.high) > 1e-18 * abs(whole.high)) | (bottom.high < square.high)
        return more & (k < 4.0 * MOST), k + 1.0, term.high, term.low, whole.high, whole.low

    one, zero = const(1.0, x), const(0.0, x)
    large = x > 1.0
    small = where(large, 2.0**-880, one)  # sums may be too large
    _, _, _, total, rest = repeat(step, one, small, zero, small, zero)
    exponent, factor = _leading(v + 0.5, h)
    value = (total + rest) * (factor * sqrt(h) * (2 / math.sqrt(math.pi)))
    back = sum_of(v, one) * Doubled(LN2["d"][0] * one, LN2["d"][1] * one) * -128.0
    exponent = (exponent + back).chosen(tiny, exponent)
    root = exp_sum(0.5 * exponent.high, 0.5 * exponent.low) * where(large, 2.0**440, one)
    return where(abs(total) < INFINITY, root * value * root, INFINITY)


@subprogram
def modstruve(v: Expr, x: Expr) -> Expr:
    """The modified Struve function L."""
    a, n = abs(x), abs(v)
    fine = (n < where(v > 0.0, const(MOST_ORDER, x), MOST)) & (a < MOST) & (a > 0.0)
    order, y = where(fine, v, 1.0), where(fine, a, 1.0)
    below = -order - 0.5
    as_first = (below > 0.5) & (below == floor(below))  # DLMF 11.4.4
    as_first = as_first | (y >= FAR) & (2.0 * abs(order) <= y)
    value, = choose(as_first, lambda: (iv_of_real(abs(order), y),), lambda: (_series(order, y),))
    beyond = where(4.0 * a <= v, const(0.0, x), where(n <= 1.2 * a, const(INFINITY, x), NAN))
    value = where(fine, value, where(a >= MOST, beyond, where(v > 0.0, const(0.0, x), NAN)))
    half = 0.5 * floor(v + 0.5)
    pole = where(half == floor(half), const(-INFINITY, x), INFINITY)
    pole = where(below == floor(below), 0.0, pole)
    at_0 = where(v > -1.0, const(0.0, x), where(v == -1.0, 2 / math.pi, pole))
    value = where(x == 0.0, where(v > -MOST, at_0, NAN), value)
    whole, half = v == floor(v), 0.5 * v
    value = where((x < 0.0) & (half == floor(half)), -value, value)
    return where((x == x) & (v == v) & ((x >= 0.0) | whole), value, NAN)
