"""expm1, sinh and cosh, as programs.

``x = n*log(2) + r - low``.  The result's large part is a sum of ``2**n``, ``2**-n`` and their
products with r; what it loses is exact (Dekker 1971), so that only the last addition rounds.  The
rest comes from short polynomials, those of hyperbolic functions even or odd.
"""

from __future__ import annotations

from npcompile.core.records import record
from npcompile.graph.expression import (
    Expr,
    const,
    copysign,
    fma,
    from_bits,
    lean_poly,
    rare,
    to_bits,
    where,
)
from npcompile.special.arithmetic.formats import Format, format_of, power_of_two
from npcompile.special.coefficients.exponential import EVEN, EXPM1, LN2, ODD
from npcompile.special.coefficients.logarithm import LOG_LN2
from npcompile.special.elementary.exponential import RANGE, clamp, exp_parts, expm1_parts

INFINITY = float("inf")


#: from where on ``2**n - 2**-n`` is not exact, and ``2**n - 1`` in float32
LARGE, SINGLE_LARGE = {"d": 26.5, "f": 12.5}, 24.5


@record
class Reduced:
    """``x = n*log(2) + r - low``, near is ``r - low``; n is in the last bits of a number too."""

    n: Expr
    bits: Expr
    r: Expr
    low: Expr
    near: Expr


def expm1(x: Expr, quiet: bool = False) -> Expr:
    """e**x - 1."""
    f = format_of(x)
    special = ~(abs(x) <= RANGE[f.char][2])
    if f.char == "d":
        head, tail, k = expm1_parts(rare(special, where(special, const(0.0, x), x), x), f)
        value = (head + tail) * power_of_two(k, f)
    else:
        value = _single_expm1(_reduced(x, special, f), f)
    large = special & ~(x < 0.0)
    beyond = where(x < 0.0, -1.0, _beyond(x, large, 0, f, quiet))
    return rare(special, beyond, copysign(value, x))


def _single_expm1(reduced: Reduced, f: Format) -> Expr:
    """The same for float32, which needs no table."""
    r, near = reduced.r, reduced.near
    unit = from_bits((reduced.bits << f.mantissa) + (f.bias << f.mantissa))
    base = unit - 1.0
    head = fma(unit, r, base)
    lost = fma(unit, r, base - head)
    lost = where(reduced.n > SINGLE_LARGE, lost - 1.0, lost)
    rest = fma(near * near * near, lean_poly(near, EXPM1["f"]), -reduced.low)
    rest = fma(0.5 * near, near, rest)
    return head + fma(unit, rest, lost)


def sinh(x: Expr) -> Expr:
    """Hyperbolic sine."""
    f = format_of(x)
    a = abs(x)
    special = ~(a <= RANGE[f.char][2])
    reduced = _reduced(a, special, f)
    grown, fallen = _powers(reduced.bits, f)
    sine, cosine = grown - fallen, grown + fallen
    even, odd = _even_odd(reduced, f)
    head = fma(cosine, reduced.r, sine)
    lost = fma(cosine, reduced.r, sine - head)
    lost = where(reduced.n > LARGE[f.char], lost - fallen, lost)
    value = head + fma(sine, even, fma(cosine, odd, lost))
    return copysign(rare(special, _beyond(a, special, 1, f), value), x)


def cosh(x: Expr) -> Expr:
    """Hyperbolic cosine."""
    f = format_of(x)
    a = abs(x)
    special = ~(a <= RANGE[f.char][2])
    reduced = _reduced(a, special, f)
    grown, fallen = _powers(reduced.bits, f)
    sine, cosine = grown - fallen, grown + fallen
    even, odd = _even_odd(reduced, f)
    head = fma(sine, reduced.r, grown)
    lost = fma(sine, reduced.r, grown - head) + fallen
    value = head + fma(cosine, even, fma(sine, odd, lost))
    return rare(special, _beyond(a, special, 1, f), value)


def _reduced(x: Expr, special: Expr, f: Format) -> Reduced:
    x = rare(special, where(special, const(0.0, x), x), x)
    _, _, inverse = LN2[f.char]
    step, step_low = LOG_LN2[f.char]
    shifted = fma(x, inverse, f.magic)
    n = shifted - f.magic
    r = fma(n, -step, x)  # exact: the first part is short
    return Reduced(n, to_bits(shifted), r, n * step_low, fma(n, -step_low, r))


def _powers(bits: Expr, f: Format) -> tuple[Expr, Expr]:
    """``2**n / 2`` and ``2**-n / 2``."""
    half = f.bias - 1 << f.mantissa
    grown = (bits << f.mantissa) + half
    return from_bits(grown), from_bits(2 * half - grown)


def _even_odd(reduced: Reduced, f: Format) -> tuple[Expr, Expr]:
    """``cosh(r - low) - 1`` and ``sinh(r - low) - r``."""
    near = reduced.near
    z = near * near
    return z * lean_poly(z, EVEN[f.char]), fma(near * z, lean_poly(z, ODD[f.char]), -reduced.low)


def _beyond(x: Expr, large: Expr, halvings: int, f: Format, quiet: bool = False) -> Expr:
    """``exp(abs(x)) / 2**halvings`` for ``large`` arguments, which may overflow (silently if
    ``quiet``)."""
    highest = RANGE[f.char][1] + 0.5 * halvings
    head, tail, k = exp_parts(where(large, clamp(abs(x), 0.0, highest), 1.0), None, f)
    half = (head + tail) * power_of_two(where(large, k - (halvings + 1), 0), f)
    endless = abs(x) == INFINITY
    if quiet:
        endless = endless | (half >= 2.0**f.bias)
    doubled = half * where(endless | ~large, const(1.0, x), 2.0)
    return where(endless, INFINITY, doubled)
