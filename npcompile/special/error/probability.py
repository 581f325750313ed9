"""erfc, ndtr, expit, log_expit, xlogy, xlog1py and entr, as programs; none raises flags, as
SciPy's don't.

``erfc(z) = exp(-z*z) * g(z)`` for positive z, with g by pieces and the exponent in two parts, so
that the relative error stays small down to the underflow limit.
"""

from __future__ import annotations

from npcompile.graph.expression import (
    Expr,
    const,
    fma,
    from_bits,
    lookup,
    poly,
    rare,
    to_bits,
    where,
)
from npcompile.special.arithmetic.double_word import quick_two_sum, two_product, two_sum
from npcompile.special.arithmetic.formats import Format, format_of, power_of_two, sign_bit
from npcompile.special.coefficients.error import ERFCX, ROOT_HALF, SINGLE_ERFCX
from npcompile.special.elementary.exponential import RANGE, clamp, exp_parts, scaled_sum
from npcompile.special.elementary.logarithm import log_parts, log_sum
from npcompile.special.elementary.piecewise import DOUBLE, Pair

INFINITY = float("inf")
#: where erfc vanishes, and from where on it is subnormal
ERFC_RANGE = (27.3, 26.54325845425098)
NDTR_RANGE = (38.6, 37.5193793471445)


def erfc(x: Expr) -> Expr:
    """``1 - erf(x)``."""
    end, normal = ERFC_RANGE
    a = abs(x)
    z = where(a > end, const(end, x), a)
    return _gauss_tail(z, None, two_product(z, z), x > normal, x < 0.0, 0)


def ndtr(x: Expr) -> Expr:
    """The normal distribution function."""
    end, normal = NDTR_RANGE
    a = abs(x)
    a = where(a > end, const(end, x), a)
    square, low = two_product(a, a)
    root, root_low = ROOT_HALF["d"]
    z = a * root
    z_low = fma(a, root_low, fma(a, root, -z))
    return _gauss_tail(z, z_low, (square * 0.5, low * 0.5), x < -normal, x > 0.0, 1)


#: for float32: from where on erfc and ndtr vanish
SINGLE_ERFC_END, SINGLE_NDTR_END = 10.25, 14.5
#: the octaves in whose quarters erfcx stands are those of 1 and so many times the argument
OCTAVES, SINGLE_OCTAVES = 8.0 / 15.0, 23.0 / 16.0


def single_erfc(x: Expr) -> Expr:
    """erfc for float32, in float64."""
    a = abs(x)
    z = where(a > SINGLE_ERFC_END, SINGLE_ERFC_END, a)
    value = _single_tail(z, z * z)
    return where(x < 0.0, 2.0 - value, value)


def single_ndtr(x: Expr) -> Expr:
    """ndtr for float32, in float64."""
    a = abs(x)
    a = where(a > SINGLE_NDTR_END, SINGLE_NDTR_END, a)
    value = 0.5 * _single_tail(a * ROOT_HALF["d"][0], a * a * 0.5)
    return where(x > 0.0, 1.0 - value, value)


def _single_tail(z: Expr, square: Expr) -> Expr:
    """``erfc(z)`` to 40 bits, ``0 <= z <= 10.4``."""
    centre, *rows = SINGLE_ERFCX["d"]
    index = _piece_of(z, SINGLE_OCTAVES)
    scaled = poly(z - lookup(index, centre), [lookup(index, row) for row in rows])
    head, tail, k = exp_parts(-square, None, DOUBLE)
    return scaled * (head + tail) * power_of_two(k, DOUBLE)


def _piece_of(z: Expr, octaves: float) -> Expr:
    """The interval of erfcx: a quarter of an octave of ``1 + octaves * z``."""
    bits = to_bits(fma(z, octaves, 1.0))
    return bits - (DOUBLE.bias << DOUBLE.mantissa) >> DOUBLE.mantissa - 2


def _gauss_tail(z: Expr, z_low: Expr | None, square: Pair, subnormal: Expr, mirrored: Expr,
                down: int) -> Expr:
    """``erfc(z + z_low) / 2**down`` for ``z >= 0``, whose square is given in two parts; where
    ``mirrored`` what is left of its limit, ``2 / 2**down``."""
    top, top_low = scaled_tail(z, z_low)
    head, tail, k = exp_parts(-square[0], -square[1], DOUBLE)
    product, lost = two_product(top, head)
    rest = fma(top, tail, fma(top_low, head + tail, lost))
    up = power_of_two(where(k < -100, const(-100, k), k) - down, DOUBLE)
    p, q = product * up, rest * up
    limit = 2.0 ** (1 - down)
    whole = limit - p
    value = where(mirrored, whole, product)
    rest = where(mirrored, (limit - whole) - p - q, rest)
    special = subnormal | (z != z)
    return scaled_sum(value, rest, where(mirrored, 0, k - down), special, DOUBLE)


def scaled_tail(z: Expr, z_low: Expr | None = None) -> Pair:
    """``exp(y*y) * erfc(y)`` with ``y = z + z_low``, ``0 <= z <= 28``, in two parts."""
    index = _piece_of(z, OCTAVES)
    centre, value, value_low, slope, slope_low, *rest = (
        lookup(index, row) for row in ERFCX["d"])
    t = z - centre
    if z_low is not None:
        t = t + z_low
    head = fma(t, slope, value)
    lost = fma(t, slope, value - head)
    return head, lost + fma(t, fma(t, poly(t, rest), slope_low), value_low)


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
    return scaled_sum(q, rest, where(negative, k, const(0, k)), special, f)


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
    far = scaled_sum(head, squared, k, ~(abs(x) <= normal), f)
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
