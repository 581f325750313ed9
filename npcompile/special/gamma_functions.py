"""gamma, rgamma, gammaln, digamma and what is made of them, as programs; none raises flags.

Below 4 by pieces of functions from which the zeros are divided; above by Stirling's formula, with
the logarithm in two parts; negative arguments by reflection (DLMF 5.5, 5.11).
"""

from __future__ import annotations

from npcompile.graph.expression import (
    Expr,
    const,
    copysign,
    floor,
    fma,
    lookup,
    poly,
    rare,
    rint,
    to_bits,
    where,
)
from npcompile.special.circular import sine_cosine
from npcompile.special.coefficients.gamma import (
    DIGAMMA,
    DIGAMMA_FAR,
    DIGAMMA_ROOT,
    FACTORIALS,
    GAMMALN,
    HALF_LOG_2PI,
    STIRLING,
)
from npcompile.special.logarithm import log_pair, log_parts
from npcompile.special.pieces import DOUBLE, INFINITY, NAN, Pair, eighths, piece, uniform
from npcompile.special.powers import exp_pair
from npcompile.special.words import quick_two_sum, two_product, two_sum

(HALF_LOG, HALF_LOG_LOW), (PI, PI_LOW) = HALF_LOG_2PI["d"]
#: where gamma overflows, and where gammaln does
TOP, TOP_LOG = 171.62437695630271, 2.5563481638716906e305


def half_turns(x: Expr) -> Pair:
    """Magnitudes of sine and cosine of ``pi*x``."""
    r = abs(x - rint(x))
    shifted = r + DOUBLE.magic / 16
    part = r - (shifted - DOUBLE.magic / 16)
    angle = part * PI
    low = fma(part, PI_LOW, fma(part, PI, -angle))
    sine, cosine = sine_cosine(to_bits(shifted), angle, low, DOUBLE)
    return sine[0] + sine[1], cosine[0] + cosine[1]


def stirling(x: Expr, log: Pair) -> Pair:
    """``log(gamma(x))`` for ``x >= 1``, whose logarithm is given, in two parts; the second is
    rough where x is small."""
    high, low = log
    factor = x - 0.5
    product, lost = two_product(factor, high)
    s, e = two_sum(product, -x)
    s, e1 = two_sum(s, const(HALF_LOG, x))
    u = 1.0 / x
    value, tail = piece(u, None, uniform(u, 16.0), STIRLING["d"])
    rest = fma(u, value + tail, HALF_LOG_LOW)
    return quick_two_sum(s, rest + ((e + e1) + fma(factor, low, lost)))


# ------------------------------------------------------------------ log(gamma)


def gammaln(x: Expr) -> Expr:
    """``log(abs(gamma(x)))``."""
    a = abs(x)
    value = _positive_log(where((a > 0.0) & (a < TOP_LOG), a, 1.5))
    # gamma(-a) * gamma(a) = -pi / (a * sin(pi*a))
    negative = (x < 0.0) & (a < 2.0**52)
    b = where(negative, a, 0.5)
    sine, _ = half_turns(b)
    pole = sine == 0.0
    tiny = b < 1e-100
    lift = where(tiny, const(2.0**600, x), 1.0)
    high, low = log_parts(b * lift * (where(pole, 1.0, sine) * lift), DOUBLE)
    high = where(tiny, high - 831.7766166719343, high)
    mirrored = 1.1447298858494002 - high - (low + value)
    mirrored = where(pole, const(INFINITY, x), mirrored)
    value = rare(x < 0.0, where(negative, mirrored, INFINITY), value)
    value = where((a == 0.0) | (a >= TOP_LOG), INFINITY, value)
    return where(x == x, value, x)


def _positive_log(x: Expr) -> Expr:
    """The same for ``x > 0``."""
    shifted, far = x < 1.0, x >= 4.0
    y = where(shifted, x + 1.0, x)
    near = where(far, 1.5, y)
    value, tail = piece(near, None, eighths(near), GAMMALN["d"])
    first, second = where(shifted, x, x - 1.0), where(shifted, x - 1.0, x - 2.0)
    product, lost = two_product(where(far, 0.0, first), where(far, 0.0, second))
    head = product * value
    rest = fma(product, tail, fma(lost, value, fma(product, value, -head)))
    high, low = log_parts(x, DOUBLE)
    s, e = two_sum(head, where(shifted, -high, 0.0))
    value = s + (e + (rest - where(shifted, low, 0.0)))
    big, small = stirling(where(far, x, 4.0), (where(far, high, 1.0), where(far, low, 0.0)))
    return where(far, big + small, value)


def multigammaln(x: Expr, order: int) -> Expr:
    """The logarithm of the multivariate gamma function (DLMF 35.3.4)."""
    total = gammaln(x) + 0.25 * order * (order - 1) * 1.1447298858494002
    for k in range(1, order):
        total = total + gammaln(x - 0.5 * k)
    return total


# ------------------------------------------------------------------ gamma


def gamma(x: Expr) -> Expr:
    """The gamma function; exact factorials."""
    value, pole = _gamma(x, False)
    whole = (rint(x) == x) & (x >= 1.0) & (x <= 23.0)
    exact = lookup(to_bits(where(whole, x, 1.0) + DOUBLE.magic), FACTORIALS["d"])
    value = where(whole, exact, value)
    value = where(abs(x) < 5.6e-309, copysign(INFINITY, x), value)
    value = where(x >= TOP, INFINITY, value)
    return where(pole | (x == -INFINITY), NAN, where(x == x, value, x))


def rgamma(x: Expr) -> Expr:
    """The reciprocal of gamma."""
    value, pole = _gamma(x, True)
    value = where(pole | (abs(x) == INFINITY), 0.0, value)
    return where((x == x) & (x != 0.0), value, x)


def _gamma(x: Expr, reciprocal: bool) -> tuple[Expr, Expr]:
    """gamma or its reciprocal, and where the former has poles.

    With a = |x|: gamma(a) is gamma(a + 1) / a below 1, gamma(-a) is -pi / (a*sin(pi*a)*gamma(a)).
    """
    a = abs(x)
    negative, below = x < 0.0, a < 1.0
    top = where(negative, const(TOP if reciprocal else 184.5, x),
                184.5 if reciprocal else TOP)
    fine = a >= (0.0 if reciprocal else 5.6e-309)  # below it gamma overflows
    safe = where((a < top) & fine, a, 1.0)
    y = where(below, safe + 1.0, safe)
    high, low = stirling(y, log_pair(y, DOUBLE))
    flipped = negative if not reciprocal else ~negative
    size = exp_pair(where(flipped, -high, high), where(flipped, -low, low), DOUBLE)
    s, _ = half_turns(where(negative & (a < INFINITY) & fine, a, 0.5))
    pole = negative & (s == 0.0)
    bottom = where(negative & ~pole, s, 1.0) * where(negative ^ below, safe, 1.0)
    up = where(negative, const(PI, x), 1.0)
    value = size * bottom / up if reciprocal else size * (up / bottom)
    beyond = where(negative, const(INFINITY, x), 0.0) if reciprocal else where(
        negative, const(0.0, x), INFINITY)
    value = where(a >= top, beyond, value)
    half = 0.5 * floor(a)
    return where(negative & (floor(half) == half), -value, value), pole


# ------------------------------------------------------------------ digamma


def digamma(x: Expr) -> Expr:
    """The logarithmic derivative of gamma."""
    a = abs(x)
    fine = (a > 1e-300) & (a < INFINITY)
    safe = where(fine, a, 1.5)
    value = _positive_digamma(safe)
    negative = x < 0.0
    s, c = half_turns(where(negative, safe, 0.25))
    pole = negative & (s == 0.0)
    r = safe - rint(safe)
    turn = copysign(c * PI / where(pole, 1.0, s), r)
    mirrored = value + (turn + 1.0 / safe)
    value = rare(negative, where(pole, NAN, mirrored), value)
    tiny = -1.0 / where(fine | (a < 6e-309), 1.0, x)
    tiny = where(a < 6e-309, copysign(INFINITY, -x), tiny)
    value = where(fine, value, where(x == INFINITY, x, where(x == -INFINITY, NAN, tiny)))
    return where(x == x, value, x)


def _positive_digamma(x: Expr) -> Expr:
    shifted, far = x < 1.0, x >= 4.0
    y = where(shifted, x + 1.0, x)
    near = where(far, 1.5, y)
    value, tail = piece(near, None, eighths(near), DIGAMMA["d"])
    root, root_low = DIGAMMA_ROOT["d"]
    # x + 1 less the root, exactly
    t, lost = two_sum(near, const(-root, x))
    lost = lost + where(shifted, (x - (y - 1.0)), 0.0) - root_low
    head = t * value
    rest = fma(t, tail, fma(lost, value + tail, fma(t, value, -head)))
    inverse = 1.0 / x
    s, e = two_sum(head, -where(shifted, inverse, 0.0))
    value = s + (e + rest)
    high, low = log_parts(where(far, x, 4.0), DOUBLE)
    u = where(far, inverse, 0.25)
    v = u * u
    s, e = quick_two_sum(high, -0.5 * u)
    distant = s + (e + (low - v * poly(v, DIGAMMA_FAR["d"])))
    return where(far, distant, value)
