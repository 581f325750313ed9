"""erfc, ndtr, expit, log_expit, xlogy, xlog1py and entr, as programs; none raises flags, as
SciPy's don't.

``erfc(z) = exp(-z*z) * p(t) / (1 + 2*z)`` with ``t = (z - 4) / (z + 4)`` for all positive z
(Shepherd & Laframboise, Math. Comp. 36, 1981), the exponent in two parts, so that the relative
error stays small down to the underflow limit.
"""

from __future__ import annotations

from npcompile.graph.expression import (
    Expr,
    const,
    fma,
    from_bits,
    poly,
    rare,
    to_bits,
    where,
)
from npcompile.special.coefficients.error import ERFC, ROOT_HALF
from npcompile.special.exponential import RANGE, clamp, exp_parts, scaled_sum
from npcompile.special.formats import Format, format_of, power_of_two, sign_bit
from npcompile.special.logarithm import log_parts, log_sum
from npcompile.special.words import quick_two_sum, two_product, two_sum

INFINITY = float("inf")
CENTRE = 4.0
#: where erfc vanishes, and from where on it is subnormal
ERFC_RANGE = {"d": (27.3, 26.54325845425098), "f": (10.1, 9.19454945)}
NDTR_RANGE = {"d": (38.6, 37.5193793471445), "f": (14.3, 12.9499527)}


def erfc(x: Expr) -> Expr:
    """``1 - erf(x)``."""
    f = format_of(x)
    end, normal = ERFC_RANGE[f.char]
    a = abs(x)
    z = where(a > end, const(end, x), a)
    square, low = two_product(z, z)
    tail = _gauss_tail(z, const(0.0, x), (square, low), a > normal, 0, f)
    return where(x < 0.0, 2.0 - tail, tail)


def ndtr(x: Expr) -> Expr:
    """The normal distribution function."""
    f = format_of(x)
    end, normal = NDTR_RANGE[f.char]
    a = abs(x)
    a = where(a > end, const(end, x), a)
    square, low = two_product(a, a)
    root, root_low = ROOT_HALF[f.char]
    z = a * root
    z_low = fma(a, root_low, fma(a, root, -z))
    tail = _gauss_tail(z, z_low, (square * 0.5, low * 0.5), a > normal, 1, f)
    return where(x > 0.0, 1.0 - tail, tail)


def _gauss_tail(z: Expr, z_low: Expr, square: tuple[Expr, Expr], subnormal: Expr, down: int,
                f: Format) -> Expr:
    """``erfc(z + z_low) / 2**down`` for ``z >= 0``, whose square is given in two parts."""
    (top, top_low), (bottom, bottom_low), by_bottom = scaled_tail(z, z_low, f)
    head, tail, k = exp_parts(-square[0], -square[1], f)
    head, tail = quick_two_sum(head, tail)
    product, lost = two_product(top, head)
    lost = lost + fma(top, tail, top_low * head)
    q = product * by_bottom
    remainder = fma(-q, bottom, product) + fma(-q, bottom_low, lost)
    return scaled_sum(q, remainder * by_bottom, k - down, -square[0], subnormal | (z != z), f, True)


Pair = tuple[Expr, Expr]


def scaled_tail(z: Expr, z_low: Expr, f: Format) -> tuple[Pair, Pair, Expr]:
    """``exp(z*z) * erfc(z)`` for ``0 <= z <= 28`` as a quotient of two sums, and the inverse of
    the divisor."""
    (value, value_low), rest, slope = ERFC[f.char]
    bottom = fma(z, 2.0, 1.0)
    bottom_low = fma(z_low, 2.0, fma(z, 2.0, 1.0 - bottom))
    sum_, sum_low = two_sum(const(CENTRE, z), z)
    inverse = 1.0 / (bottom * sum_)
    by_sum, by_bottom = bottom * inverse, sum_ * inverse
    u = (z + z) * by_sum  # t + 1
    t = u - 1.0
    t_low = (u - (t + 1.0)) + (fma(-u, sum_, z + z) - u * sum_low) * by_sum
    p = poly(t, rest)
    top = fma(t, p, value)
    top_low = fma(t, p, value - top) + fma(t_low, poly(t, slope), value_low)
    return (top, top_low), (bottom, bottom_low), by_bottom


def expit(x: Expr) -> Expr:
    """``1 / (1 + exp(-x))``."""
    f = format_of(x)
    lowest, _, normal = RANGE[f.char]
    a = clamp(-abs(x), lowest, 0.0)
    head, tail, k = _exponential(a, f)
    up = power_of_two(where(k < -100, const(-100, k), k), f)
    bottom, lost = quick_two_sum(const(1.0, x), head * up)
    lost = fma(tail, up, lost)
    negative = x < 0.0
    top, top_low = where(negative, head, 1.0), where(negative, tail, 0.0)
    inverse = 1.0 / bottom
    q = top * inverse
    rest = (fma(-q, bottom, top) + fma(-q, lost, top_low)) * inverse
    special = ~(x >= -normal)
    return scaled_sum(q, rest, where(negative, k, const(0, k)), a, special, f, True)


def _exponential(x: Expr, f: Format) -> tuple[Expr, Expr, Expr]:
    """``exp(x) / 2**n``, the second part a rounding error, and n."""
    head, tail, k = exp_parts(x, None, f)
    return *quick_two_sum(head, tail), k


#: from where on two terms of ``log1p(exp(x))`` are enough
FAR = {"d": -21.0, "f": -12.0}


def log_expit(x: Expr) -> Expr:
    """``log(expit(x))``."""
    f = format_of(x)
    lowest, _, normal = RANGE[f.char]
    a = clamp(-abs(x), lowest, 0.0)
    head, tail, k = _exponential(a, f)
    up = power_of_two(where(k < -100, const(-100, k), k), f)
    whole, lost = two_sum(const(1.0, x), head * up)
    high, low = log_sum(whole, fma(tail, up, lost), f)
    squared = fma(head * head * up, -0.5, tail)  # log1p(e) = e - e*e/2
    far = scaled_sum(head, squared, k, a, ~(abs(x) <= normal), f, True)
    below = where(x < 0.0, x, 0.0)
    below = where(abs(below) < INFINITY, below, 0.0)
    s, e = two_sum(below, -high)
    value = where(a < FAR[f.char], -(far - below), s + (e - low))
    return where(abs(x) < INFINITY, value, where(x > 0.0, -0.0, x))


def xlogy(x: Expr, y: Expr) -> Expr:
    """``x * log(y)``, 0 where x is."""
    f = format_of(x)
    inside = (y > 0.0) & (y < INFINITY)
    high, low = log_parts(where(inside, y, 1.0), f)
    return _times(x, y, high, low, inside, 0.0)


def xlog1py(x: Expr, y: Expr) -> Expr:
    """``x * log(1 + y)``, 0 where x is."""
    f = format_of(x)
    inside = (y > -1.0) & (y < INFINITY)
    high, low = log_sum(*two_sum(const(1.0, y), where(inside, y, 0.0)), f)
    value = _times(x, y, high, low, inside, -1.0)
    nothing = (y == 0.0) & (x != 0.0) & (abs(x) < INFINITY)
    return where(nothing, from_bits((to_bits(x) ^ to_bits(y)) & sign_bit(f)), value)


def _times(x: Expr, y: Expr, high: Expr, low: Expr, inside: Expr, pole: float) -> Expr:
    """``x * (high + low)``; where y is at the pole, outside or NaN, as the logarithm has it."""
    finite = inside & (abs(x) < INFINITY)
    value = _scaled_product(where(finite, x, 0.0), high, low, format_of(x))
    log = where(inside, high, where(y == pole, -INFINITY, where(y < pole, float("nan"), y)))
    sign = where((x < 0.0) ^ (log < 0.0), const(-INFINITY, x), INFINITY)
    nan = (log != log) | (log == 0.0)
    edge = where(x != x, x, where(nan, const(float("nan"), x), sign))
    value = rare(~finite, edge, value)
    return where((x == 0.0) & (y == y), 0.0, value)


def _scaled_product(x: Expr, high: Expr, low: Expr, f: Format) -> Expr:
    """``x * (high + low)`` for finite operands, infinite without a flag."""
    log, rest = quick_two_sum(high, low)
    tall, small = abs(x) > 2.0 ** (f.bias - 64), abs(x) < 2.0 ** (64 - f.bias)
    down = where(tall, const(2.0**-32, x), where(small, const(2.0**64, x), 1.0))
    back = where(tall, const(2.0**32, x), where(small, const(2.0**-64, x), 1.0))
    scaled = x * down
    value = fma(scaled, log, scaled * rest)
    over = tall & (abs(value) >= 2.0 ** (f.bias - 31))
    endless = where(value < 0.0, const(-INFINITY, x), INFINITY)
    return where(over, endless, where(over, 1.0, value) * back)


def entr(x: Expr) -> Expr:
    """``-x * log(x)``, 0 at 0 and minus infinity below."""
    f = format_of(x)
    inside = (x > 0.0) & (x < INFINITY)
    safe = where(inside, x, 1.0)
    value = -_scaled_product(safe, *log_parts(safe, f), f)
    special = where(x == 0.0, 0.0, where(x == x, const(-INFINITY, x), x))
    return where(inside, value, special)
