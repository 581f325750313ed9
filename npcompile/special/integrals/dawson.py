"""Dawson's integral and the exponential integral, as programs; neither raises flags."""

from __future__ import annotations

from npcompile.graph.expression import Expr, fma, poly, rare, where
from npcompile.graph.subprograms import subprogram
from npcompile.special.arithmetic.double_word import two_sum
from npcompile.special.coefficients.integrals import DAWSON, EXPONENTIAL_FAR, EXPONENTIAL_NEAR
from npcompile.special.elementary.exponential import exp
from npcompile.special.elementary.logarithm import log_parts
from npcompile.special.elementary.piecewise import DOUBLE, INFINITY, NAN, folded, piece, uniform


def dawsn(x: Expr) -> Expr:
    """Dawson's integral: ``x / (1 + 2*x*x)`` times a factor near 1."""
    a = abs(x)
    inside = where(a < 1e9, a, 1.0)
    square = inside * inside
    v, low = folded(square, 2.0)
    value, tail = piece(v, low, uniform(v, 32.0), DAWSON["d"])
    near = x * ((value + tail) / fma(square, 2.0, 1.0))
    far = 0.5 / where(a < 1e9, 1.0, x)
    return where(a < 1e9, near, where(x == x, far, x))


def exp1(x: Expr) -> Expr:
    """The exponential integral E1 (DLMF 6.2.1)."""
    below = ~(x > 1.0)
    large = where(~below & (x < INFINITY), x, 1.0)
    u = 1.0 / large
    value, tail = piece(u, None, uniform(u, 16.0), EXPONENTIAL_FAR["d"])
    found = where(x == INFINITY, 0.0, exp(-large) * (value + tail) * u)
    return rare(below, exp1_near(where(below, x, 1.0)), found)


@subprogram
def exp1_near(x: Expr) -> Expr:
    """E1 up to 1, and for NaN."""
    small = where((x <= 1.0) & (x > 0.0), x, 1.0)
    high, low = log_parts(small, DOUBLE)
    s, e = two_sum(poly(small, EXPONENTIAL_NEAR["d"]), -high)
    found = where(x == 0.0, INFINITY, where(x < 0.0, NAN, s + (e - low)))
    return where(x == x, found, x)
