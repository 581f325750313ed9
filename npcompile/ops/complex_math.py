"""The functions of :mod:`cmath`.

An argument or a result that is not finite leaves for Python, which knows what raises.
"""

from __future__ import annotations

import numpy as np

from npcompile.graph.ir import Node
from npcompile.graph.types import BOOL, PY_COMPLEX
from npcompile.ops.builtin import abs_, real
from npcompile.ops.casting import number
from npcompile.ops.elementwise import composed, py_scalar
from npcompile.ops.operands import Context, Operand

#: name in cmath, and the record that computes it
_NAMES = {
    "exp": "exp", "sqrt": "sqrt", "log10": "log10", "sin": "sin", "cos": "cos", "tan": "tan",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asin": "arcsin", "acos": "arccos",
    "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
}


def complex_of(ctx: Context, x: Operand, what: str) -> Node:
    """A number as :mod:`cmath` takes it: as a Python complex."""
    return py_scalar(ctx, number(ctx, x, what), PY_COMPLEX)


def check_finite(ctx: Context, x: Node) -> None:
    """Goes on in Python where a part is infinite or NaN."""
    ctx.builder.check(ctx.builder.map("isfinite", (x,), BOOL), "a complex number is not finite")


def _apply(ctx: Context, x: Operand, name: str, record: str) -> Node:
    node = complex_of(ctx, x, f"cmath.{name}")
    check_finite(ctx, node)
    made = ctx.builder.map(record, (node,), np.complex128, origin="py")
    check_finite(ctx, made)
    return made


def _unary(name: str, record: str) -> None:
    def function(ctx: Context, z: Operand, /) -> Operand:
        return _apply(ctx, z, name, record)

    composed(f"cmath.{name}", f"cmath:{name}", doc=f"``cmath.{name}(z)``")(function)


for _name, _record in _NAMES.items():
    _unary(_name, _record)


@composed("cmath.log", "cmath:log")
def log(ctx: Context, z: Operand, base: Operand = None, /) -> Operand:
    """``cmath.log(z)``"""
    if base is not None:
        raise ctx.refuse("cmath.log", "to a base")
    return _apply(ctx, z, "log", "log")


@composed("cmath.phase", "cmath:phase")
def phase(ctx: Context, z: Operand, /) -> Operand:
    """``cmath.phase(z)``: a float."""
    node = complex_of(ctx, z, "cmath.phase")
    b = ctx.builder
    parts = [b.map(part, (node,), np.float64) for part in ("imag", "real")]
    return b.map("arctan2", parts, np.float64, origin="py")


@composed("cmath.polar", "cmath:polar")
def polar(ctx: Context, z: Operand, /) -> Operand:
    """``cmath.polar(z)``: magnitude and phase."""
    return abs_(ctx, complex_of(ctx, z, "cmath.polar")), phase(ctx, z)


@composed("cmath.rect", "cmath:rect")
def rect(ctx: Context, r: Operand, phi: Operand, /) -> Operand:
    """``cmath.rect(r, phi)``"""
    b = ctx.builder
    size, angle = real(ctx, r, "cmath.rect"), real(ctx, phi, "cmath.rect")
    for x in (size, angle):
        b.check(b.map("isfinite", (x,), BOOL), "a number is not finite")
    turned = [b.map(name, (angle,), np.float64) for name in ("cos", "sin")]
    parts = [b.map("mul", (size, part), np.float64) for part in turned]
    return b.map("complex", parts, np.complex128, origin="py")


def _test(name: str) -> None:
    def function(ctx: Context, z: Operand, /) -> Operand:
        node = complex_of(ctx, z, f"cmath.{name}")
        return ctx.builder.map(name, (node,), BOOL, origin="py")

    composed(f"cmath.{name}", f"cmath:{name}", doc=f"``cmath.{name}(z)``")(function)


for _name in ("isnan", "isinf", "isfinite"):
    _test(_name)
