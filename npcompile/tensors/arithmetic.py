"""Elementwise functions of several operators, as compositions."""

from __future__ import annotations

from typing import Any

from npcompile.tensors.elementwise import HALF
from npcompile.tensors.expressions import TensorExpr, composition

INTEGERS, REAL, NUMBERS, ALL = "iu", "iuf", "iufc", "biufc"


def is_tensor(x: Any) -> bool:
    """Whether an operand is a tensor, not a number."""
    return isinstance(x, TensorExpr) and x.ndim >= 0 and hasattr(x.operand, "memory")


def _refused(first: Any, *others: Any) -> Any:
    """The operand that may refuse."""
    return next(x for x in (first, *others) if isinstance(x, TensorExpr))


# ------------------------------------------------------------------ sums and products


@composition("add", "Tensor.__add__", dtypes=ALL + "h")
def add(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """``input + alpha * other``"""
    return _refused(input, other).do_pair("plain_add", input, _scaled(input, other, alpha))


@composition("sub", "subtract", "Tensor.__sub__", dtypes=NUMBERS + "h")
def sub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """``input - alpha * other``"""
    return _refused(input, other).do_pair("plain_sub", input, _scaled(input, other, alpha))


@composition("rsub", dtypes=NUMBERS + "h")
def rsub(input: Any, other: Any, alpha: Any = 1) -> Any:
    """``other - alpha * input``"""
    return input.do_pair("plain_sub", other, _scaled(other, input, alpha))


def _scaled(input: Any, other: Any, alpha: Any) -> Any:
    """A summand times its factor."""
    if type(alpha) is int and alpha == 1:
        return other
    pair = [x for x in (input, other) if is_tensor(x)]
    if any(x.dtype.char not in "fd" for x in pair) or len({x.dtype for x in pair}) > 1:
        raise _refused(input, other).refuse("alpha= of integers, or of unlike dtypes")
    return other * alpha


@composition("div", "divide", "Tensor.__truediv__", dtypes=ALL + "h")
def div(input: Any, other: Any, *, rounding_mode: Any = None) -> Any:
    """The quotient, which may be rounded."""
    one = _refused(input, other)
    if not is_tensor(input) and other.dtype == HALF:
        raise one.refuse("a number by tensors of float16, which torch takes the reciprocals of")
    if rounding_mode is None:
        return one.do_pair("true_divide", input, other)
    if rounding_mode == "floor":
        return one.do_pair("floor_divide", input, other)
    pair = [x for x in (input, other) if is_tensor(x)]
    if rounding_mode != "trunc" or any(x.dtype.char not in "fd" for x in pair):
        raise one.refuse("rounding_mode= of integers")
    return one.do_pair("true_divide", input, other).trunc()


@composition("addcmul")
def addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """``input + value * tensor1 * tensor2``"""
    return input + value * tensor1 * tensor2 if value != 1 else input + tensor1 * tensor2


@composition("addcdiv")
def addcdiv(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """``input + value * tensor1 / tensor2``"""
    return input + value * tensor1 / tensor2 if value != 1 else input + tensor1 / tensor2


@composition("lerp")
def lerp(input: Any, end: Any, weight: Any) -> Any:
    """A number between two, nearer to the first or to the second."""
    if input.dtype != end.dtype:
        raise input.refuse("of unlike dtypes: Python raises")
    step = end - input
    if not is_tensor(weight):
        return input + weight * step if abs(weight) < 0.5 else end - step * (1 - weight)
    if weight.dtype != input.dtype:
        raise input.refuse("of unlike dtypes: Python raises")
    near = input + weight * step
    return near.where(weight.abs() < 0.5, end - step * (1 - weight))


@composition("frac")
def frac(input: Any) -> Any:
    """What is behind the point."""
    return input - input.trunc()


@composition("sgn", dtypes=REAL)
def sgn(input: Any) -> Any:
    """The sign."""
    return input.do("sign")


@composition("float_power", dtypes=ALL)
def float_power(input: Any, exponent: Any) -> Any:
    """A power in float64."""
    if not all((is_tensor(x) and x.dtype.kind == "f") or isinstance(x, (int, float))
               for x in (input, exponent)):
        raise _refused(input, exponent).refuse("of other than floats")
    wide = [x.double() if is_tensor(x) else float(x) for x in (input, exponent)]
    return _refused(*wide).do_pair("pow", *wide)


@composition("ldexp")
def ldexp(input: Any, other: Any) -> Any:
    """``input * 2**other``"""
    return input * other.exp2() if is_tensor(other) else input * 2.0**other


@composition("clamp_min", dtypes=REAL)
def clamp_min(input: Any, min: Any) -> Any:
    """Numbers that are not below a bound."""
    return input.clamp(min)


@composition("clamp_max", dtypes=REAL)
def clamp_max(input: Any, max: Any) -> Any:
    """Numbers that are not above a bound."""
    return input.clamp(None, max)


@composition("polygamma", "special.polygamma")
def polygamma(n: Any, input: Any) -> Any:
    """The derivative of order n of digamma."""
    if not is_tensor(n):
        return _polygamma(n, input)
    raise n.refuse("of an order that is a tensor")


@composition("Tensor.polygamma")
def polygamma_of(input: Any, n: Any) -> Any:
    """The derivative of order n of digamma."""
    return _polygamma(n, input)


def _polygamma(n: Any, input: Any) -> Any:
    if type(n) is not int or n < 0:
        raise input.refuse("of an order that is no natural number")
    return input.digamma() if n == 0 else input.do("special.plain_polygamma", n)


# ------------------------------------------------------------------ tests


@composition("isclose", dtypes="f")
def isclose(input: Any, other: Any, rtol: Any = 1e-05, atol: Any = 1e-08,
            equal_nan: Any = False) -> Any:
    """Whether numbers are equal up to an error."""
    if input.dtype != other.dtype:
        raise input.refuse("of unlike dtypes: Python raises")
    if min(rtol, atol) < 0:
        raise input.refuse("of a negative tolerance: Python raises")
    found = input == other
    if equal_nan:
        found = found | (input.isnan() & other.isnan())
    if rtol == atol == 0:
        return found
    error = (input - other).abs()
    return found | (error.isfinite() & (error <= atol + (rtol * other).abs()))


@composition("isreal", dtypes="biuf")
def isreal(input: Any) -> Any:
    """Whether numbers have no imaginary part."""
    return input.do("ones_like", dtype=_torch().bool)


def _torch() -> Any:
    import sys

    return sys.modules["torch"]


# ------------------------------------------------------------------ replaced numbers


@composition("nan_to_num")
def nan_to_num(input: Any, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Any:
    """Finite numbers in the place of what is none."""
    import numpy as np

    limits = np.finfo(input.dtype)
    high = float(limits.max) if posinf is None else posinf
    low = float(limits.min) if neginf is None else neginf
    found = input.where(~input.isnan(), 0.0 if nan is None else nan)
    found = found.where(~(input == float("inf")), high)
    return found.where(~(input == float("-inf")), low)


@composition("masked_fill", dtypes=ALL)
def masked_fill(input: Any, mask: Any, value: Any) -> Any:
    """One number where a mask is true."""
    if mask.dtype.kind != "b" or (is_tensor(value) and value.ndim):
        raise input.refuse("of a mask that is not bool, or of a tensor with axes")
    kinds = "biufc"
    kind = value.dtype.kind if isinstance(value, TensorExpr) else {
        bool: "b", int: "i", float: "f"}.get(type(value), "c")
    if kinds.index(kind) > kinds.index(input.dtype.kind):
        raise input.refuse("with a number of another kind: Python raises")
    if is_tensor(value) and value.dtype != input.dtype:
        raise input.refuse("with a tensor of another dtype")
    return input.where(~mask, value).contiguous()  # torch fills a contiguous clone


@composition("threshold", "nn.functional.threshold", dtypes="f")
def threshold(input: Any, threshold: Any, value: Any, inplace: Any = False) -> Any:
    """One number where others do not exceed a threshold."""
    if inplace:
        raise input.refuse("in place")
    return input.where(~(input <= threshold), value)


@composition("hardshrink", "nn.functional.hardshrink")
def hardshrink(input: Any, lambd: Any = 0.5) -> Any:
    """0 for what is small."""
    return input.where(~((input >= -lambd) & (input <= lambd)), 0.0)


# ------------------------------------------------------------------ complex numbers


@composition("angle", dtypes="f")
def angle(input: Any) -> Any:
    """The angle of real numbers: 0 or pi."""
    turned = (input * 0.0).where(~(input < 0), 3.141592653589793)
    return turned.where(~input.isnan(), input) + 0.0


@composition("complex", method=False)
def complex_of(real: Any, imag: Any) -> Any:
    """Complex numbers of their parts."""
    if real.dtype != imag.dtype:
        raise real.refuse("of unlike dtypes: Python raises")
    return real.do("plain_complex", imag)


@composition("polar", method=False)
def polar(abs: Any, angle: Any) -> Any:
    """Complex numbers of absolute values and angles."""
    if abs.dtype != angle.dtype:
        raise abs.refuse("of unlike dtypes: Python raises")
    return (abs * angle.cos()).do("plain_complex", abs * angle.sin())
