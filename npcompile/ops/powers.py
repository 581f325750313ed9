"""Powers of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.graph.expression import Expr, const, sqrt, where
from npcompile.graph.ir import Const, Node, Reduction
from npcompile.graph.types import BOOL, Array, Scalar
from npcompile.ops.arithmetic import by_kind, elsewhere
from npcompile.ops.elementwise import FLOATS, NUMBERS, Ufunc, loops, part, ufunc
from npcompile.ops.operands import Context
from npcompile.ops.record import OPERATORS, Errors

FAST_EXPONENTS = (-1.0, 0.0, 0.5, 1.0, 2.0)


def static_value(node: Node) -> Any:
    """The number of a constant, else None."""
    return node.attrs.value if isinstance(node.attrs, Const) and node.op == "const" else None


def _check_exponents(ctx: Context, nodes: tuple[Node, ...]) -> None:
    """Negative powers of integers raise; float powers that aren't exact need ``pow``."""
    base, exponent = nodes
    value = static_value(exponent)
    if base.dtype.kind == "i":
        if value is not None and value < 0:
            raise ctx.refuse("power", "an integer to a negative power: Python raises")
        if value is None:
            _check_not_negative(ctx, exponent)
    elif base.dtype.kind == "f" and value not in FAST_EXPONENTS and "pow" not in OPERATORS:
        raise ctx.refuse("power", "of floats needs pow")
    elif base.dtype == np.float16 and value == 0.5:
        raise ctx.refuse("power", "of float16 by 0.5: NumPy's depends on how it is called")


def _check_not_negative(ctx: Context, exponent: Node) -> None:
    b = ctx.builder
    good = b.map("le", (b.const(exponent.dtype.type(0)), exponent), np.bool_)
    if isinstance(good.type, Array):
        axes = tuple(range(good.type.ndim))
        good = b.emit("reduce", (good,), Reduction("all", axes, False, BOOL), Scalar(BOOL, "np"))
    b.check(good, "power: an integer to a negative power raises")


def _int_power(base: Expr, exponent: Expr) -> Expr:
    """Square and multiply over the exponent's bits; products wrap."""
    value = static_value(exponent.node)
    bits = exponent.dtype.itemsize * 8 if value is None else int(value).bit_length()
    result: Expr | None = None
    for bit in range(bits):
        if value is None:
            chosen = ((exponent >> bit) & 1) != 0
            result = where(chosen, base, 1) if result is None else where(
                chosen, result * base, result)
        elif int(value) >> bit & 1:
            result = base if result is None else result * base
        if bit + 1 < bits:
            base = base * base
    return const(1, base) if result is None else result


pow_ = elsewhere("pow")


def _float_power(base: Expr, exponent: Expr) -> Expr:
    value = static_value(exponent.node)
    if value == -1.0:
        return 1.0 / base
    if value == 0.0:
        return const(1.0, base)
    if value in (0.5, 1.0, 2.0):
        chosen: Expr = sqrt(base) if value == 0.5 else base if value == 1.0 else base * base
        return chosen
    found: Expr = pow_(base, exponent)
    if isinstance(exponent.node.type, Scalar):
        # NumPy takes the root where one exponent serves all elements; they differ at two points
        root = exponent == 0.5
        found = where(root & (base == 0), base, found)
        found = where(root & (base == float("-inf")), float("nan"), found)
    return found


def _of_exponent(node: Node) -> str | None:
    """The errors that floats to a known power report."""
    exponent = static_value(node.args[-1])
    if node.dtype.kind != "f" or exponent is None or not (value := complex(exponent).real) >= 0:
        return None
    return "ou" if value.is_integer() else "oui"


POWER_ERRORS = Errors("douI", of_node=_of_exponent)

ufunc("power", loops("xx->x", NUMBERS), by_kind(iu=_int_power, f=_float_power, c=pow_),
      data=Ufunc(prepare=_check_exponents), ulp={"e": 1.0, "f": 1.0, "d": 1.0, "F": 8.0, "D": 8.0},
      errors=POWER_ERRORS, of_scalars=True,
      doc="x1 ** x2; exponents -1, 0, 0.5, 1 and 2 are exact.", fresh=True, eager=True)

part("scalar_power", loops("xx->x", FLOATS), "operator:pow", pow_,
     ulp={"e": 1.0, "f": 1.0, "d": 1.0}, errors=POWER_ERRORS,
     doc="x1 ** x2 of scalars: always pow.", fresh=True)
