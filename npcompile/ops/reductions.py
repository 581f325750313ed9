"""Reductions: sums, products, extremes, and what NumPy composes of them.

A reduction is one node ``reduce``; its order is the canonical one
(:mod:`npcompile.ops.canonical`).  mean, var, std and the nan-functions follow NumPy's own Python
code step by step, so that they round where it rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from npcompile.core.records import record
from npcompile.core.sizes import Size, is_known
from npcompile.graph import layout
from npcompile.graph.ir import Node, Reduction
from npcompile.graph.types import BOOL, INT, SUPPORTED, Array, Scalar, Type, contiguous
from npcompile.ops import arguments, canonical, masked
from npcompile.ops.arguments import as_array, axes_in, dtype_of, truth
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.record import Op, OperatorFamily, define

COMPOSED = arguments.program_kind("composed reduction")


# ------------------------------------------------------------------ one node


def reduce_node(ctx: Context, array: Node, kind: str, axes: tuple[int, ...], keepdims: bool,
                loop: np.dtype[Any], initial: Node | None = None,
                strides: tuple[Size, ...] | None = None) -> Node:
    """The node of one reduction; a NumPy scalar where no axis is left.  ``strides``: of what NumPy
    reduces, where that is laid out otherwise."""
    if isinstance(array.type, Scalar):
        array = ctx.builder.full((), array)
    if not array.shape:  # an array of shape () is reduced like one of one element
        array = ctx.builder.emit("read", (array,), arguments.geometry((1,), (1,)),
                                 Array(array.dtype, (1,), (1,)))
        axes, keepdims = (0,), False  # there are no axes to keep
    index = kind in ("argmin", "argmax")
    dtype = INT if index else loop
    args = (array,) if initial is None else (array, initial)
    attrs = Reduction(kind, axes, keepdims, loop)
    if not all(map(is_known, array.shape)):
        canonical.ask_order(ctx.facts, array.type, attrs)  # later nothing can be checked
    type_ = _type(ctx, array, axes, keepdims, dtype, index, strides)
    return ctx.builder.emit("reduce", args, attrs, type_)


def _type(ctx: Context, array: Node, axes: tuple[int, ...], keepdims: bool, dtype: np.dtype[Any],
          c_order: bool, strides: tuple[Size, ...] | None = None) -> Type:
    """What NumPy returns: axes that are left lie in memory as the operand's do."""
    assert isinstance(array.type, Array)
    short: tuple[Size, ...] = tuple(1 if k in axes else n for k, n in enumerate(array.shape))
    left = [k for k in range(len(short)) if keepdims or k not in axes]
    if not left:
        return Scalar(dtype, "np")
    if c_order:
        return contiguous(dtype, tuple(short[k] for k in left))
    own = strides or array.type.strides
    order, plain = layout.axis_order(ctx.facts, array.shape, [own]), tuple(range(len(short)))
    if order != plain and any(ctx.facts.equal(array.shape[k], 0) for k in axes):
        order = plain if layout.has_no_order(ctx.facts, array.shape, own) else order
    fresh = layout.fresh_strides(short, order)
    return Array(dtype, tuple(short[k] for k in left), tuple(fresh[k] for k in left))


# ------------------------------------------------------------------ the kind


@record
class Rule:
    """``kind``: of the node; ``wide``: small integers and bools run in 64 bits; ``dtypes``: the
    kinds of dtype that are compiled; ``first``: the first element starts, so there must be one;
    ``truth``: of the operand cast to bool."""

    kind: str
    wide: bool = False
    dtypes: str = "biufc"
    first: bool = False
    truth: bool = False


def widened(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype that sums and products of small integers run in."""
    if dtype.kind in "bi":
        return INT if dtype.itemsize < 8 else dtype
    return np.dtype(np.uint64) if dtype.kind == "u" and dtype.itemsize < 8 else dtype


def axes_of(ctx: Context, axis: Operand, ndim: int, what: str) -> tuple[int, ...]:
    """``axis=`` of a reduction, sorted."""
    if axis is None:
        return tuple(range(ndim))
    if isinstance(axis, list) or (isinstance(axis, tuple) and not axis):
        raise ctx.refuse(what, "axis=(), or a list, of which Python raises")
    return tuple(sorted(axes_in(ctx, axis, ndim, what)))


def reduce_with(rule: Rule, name: str, ctx: Context, a: Operand, axis: Operand = None,
                dtype: Operand = None, out: Operand = None, keepdims: Operand = False,
                initial: Operand = None, where: Operand = True) -> Operand:
    """One reduction as NumPy's function does it."""
    ref = as_array(ctx, a)
    mask = masked.taken(ctx, where, ref, name)
    keeps = truth(ctx, keepdims, name)
    if keeps and not ref.ndim:
        raise ctx.refuse(name, "keepdims= of what has no axes")
    axes = axes_of(ctx, axis, ref.ndim, name)
    node, loop = _operand(ctx, ref, rule, name, dtype, out)
    if rule.first and initial is None:
        for k in axes:
            arguments.require(ctx, "<", 0, ref.shape[k], f"{name} of no elements")
    start = None if initial is None else arguments.scalar_to(ctx, initial, loop)
    if loop.kind == "c" and rule.kind == "prod":
        raise ctx.refuse(name, "of complex numbers: NumPy's own, which warns at the call's line")
    if loop.kind == "c" and rule.kind != "sum":
        result = complex_node(ctx, ref, rule.kind, axes, keeps, loop)
        if mask is not None or start is not None or loop != ref.dtype:
            raise ctx.refuse(name, "of complex numbers with where=, initial= or dtype=")
        return deliver(ctx, name, result, out, ref)
    kind = _kind(rule, loop)
    if rule.truth and mask is None:  # of a view that is empty the cast has other strides
        result = reduce_node(ctx, node, kind, axes, keeps, loop, start, ref.strides)
    else:
        result = reduce_where(ctx, name, ref, node, mask, kind, axes, keeps, loop, start)
    return deliver(ctx, name, result, out, ref)


def complex_node(ctx: Context, ref: ArrayRef, kind: str, axes: tuple[int, ...],
                 keepdims: bool, dtype: np.dtype[Any]) -> Node:
    """Extremes and places of extremes of complex numbers, by NumPy."""
    type_ = _type(ctx, ctx.read(ref), axes, keepdims, dtype, dtype == INT)
    assert isinstance(type_, (Array, Scalar))
    return arguments.contents(ctx, masked.of_complex(ctx, ref, kind, axes, keepdims, type_))


def reduce_where(ctx: Context, name: str, ref: ArrayRef, node: Node, mask: ArrayRef | None,
                 kind: str, axes: tuple[int, ...], keepdims: bool, loop: np.dtype[Any],
                 start: Node | None = None) -> Node:
    """The contents of an array, or what is computed of them, reduced where a mask is true."""
    if mask is None:
        return reduce_node(ctx, node, kind, axes, keepdims, loop, start)
    if not masked.fillable(ctx, ref, mask, kind, axes, loop):
        raise ctx.refuse(name, "where= of pairwise sums: NumPy's own")
    node = masked.filled(ctx, node, mask, kind, loop, start, name)
    return reduce_node(ctx, node, kind, axes, keepdims, loop, start)


def _kind(rule: Rule, loop: np.dtype[Any]) -> str:
    """Of bools, the smallest is ``all`` and the largest ``any``."""
    return {"min": "all", "max": "any"}.get(rule.kind, rule.kind) if loop == BOOL else rule.kind


def _operand(ctx: Context, ref: ArrayRef, rule: Rule, name: str, dtype: Operand,
             out: Operand) -> tuple[Node, np.dtype[Any]]:
    """What is reduced, and the dtype that it runs in."""
    node = ctx.read(ref)
    if rule.truth:
        if dtype is not None and dtype_of(ctx, dtype, name) != BOOL:
            raise ctx.refuse(name, "dtype=")
        return ctx.builder.cast(node, BOOL), BOOL
    if dtype is not None:
        loop = dtype_of(ctx, dtype, name)
    elif isinstance(out, ArrayRef) and rule.wide:
        loop = out.dtype
        if not np.can_cast(ref.dtype, loop):  # it rounds what it has so far, buffer by buffer
            raise ctx.refuse(name, "out= of a narrower dtype")
    else:
        loop = widened(ref.dtype) if rule.wide else ref.dtype
    if loop.kind not in rule.dtypes or loop.char not in SUPPORTED:
        raise ctx.refuse(name, f"dtype {loop}")
    if ref.dtype.kind == "c" and loop.kind != "c":
        raise ctx.refuse(name, "complex to real warns")
    if rule.kind == "prod" and loop.char == "e":
        raise ctx.refuse(name, f"products of {loop} are left to Python")
    return node, loop


def deliver(ctx: Context, what: str, result: Node, out: Operand, ref: ArrayRef) -> Operand:
    """The result, or ``out`` with the result written into it."""
    if out is None:
        return ctx.new(result) if isinstance(result.type, Array) else result
    if isinstance(out, tuple) and len(out) == 1:
        out = out[0]
    if not isinstance(out, ArrayRef) or not out.writeable:
        raise ctx.refuse(what, "out= is no writeable array: Python raises")
    if out.dtype != result.dtype or out.ndim != len(result.shape):
        raise ctx.refuse(what, "out= of another dtype or shape")
    if not all(map(ctx.facts.equal, out.shape, result.shape)):
        raise ctx.refuse(what, "out= of another shape: Python raises")
    if out.ndim > 1 or (out.ndim and ref.ndim > 2):
        _same_order(ctx, what, result, out)
    ctx.write(out, result)
    return out


def _same_order(ctx: Context, what: str, result: Node, out: ArrayRef) -> None:
    """``out``'s layout takes part in the order of the reduction: it must not change it."""
    assert isinstance(result.type, Array)
    own = layout.axis_order(ctx.facts, result.shape, [result.type.strides])
    if own != layout.axis_order(ctx.facts, result.shape, [out.strides]):
        raise ctx.refuse(what, "out= is laid out in another order than the operand")


def _function(op: Op, ctx: Context, a: Operand, axis: Operand = None, dtype: Operand = None,
              out: Operand = None, keepdims: Operand = False, initial: Operand = None,
              where: Operand = True) -> Operand:
    return reduce_with(op.data, op.name, ctx, a, axis, dtype, out, keepdims, initial, where)


def _extreme(op: Op, ctx: Context, a: Operand, axis: Operand = None, out: Operand = None,
             keepdims: Operand = False, initial: Operand = None,
             where: Operand = True) -> Operand:
    if op.data.truth and initial is not None:
        raise ctx.refuse(op.name, "initial=: Python raises")
    return reduce_with(op.data, op.name, ctx, a, axis, None, out, keepdims, initial, where)


def _ufunc_reduce(op: Op, ctx: Context, array: Operand, axis: Operand = 0, dtype: Operand = None,
                  out: Operand = None, keepdims: Operand = False, initial: Operand = None,
                  where: Operand = True) -> Operand:
    return reduce_with(op.data, op.name, ctx, array, axis, dtype, out, keepdims, initial, where)


def reduction_kind(name: str, function: Callable[..., Operand]) -> OperatorFamily:
    """A kind of reductions whose parameters are ``function``'s, from the third on."""

    def call(op: Op, ctx: Context, args: tuple[Operand, ...],
             kwargs: dict[str, Operand]) -> Operand:
        initial = kwargs.get("initial", np._NoValue)
        if initial is not np._NoValue and not arguments.is_number(initial):
            raise ctx.refuse(op.name, "initial= is no number")
        return arguments.call_with(function, (op,), op, ctx, args, kwargs)

    return OperatorFamily(name, call)


REDUCTION = reduction_kind("reduction", _function)
EXTREME = reduction_kind("reduction without dtype", _extreme)
UFUNC_REDUCE = reduction_kind("ufunc.reduce", _ufunc_reduce)

SUM, PROD = Rule("sum", wide=True, dtypes="iufc"), Rule("prod", wide=True, dtypes="iufc")
MIN, MAX = Rule("min", first=True), Rule("max", first=True)
ALL, ANY = Rule("all", truth=True), Rule("any", truth=True)

# name, kind, rule, aliases, the ufunc whose reduce method it is, doc
# (``np.add.reduce`` is another object at each access: records are found by "add.reduce")
_ROWS = [
    ("sum", REDUCTION, SUM, ("sum", "ndarray.sum"), "add", "Sum, in the canonical order."),
    ("prod", REDUCTION, PROD, ("prod", "ndarray.prod"), "multiply", "Product, one by one."),
    ("min", EXTREME, MIN, ("min", "amin", "ndarray.min"), "minimum", "Smallest; NaN wins."),
    ("max", EXTREME, MAX, ("max", "amax", "ndarray.max"), "maximum", "Largest; NaN wins."),
    ("all", EXTREME, ALL, ("all", "ndarray.all"), "logical_and", "Whether all are true."),
    ("any", EXTREME, ANY, ("any", "ndarray.any"), "logical_or", "Whether one is true."),
    ("", None, Rule("bit_and", dtypes="biu"), (), "bitwise_and", "Common bits."),
    ("", None, Rule("bit_or", dtypes="biu"), (), "bitwise_or", "Bits of any."),
    ("", None, Rule("bit_xor", dtypes="biu"), (), "bitwise_xor", "Parity of bits."),
]
for _name, _kind_of, _rule, _aliases, _ufunc, _doc in _ROWS:
    if _kind_of is not None:
        define(_name, _kind_of, aliases=tuple(f"numpy:{a}" for a in _aliases),
               reference=f"numpy:{_name}", data=_rule, of_numbers=True, doc=_doc)
    define(f"{_ufunc}.reduce", UFUNC_REDUCE, reference=f"numpy:{_ufunc}.reduce", data=_rule,
           doc=_doc)
