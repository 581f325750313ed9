"""The incomplete elliptic integrals, Jacobi's elliptic functions and the mean of arithmetic and
geometric means, as subprograms (DLMF 19.25, 22.20, 19.8)."""

from __future__ import annotations

from npcompile.graph.expression import Expr, const, copysign, fma, rint, sqrt, where
from npcompile.graph.subprograms import Results, choose, repeat, subprogram
from npcompile.special.carlson import first_kind, precise_first_kind, second_kind
from npcompile.special.circular import cos, sin
from npcompile.special.elliptic import ellipe, ellipk
from npcompile.special.exponential import clamp, cosh, sinh, tanh
from npcompile.special.inverse import arcsin, arctan
from npcompile.special.pieces import INFINITY, NAN, log_of
from npcompile.special.words import two_product, two_sum

HALF_PI, LOG_4 = 1.5707963267948966, 1.3862943611198906
PI, PI_LOW = 3.141592653589793, 1.2246467991473532e-16


class _Amplitude:
    """An angle as a number of half turns and what is left of it."""

    def __init__(self, angle: Expr, m: Expr) -> None:
        self.fine = (abs(angle) < INFINITY) & (m <= 1.0) & (m > -INFINITY)
        angle, self.m = where(self.fine, angle, 0.0), where(self.fine, m, 0.0)
        far = abs(angle) > 1e16  # where a turn counts nothing
        self.turns = where(far, angle * (1 / PI), rint(angle * (1 / PI)))
        head, lost = two_product(where(far, 0.0, self.turns), PI)
        left, rest = two_sum(where(far, 0.0, angle), -head)
        left = left + (rest - fma(where(far, 0.0, self.turns), PI_LOW, lost))
        self.sine, self.cosine = sin(left), abs(cos(left))
        self.squares = self.sine * self.sine, self.cosine * self.cosine
        s, c = self.squares
        self.rest = where(self.m > 0.5, fma(1.0 - self.m, s, c), fma(-self.m, s, 1.0))
        # at m = 1 and a quarter of a turn it is 0, and so is the cosine
        self.rest = where(self.rest > 0.0, self.rest, 1e-300)

    def with_turns(self, value: Expr, complete: Expr) -> Expr:
        """The integral up to the angle."""
        added = where(self.turns == 0.0, 0.0, self.turns * (complete + complete))
        return value + added


@subprogram
def ellipkinc(angle: Expr, m: Expr) -> Expr:
    """The incomplete elliptic integral of the first kind."""
    at = _Amplitude(angle, m)
    value = at.sine * first_kind(at.squares[1], at.rest, const(1.0, m))
    value = at.with_turns(value, ellipk(at.m))
    value = where(m == -INFINITY, 0.0, where(at.fine, value, _beyond(angle, m)))
    value = where((m <= 1.0) & (angle == angle), value, NAN)
    return where((angle == 0.0) & (m <= 1.0), angle, value)


def _beyond(angle: Expr, m: Expr) -> Expr:
    """Of angles too large to be reduced."""
    return where((abs(angle) == INFINITY) & (m > -INFINITY), angle, NAN)


@subprogram
def ellipeinc(angle: Expr, m: Expr) -> Expr:
    """The incomplete elliptic integral of the second kind."""
    at = _Amplitude(angle, m)
    one, negative = const(1.0, m), at.m < 0.5
    (s, c), q = at.squares, at.rest
    steep = q > 1e40  # where it is the integral of sqrt(-m) * sin
    far = sqrt(where(steep, -at.m, 1.0)) * (s / (1.0 + at.cosine))
    q = where(steep, 1.0, q)
    first = precise_first_kind(c, q, one)
    second = second_kind(c, where(negative, q, one), where(negative, one, q)) * (s * (1 / 3))
    less = 1.0 - at.m
    between = fma(at.m * less, second, fma(less, first, at.m * at.cosine / sqrt(q)))
    value = at.sine * where(negative, fma(-at.m, second, first), between)
    value = where(steep, copysign(far, at.sine), value)
    value = at.with_turns(value, ellipe(at.m))
    value = where(at.fine, value, where(m == -INFINITY, INFINITY, _beyond(angle, m)))
    value = where((m <= 1.0) & (angle == angle), value, NAN)
    return where((angle == 0.0) & (m <= 1.0), angle, value)


# ------------------------------------------------------------------ Jacobi's functions

#: means, after which those of m up to 1 - 2**-53 are equal
STEPS = 8


def _amplitude(u: Expr, m: Expr) -> Results:
    """Jacobi's amplitude, and by how much that of the first step differs, for ``0 <= m < 1``, by
    Landen's transformation (DLMF 22.20.11)."""
    a, b = const(1.0, u), sqrt(1.0 - m)
    ratios = []
    for _ in range(STEPS):
        mean = 0.5 * (a + b)
        ratios.append(0.5 * (a - b) / mean)
        a, b = mean, sqrt(a * b)
    angle = after = where(m == 0.0, 0.0, a * 2.0**STEPS * u)
    for ratio in reversed(ratios):
        angle, after = 0.5 * (angle + arcsin(ratio * sin(angle))), angle
    return where(m == 0.0, u, angle), where(m == 0.0, u, after - angle)


def _jacobi(u: Expr, m: Expr) -> tuple[Expr, Expr, Expr, Expr]:
    """Jacobi's amplitude, the difference, a usable parameter, and whether there is one."""
    valid = (m >= 0.0) & (m <= 1.0) & (abs(u) < INFINITY)
    u, m = where(valid, u, 0.0), where(valid, m, 0.0)

    def end() -> Results:
        return arctan(sinh(clamp(u, -700.0, 700.0))), const(0.0, u)

    angle, after = choose(m == 1.0, end, lambda: _amplitude(u, where(m == 1.0, 0.0, m)))
    return where(u == 0.0, u, angle), after, m, valid


@subprogram
def jacobi_sn(u: Expr, m: Expr) -> Expr:
    """Jacobi's function sn."""
    angle, _, m, valid = _jacobi(u, m)
    return where(valid, where(m == 1.0, tanh(u), sin(angle)), NAN)


@subprogram
def jacobi_cn(u: Expr, m: Expr) -> Expr:
    """Jacobi's function cn."""
    angle, _, m, valid = _jacobi(u, m)
    return where(valid, where(m == 1.0, 1.0 / cosh(u), cos(angle)), NAN)


@subprogram
def jacobi_dn(u: Expr, m: Expr) -> Expr:
    """Jacobi's function dn."""
    angle, after, m, valid = _jacobi(u, m)
    s, bottom = sin(angle), cos(after)  # DLMF 22.20.5
    near = bottom > 0.1
    value = where(near, cos(angle) / where(near, bottom, 1.0), sqrt(fma(-m * s, s, 1.0)))
    return where(valid, where(m == 1.0, 1.0 / cosh(u), value), NAN)


@subprogram
def jacobi_amplitude(u: Expr, m: Expr) -> Expr:
    """Jacobi's amplitude."""
    angle, _, _, valid = _jacobi(u, m)
    return where(valid, angle, NAN)


@subprogram
def agm(x: Expr, y: Expr) -> Expr:
    """The arithmetic-geometric mean."""
    a, b = abs(x), abs(y)
    fine = (a > 0.0) & (b > 0.0) & (a < INFINITY) & (b < INFINITY)
    p, q = where(fine, a, 1.0), where(fine, b, 1.0)
    largest, least = where(p > q, p, q), where(p > q, q, p)
    wide = least < 1e-9 * largest
    far = largest * (HALF_PI / (LOG_4 + (log_of(largest) - log_of(least))))  # DLMF 19.9.8
    p, q = where(wide, 1.0, p), where(wide, 1.0, q)
    down = where(largest > 1e100, const(2.0**-700, x), where(
        largest < 1e-100, const(2.0**700, x), 1.0))

    def step(a: Expr, b: Expr) -> Results:
        mean, root = 0.5 * (a + b), sqrt(a * b)
        return abs(mean - root) > 1e-8 * mean, mean, root

    p, q = repeat(step, p * down, q * down)
    value = copysign(where(wide, far, 0.5 * (p + q) / down), x)
    value = where(x == y, x, value)
    zeros = (x == 0.0) | (y == 0.0)
    endless = (a == INFINITY) | (b == INFINITY)
    value = where(endless, where(zeros, NAN, copysign(INFINITY, x)), where(zeros, 0.0, value))
    opposite = ((x < 0.0) & (y > 0.0)) | ((x > 0.0) & (y < 0.0))
    return where(opposite | (x != x) | (y != y), NAN, value)
