"""gamma, rgamma, gammaln, digamma and what is made of them, as programs; none raises flags.

From 1/2 to 128 log(gamma), and from 1 to 256 digamma, are pieces of functions from which the zeros
are divided, below by recurrence; what is elsewhere is a subprogram: by Stirling's formula, with
the logarithm in two parts, or by reflection (DLMF 5.5, 5.11).
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
from npcompile.graph.subprograms import Results, choose, subprogram
from npcompile.special.arithmetic.double_word import joined, quick_two_sum, two_product, two_sum
from npcompile.special.arithmetic.formats import outside
from npcompile.special.coefficients.gamma import (
    DIGAMMA,
    DIGAMMA_FAR,
    DIGAMMA_ROOT,
    FACTORIALS,
    HALF_LOG_2PI,
    STIRLING,
)
from npcompile.special.coefficients.log_gamma import LOG_GAMMA, LOG_PI
from npcompile.special.elementary.circular import sine_cosine
from npcompile.special.elementary.logarithm import log_pair, log_parts, normal_log_parts
from npcompile.special.elementary.piecewise import (
    DOUBLE,
    INFINITY,
    NAN,
    Pair,
    accurate_piece,
    halves,
    piece,
    uniform,
)
from npcompile.special.elementary.powers import exp_pair, ordinary_exp_pair

(HALF_LOG, HALF_LOG_LOW), (PI, PI_LOW) = HALF_LOG_2PI["d"]
#: the ends of the pieces of digamma and log(gamma), and what is next to 0
MIDDLE, LOG_MIDDLE, LEAST = 256.0, 128.0, 2.0**-1000
#: where gamma overflows, and from where on log(gamma) takes no expansion
TOP, LOG_HUGE = 171.62437695630271, 2.0**40
#: up to which number gamma and its reciprocal are far from the ends of the range
ORDINARY = 170.0


def half_turn_parts(x: Expr) -> tuple[Pair, Pair]:
    """Magnitudes of sine and cosine of ``pi*x``, each in two parts."""
    r = abs(x - rint(x))
    shifted = r + DOUBLE.magic / 16
    part = r - (shifted - DOUBLE.magic / 16)
    angle = part * PI
    low = fma(part, PI_LOW, fma(part, PI, -angle))
    return sine_cosine(to_bits(shifted), angle, low, DOUBLE)


def half_turns(x: Expr) -> Pair:
    """Magnitudes of sine and cosine of ``pi*x``."""
    sine, cosine = half_turn_parts(x)
    return joined(sine), joined(cosine)


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
    other = outside(x, LEAST, LOG_MIDDLE, DOUBLE)
    inside = where(other, 1.5, x)
    below = inside < 0.5
    head, rest = _near_log(inside, below)
    high, low = normal_log_parts(where(below, inside, 1.0), DOUBLE)
    s, e = two_sum(head, -high)
    value = rare(below, s + (e + (rest - low)), head + rest)
    return rare(other, gammaln_outside(where(other, x, 1.5)), value)


@subprogram
def gammaln_outside(x: Expr) -> Expr:
    """The same, best next to 0, below it and from 128 on."""
    a = abs(x)
    head, tail = _positive_log(where((a > 0.0) & (a < INFINITY), a, 1.5))
    value = head + tail

    def mirrored() -> Results:
        # gamma(-a) * gamma(a) = -pi / (a * sin(pi*a)), which is -1 / a**2 next to 0
        moderate, whole = a > 2.0**-100, a >= 2.0**52
        b = where(moderate & ~whole, a, 0.5)
        sine, sine_low = quick_two_sum(*half_turn_parts(b)[0])
        pole = sine == 0.0
        product, lost = two_product(b, where(pole, 1.0, sine))
        high, low = log_parts(product, DOUBLE)
        low = low + fma(b, sine_low, lost) / product
        log_pi, log_pi_low = LOG_PI["d"]
        s, e = two_sum(high, const(-log_pi, x))
        s, e1 = two_sum(s, head)
        found = -(s + ((e + e1) + (tail + (low - log_pi_low))))
        return (where(whole | pole, INFINITY, where(moderate, found, value)),)

    (value,) = choose(x < 0.0, mirrored, lambda: (value,))
    value = where((a == 0.0) | (a == INFINITY), INFINITY, value)
    return where(x == x, value, x)


def _near_log(x: Expr, below: Expr) -> Pair:
    """``log(gamma(x))`` in two parts for x of (0, 128), of x + 1 for those ``below`` 1/2."""
    y, less = where(below, x + 1.0, x), where(below, x, x - 1.0)
    head, tail = accurate_piece(y, to_bits(y) >> DOUBLE.mantissa - 1, LOG_GAMMA["d"])
    factor = less - 1.0
    product, lost = two_product(less, factor)
    lost = fma(less, less - (factor + 1.0), lost)
    whole = product * head
    return whole, fma(product, tail, fma(lost, head, fma(product, head, -whole)))


def _positive_log(x: Expr) -> Pair:
    """The same for any ``x > 0``."""
    below, far = x < 0.5, x >= LOG_MIDDLE
    head, rest = _near_log(where(far, 1.5, x), below)
    high, low = quick_two_sum(*log_parts(x, DOUBLE))
    s, e = two_sum(head, where(below, -high, 0.0))
    e = e + (rest - where(below, low, 0.0))
    safe = where(far, x, LOG_MIDDLE), where(far, high, 1.0), where(far, low, 0.0)
    big, small = stirling(safe[0], safe[1:])
    # beyond that x - 0.5 would lose some
    factor, lost = quick_two_sum(high, const(-1.0, x))
    huge, left = two_product(x, factor)
    left = where(huge < INFINITY, left, 0.0) + fma(x, lost + low, fma(-0.5, high, HALF_LOG))
    big, small = where(x < LOG_HUGE, big, huge), where(x < LOG_HUGE, small, left)
    return where(far, big, s), where(far, small, e)


# ------------------------------------------------------------------ gamma


def gamma(x: Expr) -> Expr:
    """The gamma function; exact factorials."""
    outside = ~((x > 1e-300) & (x < ORDINARY))
    inside = where(outside, 1.5, x)
    raised, below = _raised(inside)
    value = ordinary_exp_pair(*stirling(raised, log_pair(raised, DOUBLE)), DOUBLE)
    value = value / where(below, inside, 1.0)
    exact = lookup(to_bits(inside + DOUBLE.magic), FACTORIALS["d"])
    value = where((rint(inside) == inside) & (inside <= 23.0), exact, value)
    return rare(outside, gamma_outside(where(outside, x, 1.5)), value)


@subprogram
def gamma_outside(x: Expr) -> Expr:
    """The same for negative numbers, next to 0 and where it overflows."""
    value, pole = _gamma(x, False)
    value = where(abs(x) < 5.6e-309, copysign(INFINITY, x), value)
    value = where(x >= TOP, INFINITY, value)
    return where(pole | (x == -INFINITY), NAN, where(x == x, value, x))


def rgamma(x: Expr) -> Expr:
    """The reciprocal of gamma."""
    outside = ~((x > 0.0) & (x < ORDINARY))
    inside = where(outside, 1.5, x)
    raised, below = _raised(inside)
    high, low = stirling(raised, log_pair(raised, DOUBLE))
    value = ordinary_exp_pair(-high, -low, DOUBLE) * where(below, inside, 1.0)
    return rare(outside, rgamma_outside(where(outside, x, 1.5)), value)


@subprogram
def rgamma_outside(x: Expr) -> Expr:
    """The same for negative numbers, at 0 and where it is small."""
    value, pole = _gamma(x, True)
    value = where(pole | (abs(x) == INFINITY), 0.0, value)
    return where((x == x) & (x != 0.0), value, x)


def _raised(x: Expr) -> tuple[Expr, Expr]:
    """``x + 1`` below 1, else x, and where it is the first."""
    below = x < 1.0
    return where(below, x + 1.0, x), below


def _gamma(x: Expr, reciprocal: bool) -> tuple[Expr, Expr]:
    """gamma or its reciprocal, and where the former has poles.

    With a = |x|: gamma(a) is gamma(a + 1) / a below 1, gamma(-a) is -pi / (a*sin(pi*a)*gamma(a)).
    """
    a = abs(x)
    negative = x < 0.0
    top = where(negative, const(TOP if reciprocal else 184.5, x),
                184.5 if reciprocal else TOP)
    fine = a >= (0.0 if reciprocal else 5.6e-309)  # below it gamma overflows
    safe = where((a < top) & fine, a, 1.0)
    y, below = _raised(safe)
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
    other = outside(x, LEAST, MIDDLE, DOUBLE)
    value = _shifted_digamma(where(other, 1.5, x), x < 1.0)
    return rare(other, digamma_outside(where(other, x, 1.5)), value)


@subprogram
def digamma_outside(x: Expr) -> Expr:
    """The same, best next to 0, below it and from 256 on."""
    a = abs(x)
    fine = (a > 1e-300) & (a < INFINITY)
    safe = where(fine, a, 1.5)
    (value,) = choose(safe >= MIDDLE, lambda: (_far_digamma(safe),), lambda: (
        _shifted_digamma(where(safe < MIDDLE, safe, 1.5), safe < 1.0),))

    def mirrored() -> Results:
        s, c = half_turns(safe)
        pole = s == 0.0
        turn = copysign(c * PI / where(pole, 1.0, s), safe - rint(safe))
        return (where(pole, NAN, value + (turn + 1.0 / safe)),)

    (value,) = choose(x < 0.0, mirrored, lambda: (value,))
    tiny = -1.0 / where(fine | (a < 6e-309), 1.0, x)
    tiny = where(a < 6e-309, copysign(INFINITY, -x), tiny)
    value = where(fine, value, where(x == INFINITY, x, where(x == -INFINITY, NAN, tiny)))
    return where(x == x, value, x)


def _shifted_digamma(x: Expr, below: Expr) -> Expr:
    """digamma on (0, 256): ``below`` 1 that of x + 1, which is at most 1 there, less 1/x."""
    less = where(below, const(-1.0, x), 0.0)
    y = x - less
    value, tail = piece(y, None, halves(y), DIGAMMA["d"], True)
    root, root_low = DIGAMMA_ROOT["d"]
    t, lost = quick_two_sum(y, const(-root, x))  # below the root nothing is lost
    lost = lost + ((x - (y + less)) - root_low)
    head = t * value
    s, e = quick_two_sum(less / x, head)
    rest = fma(lost, value, fma(t, value, -head)) + e
    return s + fma(t, tail, fma(lost, tail, rest))


def _far_digamma(x: Expr) -> Expr:
    """digamma from 256 on."""
    high, low = log_parts(x, DOUBLE)
    u = 1.0 / x
    v = u * u
    s, e = quick_two_sum(high, -0.5 * u)
    return s + (e + (low - v * poly(v, DIGAMMA_FAR["d"])))
