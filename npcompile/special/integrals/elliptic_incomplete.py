"""The incomplete elliptic integrals, Jacobi's elliptic functions and the mean of arithmetic and
geometric means, as subprograms (DLMF 19.25, 22.20, 19.8)."""

from __future__ import annotations

from npcompile.core.records import record
from npcompile.graph.expression import Expr, const, copysign, fma, rint, sqrt, where
from npcompile.graph.subprograms import Results, paired_subprogram, repeat, subprogram
from npcompile.special.arithmetic.double_double import Doubled
from npcompile.special.arithmetic.double_word import two_product, two_sum
from npcompile.special.elementary.circular import cos, sin
from npcompile.special.elementary.exponential import clamp, tanh
from npcompile.special.elementary.hyperbolic import cosh, sinh
from npcompile.special.elementary.inverse_circular import arctan, arctan2
from npcompile.special.elementary.piecewise import INFINITY, NAN, log_of
from npcompile.special.integrals.carlson import first_kind, precise_first_kind, second_kind
from npcompile.special.integrals.elliptic import ellipe, ellipk

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


@paired_subprogram
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


@paired_subprogram
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
    endless = copysign(INFINITY, angle)
    value = where(at.fine, value, where(m == -INFINITY, endless, _beyond(angle, m)))
    value = where((m <= 1.0) & (angle == angle), value, NAN)
    return where((angle == 0.0) & (m <= 1.0), angle, value)


# ------------------------------------------------------------------ Jacobi's functions

#: means, after which those of m up to 1 - 2**-53 are equal
STEPS = 8
#: up to which sn and the amplitude are u
TINY = 1e-9


@record
class _Jacobi:
    """Jacobi's functions by Landen's transformation (Bulirsch, Numerical calculation of elliptic
    integrals and elliptic functions, Numer. Math. 7, 1965): after one sine and cosine, quotients of
    positive numbers.  ``angle`` is the amplitude of the last step."""

    sn: Expr
    cn: Expr
    dn: Expr
    angle: Expr
    valid: Expr

    @staticmethod
    def of(u: Expr, m: Expr) -> _Jacobi:
        """For ``0 <= m <= 1``, and 1 and 0 elsewhere."""
        valid = (m >= 0.0) & (m <= 1.0) & (abs(u) < INFINITY)
        small = ~(abs(u) > TINY)
        inside, below_1 = where(valid & ~small, u, 1.0), where(valid & (m < 1.0), m, 0.5)
        found = _Jacobi._inside(inside, below_1)
        known = where(valid, u, 0.0)
        secant, angle = 1.0 / cosh(known), arctan(sinh(clamp(known, -700.0, 700.0)))
        ends = _Jacobi(tanh(known), secant, secant, angle, valid)
        return found._or(m == 1.0, ends)._or(small, _Jacobi(u, secant, const(1.0, u), u, valid))

    @staticmethod
    def _inside(u: Expr, m: Expr) -> _Jacobi:
        a = Doubled(const(1.0, u))
        b = (a - m).root()
        means = []
        for _ in range(STEPS):
            means.append((a.high, b.high))
            a, b = (a + b) * 0.5, (a * b).root()
        angle = a * u
        s, c = sin(angle.high), cos(angle.high)
        s, c = fma(c, angle.low, s), fma(-s, angle.low, c)
        t = c / s
        size = a.high * t
        dn, near, share = const(1.0, u), u == u, const(0.0, u)
        for first, second in reversed(means):
            t, size = t * size, where(near, fma(-size, share, size), size * dn)
            rest = first - second
            near = rest + rest < first + t  # where the quotient is more than 1/2
            share = where(near, rest, second + t) / (first + t)
            dn, t = where(near, 1.0 - share, share), size / first
        sn = copysign(1.0 / sqrt(fma(size, size, 1.0)), s)
        return _Jacobi(sn, size * sn, dn, angle.high, u == u)

    def _or(self, condition: Expr, other: _Jacobi) -> _Jacobi:
        def either(a: Expr, b: Expr) -> Expr:
            return where(condition, b, a)

        return _Jacobi(either(self.sn, other.sn), either(self.cn, other.cn),
                       either(self.dn, other.dn), either(self.angle, other.angle), other.valid)


@paired_subprogram
def jacobi_sn(u: Expr, m: Expr) -> Expr:
    """Jacobi's function sn."""
    at = _Jacobi.of(u, m)
    return where(at.valid, at.sn, NAN)


@paired_subprogram
def jacobi_cn(u: Expr, m: Expr) -> Expr:
    """Jacobi's function cn."""
    at = _Jacobi.of(u, m)
    return where(at.valid, at.cn, NAN)


@paired_subprogram
def jacobi_dn(u: Expr, m: Expr) -> Expr:
    """Jacobi's function dn."""
    at = _Jacobi.of(u, m)
    return where(at.valid, at.dn, NAN)


@paired_subprogram
def jacobi_amplitude(u: Expr, m: Expr) -> Expr:
    """Jacobi's amplitude, which is as many half turns as that of the last step."""
    at = _Jacobi.of(u, m)
    angle = arctan2(at.sn, at.cn)
    turns = rint((at.angle - angle) * (0.5 / PI))
    value = fma(turns, 2.0 * PI, angle) + turns * (2.0 * PI_LOW)
    known = (m == 1.0) | ~(abs(u) > TINY)
    return where(at.valid, where(known, at.angle, value), NAN)


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
