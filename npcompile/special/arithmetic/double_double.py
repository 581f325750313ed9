"""Numbers in two parts, with the arithmetic of twice the precision.

Joldes, Muller and Popescu, Tight and rigorous error bounds for basic building blocks of
double-word arithmetic, ACM TOMS 44 (2017): algorithms 5, 12 and 17; errors are some 2**-103 of the
operands' magnitudes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Union

from npcompile.graph.expression import Expr, const, fma, sqrt, where
from npcompile.special.arithmetic.double_word import quick_two_sum, two_product, two_sum

Number = Union["Doubled", Expr, float]


class Doubled:
    """``high + low``, where low is at most a rounding error of high."""

    __slots__ = ("high", "low")

    def __init__(self, high: Expr, low: Expr | None = None) -> None:
        self.high = high
        self.low = const(0.0, high) if low is None else low

    def _as(self, other: Number) -> Doubled:
        if isinstance(other, Doubled):
            return other
        return Doubled(other if isinstance(other, Expr) else const(other, self.high))

    def __add__(self, other: Number) -> Doubled:
        y = self._as(other)
        s, e = two_sum(self.high, y.high)
        return Doubled(*quick_two_sum(s, e + (self.low + y.low)))

    def __neg__(self) -> Doubled:
        return Doubled(-self.high, -self.low)

    def __sub__(self, other: Number) -> Doubled:
        return self + -self._as(other)

    def __mul__(self, other: Number) -> Doubled:
        if not isinstance(other, Doubled):
            p, e = two_product(self.high, other)
            return Doubled(*quick_two_sum(p, fma(self.low, other, e)))
        p, e = two_product(self.high, other.high)
        cross = fma(self.low, other.high, self.low * other.low)
        return Doubled(*quick_two_sum(p, e + fma(self.high, other.low, cross)))

    def __truediv__(self, other: Number) -> Doubled:
        y = self._as(other)
        inverse = 1.0 / y.high
        q = self.high * inverse
        rest = fma(-q, y.high, self.high) + fma(-q, y.low, self.low)
        return Doubled(*quick_two_sum(q, rest * inverse))

    def root(self) -> Doubled:
        """The square root of a number that is not negative."""
        r = sqrt(self.high)
        rest = fma(-r, r, self.high) + self.low
        return Doubled(*quick_two_sum(r, rest / where(r > 0.0, r + r, 1.0)))

    def joined(self) -> Expr:
        """Both parts as one number."""
        return self.high + self.low

    def chosen(self, condition: Expr, other: Doubled) -> Doubled:
        """This where the condition holds, else the other."""
        return Doubled(where(condition, self.high, other.high),
                       where(condition, self.low, other.low))


def sum_of(a: Expr, b: Expr) -> Doubled:
    """The exact sum."""
    return Doubled(*two_sum(a, b))


def product_of(a: Expr, b: Expr | float) -> Doubled:
    """The exact product."""
    return Doubled(*two_product(a, b))


def polynomial(x: Doubled, coefficients: Sequence[tuple[float, float] | float]) -> Doubled:
    """``coefficients[0] + coefficients[1] * x + ...``; coefficients may be in two parts."""
    parts = [c if isinstance(c, tuple) else (c, 0.0) for c in coefficients]
    terms = [Doubled(const(high, x.high), const(low, x.high)) for high, low in parts]
    total = terms.pop()
    while terms:
        total = total * x + terms.pop()
    return total
