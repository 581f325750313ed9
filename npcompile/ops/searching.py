"""Places in sorted tables: ``searchsorted`` and what is built on it.

A search is as many steps as a table's length has bits, each of which halves what is left: elements
of the table are gathered for all keys side by side.  A table that is not sorted is left to NumPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile.core.sizes import Size, hint, is_known, product
from npcompile.graph import layout
from npcompile.graph.ir import Geometry, Node
from npcompile.graph.types import BOOL, FLOAT, INT, Array, contiguous
from npcompile.ops import arguments
from npcompile.ops.arguments import FOLLOWED, as_array, program, static
from npcompile.ops.fp_errors import UNTOLD
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.reductions import reduce_node

SEARCHING = arguments.program_kind("search")
#: keys for each element of a table from which on it is worth looking whether it is sorted
SHARE = 32


def elements(ctx: Context, table: ArrayRef, at: Node) -> Node:
    """The elements of a row at indices that are in range, of which there is an array."""
    b, geometry = ctx.builder, table.geometry
    if table.strides[0] != 1:
        at = b.map("mul", (at, b.cast(b.size(table.strides[0]), INT)), INT)
    assert isinstance(at.type, Array)
    where = Geometry(geometry.offset, at.shape, (0,) * len(at.shape), geometry.part)
    strides = layout.k_strides(ctx.facts, at.shape, [at.type.strides])
    return b.gather(ctx.read(arguments.whole(table)), where, at, strides)


def check_sorted(ctx: Context, table: ArrayRef, name: str) -> None:
    """Leaves where a row is not in ascending order, or has NaN."""
    b, (n,) = ctx.builder, table.shape
    low, high = (ctx.read(arguments.view(table, (n - 1,), table.strides, table.strides[0] * k))
                 for k in (0, 1))
    rises = reduce_node(ctx, b.map("le", (low, high), BOOL), "all", (0,), False, BOOL)
    b.check(rises, f"{name}: a table that is not sorted")
    if table.dtype.kind == "f":
        first = b.element(ctx.read(arguments.whole(table)), Geometry(table.geometry.offset, (), ()))
        b.check(b.map("eq", (first, first), BOOL), f"{name}: a table with NaN")


def rank(ctx: Context, table: ArrayRef, keys: Node, right: bool) -> Node:
    """How many elements of a sorted row are less than each key, or (``right``) not greater; NaN
    counts as greater than all."""
    b, (n,) = ctx.builder, table.shape
    dtype = keys.dtype
    bits = int(hint(n)).bit_length()
    if not ctx.facts.ask("<", n, 1 << bits):
        raise ctx.refuse("searchsorted", "of a table of another length")
    last, zero = b.cast(b.size(n - 1), INT), b.const(np.int64(0))
    assert isinstance(keys.type, Array)
    order = layout.k_strides(ctx.facts, keys.shape, [keys.type.strides])
    found = b.emit("full", (zero,), None, Array(INT, keys.shape, order))
    for k in reversed(range(bits)):
        at = b.map("add", (found, b.const(np.int64((1 << k) - 1))), INT)
        inside = b.map("le", (at, last), BOOL)
        element = b.cast(elements(ctx, table, b.map("minimum", (at, last), INT)), dtype)
        beyond = b.map("lt" if right else "le", (keys, element), BOOL)
        before = b.map("bit_and", (inside, b.map("bit_not", (beyond,), BOOL)), BOOL)
        more = b.map("add", (found, b.const(np.int64(1 << k))), INT)
        found = b.map("where", (before, more, found), INT)
    return found


def _searched(ctx: Context, name: str, a: Operand, v: Operand, right: bool) -> ArrayRef:
    table, keys = as_array(ctx, a), as_array(ctx, v)
    _usable(ctx, name, table, keys)
    dtype = np.promote_types(table.dtype, keys.dtype)
    check_sorted(ctx, table, name)
    found = rank(ctx, table, ctx.builder.cast(ctx.read(keys), dtype), right)
    return ctx.new(_in_c_order(ctx, found))


def _usable(ctx: Context, name: str, table: ArrayRef, keys: ArrayRef) -> None:
    for ref in (table, keys):
        if ref.dtype.kind not in "iuf" or ref.dtype == np.float16:
            raise ctx.refuse(name, f"of {ref.dtype}")
    if table.ndim != 1 or not keys.ndim:
        raise ctx.refuse(name, "of one number, or in a table of several axes")
    n, count = table.shape[0], product(keys.shape)
    if not (is_known(n) and is_known(count)):
        raise ctx.refuse(name, "of lengths that only the run knows")
    if not ctx.facts.less(0, n) or not ctx.facts.less(0, count):
        raise ctx.refuse(name, "of no elements")
    if not ctx.facts.at_most(n, count * SHARE):
        raise ctx.refuse(name, "of few numbers in a long table")


def _in_c_order(ctx: Context, node: Node) -> Node:
    """A result laid out in C order, as NumPy's."""
    type_ = contiguous(node.dtype, node.shape)
    return node if node.type == type_ else ctx.builder.emit("copy", (node,), None, type_)


@program(SEARCHING, "searchsorted")
def searchsorted(ctx: Context, a: Operand, v: Operand, side: Operand = "left",
                 sorter: Operand = None) -> ArrayRef:
    """Where numbers belong in a sorted array."""
    if sorter is not None or side not in ("left", "right"):
        raise ctx.refuse("searchsorted", "sorter=, or another side")
    return _searched(ctx, "searchsorted", a, v, side == "right")


@program(SEARCHING, "ndarray.searchsorted")
def searchsorted_method(ctx: Context, a: ArrayRef, v: Operand, side: Operand = "left",
                        sorter: Operand = None) -> ArrayRef:
    """Where numbers belong in a sorted array."""
    return searchsorted(ctx, a, v, side, sorter)


@program(SEARCHING, "digitize")
def digitize(ctx: Context, x: Operand, bins: Operand, right: Operand = False) -> ArrayRef:
    """The bins, between ascending edges, that numbers are in."""
    closed = static(right)
    if not isinstance(closed, (bool, np.bool_)):
        raise ctx.refuse("digitize", "right= is not known")
    return _searched(ctx, "digitize", bins, x, not closed)


# ------------------------------------------------------------------ between points


@program(SEARCHING, "npcompile.ops.searching:lines")
def _lines(ctx: Context, x: Operand, xp: Operand, fp: Operand, left: Operand,
           right: Operand) -> ArrayRef:
    """Straight lines between points, as numpy.interp computes them."""
    at, places, values = (as_array(ctx, operand) for operand in (x, xp, fp))
    if values.ndim != 1 or values.dtype.kind not in "biuf":
        raise ctx.refuse("interp", "values that are no row of real numbers")
    _usable(ctx, "interp", places, at)
    if not ctx.facts.must("==", places.shape[0], values.shape[0]):
        raise ctx.refuse("interp", "as many values as there are no places: Python raises")
    if not ctx.facts.less(1, places.shape[0]):
        raise ctx.refuse("interp", "of one point")
    xs, ys = as_array(ctx, places, FLOAT), as_array(ctx, values, FLOAT)
    check_sorted(ctx, xs, "interp")
    with ctx.builder.hush("doui" + UNTOLD):  # NumPy computes in C of its own, which tells of none
        keys = ctx.builder.cast(ctx.read(at), FLOAT)
        return ctx.new(_in_c_order(ctx, _between(ctx, keys, xs, ys, (left, right))))


lines: Any = _lines  # as functions in Python call it


@program(FOLLOWED, "interp")
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None,
           period: Any = None) -> Any:
    """Straight lines between points, which come again after a period, if there is one."""
    if period is None:
        return lines(x, xp, fp, left, right)
    if period == 0:
        raise ValueError
    period = abs(period)
    x, xp = np.asarray(x, dtype=np.float64), np.asarray(xp, dtype=np.float64)
    fp = np.asarray(fp)
    if xp.ndim != 1 or fp.ndim != 1 or fp.dtype.kind == "c" or xp.size != fp.size or x.ndim == 0:
        raise NotImplementedError
    fp, x, xp = fp.astype(np.float64), x % period, xp % period
    order = np.argsort(xp)
    xp, fp = xp[order], fp[order]
    xp = np.concatenate((xp[-1:] - period, xp, xp[0:1] + period))
    fp = np.concatenate((fp[-1:], fp, fp[0:1]))
    return lines(x, xp, fp, None, None)


def _between(ctx: Context, x: Node, xs: ArrayRef, ys: ArrayRef,
             beyond: tuple[Operand, Operand]) -> Node:
    b, n = ctx.builder, xs.shape[0]

    def where(condition: Node, yes: Node, no: Node) -> Node:
        return b.map("where", (condition, yes, no), yes.dtype)

    def line(end: Node, height: Node) -> Node:
        return b.map("add", (b.map("mul", (slope, b.map("sub", (x, end), FLOAT)), FLOAT), height),
                     FLOAT)

    def test(op: str, p: Node, q: Node) -> Node:
        return b.map(op, (p, q), BOOL)

    one, last = b.const(np.int64(1)), b.cast(b.size(n - 2), INT)
    after = rank(ctx, xs, x, True)
    j = b.map("maximum", (b.map("sub", (after, one), INT), b.const(np.int64(0))), INT)
    j = b.map("minimum", (j, last), INT)
    k = b.map("add", (j, one), INT)
    (x0, x1), (y0, y1) = ([elements(ctx, ref, i) for i in (j, k)] for ref in (xs, ys))
    slope = b.map("div", (b.map("sub", (y1, y0), FLOAT), b.map("sub", (x1, x0), FLOAT)), FLOAT)
    result = line(x0, y0)
    # where that is inf - inf, NumPy tries from the other end
    other = line(x1, y1)
    flat = b.map("bit_and", (test("ne", other, other), test("eq", y0, y1)), BOOL)
    result = where(test("ne", result, result), where(flat, y0, other), result)
    result = where(test("eq", x0, x), y0, result)
    lows, highs = (_end(ctx, given, ys, place) for given, place in zip(beyond, (0, n - 1)))
    result = where(test("le", x1, x), y1, result)  # the last place itself
    result = where(test("lt", x, _element(ctx, xs, 0)), lows, result)
    result = where(test("lt", _element(ctx, xs, n - 1), x), highs, result)
    return where(test("ne", x, x), x, result)


def _element(ctx: Context, ref: ArrayRef, place: Size) -> Node:
    offset = ref.geometry.offset + ref.strides[0] * place
    return ctx.builder.element(ctx.read(arguments.whole(ref)), Geometry(offset, (), ()))


def _end(ctx: Context, given: Operand, ys: ArrayRef, place: Size) -> Node:
    """What stands for the values beyond an end."""
    return _element(ctx, ys, place) if given is None else ctx.builder.cast(
        arguments.number(ctx, given), FLOAT)
