"""Greatest common divisors and least common multiples: Euclid's algorithm on integers that are
floats, in all lanes of a register at a time.
"""

from __future__ import annotations

import numpy as np

from npcompile.graph import expression
from npcompile.graph.expression import Expr, fma, trunc, where
from npcompile.graph.ir import Node
from npcompile.graph.subprograms import paired_subprogram, repeat
from npcompile.graph.types import BOOL, FLOAT, INT
from npcompile.ops import arguments
from npcompile.ops.arguments import program
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.reductions import reduce_node

DIVISORS = arguments.program_kind("divisors")
EXACT = 2**53  # integers of less are floats, and so are quotients rounded to integers


@paired_subprogram
def common_divisor(a: Expr, b: Expr) -> Expr:
    """The greatest common divisor of integers that are not negative; 0 of zeros."""
    larger = where(a == 0, where(b == 0, 1.0, b), a)  # gcd(0, b) = gcd(b, b)
    smaller = where(b == 0, larger, b)

    def step(x: Expr, y: Expr) -> tuple[Expr, Expr, Expr]:
        quotient = trunc(x / y)  # at most one too large
        rest = fma(-quotient, y, x)
        rest = where(rest < 0, rest + y, rest)
        return rest != 0, y, rest

    found = repeat(step, larger, smaller)[0]
    return where((a == 0) & (b == 0), 0.0, found)


def _operands(ctx: Context, name: str, x1: Operand, x2: Operand) -> list[ArrayRef]:
    """Both operands as arrays of one integer dtype, of magnitudes that floats hold."""
    if not isinstance(x1, ArrayRef) and not isinstance(x2, ArrayRef):
        raise ctx.refuse(name, "of two numbers")
    dtypes = [arguments.operand_dtype(x) for x in (x1, x2) if not arguments.is_weak(x)]
    dtype = np.result_type(*dtypes)
    if dtype.kind not in "iu":
        raise ctx.refuse(name, f"of {dtype}: Python raises")
    found = []
    for x in (x1, x2):
        if arguments.is_weak(x):
            known = arguments.static(x)
            if type(known) is not int or not np.iinfo(dtype).min <= known <= np.iinfo(dtype).max:
                raise ctx.refuse(name, "of a number that may not fit")
            x = dtype.type(known)
        elif not isinstance(x, ArrayRef) and not arguments.is_number(x):
            raise ctx.refuse(name, "of what is no array")
        ref = arguments.as_array(ctx, x, dtype)
        _check_small(ctx, name, ref)
        found.append(ref)
    return found


def _check_small(ctx: Context, name: str, ref: ArrayRef) -> None:
    """Leaves where a number is too large for a float."""
    b = ctx.builder
    if ref.dtype.itemsize < 8:
        return
    node, limit = ctx.read(ref), ref.dtype.type(EXACT)
    small = b.map("lt", (node, b.const(limit)), BOOL)
    if ref.dtype.kind == "i":
        small = b.map("bit_and", (small, b.map("lt", (b.const(-limit), node), BOOL)), BOOL)
    holds = reduce_node(ctx, small, "all", tuple(range(ref.ndim)), False, BOOL)
    b.check(holds, f"{name}: an integer beyond 2**53")


def _divisor(ctx: Context, refs: list[ArrayRef]) -> tuple[Node, list[Node]]:
    """The greatest common divisor, and the magnitudes of both operands, as floats."""
    b = ctx.builder
    sizes = [b.map("abs", (b.cast(ctx.read(ref), FLOAT),), FLOAT) for ref in refs]
    found = expression.apply(common_divisor, b, sizes)
    assert isinstance(found, Node)
    return found, sizes


@program(DIVISORS, "gcd")
def gcd(ctx: Context, x1: Operand, x2: Operand, /) -> ArrayRef:
    """The greatest common divisor."""
    refs = _operands(ctx, "gcd", x1, x2)
    found, _ = _divisor(ctx, refs)
    return ctx.new(ctx.builder.cast(ctx.builder.cast(found, INT), refs[0].dtype))


@program(DIVISORS, "lcm")
def lcm(ctx: Context, x1: Operand, x2: Operand, /) -> ArrayRef:
    """The least common multiple."""
    b, refs = ctx.builder, _operands(ctx, "lcm", x1, x2)
    found, (first, second) = _divisor(ctx, refs)
    one = b.map("where", (b.map("eq", (found, b.const(np.float64(0))), BOOL),
                          b.const(np.float64(1)), found), FLOAT)
    parts = [b.cast(x, INT) for x in (b.map("div", (first, one), FLOAT), second)]
    product = b.map("mul", parts, INT)
    return ctx.new(b.cast(product, refs[0].dtype))
