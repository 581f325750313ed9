"""Airy's functions and their derivatives, as subprograms.

Pieces on [-2, 2); beyond, of the functions from which the exponential or the phase is divided (DLMF
9.7), with ``zeta = 2/3 * abs(x)**1.5`` in two parts.
"""

from __future__ import annotations

from npcompile.graph.expression import Expr, fma, sqrt, where
from npcompile.graph.subprograms import Results, choose, subprogram
from npcompile.special.arithmetic.double_double import Doubled
from npcompile.special.coefficients.airy_falling import AIRY_FALLING
from npcompile.special.coefficients.airy_middle import AIRY_MIDDLE
from npcompile.special.coefficients.airy_rising import AIRY_RISING
from npcompile.special.coefficients.airy_waves import AIRY_WAVES
from npcompile.special.elementary.circular import cos, sin
from npcompile.special.elementary.piecewise import INFINITY, NAN, piece, uniform
from npcompile.special.integrals.integral_functions import exp_times

END = 2.0
#: beyond it negative numbers say nothing about the phase
LEAST = 1e9
#: how many pieces there are for each unit of 1/zeta
PER_UNIT = 16 * 2 * END**1.5 / 3
ROOT_PI, ROOT_TWO_PI = 0.5641895835477563, 0.3989422804014327  # their inverses


class _Far:
    """Numbers of magnitude 2 and more."""

    def __init__(self, a: Expr) -> None:
        root = Doubled(a).root()
        self.fourth = sqrt(root.high)
        zeta = root * a * 2.0 / 3.0
        self.zeta, self.low = zeta.high, zeta.low
        self.inverse = 1.0 / self.zeta

    def factor(self, rows: tuple[tuple[float, ...], ...]) -> Expr:
        """One of the functions that vary slowly."""
        value, tail = piece(self.inverse, None, uniform(self.inverse, PER_UNIT), rows)
        return value + tail

    def falling(self, slope: bool) -> Expr:
        size = self.factor(AIRY_FALLING["d"][slope]) * (0.5 * ROOT_PI)
        size = -size * self.fourth if slope else size / self.fourth
        return exp_times(-self.zeta, size, -self.low)

    def rising(self, slope: bool) -> Expr:
        size = self.factor(AIRY_RISING["d"][slope]) * ROOT_PI
        size = size * self.fourth if slope else size / self.fourth
        return exp_times(self.zeta, size, self.low)

    def wave(self, second: bool, slope: bool) -> Expr:
        rows = AIRY_WAVES["d"][2 * slope : 2 * slope + 2]
        f, g = self.factor(rows[0]), self.factor(rows[1]) * self.inverse
        s, c = sin(self.zeta), cos(self.zeta)
        square = self.low * self.low  # up to a thousandth, where zeta is large
        more = self.low * fma(square, -1 / 6, 1.0)
        less = square * fma(square, -1 / 24, 0.5)
        s, c = fma(more, c, fma(-less, s, s)), fma(-more, s, fma(-less, c, c))
        cosine, sine = c + s, s - c  # of the phase less an eighth of a turn, times sqrt(2)
        if slope:
            value = fma(cosine, f, sine * g) if second else fma(sine, f, -(cosine * g))
            return value * self.fourth * ROOT_TWO_PI
        value = fma(cosine, g, -(sine * f)) if second else fma(cosine, f, sine * g)
        return value * ROOT_TWO_PI / self.fourth


def _airy(x: Expr, second: bool, slope: bool) -> Expr:
    """Ai or Bi or a derivative."""
    a = abs(x)
    near = ~(a >= END)
    inside = where(near & (a == a), x, 0.0)
    far = where(near | (a > 1e100), END, a)

    def middle() -> Results:
        rows = AIRY_MIDDLE["d"][2 * second + slope]
        value, tail = piece(inside, None, uniform(inside + END, 2.0), rows)
        return (value + tail,)

    def beyond() -> Results:
        at = _Far(far)
        grown = at.rising if second else at.falling
        return choose(x > 0.0, lambda: (grown(slope),), lambda: (at.wave(second, slope),))

    value, = choose(near, middle, beyond)
    value = where(x > 1e100, INFINITY if second else -0.0 if slope else 0.0, value)
    return where(x >= -LEAST, value, NAN)


@subprogram
def airy_ai(x: Expr) -> Expr:
    """Airy's function Ai."""
    return _airy(x, False, False)


@subprogram
def airy_ai_slope(x: Expr) -> Expr:
    """The derivative of Ai."""
    return _airy(x, False, True)


@subprogram
def airy_bi(x: Expr) -> Expr:
    """Airy's function Bi."""
    return _airy(x, True, False)


@subprogram
def airy_bi_slope(x: Expr) -> Expr:
    """The derivative of Bi."""
    return _airy(x, True, True)
