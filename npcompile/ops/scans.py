"""Running sums and products, and the ``accumulate`` of other ufuncs: one node each."""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.graph import layout
from npcompile.graph.ir import Node, Reduction
from npcompile.graph.types import BOOL, SUPPORTED, Array
from npcompile.ops import arguments, views
from npcompile.ops.arguments import as_array, axis_in, dtype_of, program, truth
from npcompile.ops.masked import replaced_nan
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.record import Op, define
from npcompile.ops.reductions import (
    ALL,
    ANY,
    MAX,
    MIN,
    PROD,
    SUM,
    Rule,
    deliver,
    reduction_kind,
    widened,
)

SCAN = arguments.program_kind("running")


def scan_with(rule: Rule, name: str, ctx: Context, ref: ArrayRef, axis: Operand,
              dtype: Operand = None, out: Operand = None) -> Operand:
    """The results of all elements up to each along an axis, in their order."""
    place = axis_in(ctx, axis, ref.ndim, name)
    if isinstance(out, tuple) and len(out) == 1:
        (out,) = out
    loop = _loop(ctx, ref, rule, name, dtype, out)
    if loop.kind == "c" and rule.kind != "sum":
        raise ctx.refuse(name, "of complex numbers: NumPy's own")
    node = ctx.builder.cast(ctx.read(ref), BOOL) if rule.truth else ctx.read(ref)
    kind = {"min": "all", "max": "any"}.get(rule.kind, rule.kind) if loop == BOOL else rule.kind
    return deliver(ctx, name, scan_node(ctx, node, kind, place, loop), out, ref)


def scan_node(ctx: Context, array: Node, kind: str, axis: int, loop: np.dtype[Any]) -> Node:
    """The node of a running reduction."""
    assert isinstance(array.type, Array)
    strides = layout.k_strides(ctx.facts, array.shape, [array.type.strides])
    attrs = Reduction(kind, (axis,), True, loop, running=True)
    return ctx.builder.emit("reduce", (array,), attrs, Array(loop, array.shape, strides))


def _loop(ctx: Context, ref: ArrayRef, rule: Rule, name: str, dtype: Operand,
          out: Operand) -> np.dtype[Any]:
    """The dtype that it runs in."""
    if dtype is not None:
        loop = dtype_of(ctx, dtype, name)
    elif isinstance(out, ArrayRef):
        loop = out.dtype
        if not np.can_cast(ref.dtype, loop):
            raise ctx.refuse(name, "out= of a narrower dtype")
    else:
        loop = BOOL if rule.truth else widened(ref.dtype) if rule.wide else ref.dtype
    if loop.kind not in rule.dtypes or loop.char not in SUPPORTED:
        raise ctx.refuse(name, f"dtype {loop}")
    if rule.truth and loop != BOOL:
        raise ctx.refuse(name, "dtype=")
    if ref.dtype.kind == "c" and loop.kind != "c" and not rule.truth:
        raise ctx.refuse(name, "complex to real warns")
    return loop


def _along(ctx: Context, a: Operand, axis: Operand) -> tuple[ArrayRef, Operand]:
    """An array and an axis; all elements in C order where none is named."""
    ref = as_array(ctx, a)
    return (ref, axis) if axis is not None else (views.ravel(ctx, ref), 0)


@program(SCAN, "cumsum", "numpy:ndarray.cumsum")
def cumsum(ctx: Context, a: Operand, axis: Operand = None, dtype: Operand = None,
           out: Operand = None) -> Operand:
    """Running sums."""
    return scan_with(SUM, "cumsum", ctx, *_along(ctx, a, axis), dtype, out)


@program(SCAN, "cumprod", "numpy:ndarray.cumprod")
def cumprod(ctx: Context, a: Operand, axis: Operand = None, dtype: Operand = None,
            out: Operand = None) -> Operand:
    """Running products."""
    return scan_with(PROD, "cumprod", ctx, *_along(ctx, a, axis), dtype, out)


def _cumulative(name: str, rule: Rule) -> None:
    def cumulative(ctx: Context, x: Operand, /, *, axis: Operand = None, dtype: Operand = None,
                   out: Operand = None, include_initial: Operand = False) -> Operand:
        ref = as_array(ctx, x)
        if not ref.ndim or (ref.ndim > 1 and axis is None) or truth(ctx, include_initial, name):
            raise ctx.refuse(name, "include_initial=, or an axis that is not named")
        return scan_with(rule, name, ctx, ref, 0 if axis is None else axis, dtype, out)

    program(SCAN, name, doc=f"Running {rule.kind}s along an axis.")(cumulative)


_cumulative("cumulative_sum", SUM)
_cumulative("cumulative_prod", PROD)


def _nan_running(name: str, rule: Rule, value: float) -> None:
    def running(ctx: Context, a: Operand, axis: Operand = None, dtype: Operand = None,
                out: Operand = None) -> Operand:
        ref = as_array(ctx, a)
        node, mask = replaced_nan(ctx, ref, value)
        found = ref if mask is None else ctx.new(node)
        return scan_with(rule, name, ctx, *_along(ctx, found, axis), dtype, out)

    program(SCAN, name, doc=f"Running {rule.kind}s of what is not NaN.")(running)


_nan_running("nancumsum", SUM, 0)
_nan_running("nancumprod", PROD, 1)


def _accumulate(op: Op, ctx: Context, array: Operand, axis: Operand = 0, dtype: Operand = None,
                out: Operand = None) -> Operand:
    ref = as_array(ctx, array)
    if not ref.ndim or axis is None:
        raise ctx.refuse(op.name, "of what has no axes, or along none: Python raises")
    return scan_with(op.data, op.name, ctx, ref, axis, dtype, out)


ACCUMULATE = reduction_kind("ufunc.accumulate", _accumulate)
for _ufunc, _rule in {
    "add": SUM, "multiply": PROD, "minimum": MIN, "maximum": MAX, "logical_and": ALL,
    "logical_or": ANY, "bitwise_and": Rule("bit_and", dtypes="biu"),
    "bitwise_or": Rule("bit_or", dtypes="biu"), "bitwise_xor": Rule("bit_xor", dtypes="biu"),
}.items():
    define(f"{_ufunc}.accumulate", ACCUMULATE, reference=f"numpy:{_ufunc}.accumulate", data=_rule,
           doc=f"Running results of {_ufunc}.")
