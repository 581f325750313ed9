"""How Python's numbers are written: bits, decimals, whether they are whole."""

from __future__ import annotations

from npcompile.graph.ir import Node
from npcompile.graph.types import BOOL, FLOAT, INT, PY_BOOL, PY_INT, Scalar
from npcompile.ops import python_numbers
from npcompile.ops.arguments import static
from npcompile.ops.casting import number
from npcompile.ops.elementwise import composed, py_scalar
from npcompile.ops.operands import Context, Operand

DIGITS = 22  #: powers of ten up to here are floats


def _magnitude(ctx: Context, x: Operand, what: str) -> Node:
    """``abs(x)`` of a Python int."""
    node = py_scalar(ctx, number(ctx, x, what), PY_INT)
    low = ctx.builder.const(python_numbers.MIN)
    python_numbers.check(ctx, "ne", node, low, "a Python int wider than 64 bits")
    return ctx.builder.map("abs", (node,), INT, origin="py")


@composed("python.bit_length", "builtins:int.bit_length")
def bit_length(ctx: Context, self: Operand, /) -> Node:
    """``x.bit_length()``"""
    b, rest = ctx.builder, _magnitude(ctx, self, "bit_length")
    count = b.const(0)
    for step in (32, 16, 8, 4, 2, 1):
        high = b.map("shr", (rest, b.const(step)), INT)
        more = b.map("ne", (high, b.const(0)), BOOL)
        rest = b.map("where", (more, high, rest), INT)
        added = b.map("add", (count, b.const(step)), INT)
        count = b.map("where", (more, added, count), INT)
    return b.map("add", (count, rest), INT, origin="py")  # what is left is 0 or 1


@composed("python.bit_count", "builtins:int.bit_count")
def bit_count(ctx: Context, self: Operand, /) -> Node:
    """``x.bit_count()``"""
    return ctx.builder.map("popcount", (_magnitude(ctx, self, "bit_count"),), INT, origin="py")


@composed("python.is_integer", "builtins:float.is_integer", "numpy:floating.is_integer",
          "numpy:float64.is_integer")
def is_integer(ctx: Context, self: Operand, /) -> Node:
    """``x.is_integer()``"""
    b, node = ctx.builder, number(ctx, self, "is_integer")
    whole = b.map("eq", (b.map("rint", (node,), node.dtype), node), BOOL)
    finite = b.map("isfinite", (node,), BOOL)
    return py_scalar(ctx, b.map("bit_and", (whole, finite), BOOL), PY_BOOL)


def decimals(ctx: Context, x: Node, ndigits: Operand) -> Node:
    """``round(x, ndigits)`` of a float: the decimal nearest to ``x`` itself, ties to even.

    ``x * 10**n`` is a float and its exact error; the nearest integer ``r`` of their sum decides.
    ``r`` and ``10**n`` are floats, so that their quotient is the float nearest to the decimal.
    """
    digits = static(ndigits)
    if type(digits) is not int or not 0 <= digits <= DIGITS:
        raise ctx.refuse("round", "to decimals that only the run knows, or to tens")
    b, scale = ctx.builder, ctx.builder.const(10.0**digits)
    size = b.map("abs", (x,), FLOAT)
    fits = b.map("lt", (size, b.const(2.0**51 / 10.0**digits)), BOOL)
    b.check(fits, "round() of a large number to decimals")
    product = b.map("mul", (x, scale), FLOAT)
    error = b.map("fma", (x, scale, b.map("neg", (product,), FLOAT)), FLOAT)
    nearest = b.map("rint", (product,), FLOAT)
    gap = b.map("sub", (product, nearest), FLOAT)  # exact; the error only decides at ties
    for half, one in ((0.5, 1.0), (-0.5, -1.0)):
        tie = b.map("eq", (gap, b.const(half)), BOOL)
        pair = (b.const(0.0), error) if half > 0 else (error, b.const(0.0))
        beyond = b.map("bit_and", (tie, b.map("lt", pair, BOOL)), BOOL)
        on = b.map("add", (nearest, b.const(one)), FLOAT)
        nearest = b.map("where", (beyond, on, nearest), FLOAT)
    quotient = b.map("div", (nearest, scale), FLOAT)
    signed = b.map("copysign", (quotient, x), FLOAT)
    return py_scalar(ctx, signed, Scalar(FLOAT, "py"))
