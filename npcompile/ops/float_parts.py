"""Floats put together and taken apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.graph.expression import (
    Expr,
    cast,
    const,
    copysign,
    from_bits,
    ldexp,
    to_bits,
    trunc,
    where,
)
from npcompile.ops.elementwise import FLOATS, Ufunc, loops, part, ufunc
from npcompile.ops.record import Errors

ufunc("ldexp", " ".join(f"{f}{i}->{f}" for f in FLOATS for i in "il"), ldexp,
      errors=Errors("ou"), doc="x1 * 2**x2, rounded once.")


def modf_fraction(x: Any) -> Any:
    """The reference of ``modf.fraction``."""
    return np.modf(x)[0]


def modf_whole(x: Any) -> Any:
    """The reference of ``modf.whole``."""
    return np.modf(x)[1]


def frexp_mantissa(x: Any) -> Any:
    """The reference of ``frexp.mantissa``."""
    return np.frexp(x)[0]


def frexp_exponent(x: Any) -> Any:
    """The reference of ``frexp.exponent``."""
    return np.frexp(x)[1]


def _fraction(x: Expr) -> Expr:
    endless = abs(x) == float("inf")
    finite = where(endless, 0.0, x)
    return copysign(finite - trunc(finite), x)


_HERE = "npcompile.ops.float_parts"
part("modf.fraction", loops("x->x", FLOATS), f"{_HERE}:modf_fraction", _fraction)
part("modf.whole", loops("x->x", FLOATS), f"{_HERE}:modf_whole", trunc)
ufunc("modf", loops("x->xx", FLOATS), None, data=Ufunc(("modf.fraction", "modf.whole")),
      doc="Fractional and integral part.")


def _frexp_parts(x: Expr) -> tuple[Expr, Expr, Expr]:
    """Whether x is finite and not 0, the bits of x scaled out of the subnormals, its exponent."""
    digits, bias = (52, 1023) if x.dtype.itemsize == 8 else (23, 127)
    ordinary = (x != 0) & (abs(x) < float("inf"))
    small = abs(x) < float(np.finfo(x.dtype).tiny)
    bits = to_bits(where(small, where(small, x, 0.0) * 2.0**64, x))
    raw = (bits >> digits) & (2 * bias + 1)
    return ordinary, bits, raw - (bias - 1) - where(small, const(64, bits), 0)


def _mantissa(x: Expr) -> Expr:
    digits, bias = (52, 1023) if x.dtype.itemsize == 8 else (23, 127)
    ordinary, bits, _ = _frexp_parts(x)
    kept = bits & ~((2 * bias + 1) << digits)
    return where(ordinary, from_bits(kept | ((bias - 1) << digits)), x)


def _exponent(x: Expr) -> Expr:
    ordinary, _, exponent = _frexp_parts(x)
    return cast(where(ordinary, exponent, 0), np.int32)


part("frexp.mantissa", loops("x->x", FLOATS), f"{_HERE}:frexp_mantissa", _mantissa)
part("frexp.exponent", loops("x->i", FLOATS), f"{_HERE}:frexp_exponent", _exponent)
ufunc("frexp", loops("x->xi", FLOATS), None, data=Ufunc(("frexp.mantissa", "frexp.exponent")),
      doc="Mantissa in [0.5, 1) and exponent of 2.")
