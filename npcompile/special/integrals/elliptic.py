"""The complete elliptic integrals, as subprograms: polynomials and a logarithm (DLMF 19.12)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from npcompile.graph.expression import Expr, fma, poly, sqrt, where
from npcompile.graph.subprograms import paired_subprogram
from npcompile.special.coefficients.elliptic import (
    DIFFERENCE,
    FIRST,
    FIRST_REST,
    SECOND,
    SECOND_REST,
)
from npcompile.special.elementary.logarithm import log_parts
from npcompile.special.elementary.piecewise import DOUBLE, INFINITY, NAN, log_of

BY_PI = 1 / math.pi


def _sum(x: Expr, coefficients: Sequence[float]) -> Expr:
    """A polynomial whose first coefficient is the largest part."""
    return fma(x, poly(x, coefficients[1:]), coefficients[0])


def _first(m: Expr, p: Expr) -> Expr:
    """K for ``m >= 0`` and ``p = 1 - m > 0``; the first coefficient is ``pi/2``."""
    small = m <= 0.5
    s = where(small, m, p)
    first, *others = FIRST["d"]
    rise = s * poly(s, others)
    high, low = log_parts(p, DOUBLE)
    share = fma(rise, 1 / first, 1.0)
    far = fma(share, -0.5 * high, fma(share, -0.5 * low, _sum(s, FIRST_REST["d"])))
    return where(small, rise + first, far)


def _second(m: Expr, p: Expr) -> Expr:
    """E for ``m >= 0`` and ``p = 1 - m > 0``."""
    small = m <= 0.5
    s = where(small, m, p)
    value = _sum(s, SECOND["d"])
    slope = s * poly(s, DIFFERENCE["d"]) * -BY_PI
    rest = SECOND_REST["d"]
    far = fma(s, poly(s, rest[1:]), log_of(p) * slope) + rest[0]
    return where(small, value, far)


def _positive(m: Expr, p: Expr) -> tuple[Expr, Expr, Expr]:
    """For ``m < 0``: ``m / (m - 1)``, one less it, and whether (DLMF 19.7.5)."""
    negative = p > 1.0
    q = where(negative, 1.0 / p, p)
    return where(negative, -m * q, m), q, negative


@paired_subprogram
def ellipkm1(p: Expr) -> Expr:
    """The complete elliptic integral of the first kind, of ``1 - p``."""
    fine = (p > 0.0) & (p < INFINITY)
    inside = where(fine, p, 1.0)
    m, q, negative = _positive(1.0 - inside, inside)
    value = _first(m, q)
    value = where(negative, value * sqrt(q), value)
    value = where(p == 0.0, INFINITY, where(p == INFINITY, 0.0, value))
    return where(p >= 0.0, value, NAN)


@paired_subprogram
def ellipk(m: Expr) -> Expr:
    """The complete elliptic integral of the first kind."""
    fine = (m < 1.0) & (m > -INFINITY)
    inside = where(fine, m, 0.0)
    share, q, negative = _positive(inside, 1.0 - inside)
    value = _first(share, q)
    value = where(negative, value * sqrt(q), value)
    value = where(m == 1.0, INFINITY, where(m == -INFINITY, 0.0, value))
    return where(m <= 1.0, value, NAN)


@paired_subprogram
def ellipe(m: Expr) -> Expr:
    """The complete elliptic integral of the second kind."""
    fine = (m < 1.0) & (m > -INFINITY)
    inside = where(fine, m, 0.0)
    share, q, negative = _positive(inside, 1.0 - inside)
    value = _second(share, q)
    value = where(negative, value * sqrt(1.0 - inside), value)
    value = where(m == 1.0, 1.0, where(m == -INFINITY, INFINITY, value))
    return where(m <= 1.0, value, NAN)
