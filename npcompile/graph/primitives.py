"""The primitives: all that a backend must know, each with its meaning in NumPy.

Every elementwise operator is one of these or a program over them (``lower`` in its record).
Operands of a primitive have the dtypes of its signature exactly: casts are nodes.  Signatures are
written by *class*: ``f`` any real float, ``i`` any integer, ``b`` bool, ``n`` any of ``f i``,
``a`` any dtype, ``c`` complex; the same letter is the same dtype throughout a row, ``*`` is any
number of the operand before it.
float16 is stored only: arithmetic on it is done in float32 by explicit casts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.core.records import record
from npcompile.graph.types import Array, Scalar

if TYPE_CHECKING:
    from npcompile.graph.ir import Node


@record
class Primitive:
    """``meaning`` takes NumPy arrays or scalars; ``flags`` are the floating-point exceptions that
    the machine instruction may raise as NumPy would: d(ivide) o(verflow) u(nderflow) i(nvalid).
    ``fresh``: where a program computes it of numbers, it gets a new object each time."""

    name: str
    signature: str
    meaning: Callable[..., Any]
    doc: str
    flags: str = ""
    fresh: bool = False


def _fma(a: Any, b: Any, c: Any) -> Any:
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


def _bits_of(x: Any) -> Any:
    x = np.asarray(x)
    return x.view({2: np.int16, 4: np.int32, 8: np.int64}[x.dtype.itemsize])[()]


def _float_of(x: Any) -> Any:
    x = np.asarray(x)
    return x.view({2: np.float16, 4: np.float32, 8: np.float64}[x.dtype.itemsize])[()]


def _shift_left(a: Any, n: Any) -> Any:
    return np.left_shift(a, n)


def _minimum(a: Any, b: Any) -> Any:
    """IEEE 754-2019 minimum: NaN if either is, and -0 < +0."""
    r = np.minimum(a, b)
    if np.asarray(r).dtype.kind != "f":
        return r
    return np.where((a == b) & (a == 0), np.where(np.signbit(a), a, b), r)[()]


def _maximum(a: Any, b: Any) -> Any:
    r = np.maximum(a, b)
    if np.asarray(r).dtype.kind != "f":
        return r
    return np.where((a == b) & (a == 0), np.where(np.signbit(a), b, a), r)[()]


def _floor_quotient(a: Any, b: Any) -> Any:
    """NaN where a backend may leave it to another way."""
    with np.errstate(all="ignore"):
        near = (np.abs(a / b) < 0.0625 / np.finfo(np.result_type(a, b)).eps) & np.isfinite(b)
        return np.where(near, np.floor_divide(a, b), np.asarray(a) * np.nan)[()]


def _lookup(index: Any, *, table: Any) -> Any:
    return table[np.asarray(index) & (len(table) - 1)][()]


def _call(*args: Any, subprogram: Any) -> Any:
    from npcompile.graph.subprograms import evaluate

    return evaluate(subprogram, args, lambda name: PRIMITIVES[name].meaning)


def _complex(re: Any, im: Any) -> Any:
    re, im = np.broadcast_arrays(re, im)
    out = np.empty(re.shape, np.complex64 if re.dtype == np.float32 else np.complex128)
    out.real[...], out.imag[...] = re, im
    return out[()]


def _overflows(name: str) -> Callable[[Any, Any], Any]:
    def one(a: int, b: int) -> bool:
        a, b = int(a), int(b)
        exact = {"add": a + b, "sub": a - b, "mul": a * b}[name]
        return not -(2**63) <= exact < 2**63

    return lambda a, b: np.frompyfunc(one, 2, 1)(a, b).astype(bool)[()] if np.ndim(a) or np.ndim(
        b
    ) else np.bool_(one(a, b))


_ROWS: list[tuple[Any, ...]] = [
    ("add", "nn->n", np.add, "sum; integers wrap", "oi", True),
    ("sub", "nn->n", np.subtract, "difference; integers wrap", "oi", True),
    ("mul", "nn->n", np.multiply, "product; integers wrap", "oui", True),
    ("div", "ff->f", np.divide, "correctly rounded quotient", "doui", True),
    ("neg", "n->n", np.negative, "negation; integers wrap", "", True),
    ("abs", "n->n", np.absolute, "magnitude; MIN wraps", ""),
    ("sqrt", "f->f", np.sqrt, "correctly rounded square root", "i", True),
    ("fma", "fff->f", _fma, "a*b + c, rounded once", "oui"),
    ("floor", "f->f", np.floor, "largest integer not above", ""),
    ("ceil", "f->f", np.ceil, "smallest integer not below", ""),
    ("trunc", "f->f", np.trunc, "integer part", ""),
    ("rint", "f->f", np.rint, "nearest integer, ties to even", ""),
    ("copysign", "ff->f", np.copysign, "magnitude of a, sign of b", ""),
    ("ldexp", "fi->f", np.ldexp, "a * 2**n, rounded once", "ou"),
    ("fmod", "ff->f", np.fmod, "remainder of truncated division", "i"),
    ("floor_quotient", "ff->f", _floor_quotient, "a / b rounded down; NaN where b or the quotient "
     "is not moderate", "doui"),
    ("minimum", "nn->n", _minimum, "IEEE minimum: NaN wins, -0 < +0", ""),
    ("maximum", "nn->n", _maximum, "IEEE maximum: NaN wins, -0 < +0", ""),
    ("int_div", "ii->i", np.floor_divide, "// rounding down; by 0: 0; MIN // -1: MIN", "d"),
    ("int_mod", "ii->i", np.remainder, "% with b's sign; by 0: 0", "d"),
    ("bit_and", "ii->i", np.bitwise_and, "also of bools", ""),
    ("bit_or", "ii->i", np.bitwise_or, "also of bools", ""),
    ("bit_xor", "ii->i", np.bitwise_xor, "also of bools", ""),
    ("bit_not", "i->i", np.invert, "also of bools", ""),
    ("shl", "ii->i", _shift_left, "0 if the count is not in 0 .. width-1", ""),
    ("shr", "ii->i", np.right_shift, "sign fill; count not in 0 .. width-1: 0 or -1", ""),
    ("lt", "nn->b", np.less, "a < b; false with NaN, quietly", ""),
    ("le", "nn->b", np.less_equal, "a <= b; false with NaN, quietly", ""),
    ("eq", "aa->b", np.equal, "a == b", ""),
    ("ne", "aa->b", np.not_equal, "a != b", ""),
    ("where", "baa->a", np.where, "b ? a1 : a2, both computed", ""),
    ("rare", "baa->a", np.where, "where, and few lanes are true: what only a1 needs may be "
     "skipped when none is; computed for every lane it raises no flag", ""),
    ("popcount", "i->i", np.bitwise_count, "number of ones of |a|", ""),
    ("to_bits", "f->i", _bits_of, "the signed integer of the same bits", ""),
    ("from_bits", "i->f", _float_of, "the float of the same bits", ""),
    ("lookup", "i->n", _lookup, "table[i & (len - 1)] of floats or int64, len a power of two", ""),
    ("call", "f*->f", _call, "a subprogram of so many float64 numbers", ""),
    ("complex", "ff->c", _complex, "from real and imaginary part", ""),
    ("real", "c->f", np.real, "real part", ""),
    ("imag", "c->f", np.imag, "imaginary part", ""),
    ("add_overflows", "ii->b", _overflows("add"), "the exact int64 sum does not fit", ""),
    ("sub_overflows", "ii->b", _overflows("sub"), "the exact difference does not fit", ""),
    ("mul_overflows", "ii->b", _overflows("mul"), "the exact product does not fit", ""),
]

PRIMITIVES: dict[str, Primitive] = {
    name: Primitive(name, signature, meaning, doc, flags, *fresh)
    for name, signature, meaning, doc, flags, *fresh in _ROWS
}

#: kinds of reduction: the binary operation and its identity (None: the first element)
REDUCTIONS: dict[str, tuple[str, int | None]] = {
    "sum": ("add", 0),  # in the canonical order; everything else runs sequentially
    "prod": ("mul", 1),
    "min": ("minimum", None),
    "max": ("maximum", None),
    "all": ("bit_and", 1),
    "any": ("bit_or", 0),
    "bit_and": ("bit_and", -1),
    "bit_or": ("bit_or", 0),
    "bit_xor": ("bit_xor", 0),
    "argmin": ("argmin", None),  # index of the first minimum; the first NaN wins
    "argmax": ("argmax", None),
}


def raises(node: Node) -> bool:
    """Whether a node may raise flags by itself; Python's own numbers raise exceptions instead."""
    type_ = node.type
    if not isinstance(type_, (Array, Scalar)) or getattr(type_, "origin", "np") == "py":
        return False
    if node.op == "cast":
        return node.args[0].dtype.kind in "fc"
    primitive = PRIMITIVES.get(node.op)
    return primitive is not None and bool(primitive.flags)
