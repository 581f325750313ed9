"""Carlson's elliptic integral R_J by duplication, as a subprogram.

Carlson, Numerical computation of real or complex elliptic integrals, Numerical Algorithms 10
(1995); DLMF 19.36.  Of negative p it is the principal value (19.20.14).
"""

from __future__ import annotations

from npcompile.graph.expression import Expr, const, fma, poly, sqrt, where
from npcompile.graph.subprograms import Results, choose, repeat, subprogram
from npcompile.special.arithmetic.double_double import Doubled
from npcompile.special.elementary.inverse_circular import arctan_parts
from npcompile.special.elementary.inverse_hyperbolic import arctanh
from npcompile.special.elementary.piecewise import INFINITY, NAN, log_of
from npcompile.special.integrals.carlson import (
    NEAR,
    elliprc,
    elliprf,
    largest,
    scaled,
    series_of_five,
    zeros,
)

#: below which distance from 1 R_C is its series
SMALL = 0.03
SERIES = [(-1.0) ** k / (2 * k + 1) for k in range(11)]


def _of_quotient(e: Expr, w: Expr) -> Expr:
    """R_C of 1 and ``w = 1 + e``, ``-1 < e <= 1``."""

    def elsewhere() -> Results:
        above, steep = e > 0.0, w < 0.5
        root = Doubled(where(abs(e) > SMALL, abs(e), 1.0)).root()
        s = root.high
        angle, rest = arctan_parts(s)
        turned = Doubled(angle, rest + root.low / (1.0 + abs(e))) / root
        low = log_of((1.0 + s) / sqrt(where(steep, w, 1.0)))
        other = arctanh(where(above | steep, 0.0, s))
        return (where(above, turned.joined(), where(steep, low, other) / s),)

    return choose(abs(e) < SMALL, lambda: (poly(e, SERIES),), elsewhere)[0]


def third_kind(x: Expr, y: Expr, z: Expr, p: Expr) -> Expr:
    """R_J of finite numbers of which none is negative, p is positive and at most one other is 0.
    Nothing is divided by four, so that differences stay as they are."""
    product = (p - x) * (p - y) * (p - z)

    def step(x: Expr, y: Expr, z: Expr, p: Expr, part: Expr, high: Expr, low: Expr) -> Results:
        a, b, c, r = (Doubled(side).root() for side in (x, y, z, p))
        rise = (a * (b + c) + b * c).joined()
        inverse = Doubled(part) / ((r + a) * (r + b) * (r + c))
        whole = inverse.high / part
        e = product * whole * whole
        w = where(e > 0.0, 1.0 + e, 2.0 * r.high * (rise + p) * whole)
        total = inverse * _of_quotient(e, w) + Doubled(high, low)
        x, y, z, p = (side + rise for side in (x, y, z, p))
        mean = (x + y + z + (p + p)) * 0.2
        more = largest(mean - x, mean - y, mean - z, mean - p) > NEAR * mean
        return more, x, y, z, p, part + part, total.high, total.low

    one, zero = const(1.0, x), const(0.0, x)
    x, y, z, p, part, high, low = repeat(step, x, y, z, p, one, zero, zero)
    mean = (x + y + z + (p + p)) * 0.2
    inverse = 1.0 / mean
    a, b, c = ((mean - side) * inverse for side in (x, y, z))
    d = -0.5 * (a + b + c)
    abc, dd = a * b * c, d * d
    e2 = fma(a, b + c, b * c) - 3.0 * dd
    e3 = abc + 2.0 * e2 * d + 4.0 * dd * d
    e4, e5 = (2.0 * abc + e2 * d + 3.0 * dd * d) * d, abc * dd
    last = part * inverse / sqrt(mean)
    last = fma(last, series_of_five(e2, e3, e4, e5), last)
    return fma(6.0, high, fma(6.0, low, last))


def _principal(x: Expr, y: Expr, z: Expr, q: Expr) -> Expr:
    """The principal value for ``p = -q``."""
    x, y = where(x < y, x, y), where(x < y, y, x)
    y, z = where(y < z, y, z), where(y < z, z, y)
    x, y = where(x < y, x, y), where(x < y, y, x)
    above = q + z
    p = (z * (x + q) + y * (z - x)) / above
    both = fma(x, y, p * q)
    more = 3.0 * sqrt(x * y * z / both) * elliprc(both, p * q)
    return (fma(p - z, third_kind(x, y, z, p), more) - 3.0 * elliprf(x, y, z)) / above


@subprogram
def elliprj(x: Expr, y: Expr, z: Expr, p: Expr) -> Expr:
    """Carlson's symmetric integral R_J."""
    fine, up, (a, b, c, d) = scaled(x, y, z, abs(p))
    pole = zeros(a, b, c) | (d == 0.0)
    a, b, d = where(pole, 1.0, a), where(pole, 1.0, b), where(pole, 1.0, d)
    negative = (p < 0.0) & fine
    value, = choose(negative, lambda: (_principal(a, b, c, d),), lambda: (third_kind(a, b, c, d),))
    value = value * (up * sqrt(up))
    size = largest(x, y, z)
    valid = (x >= 0.0) & (y >= 0.0) & (z >= 0.0) & (p == p) & ((p != 0.0) | (size == INFINITY))
    value = where(pole, INFINITY, where(fine, value, 0.0))
    return where(valid, value, NAN)
