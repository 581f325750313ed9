"""Casts: ``astype``, calls of NumPy's scalar types, and int, float, complex, bool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from npcompile.graph.ir import Node
from npcompile.graph.layout import like_strides
from npcompile.graph.types import (
    BOOL,
    PY_BOOL,
    PY_COMPLEX,
    PY_FLOAT,
    PY_INT,
    Array,
    Scalar,
    c_strides,
)
from npcompile.ops.arguments import as_array, dtype_of
from npcompile.ops.elementwise import (
    Input,
    composed,
    lift,
    py_scalar,
    to_loop,
    wrap,
)
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.python import truth


def known_dtype(ctx: Context, dtype: Operand, what: str) -> np.dtype:
    """A static dtype argument as a dtype that is compiled."""
    if isinstance(dtype, (Node, ArrayRef)) or dtype is None:
        raise ctx.refuse(what, "a dtype that is not known while tracing")
    return dtype_of(ctx, dtype, what)


@composed("astype", "numpy:ndarray.astype", "numpy:astype", of_numbers=True)
def astype(ctx: Context, x: Operand, dtype: Operand, order: Operand = "K",
           casting: Operand = "unsafe", subok: Operand = True, copy: Operand = True) -> Operand:
    """A copy in another dtype; the array itself for ``copy=False`` if nothing changes."""
    target = known_dtype(ctx, dtype, "astype")
    source = lift(ctx, x, "astype")
    if source.weak or not isinstance(copy, bool) or casting not in (
            "no", "equiv", "safe", "same_kind", "unsafe"):
        raise ctx.refuse("astype", "its options must be known while tracing")
    have = np.dtype(source.like)
    if not np.can_cast(have, target, casting):
        raise ctx.refuse("astype", f"from {have} to {target} by rule {casting!r}: Python raises")
    _no_parts_lost(ctx, have, target)
    if not isinstance(x, ArrayRef):
        return to_loop(ctx, source, target, "astype")
    if not copy and have == target:
        if order != "K":
            raise ctx.refuse("astype", "copy=False with an order")
        return x
    return ctx.new(_laid_out(ctx, ctx.read(x), target, order))


def _no_parts_lost(ctx: Context, source: np.dtype, target: np.dtype) -> None:
    if source.kind == "c" and target.kind not in "cb":
        raise ctx.refuse(target.name, "of complex numbers warns")


def _laid_out(ctx: Context, node: Node, dtype: np.dtype, order: Operand) -> Node:
    type_ = node.type
    assert isinstance(type_, Array)
    if order == "K":
        strides = like_strides(ctx.facts, type_.shape, type_.strides)
    elif order == "C":
        strides = c_strides(type_.shape)
    elif order == "F":
        strides = tuple(reversed(c_strides(tuple(reversed(type_.shape)))))
    else:
        raise ctx.refuse("astype", f"order={order!r}")
    op = "copy" if dtype == type_.dtype else "cast"
    return ctx.builder.emit(op, (node,), None, Array(dtype, type_.shape, strides))


# ------------------------------------------------------------------ NumPy's scalar types

SCALAR_TYPES = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
                "longlong", "ulonglong", "float16", "float32", "float64", "complex64",
                "complex128")


def _constructor(dtype: np.dtype) -> Callable[..., Operand]:
    def construct(ctx: Context, x: Operand = 0, /) -> Operand:
        if isinstance(x, (list, tuple)):
            return as_array(ctx, x, dtype)
        source = lift(ctx, x, dtype.name)
        if not source.weak:
            _no_parts_lost(ctx, np.dtype(source.like), dtype)
        if isinstance(x, ArrayRef):
            if x.ndim and x.dtype == dtype:
                return x
            return wrap(ctx, ctx.builder.cast(source.value, dtype))
        if isinstance(source.like, type):
            return _from_python(ctx, source.value, source.like, dtype)
        return ctx.builder.cast(source.value, dtype)

    return construct


def _from_python(ctx: Context, value: Any, kind: type, dtype: np.dtype) -> Operand:
    """A Python number as NumPy takes it: ints by value, floats through int() to integers."""
    b = ctx.builder
    if kind is complex and dtype.kind != "c":
        if dtype.kind != "b":
            raise ctx.refuse(dtype.name, "of a complex number: Python raises")
    elif kind is float and dtype.kind in "iu":
        node = value if isinstance(value, Node) else b.const(value)
        value, kind = to_int(ctx, node), int
    if dtype.kind == "b":
        node = value if isinstance(value, Node) else b.const(value)
        return b.cast(node, BOOL)
    return py_scalar(ctx, to_loop(ctx, Input(kind, value), dtype, dtype.name),
                     Scalar(dtype, "np"))


for _name in SCALAR_TYPES:
    composed(f"cast.{_name}", f"numpy:{_name}",
             doc=f"A number or an array as {np.dtype(getattr(np, _name)).name}.")(
                 _constructor(np.dtype(getattr(np, _name))))

# ------------------------------------------------------------------ Python's types


def number(ctx: Context, x: Operand, what: str) -> Node:
    """A scalar operand, or the only element of a 0-d array."""
    if isinstance(x, (list, tuple)) or (isinstance(x, ArrayRef) and x.ndim):
        raise ctx.refuse(what, "of an array that is not 0-d, or of a sequence")
    source = lift(ctx, x, what)
    if isinstance(source.value, Node):
        return source.value
    return ctx.builder.const(source.value)


def to_int(ctx: Context, node: Node) -> Node:
    """``int(x)`` of a float: cut to the integer part, which must fit 64 bits."""
    b = ctx.builder
    if node.dtype.kind == "f":
        wide = node if node.dtype == np.float64 else b.cast(node, np.float64)
        low, high = b.const(-(2.0**63)), b.const(2.0**63)
        fits = b.map("bit_and", (b.map("le", (low, wide), np.bool_),
                                 b.map("lt", (wide, high), np.bool_)), np.bool_)
        b.check(fits, "int() of a float that is wider than 64 bits, infinite or NaN")
        return py_scalar(ctx, wide, PY_INT)
    if node.dtype == np.uint64:
        top = b.const(np.uint64(2**63 - 1))
        b.check(b.map("le", (node, top), np.bool_), "an int wider than 64 bits")
    if node.dtype.kind == "c":
        raise ctx.refuse("int", "of a complex number: Python raises")
    return py_scalar(ctx, node, PY_INT)


@composed("python.int", "builtins:int")
def int_(ctx: Context, x: Operand = 0, /) -> Operand:
    """A Python int."""
    return to_int(ctx, number(ctx, x, "int"))


@composed("python.float", "builtins:float")
def float_(ctx: Context, x: Operand = 0.0, /) -> Operand:
    """A Python float."""
    node = number(ctx, x, "float")
    if node.dtype.kind == "c":
        raise ctx.refuse("float", "of a complex number: Python raises")
    return py_scalar(ctx, node, PY_FLOAT)


@composed("python.complex", "builtins:complex")
def complex_(ctx: Context, real: Operand = 0, imag: Operand = None) -> Operand:
    """A Python complex number, of a number or of two real ones."""
    node = number(ctx, real, "complex")
    if imag is None:
        return py_scalar(ctx, node, PY_COMPLEX)
    second = number(ctx, imag, "complex")
    if "c" in (node.dtype.kind, second.dtype.kind):
        raise ctx.refuse("complex", "of two numbers that are not both real")
    halves = [py_scalar(ctx, n, PY_FLOAT) for n in (node, second)]
    return ctx.builder.map("complex", halves, np.complex128, origin="py")


@composed("python.bool", "builtins:bool")
def bool_(ctx: Context, x: Operand = False, /) -> Operand:
    """A Python bool."""
    found = truth(ctx, x)
    return py_scalar(ctx, found, PY_BOOL) if isinstance(found, Node) else found
