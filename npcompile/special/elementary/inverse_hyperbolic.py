"""arcsinh, arccosh, arctanh, logit, logaddexp: logarithms of sums that are kept in two parts, as
programs.

Each takes ``log(whole + low)``, so that nothing is lost where the sum is next to 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from npcompile.graph.expression import (
    Expr,
    complex_,
    const,
    copysign,
    fma,
    imag,
    rare,
    real,
    sqrt,
    where,
)
from npcompile.special.arithmetic.double_word import joined, quick_two_sum, two_sum
from npcompile.special.arithmetic.formats import (
    Format,
    between,
    format_of,
    power_of_two,
    rough_half_inverse,
)
from npcompile.special.coefficients.exponential import LN2
from npcompile.special.coefficients.logarithm import LOG2_BASE
from npcompile.special.elementary.exponential import RANGE, clamp, exp, exp2, exp2_parts, exp_parts
from npcompile.special.elementary.logarithm import log2_sum, log_sum

Pair = tuple[Expr, Expr]
LogSum = Callable[[Expr, Expr, Format], Pair]
INFINITY = float("inf")
#: from where on ``x*x + 1`` is ``x*x``, and ``2*x`` the sum with its root
LARGE = {"d": 2.0**30, "f": 2.0**14}

TINY = {"d": 2.0**-30, "f": 2.0**-13}


def arcsinh(x: Expr) -> Expr:
    """Inverse hyperbolic sine: ``log(a + sqrt(a*a + 1))``."""
    f = format_of(x)
    a = abs(x)
    special = ~(a < LARGE[f.char])
    small = rare(special, where(special, const(1.0, a), a), a)
    total = fma(small, small, 1.0)
    root, rest = _root(total, fma(small, small, 1.0 - total), f)
    return copysign(_log_of_sum(a, quick_two_sum(root, small), rest, special, f), x)


def arccosh(x: Expr) -> Expr:
    """Inverse hyperbolic cosine: ``log(x + sqrt(x*x - 1))``."""
    f = format_of(x)
    one = const(1.0, x)
    special = ~((x >= 1.0) & (x < LARGE[f.char]))
    small = rare(special, where(special, one, x), x)
    more = small - 1.0
    twice = more + more
    total = fma(more, more, twice)
    root, rest = _root(total, fma(more, more, twice - total), f)  # exact next to 1
    value = _log_of_sum(x, quick_two_sum(small, root), rest, special, f)
    below = special & (x < 1.0)
    return rare(special, where(below, sqrt(where(below, -one, one)), value), value)


def _root(square: Expr, low: Expr, f: Format) -> Pair:
    """The square root of a sum, in two parts."""
    root = sqrt(square)
    return root, (fma(-root, root, square) + low) * rough_half_inverse(root, f)


def _log_of_sum(x: Expr, total: Pair, rest: Expr, special: Expr, f: Format) -> Expr:
    """The logarithm of a sum in three parts; where ``special`` that of ``2*x`` if x is large, or
    x."""
    large = (x >= LARGE[f.char]) & (x <= f.largest)
    down = where(large, x, 1.0) * LARGE[f.char]**-0.5
    both = rare(special, complex_(down, const(0.0, x)), complex_(total[0], total[1] + rest))
    raised = math.log2(LARGE[f.char]) / 2 + 1
    value = joined(log_sum(real(both), imag(both), f, (special, const(raised, x))))
    return rare(special, where(x < INFINITY, value, x), value)  # by no term of the other choice


def arctanh(x: Expr) -> Expr:
    """Inverse hyperbolic tangent: half the logarithm of ``(1 + a) / (1 - a)``."""
    f = format_of(x)
    one = const(1.0, x)
    a = abs(x)
    special = ~between(x, TINY[f.char], 1.0, f)
    inside = rare(special, where(special, 0.5, a), a)
    less = one - inside
    ratio = _pair_quotient(quick_two_sum(one, inside), (less, (one - less) - inside))
    value = joined(log_sum(*ratio, f, moderate=True)) * 0.5
    small = where(a < TINY[f.char], a, 0.0)  # where 1 + a and 1 - a keep too little of a
    pole = 1.0 / where(a == 1.0, const(0.0, x), one)
    invalid = sqrt(where(a > 1.0, -one, one))
    others = where(a == 1.0, pole, where(a > 1.0, invalid, where(
        a < 1.0, fma(small * small * small, 1 / 3, small), a)))
    return copysign(rare(special, others, value), x)


def logit(x: Expr) -> Expr:
    """``log(x / (1 - x))``, which raises no flags."""
    f = format_of(x)
    inside = (x > 0.0) & (x < 1.0)
    safe = where(inside, x, 0.5)
    tiny = safe < f.smallest_normal
    up = f.mantissa + 2
    raised = safe * where(tiny, const(2.0**up, x), 1.0)
    bottom = quick_two_sum(const(1.0, x), -where(tiny, 0.0, safe))
    whole, low = quick_two_sum(*_pair_quotient((raised, const(0.0, x)), bottom))
    high, rest = log_sum(whole, low, f)
    twice, twice_low, _ = LN2[f.char]
    value = high + (rest - where(tiny, const(up * twice_low, x), 0.0))
    value = value - where(tiny, const(up * twice, x), 0.0)
    special = where(x == 0.0, -INFINITY, where(x == 1.0, const(INFINITY, x), float("nan")))
    return rare(~inside, special, value)


def _pair_quotient(top: Pair, bottom: Pair) -> Pair:
    """A quotient of sums, in two parts, the second some rounding errors of the first."""
    inverse = 1.0 / bottom[0]
    q = top[0] * inverse
    rest = fma(-q, bottom[0], top[0]) + fma(-q, bottom[1], top[1])
    return q, rest * inverse


def logaddexp(x: Expr, y: Expr) -> Expr:
    """``log(exp(x) + exp(y))``; next to its zeros the error is one of the larger operand."""
    f = format_of(x)
    high, d, d_low, special = _ordered(x, y, RANGE[f.char][0])
    value = _added(high, exp_parts(clamp(d, -60.0, 0.0), d_low, f), log_sum, f)
    value = where(d < -50.0, high + exp(d), value)
    return rare(special, _of_infinities(x, y), value)


def logaddexp2(x: Expr, y: Expr) -> Expr:
    """``log2(2**x + 2**y)``; next to its zeros the error is one of the larger operand."""
    f = format_of(x)
    high, d, d_low, special = _ordered(x, y, -float(f.bias + f.mantissa + 1))
    value = _added(high, exp2_parts(clamp(d, -80.0, 0.0), d_low, f), log2_sum, f)
    _, _, factor, factor_low = LOG2_BASE[f.char]
    far = exp2(d)
    far = fma(far, factor, far * factor_low)
    value = where(d < -70.0, high + far, value)
    return rare(special, _of_infinities(x, y), value)


def _ordered(x: Expr, y: Expr, lowest: float) -> tuple[Expr, Expr, Expr, Expr]:
    """The larger of two numbers, the other less it in two parts, and whether one isn't finite."""
    special = ~((abs(x) < INFINITY) & (abs(y) < INFINITY))
    x, y = where(special, 0.0, x), where(special, 0.0, y)
    larger = x > y
    high, low = where(larger, x, y), where(larger, y, x)
    near = low - high > lowest
    d, d_low = two_sum(where(near, low, 0.0), -where(near, high, 0.0))
    return high, where(near, d, const(lowest, x)), d_low, special


def _added(high: Expr, parts: tuple[Expr, Expr, Expr], log_of: LogSum, f: Format) -> Expr:
    """``high + log(1 + (head + tail) * 2**n)``."""
    head, tail = quick_two_sum(*parts[:2])
    up = power_of_two(parts[2], f)
    whole, lost = two_sum(const(1.0, high), head * up)
    log_high, log_low = log_of(whole, fma(tail, up, lost), f)
    s, e = two_sum(high, log_high)
    return s + (e + log_low)


def _of_infinities(x: Expr, y: Expr) -> Expr:
    """The sum's logarithm where an operand is not finite; NaN is invalid, as NumPy has it."""
    nan = (x != x) | (y != y)
    invalid = sqrt(where(nan, const(-1.0, x), 1.0))
    return where(nan, invalid, where(x > y, x, y) + 0.0)
