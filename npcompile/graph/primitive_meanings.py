"""Primitives that NumPy has no function for: their meanings in NumPy, as reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from npcompile.graph.primitives import PRIMITIVES
from npcompile.graph.subprograms import evaluate


def fma(a: Any, b: Any, c: Any) -> Any:
    """One rounding: by error-free transformations where nothing can overflow or underflow in them,
    else by Python's integers."""
    dtype = np.result_type(a, b, c)
    whole = np.broadcast_arrays(a, b, c)
    a, b, c = (np.array(x, dtype).ravel() for x in whole)
    with np.errstate(all="ignore"):
        product = a * b
        result = product + c
        easy = _is_middling(a) & _is_middling(b) & _is_middling(c)
        wide = [x[easy].astype(np.float64) for x in (a, b, c)]
        result[easy] = _rounded_once(wide[0], wide[1], wide[2], dtype)
        # where an operand is 0, the plain form is rounded once, unless it underflows
        finite = np.isfinite(a) & np.isfinite(b)
        hard = finite & ~easy & (a != 0) & (b != 0) & ((c != 0) | (product == 0))
        endless = hard & ~np.isfinite(c)
        result[endless] = c[endless]  # which the plain product may overflow against
    for k in np.flatnonzero(hard & ~endless):
        result[k] = _fma_one(dtype.type, a[k], b[k], c[k])
    return result.reshape(whole[0].shape)[()]


def _is_middling(x: Any) -> Any:
    """Neither zero nor near the ends of float64's range."""
    return (np.abs(x) > 1e-100) & (np.abs(x) < 1e100)


def _rounded_once(a: Any, b: Any, c: Any, dtype: np.dtype[Any]) -> Any:
    """``a * b + c`` of float64 (Boldo and Melquiond, Emulation of FMA and correctly rounded sums:
    proved algorithms using rounding to odd, 2008, figure 8); then rounded to the dtype."""
    product, rest = _two_product(a, b)
    high, low = _two_sum(c, rest)
    total, error = _two_sum(product, high)
    if dtype == np.float64:
        return total + _odd_sum(low, error)
    # the product of two float32 is exact in float64: one sum, to odd, decides the last rounding
    return _odd_sum(product, c).astype(dtype)


def _two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """The rounded sum and its error (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _two_product(a: Any, b: Any) -> tuple[Any, Any]:
    """The rounded product and its error (Dekker)."""
    product = a * b
    (a1, a2), (b1, b2) = _halves(a), _halves(b)
    return product, a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2)


def _halves(x: Any) -> tuple[Any, Any]:
    """Two numbers of 26 bits whose sum x is (Veltkamp)."""
    scaled = 134217729.0 * x
    high = scaled - (scaled - x)
    return high, x - high


def _odd_sum(a: Any, b: Any) -> Any:
    """The sum rounded to odd: of the neighbours of an inexact sum, that with an odd last bit."""
    total, error = _two_sum(a, b)
    bits = total.view(np.int64)
    outward = (error > 0) == (total > 0)
    odd = np.where((error != 0) & (bits & 1 == 0), np.where(outward, bits + 1, bits - 1), bits)
    return odd.view(np.float64)


def _fma_one(kind: type, a: Any, b: Any, c: Any) -> Any:
    from fractions import Fraction

    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if exact == 0:
        return a * b + c
    return _round_fraction(exact, kind)


def _round_fraction(exact: Any, kind: type) -> Any:
    """The nearest float of ``kind`` (ties to even) to a nonzero fraction."""
    info = np.finfo(kind)
    digits, smallest = info.nmant + 1, int(info.minexp) - int(info.nmant)
    magnitude = abs(exact)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length() - digits
    while magnitude >= 2 ** (digits + exponent) if exponent >= -digits else False:
        exponent += 1
    scale = max(exponent, smallest)
    scaled = magnitude / 2**scale if scale >= 0 else magnitude * 2**-scale
    if scaled >= 2**digits:
        scale += 1
        scaled /= 2
    whole, part = divmod(scaled.numerator, scaled.denominator)
    twice = 2 * part
    if twice > scaled.denominator or (twice == scaled.denominator and whole & 1):
        whole += 1
    with np.errstate(over="ignore"):
        value = kind(np.ldexp(np.float64(whole), scale))
    return -value if exact < 0 else value


def bits_of(x: Any) -> Any:
    """The signed integer of the same bits."""
    x = np.asarray(x)
    return x.view({2: np.int16, 4: np.int32, 8: np.int64}[x.dtype.itemsize])[()]


def float_of(x: Any) -> Any:
    """The float of the same bits."""
    x = np.asarray(x)
    return x.view({2: np.float16, 4: np.float32, 8: np.float64}[x.dtype.itemsize])[()]


def shift_left(a: Any, n: Any) -> Any:
    """``a << n``; 0 if the count is not in 0 .. width-1."""
    return np.left_shift(a, n)


def minimum(a: Any, b: Any) -> Any:
    """IEEE 754-2019 minimum: NaN if either is, and -0 < +0."""
    r = np.minimum(a, b)
    if np.asarray(r).dtype.kind != "f":
        return r
    return np.where((a == b) & (a == 0), np.where(np.signbit(a), a, b), r)[()]


def maximum(a: Any, b: Any) -> Any:
    """IEEE 754-2019 maximum: NaN if either is, and -0 < +0."""
    r = np.maximum(a, b)
    if np.asarray(r).dtype.kind != "f":
        return r
    return np.where((a == b) & (a == 0), np.where(np.signbit(a), b, a), r)[()]


def floor_quotient(a: Any, b: Any) -> Any:
    """NaN where a backend may leave it to another way."""
    with np.errstate(all="ignore"):
        near = (np.abs(a / b) < 0.0625 / np.finfo(np.result_type(a, b)).eps) & np.isfinite(b)
        return np.where(near, np.floor_divide(a, b), np.asarray(a) * np.nan)[()]


def lookup(index: Any, *, table: Any) -> Any:
    """The item of a table whose length is a power of two; the index wraps."""
    return table[np.asarray(index) & (len(table) - 1)][()]


def call(*args: Any, subprogram: Any) -> Any:
    """A subprogram's value."""
    return evaluate(subprogram, args, lambda name: PRIMITIVES[name].meaning)


def complex(re: Any, im: Any) -> Any:
    """The complex numbers of real and imaginary parts."""
    re, im = np.broadcast_arrays(re, im)
    out = np.empty(re.shape, np.complex64 if re.dtype == np.float32 else np.complex128)
    out.real[...], out.imag[...] = re, im
    return out[()]


def _overflows(name: str) -> Callable[[Any, Any], Any]:
    """Whether the exact result of an operation of int64 does not fit."""
    def one(a: int, b: int) -> bool:
        a, b = int(a), int(b)
        exact = {"add": a + b, "sub": a - b, "mul": a * b}[name]
        return not -(2**63) <= exact < 2**63

    return lambda a, b: np.frompyfunc(one, 2, 1)(a, b).astype(bool)[()] if np.ndim(a) or np.ndim(
        b
    ) else np.bool_(one(a, b))


add_overflows, sub_overflows, mul_overflows = map(_overflows, ("add", "sub", "mul"))
