"""Carlson's symmetric elliptic integrals of real numbers by duplication, as subprograms.

Carlson, Numerical computation of real or complex elliptic integrals, Numerical Algorithms 10
(1995); DLMF 19.36.
"""

from __future__ import annotations

from npcompile.graph.expression import Expr, const, fma, sqrt, where
from npcompile.graph.subprograms import Results, paired_subprogram, repeat, subprogram
from npcompile.special.arithmetic.double_double import Doubled
from npcompile.special.elementary.inverse_circular import arctan
from npcompile.special.elementary.inverse_hyperbolic import arcsinh
from npcompile.special.elementary.piecewise import INFINITY, NAN, log_of

#: how small against the mean the differences must be for the series to end with terms of order 7
NEAR = 3e-3


def largest(*values: Expr) -> Expr:
    """The largest magnitude."""
    first, *rest = (abs(v) for v in values)
    for value in rest:
        first = where(value > first, value, first)
    return first


# ------------------------------------------------------------------ first kind


def _of_three(a: Expr, b: Expr) -> Expr:
    """The series of R_F (DLMF 19.36.1), less 1."""
    c = -(a + b)
    e2, e3 = fma(a, b, -(c * c)), a * b * c
    return e2 * (-1 / 10 + e2 * (1 / 24 - 5 / 208 * e2)) + e3 * (
        1 / 14 + 3 / 104 * e3 + e2 * (1 / 16 * e2 - 3 / 44))


def first_kind(x: Expr, y: Expr, z: Expr) -> Expr:
    """R_F of finite numbers that are not negative, of which at most one is 0."""

    def step(x: Expr, y: Expr, z: Expr) -> Results:
        p, q, r = sqrt(x), sqrt(y), sqrt(z)
        rise = fma(p, q + r, q * r)
        x, y, z = 0.25 * (x + rise), 0.25 * (y + rise), 0.25 * (z + rise)
        mean = (x + y + z) * (1 / 3)
        return largest(mean - x, mean - y, mean - z) > NEAR * mean, x, y, z

    x, y, z = repeat(step, x, y, z)
    mean = (x + y + z) / 3.0
    a, b = (mean - x) / mean, (mean - y) / mean
    root = 1.0 / sqrt(mean)
    return fma(_of_three(a, b), root, root)


def scaled(*values: Expr) -> tuple[Expr, Expr, list[Expr]]:
    """Whether numbers are usable, a power of four, and the numbers divided by it."""
    size = largest(*values)
    fine = size < INFINITY
    for value in values:
        fine = fine & (value >= 0.0)
    up = where(size > 1e150, const(2.0**-400, size), where(
        size < 1e-150, const(2.0**600, size), 1.0))
    return fine, up, [where(fine, value * up, 1.0) for value in values]


def zeros(*values: Expr) -> Expr:
    """Whether more than one number is 0."""
    zero = values[0] == 0.0
    more = zero ^ zero
    for value in values[1:]:
        more = more | (zero & (value == 0.0))
        zero = zero | (value == 0.0)
    return more


@paired_subprogram
def elliprf(x: Expr, y: Expr, z: Expr) -> Expr:
    """Carlson's symmetric integral R_F."""
    fine, up, (a, b, c) = scaled(x, y, z)
    pole = zeros(a, b, c)
    a = where(pole, 1.0, a)
    b = where(pole, 1.0, b)
    value = precise_first_kind(a, b, c) * sqrt(up)
    valid = (x >= 0.0) & (y >= 0.0) & (z >= 0.0)
    value = where(pole, INFINITY, where(fine, value, 0.0))
    return where(valid, value, NAN)


@subprogram
def elliprc(x: Expr, y: Expr) -> Expr:
    """Carlson's degenerate integral R_C; its principal value for negative y."""
    negative = y < 0.0
    p, q = where(negative, x - y, x), abs(y)
    fine = (p > 0.0) & (p < INFINITY) & (q > 0.0) & (q < INFINITY)
    p, q = where(fine, p, 1.0), where(fine, q, 1.0)
    d = where(negative, x, p - q)
    d = where(fine, d, 0.0)
    above = d > 0.0
    size = sqrt(abs(d))
    flat = abs(d) <= 1e-16 * p
    t = size / where(above, sqrt(q), sqrt(p))
    value = where(above, arcsinh(where(above, t, 0.0)), arctan(where(above, 0.0, t)))
    distant = above & (t > 1e100)
    value = where(distant, 0.6931471805599453 + 0.5 * (log_of(p) - log_of(q)), value)
    value = where(flat, 1.0 / sqrt(p), value / where(flat, 1.0, size))
    value = where(negative, value * sqrt(where(fine, x, 1.0) / p), value)
    at_zero = 1.5707963267948966 / sqrt(where(y > 0.0, y, 1.0))
    value = where((x == 0.0) & (y > 0.0), at_zero, where(fine, value, 0.0))
    value = where(negative & (x == 0.0), 0.0, where(y == 0.0, INFINITY, value))
    return where((x >= 0.0) & (y == y), value, NAN)


def _doubled_step(*values: Expr) -> tuple[list[Doubled], Doubled]:
    """Roots of numbers in two parts, which follow each other, and the sum of their products."""
    p, q, r = (Doubled(values[k], values[k + 1]).root() for k in (0, 2, 4))
    return [p, q, r], p * q + (p + q) * r


def _halved_twice(x: Doubled) -> tuple[Expr, Expr]:
    return 0.25 * x.high, 0.25 * x.low


def precise_first_kind(x: Expr, y: Expr, z: Expr) -> Expr:
    """The same, in two parts."""

    def step(*values: Expr) -> Results:
        _, rise = _doubled_step(*values)
        following = [Doubled(values[k], values[k + 1]) + rise for k in (0, 2, 4)]
        x, y, z = (0.25 * value.high for value in following)
        mean = (x + y + z) * (1 / 3)
        more = largest(mean - x, mean - y, mean - z) > NEAR * mean
        return more, *(part for value in following for part in _halved_twice(value))

    zero = const(0.0, x)
    x, x_low, y, y_low, z, z_low = repeat(step, x, zero, y, zero, z, zero)
    mean = (Doubled(x, x_low) + Doubled(y, y_low) + Doubled(z, z_low)) / 3.0
    a, b = (mean.high - x) / mean.high, (mean.high - y) / mean.high
    root = Doubled(const(1.0, x)) / mean.root()
    return root.high + fma(_of_three(a, b), root.high, root.low)


# ------------------------------------------------------------------ second kind


def _of_five(a: Expr, b: Expr) -> Expr:
    """The series of R_D (DLMF 19.36.2), less 1."""
    c = (a + b) * (-1 / 3)
    e2, e3 = a * b - 6.0 * c * c, (3.0 * a * b - 8.0 * c * c) * c
    return series_of_five(e2, e3, 3.0 * (a * b - c * c) * c * c, a * b * c * c * c)


def series_of_five(e2: Expr, e3: Expr, e4: Expr, e5: Expr) -> Expr:
    """The same by elementary symmetric functions."""
    return (e2 * (-3 / 14 + e2 * (9 / 88 - 1 / 16 * e2) + 3 / 20 * e4)
            + e3 * (1 / 6 - 9 / 52 * e2 + 3 / 40 * e3 + 45 / 272 * (e2 * e2))
            - 3 / 22 * e4 + 3 / 26 * e5 - 9 / 68 * (e3 * e4 + e2 * e5))


def second_kind(x: Expr, y: Expr, z: Expr) -> Expr:
    """R_D of finite numbers that are not negative: z is positive and x or y; in two parts."""

    def step(*values: Expr) -> Results:
        *sides, part, total, low = values
        roots, rise = _doubled_step(*sides)
        following = [Doubled(sides[k], sides[k + 1]) + rise for k in (0, 2, 4)]
        added = Doubled(part) / (roots[2] * following[2])
        sums = Doubled(total, low) + added
        x, y, z = (0.25 * value.high for value in following)
        mean = (x + y + 3.0 * z) * 0.2
        more = largest(mean - x, mean - y, mean - z) > NEAR * mean
        parts = [part for value in following for part in _halved_twice(value)]
        return more, *parts, 0.25 * part, sums.high, sums.low

    one, zero = const(1.0, x), const(0.0, x)
    x, x_low, y, y_low, z, z_low, part, total, low = repeat(
        step, x, zero, y, zero, z, zero, one, zero, zero)
    mean = (Doubled(x, x_low) + Doubled(y, y_low) + Doubled(z, z_low) * 3.0) / 5.0
    a, b = (mean.high - x) / mean.high, (mean.high - y) / mean.high
    last = Doubled(part) / (mean * mean.root())
    whole = Doubled(total, low) * 3.0 + last
    return whole.high + fma(last.high, _of_five(a, b), whole.low)


@paired_subprogram
def elliprd(x: Expr, y: Expr, z: Expr) -> Expr:
    """Carlson's integral R_D."""
    fine, up, (a, b, c) = scaled(x, y, z)
    pole = (c == 0.0) | (a == 0.0) & (b == 0.0)
    value = second_kind(where(pole, 1.0, a), where(pole, 1.0, b), where(pole, 1.0, c))
    value = value * (up * sqrt(up))
    valid = (x >= 0.0) & (y >= 0.0) & (z >= 0.0)
    value = where(pole & fine, INFINITY, where(fine, value, 0.0))
    return where(valid, value, NAN)


@paired_subprogram
def elliprg(x: Expr, y: Expr, z: Expr) -> Expr:
    """Carlson's symmetric integral R_G (DLMF 19.21.10)."""
    fine, up, (a, b, c) = scaled(x, y, z)
    a, b = where(a < b, a, b), where(a < b, b, a)
    b, c = where(b < c, b, c), where(b < c, c, b)
    a, b = where(a < b, a, b), where(a < b, b, a)
    one = b <= 1e-20 * c  # nothing but the largest counts
    middle = where(one, 1.0, b)
    last = where(one, 1.0, c)
    second = second_kind(a, last, middle) / 3.0
    first = precise_first_kind(a, middle, last)
    value = fma(middle, first, (middle - a) * (last - middle) * second)
    value = 0.5 * (value + sqrt(a) * (sqrt(last) / sqrt(middle)))
    value = where(one, 0.5 * sqrt(c), value) / sqrt(up)
    valid = (x >= 0.0) & (y >= 0.0) & (z >= 0.0)
    return where(valid, where(fine, value, INFINITY), NAN)
