"""The two binary formats that programs are written for (IEEE 754-2019, section 3.6)."""

from __future__ import annotations

import math

import numpy as np

from npcompile.core.records import record
from npcompile.graph.expression import Expr, cast, from_bits, to_bits


@record
class Format:
    """``magic`` is 1.5 * 2**mantissa: adding it rounds to an integer, which then stands in the
    low bits of the sum (Muller, Handbook of Floating-Point Arithmetic, section 11.5.1)."""

    char: str
    mantissa: int
    exponent: int
    integer: np.dtype

    @property
    def bias(self) -> int:
        return (1 << (self.exponent - 1)) - 1

    @property
    def magic(self) -> float:
        return 1.5 * 2.0**self.mantissa

    @property
    def magic_bits(self) -> int:
        return (self.bias + self.mantissa << self.mantissa) | 1 << (self.mantissa - 1)

    @property
    def sign_shift(self) -> int:
        return self.mantissa + self.exponent

    @property
    def smallest_normal(self) -> float:
        return 2.0 ** (1 - self.bias)

    @property
    def smallest_subnormal(self) -> float:
        return 2.0 ** (1 - self.bias - self.mantissa)

    @property
    def largest(self) -> float:
        return (2.0 - 2.0**-self.mantissa) * 2.0**self.bias


FORMATS = {
    "d": Format("d", 52, 11, np.dtype(np.int64)),
    "f": Format("f", 23, 8, np.dtype(np.int32)),
}


def format_of(x: Expr) -> Format:
    """The format of a float expression."""
    return FORMATS[x.dtype.char]


def power_of_two(k: Expr, f: Format) -> Expr:
    """``2.0**k`` for integers in the normal range."""
    return from_bits((k + f.bias) << f.mantissa)


def scale(x: Expr, k: Expr, f: Format) -> Expr:
    """``x * 2.0**k`` where both are normal numbers; exact, by adding to the exponent."""
    return from_bits(to_bits(x) + (k << f.mantissa))


def lowered(value: float, sixteenths: int, f: Format) -> float:
    """A number whose bits are less by so many sixteenths of a step of the exponent."""
    number = np.array(value, f.char)
    bits = number.view(f.integer) - (sixteenths << f.mantissa - 4)
    return float(bits.view(f.char))


def rough_half_inverse(x: Expr, f: Format) -> Expr:
    """``0.5 / x`` for a positive number by one subtraction of its bits: exact for powers of two,
    else up to 12.5 % too large; large for 0."""
    return from_bits((2 * f.bias - 1 << f.mantissa) - to_bits(x))


def small_float(k: Expr, f: Format) -> Expr:
    """An integer below 2**(mantissa - 1) in magnitude as a float."""
    if f.char == "f":
        return cast(k, "f")  # one instruction everywhere; that of float64 is AVX-512's
    return from_bits(k + f.magic_bits) - f.magic


def positive(x: Expr, f: Format, normal: bool = False) -> Expr:
    """Whether a number is finite and positive (and ``normal``), by its bits: one comparison after
    one addition, which wraps so that smaller ones come last."""
    least = 1 << f.mantissa if normal else 1
    endless = 2 * f.bias + 1 << f.mantissa
    return to_bits(x) + ((1 << f.sign_shift) - least) < endless - least - (1 << f.sign_shift)


def outside(x: Expr, low: float, high: float, f: Format) -> Expr:
    """Whether a number is not from the one power of two on and below the other (or infinity), by
    its bits: one comparison after one addition, which wraps so that smaller ones come last."""
    first, last = _exponents(low, high, f)
    return to_bits(x) + (-sign_bit(f) - first) >= last - first + sign_bit(f)


def between(x: Expr, low: float, high: float, f: Format) -> Expr:
    """Whether a magnitude is from the one power of two on and below the other: the same by bits
    without that of the sign."""
    first, last = _exponents(low, high, f)
    return (to_bits(x) << 1) + (-sign_bit(f) - 2 * first) < 2 * (last - first) + sign_bit(f)


def _exponents(low: float, high: float, f: Format) -> tuple[int, int]:
    """The bits of powers of two."""
    first, last = (f.bias + 1 if bound == math.inf else math.frexp(bound)[1] - 1
                   for bound in (low, high))
    return first + f.bias << f.mantissa, last + f.bias << f.mantissa


def sign_bit(f: Format) -> int:
    """The sign bit as a signed integer."""
    return -(1 << f.sign_shift)
