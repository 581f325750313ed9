"""Overflow of NumPy's integer scalars: the result wraps, and NumPy warns, so Python goes on."""

from __future__ import annotations

import numpy as np

from npcompile.graph.builder import Builder
from npcompile.graph.ir import Const, Node, integer
from npcompile.graph.types import BOOL, INT
from npcompile.ops.operands import Context

_NAMES = {"+": "add", "-": "sub", "*": "mul"}


def check_overflow(ctx: Context, symbol: str, a: Node, b: Node, dtype: np.dtype) -> None:
    """Leaves compiled code where ``a symbol b`` does not fit the dtype that NumPy computes in."""
    name = _NAMES.get(symbol)
    if name is None or dtype.kind not in "iu":
        return
    if dtype.char in "qQ":  # equal to int64 as a dtype, but another class of scalars
        raise ctx.refuse(symbol, f"of {dtype.type.__name__} scalars")
    builder = ctx.builder
    a, b = builder.cast(a, dtype), builder.cast(b, dtype)
    if dtype == INT:
        overflows = builder.map(f"{name}_overflows", (a, b), BOOL)
    elif dtype.itemsize == 8:
        overflows = _unsigned(builder, name, a, b, dtype)
    elif name != "mul" and (name == "add" or b.op == "const") and "const" in (a.op, b.op):
        number, constant = (a, b) if b.op == "const" else (b, a)
        overflows = _moved_out(builder, name, number, constant)
    else:
        wide = builder.map(name, (builder.cast(a, INT), builder.cast(b, INT)), INT)
        back = builder.cast(builder.cast(wide, dtype), INT)
        overflows = builder.map("ne", (wide, back), BOOL)
    fits = builder.map("bit_not", (overflows,), BOOL)
    builder.check(fits, f"a scalar of {dtype} overflows: NumPy warns")


def _moved_out(builder: Builder, name: str, number: Node, constant: Node) -> Node:
    """Whether a number that a constant moves leaves its dtype on the side to which it moves."""
    assert isinstance(constant.attrs, Const)
    by = integer(constant.attrs.value) * (1 if name == "add" else -1)
    ends = np.iinfo(number.dtype)
    if by >= 0:
        last = builder.const(number.dtype.type(int(ends.max) - by))
        return builder.map("lt", (last, number), BOOL)
    return builder.map("lt", (number, builder.const(number.dtype.type(int(ends.min) - by))), BOOL)


def check_sign(ctx: Context, name: str, x: Node) -> None:
    """Leaves compiled code where the ``negative`` or ``absolute`` of a scalar does not fit."""
    dtype, builder = x.dtype, ctx.builder
    if dtype.kind not in "iu" or (dtype.kind == "u" and name == "absolute"):
        return
    lost = dtype.type(np.iinfo(dtype).min)
    op = "ne" if dtype.kind == "i" else "eq"  # of what has no sign only 0 has a negative
    fits = builder.map(op, (x, builder.const(lost)), BOOL)
    builder.check(fits, f"a scalar of {dtype} overflows: NumPy warns")


def _unsigned(builder: Builder, name: str, a: Node, b: Node, dtype: np.dtype) -> Node:
    """64 bits have no wider type to compute in."""
    if name == "sub":
        return builder.map("lt", (a, b), BOOL)
    wrapped = builder.map(name, (a, b), dtype)
    if name == "add":
        return builder.map("lt", (wrapped, a), BOOL)
    none = builder.map("eq", (a, builder.const(dtype.type(0))), BOOL)
    divisor = builder.map("where", (none, builder.const(dtype.type(1)), a), dtype)
    quotient = builder.map("int_div", (wrapped, divisor), dtype)
    differs = builder.map("ne", (quotient, b), BOOL)
    return builder.map("bit_and", (differs, builder.map("bit_not", (none,), BOOL)), BOOL)
