"""cbrt and hypot, as programs."""

from __future__ import annotations

from npcompile.graph.expression import (
    Expr,
    const,
    copysign,
    fma,
    from_bits,
    lean_poly,
    rare,
    sqrt,
    to_bits,
    where,
)
from npcompile.special.arithmetic.double_word import quick_two_sum, two_product
from npcompile.special.arithmetic.formats import format_of, outside
from npcompile.special.coefficients.roots import CBRT, CBRT_START

INFINITY = float("inf")
#: below the first all numbers are multiplied by the cube of the second power of two, so that no
#: rounding error is subnormal
CBRT_TINY = {"d": (2.0**-900, 60), "f": (2.0**-100, 17)}
#: by how much the line is too high that gives the bits of an inverse, in units of the exponent
INVERSE_START = 0.10102


def cbrt(x: Expr) -> Expr:
    """The cube root: ``1/x**(1/3)`` from a third of its bits (Kahan, Computing a real cube root,
    1991) and a polynomial in what its cube is wrong by, then a Newton step on the root with an
    exact residual; no division.  In float32 the square in the residual is rounded, which costs a
    quarter of a unit at most."""
    f = format_of(x)
    a = abs(x)
    bottom, up = CBRT_TINY[f.char]
    special = outside(a, bottom, INFINITY, f)
    tiny = (a > 0.0) & (a < bottom)
    m = rare(special, where(tiny, where(tiny, a, 1.0) * 8.0**up, 1.0), a)
    upper = f.exponent + 1  # the others are those of an integer that counts in a float
    third = fma(from_bits((to_bits(m) >> upper) + f.magic_bits), -1 / 3, CBRT_START[f.char][0])
    r = from_bits(to_bits(third) << upper)
    r = r * lean_poly(m * r * r * r, CBRT[f.char])
    squared = r * r
    root = m * squared
    square, lost = two_product(root, root)
    residual = fma(square, root, -m)
    if f.char == "d":
        residual = fma(lost, root, residual)
    value = fma(residual * squared, -1 / 3, root)
    back = where(m < 1.0, copysign(value * 2.0**-up, x), x)
    return rare(special, back, copysign(value, x))


def _inverse(x: Expr) -> Expr:
    """``1/x`` to eight bits, a large number for 0: a line through the bits and a Newton step."""
    f = format_of(x)
    line = (2 * f.bias << f.mantissa) - round(INVERSE_START * 2**f.mantissa)
    first = from_bits(const(line, to_bits(x)) - to_bits(x))
    return first * fma(-x, first, 2.0)


def hypot(x: Expr, y: Expr) -> Expr:
    """``sqrt(x*x + y*y)``, rounded almost once, without undue overflow: the root of the sum is
    put right by what it and the sum have lost."""
    f = format_of(x)
    one = const(1.0, x)
    a, b = abs(x), abs(y)
    large, small = where(a > b, a, b), where(a > b, b, a)
    top, bottom = 2.0 ** (f.bias // 2 - 1), 2.0 ** -(f.bias // 2 - f.mantissa - 2)
    special = ~(large == 0.0) & outside(large, bottom, top, f)  # not if x alone is NaN
    lift = 2.0 ** (f.bias // 2 + f.mantissa + 8)

    def scale(far: Expr, tall: float, tiny: float) -> Expr:
        low = where(far < bottom, const(tiny, x), one)
        return where(far > top, const(tall, x), low)

    finite = special & (a < INFINITY) & (b < INFINITY)
    far, near = where(finite, large, one), where(finite, small, one)
    down = scale(far, 1 / lift, lift)
    large, small = rare(special, far * down, large), rare(special, near * down, small)
    (square, low), (other, other_low) = two_product(large, large), two_product(small, small)
    total, lost = quick_two_sum(square, other)
    total, lost = quick_two_sum(total, lost + (low + other_low))
    root = sqrt(total)
    value = fma(fma(-root, root, total) + lost, 0.5 * _inverse(root), root)
    # all again from the operands, so that lanes that are not special need none of it
    endless, nan = (x == INFINITY) | (x == -INFINITY) | (y == INFINITY) | (y == -INFINITY), x != x
    far = where(special & ~endless & ~nan & (y == y), where(abs(x) < abs(y), b, a), one)
    limit = where(endless, const(INFINITY, x), where(nan, x, y))
    return rare(special, where(endless | nan | (y != y), limit,
                               value * scale(far, lift, 1 / lift)), value)
