"""``np.histogram`` with bins of one width, step by step as NumPy's own code computes it."""

from __future__ import annotations

import math

import numpy as np

from npcompile.core.sizes import Size, product
from npcompile.graph.ir import Node
from npcompile.graph.types import BOOL, FLOAT, INT
from npcompile.ops import arguments, places, views
from npcompile.ops.arguments import as_array, program, static, view
from npcompile.ops.creation import filled
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.ranges import linspace
from npcompile.ops.reductions import reduce_node
from npcompile.ops.searching import elements
from npcompile.ops.slices import Axes

HISTOGRAM = arguments.program_kind("histogram")
EXACT = 2**53  # integers within it are floats


@program(HISTOGRAM, "histogram")
def histogram(ctx: Context, a: Operand, bins: Operand = 10, range: Operand = None,
              density: Operand = None, weights: Operand = None) -> tuple[ArrayRef, ArrayRef]:
    """How many elements are in each of some bins, and the edges of these."""
    ref = views.ravel(ctx, as_array(ctx, a))
    if weights is not None or static(density) not in (None, False) or not arguments.is_number(bins):
        raise ctx.refuse("histogram", "weights=, density=, or edges that are given")
    if ref.dtype != FLOAT and (ref.dtype.kind not in "iu" or ref.dtype.char in "QL"):
        raise ctx.refuse("histogram", f"of {ref.dtype}")
    if not ctx.facts.less(0, product(ref.shape)):
        raise ctx.refuse("histogram", "of no elements")
    count = arguments.integer(ctx, bins, "histogram")
    arguments.require(ctx, "<", 0, count, "histogram: no bins")
    low, high = _ends(ctx, ref, range)
    more = ctx.builder.size(count + 1)
    edges = linspace(ctx, low, high, more)
    rises = ctx.builder.map("lt", (
        ctx.read(view(edges, (count,), (1,))), ctx.read(view(edges, (count,), (1,), 1))), BOOL)
    ctx.builder.check(reduce_node(ctx, rises, "all", (0,), False, BOOL),
                      "histogram: too many bins: Python raises")
    return _counted(ctx, ref, edges, (low, high), count), edges


def _ends(ctx: Context, ref: ArrayRef, given: Operand) -> tuple[Node, Node]:
    """The outer edges as floats, which are finite and differ."""
    b = ctx.builder
    if given is None or ref.dtype == INT:
        found = [reduce_node(ctx, ctx.read(ref), kind, (0,), False, ref.dtype)
                 for kind in ("min", "max")]
        if ref.dtype == INT:
            ends = b.const(np.int64(-EXACT)), b.const(np.int64(EXACT))
            for pair in ((ends[0], found[0]), (found[1], ends[1])):
                b.check(b.map("lt", pair, BOOL), "histogram: of integers that are no floats")
    if given is None:
        low, high = (b.cast(node, FLOAT) for node in found)
    else:
        if not isinstance(given, (tuple, list)) or len(given) != 2:
            raise ctx.refuse("histogram", "range= that is no pair")
        low, high = (_end(ctx, end) for end in given)
    b.check(b.map("lt", (low, high), BOOL), "histogram: edges that are one, or the wrong way round")
    for end in (low, high):
        size = b.map("abs", (end,), FLOAT)
        b.check(b.map("lt", (size, b.const(np.float64(math.inf))), BOOL),
                "histogram: edges that are not finite")
    return low, high


def _end(ctx: Context, end: Operand) -> Node:
    node = arguments.number(ctx, end)
    if node.dtype != FLOAT and (node.dtype.kind not in "iu" or node.dtype.itemsize > 4):
        known = static(node)
        if not isinstance(known, (int, np.integer)) or abs(int(known)) > EXACT:
            raise ctx.refuse("histogram", "range= of other numbers")
    return ctx.builder.cast(node, FLOAT)


def _counted(ctx: Context, ref: ArrayRef, edges: ArrayRef, ends: tuple[Node, Node],
             count: Size) -> ArrayRef:
    b, (low, high) = ctx.builder, ends
    x, one = b.cast(ctx.read(ref), FLOAT), b.const(np.int64(1))
    keep = b.map("bit_and", (b.map("le", (low, x), BOOL), b.map("le", (x, high), BOOL)), BOOL)
    inside = b.map("where", (keep, x, low), FLOAT)
    bins = b.cast(b.size(count), INT)
    share = b.map("div", (b.map("sub", (inside, low), FLOAT), b.map("sub", (high, low), FLOAT)),
                  FLOAT)
    index = b.cast(b.map("mul", (share, b.cast(bins, FLOAT)), FLOAT), INT)

    def moved(op: str, when: Node, index: Node) -> Node:
        return b.map("where", (when, b.map(op, (index, one), INT), index), INT)

    index = moved("sub", b.map("eq", (index, bins), BOOL), index)
    index = moved("sub", b.map("lt", (inside, elements(ctx, edges, index)), BOOL), index)
    after = elements(ctx, edges, b.map("add", (index, one), INT))
    last = b.map("ne", (index, b.map("sub", (bins, one), INT)), BOOL)
    index = moved("add", b.map("bit_and", (b.map("le", (after, inside), BOOL), last), BOOL), index)
    index = b.map("where", (keep, index, bins), INT)  # one more bin for what is not counted
    out = filled(ctx, (count + 1,), 0, INT)
    picks = places.laid(out, index, Axes(), 0, (ref.strides,))
    places.assign(ctx, out, picks, 1, "add")
    return views.copied(ctx, view(out, (count,), (1,)))
