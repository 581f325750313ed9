"""Unevaluated sums of two numbers: the error-free transformations.

Muller et al., Handbook of Floating-Point Arithmetic, 2nd ed., chapters 4 and 14.
"""

from __future__ import annotations

from npcompile.graph.expression import Expr, Value, fma


def quick_two_sum(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """``a + b`` in two parts, for ``|a| >= |b|`` (Dekker 1971)."""
    s = a + b
    return s, b - (s - a)


def two_sum(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """``a + b`` in two parts (Knuth, TAOCP vol. 2, section 4.2.2, theorem B)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def difference(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """``a - b`` in two parts, as :func:`two_sum`."""
    s = a - b
    t = s - a
    return s, (a - (s - t)) - (b + t)


def two_product(a: Expr, b: Value) -> tuple[Expr, Expr]:
    """``a * b`` in two parts."""
    p = a * b
    return p, fma(a, b, -p)


def joined(pair: tuple[Expr, Expr]) -> Expr:
    """Both parts as one number."""
    return pair[0] + pair[1]


def quotient(top: tuple[Expr, Expr], bottom: tuple[Expr, Expr]) -> Expr:
    """A quotient of sums, rounded almost once, by one division; second parts may be a hundredth of
    the first."""
    inverse = 1.0 / (bottom[0] + bottom[1])
    q = top[0] * inverse
    rest = fma(-q, bottom[0], top[0]) + fma(-q, bottom[1], top[1])
    return fma(rest, inverse, q)
