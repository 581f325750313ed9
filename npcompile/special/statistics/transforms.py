"""Box's and Cox's transforms, losses and divergences, and powers and cosines less 1, as
subprograms."""

from __future__ import annotations

from npcompile.graph.expression import Expr, const, copysign, fma, poly, rint, where
from npcompile.graph.subprograms import Results, choose, subprogram
from npcompile.special.arithmetic.double_word import quick_two_sum, two_product, two_sum
from npcompile.special.arithmetic.formats import power_of_two
from npcompile.special.coefficients.incomplete import ENTROPY
from npcompile.special.elementary.circular import sin
from npcompile.special.elementary.exponential import clamp, expm1_parts
from npcompile.special.elementary.logarithm import log_pair
from npcompile.special.elementary.piecewise import DOUBLE, INFINITY, NAN, Pair, exp_sum, log_of
from npcompile.special.elementary.roots import hypot

#: exponents below it change nothing, and those beyond it overflow
SMALL, TOP = 2.0**-60, 709.7


def grown_less_1(high: Expr, low: Expr) -> Expr:
    """``exp(high + low) - 1`` for ``high`` of at most 710."""
    head, tail, k = expm1_parts(clamp(high, -60.0, 710.0), DOUBLE)
    half = k >> 1
    value = (head + tail) * power_of_two(half, DOUBLE) * power_of_two(k - half, DOUBLE)
    return fma(where(high > -60.0, low, 0.0), value + 1.0, value)


def _transformed(log: Pair, power: Expr) -> Expr:
    """``(exp(power * log) - 1) / power`` for finite operands."""
    high, lost = two_product(power, log[0])
    low = fma(power, log[1], lost)
    tiny = abs(high) < SMALL
    bottom = where(tiny, 1.0, power)
    value = grown_less_1(where(tiny, 0.0, high), low) / bottom
    size = log_of(abs(bottom))
    shifted, rest = two_sum(high, -size)
    far = copysign(exp_sum(shifted, rest + low), power)
    return where(tiny, log[0] + log[1], where(high > TOP, far, value))


def _ends(power: Expr, inside: Expr, x: Expr, less: Expr, start: float) -> Expr:
    """At the ends of the range, where a logarithm or the power is infinite, and beyond it; ``less``
    is less 1 than the number that is transformed, which is 0 at the start."""
    endless = abs(power) == INFINITY
    grows = (less > 0.0) ^ (power < 0.0)
    steep = where(grows, const(NAN, x), -copysign(0.0, power))
    sunk = where(power > 0.0, -1.0 / where(power > 0.0, power, 1.0), -INFINITY)
    risen = where(power < 0.0, -1.0 / where(power < 0.0, power, 1.0), INFINITY)
    value = where(x == start, sunk, where(less == INFINITY, risen, inside))
    value = where(endless, steep, value)
    wrong = ~(x >= start) | (power != power) | (endless & (less == 0.0))
    return where(wrong, const(NAN, power), value)


@subprogram
def boxcox(x: Expr, power: Expr) -> Expr:
    """``(x**power - 1) / power``, the logarithm where the power is 0."""
    fine = (x > 0.0) & (x < INFINITY) & (abs(power) < INFINITY)
    log = log_pair(where(fine, x, 1.0), DOUBLE)
    inside = _transformed(log, where(fine, power, 1.0))
    return _ends(power, inside, x, x - 1.0, 0.0)


@subprogram
def boxcox1p(x: Expr, power: Expr) -> Expr:
    """boxcox of ``1 + x``."""
    fine = (x > -1.0) & (x < INFINITY) & (abs(power) < INFINITY)
    whole, low = two_sum(const(1.0, x), where(fine, x, 0.0))
    high, rest = log_pair(whole, DOUBLE)
    shift = low / whole
    high, rest = two_sum(high, rest + shift * (1.0 - 0.5 * shift))
    inside = _transformed((high, rest), where(fine, power, 1.0))
    return _ends(power, inside, x, x, -1.0)


def _root(x: Expr, power: Expr) -> tuple[Pair, Expr]:
    """``log(1 + x*power) / power``, in two parts, for finite operands, and the sum."""
    far = (abs(x) > 1.0) & (abs(power) > 1.0) & (abs(x * power) > 1e290)
    size, by = where(far, abs(x), 1.0), where(far, power, 1.0)
    log = (log_of(size) + log_of(abs(by))) / by
    positive = far & ((x > 0.0) ^ (power < 0.0))
    x, power = where(far, 0.0, x), where(far, 1.0, power)
    product, lost = two_product(x, power)
    whole, low = two_sum(const(1.0, x), product)
    whole, low = two_sum(whole, low + lost)
    flat = ~(abs(product) > 2.0**-70)
    inside = (whole > 0.0) & ~flat & (whole < INFINITY)
    safe = where(inside, whole, 1.0)
    high, rest = log_pair(safe, DOUBLE)
    shift = where(inside, low / safe, 0.0)
    high, rest = two_sum(high, rest + shift * (1.0 - 0.5 * shift))
    bottom = where(inside, power, 1.0)
    q = high / bottom
    q_low = (fma(-q, bottom, high) + rest) / bottom
    q, q_low = where(flat, x, q), where(flat, 0.0, q_low)
    whole = where(far, where(positive, const(2.0, x), -1.0), whole)
    return (where(far, log, q), where(far, 0.0, q_low)), whole


@subprogram
def inv_boxcox(x: Expr, power: Expr) -> Expr:
    """The inverse of boxcox."""
    fine = (abs(x) < INFINITY) & (abs(power) < INFINITY)
    (high, low), whole = _root(where(fine, x, 0.0), where(fine, power, 0.0))
    return _inverse_ends(x, power, exp_sum(high, low), whole, fine, 1.0)


@subprogram
def inv_boxcox1p(x: Expr, power: Expr) -> Expr:
    """The inverse of boxcox1p."""
    fine = (abs(x) < INFINITY) & (abs(power) < INFINITY)
    (high, low), whole = _root(where(fine, x, 0.0), where(fine, power, 0.0))
    over = high > 709.8
    value = where(over, INFINITY, grown_less_1(where(over, 0.0, high), low))
    return _inverse_ends(x, power, value, whole, fine, 0.0)


def _inverse_ends(x: Expr, power: Expr, inside: Expr, whole: Expr, fine: Expr,
                  one: float) -> Expr:
    """Where ``1 + x*power`` is not positive or finite; ``one`` is what 1 becomes."""
    sunk, risen = const(one - 1.0, x), const(INFINITY, x)
    value = where(whole > 0.0, inside, where(whole == 0.0, where(power > 0.0, sunk, risen), NAN))
    by = x * power
    far = where(power == 0.0, where(x > 0.0, risen, sunk), where(
        by > 0.0, where(abs(power) == INFINITY, const(NAN, x), where(power > 0.0, risen, sunk)),
        NAN))
    return where((x == x) & (power == power), where(fine, value, far), NAN)


# ------------------------------------------------------------------ losses and divergences


@subprogram
def huber(delta: Expr, r: Expr) -> Expr:
    """Huber's loss."""
    a = abs(r)
    value = where(a <= delta, 0.5 * r * r, delta * (a - 0.5 * delta))
    return where(delta < 0.0, INFINITY, value)


@subprogram
def pseudo_huber(delta: Expr, r: Expr) -> Expr:
    """A smooth form of Huber's loss: ``delta**2 * (sqrt(1 + (r/delta)**2) - 1)``."""
    zero = (delta == 0.0) | (r == 0.0)
    half = where((abs(r) > 1e300) | (delta > 1e300), const(0.25, r), 1.0)
    p, q = where(zero, 1.0, delta) * half, where(zero, 1.0, abs(r)) * half
    size = hypot(p, q) + p
    value = where(p > q, p / size * r * r, delta * (r * (abs(r) * half / size)))
    value = where(p > q, value, abs(value))
    endless = (delta == INFINITY) & ~zero | (abs(r) == INFINITY) & ~zero
    value = where(endless, where(delta == INFINITY, const(NAN, r), INFINITY), value)
    value = where((r == r) & (delta == delta), value, NAN)
    value = where(zero, 0.0, value)
    return where(delta < 0.0, INFINITY, value)


def _log_quotient(x: Expr, y: Expr) -> Pair:
    """``log(x / y)`` of positive finite numbers, in two parts."""
    (p, p_low), (q, q_low) = log_pair(x, DOUBLE), log_pair(y, DOUBLE)
    s, e = two_sum(p, -q)
    return quick_two_sum(s, e + (p_low - q_low))


def _divergence(x: Expr, y: Expr) -> tuple[Expr, Expr]:
    """``x * log(x/y)`` and the same with ``y - x`` added, of positive finite numbers."""
    d, rest = two_sum(y, -x)
    near = abs(d) < 0.3 * x
    share = where(near, d, 0.0) / x
    share_low = (fma(-share, x, where(near, d, 0.0)) + where(near, rest, 0.0)) / x
    bend = 0.5 * share * share
    bend = fma(bend * share, poly(share, ENTROPY["d"]), bend)  # share - log(1 + share)
    bend = fma(share_low, share, bend)
    high, low = _log_quotient(x, y)
    product, lost = two_product(x, high)
    endless = abs(product) == INFINITY
    lost = where(endless, 0.0, fma(x, low, lost))
    far, lost_low = two_sum(where(endless, 0.0, product), d)
    far = where(endless, product, far + (lost_low + (lost + rest)))
    single = where(near, fma(x, bend, -rest) - d, lost + product)
    return single, where(near, x * bend, far)


def _positive(x: Expr, y: Expr, at_zero: Expr, inside: Expr, ends: Expr) -> Expr:
    """A divergence for all operands."""
    fine = (x > 0.0) & (y > 0.0)
    value = where(fine, where((x < INFINITY) & (y < INFINITY), inside, ends), INFINITY)
    value = where((x == 0.0) & (y >= 0.0), at_zero, value)
    return where((x == x) & (y == y), value, NAN)


def _inside(x: Expr, y: Expr) -> tuple[Expr, Expr]:
    """Both where they are positive and finite, else 1."""
    fine = (x > 0.0) & (y > 0.0) & (x < INFINITY) & (y < INFINITY)
    return where(fine, x, 1.0), where(fine, y, 1.0)


@subprogram
def rel_entr(x: Expr, y: Expr) -> Expr:
    """``x * log(x / y)``, 0 where x is."""
    value, _ = _divergence(*_inside(x, y))
    ends = where(x == INFINITY, where(y == INFINITY, const(NAN, x), INFINITY), -INFINITY)
    return _positive(x, y, const(0.0, x), value, ends)


@subprogram
def kl_div(x: Expr, y: Expr) -> Expr:
    """``x * log(x / y) - x + y``, y where x is 0."""
    _, value = _divergence(*_inside(x, y))
    return _positive(x, y, y, value, const(NAN, x))


# ------------------------------------------------------------------ less 1


@subprogram
def exprel(x: Expr) -> Expr:
    """``(exp(x) - 1) / x``"""
    fine = (abs(x) > 1e-300) & (abs(x) < INFINITY)
    inside = where(fine, x, 1.0)
    high = where(inside < 700.0, inside, inside - 20.0)
    value = grown_less_1(where(high < 700.0, high, 700.0), const(0.0, x)) / inside
    value = where(inside < 700.0, value, value * 485165195.40979028)  # e**20
    value = where(x > 717.0, INFINITY, where(x == -INFINITY, 0.0, value))
    return where(x == x, where(abs(x) <= 1e-300, 1.0, value), x)


@subprogram
def cosm1(x: Expr) -> Expr:
    """``cos(x) - 1``"""
    s = sin(0.5 * x)
    return -2.0 * s * s


@subprogram
def powm1(x: Expr, y: Expr) -> Expr:
    """``x**y - 1``"""
    a, whole = abs(x), rint(y) == y
    fine = (a > 0.0) & (a < INFINITY) & (abs(y) < INFINITY) & ((x > 0.0) | whole)
    high, low = log_pair(where(fine, a, 1.0), DOUBLE)
    exponent = clamp(where(fine, y, 0.0), -2.0**66, 2.0**66)
    product, rest = two_product(exponent, high)
    over = product > 709.8
    low = fma(exponent, low, rest)
    value = where(over, INFINITY, grown_less_1(where(over, 0.0, product), low))
    half = 0.5 * y
    odd = whole & (rint(half) != half)
    value = where((x < 0.0) & odd, -value - 2.0, value)

    def ends() -> Results:
        # those of C's pow, less 1
        grows = (a > 1.0) ^ (y < 0.0)
        size = where(a == 1.0, 0.0, where(grows, INFINITY, const(-1.0, x)))
        size = where((copysign(1.0, x) < 0.0) & odd & grows, -INFINITY, size)
        unknown = (x < 0.0) & (~whole | (abs(y) == INFINITY)) | (y != y) | (x != x)
        size = where(unknown, NAN, size)
        return (where((y == 0.0) | (x == 1.0), 0.0, size),)

    return choose(fine, lambda: (value,), ends)[0]
