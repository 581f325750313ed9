"""Keys with arrays of integers: copies of computed places, and writes to them.

The arrays (and integers beside them) are broadcast against each other to the *picked* axes; slices
and None give the axes that are left, which stay as they are.  In the result the picked axes stand
where the arrays stood if these are neighbours, else in front (NumPy's rule).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from npcompile.core.records import record
from npcompile.core.sizes import Size, product
from npcompile.graph import layout
from npcompile.graph.ir import Geometry, Node, Reduction
from npcompile.graph.types import BOOL, INT, Array, Scalar, c_strides, contiguous
from npcompile.ops import arguments
from npcompile.ops.assignment import picked_out
from npcompile.ops.bits import as_dtype
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.slices import Axes, bounds, position

Shape = tuple[Size, ...]


@record
class Picks:
    """Elements ``at`` further on than those of a view, whose picked axes have stride 0.

    ``at`` has the picked axes only, ``orders`` are the strides of the arrays along them;
    ``front`` axes that are left stand before them.  ``distinct``: no place comes twice.
    """

    at: Node
    geometry: Geometry
    front: int
    orders: tuple[Shape, ...]
    distinct: bool = False

    @property
    def picked(self) -> Shape:
        return self.at.shape

    @property
    def left(self) -> range:
        """Which of the axes that are left stand behind."""
        return range(self.front + len(self.picked), len(self.geometry.shape))


def is_advanced(items: Sequence[Operand]) -> bool:
    """Whether a key has arrays."""
    return any(isinstance(x, list) or (isinstance(x, ArrayRef) and x.ndim > 0) for x in items)


def read(ctx: Context, ref: ArrayRef, items: Sequence[Operand]) -> ArrayRef:
    """``ref[items]``."""
    picks = of_key(ctx, ref, items)
    return gathered(ctx, ref, picks, _layout(ctx, picks))


def gathered(ctx: Context, ref: ArrayRef, picks: Picks, strides: Shape) -> ArrayRef:
    """A copy of what is picked."""
    version = ctx.read(arguments.whole(ref))
    found = ctx.builder.gather(version, picks.geometry, aligned(ctx, picks), strides)
    return ctx.new(as_dtype(ctx.builder, found, ref.dtype))


def write(ctx: Context, ref: ArrayRef, items: Sequence[Operand], value: Operand) -> None:
    """``ref[items] = value``: of several values for one element the last one stays."""
    assign(ctx, ref, of_key(ctx, ref, items), value)


def assign(ctx: Context, ref: ArrayRef, picks: Picks, value: Operand, combine: str = "") -> None:
    """Writes a value to what is picked, or what a primitive makes of the old one and it."""
    node = picked_out(ctx, ref, picks.geometry.shape, value)
    if not picks.distinct:
        _require_c_order(ctx, picks, node)
    target = ArrayRef(ref.storage, picks.geometry, ref.dtype, ref.writeable)
    ctx.scatter(target, node, aligned(ctx, picks), combine, picks.distinct)


# ------------------------------------------------------------------ keys


def of_key(ctx: Context, ref: ArrayRef, items: Sequence[Operand]) -> Picks:
    """What a key with arrays picks; leaves where an index is out of range."""
    items = _complete(ctx, items, ref.ndim)
    left, at, orders = Axes(), list[Node](), list[Shape]()
    places: list[int] = []  # in the key, of arrays and integers
    front, axis = 0, 0
    for place, item in enumerate(items):
        if item is None:
            left.shape.append(1)
            left.strides.append(0)
            continue
        n, stride = ref.shape[axis], ref.strides[axis]
        axis += 1
        if isinstance(item, slice):
            start, count, step = bounds(ctx, item, n)
            left.move(stride * start)
            left.shape.append(count)
            left.strides.append(stride * step)
            continue
        front = front if places else len(left.shape)
        places.append(place)
        if isinstance(item, (ArrayRef, list)):
            index = as_indices(ctx, item)
            orders.append(index.strides)
            at.append(offsets(ctx, from_front(ctx, ctx.read(index), n), stride))
        else:
            left.move(stride * position(ctx, item, n))
    if places != list(range(places[0], places[0] + len(places))):
        front = 0
    return laid(ref, total(ctx, at), left, front, _broadcast(ctx, at, orders))


def laid(ref: ArrayRef, at: Node, left: Axes, front: int, orders: tuple[Shape, ...],
         distinct: bool = False) -> Picks:
    """Picks whose axes that are left are these."""
    picked = at.shape
    shape = (*left.shape[:front], *picked, *left.shape[front:])
    strides = (*left.strides[:front], *(0,) * len(picked), *left.strides[front:])
    geometry = Geometry(ref.geometry.offset + left.offset, shape, strides, ref.geometry.part)
    return Picks(at, geometry, front, orders, distinct)


def _complete(ctx: Context, items: Sequence[Operand], ndim: int) -> list[Operand]:
    """One item per axis, and None for new axes."""
    used = sum(item is not None and item is not Ellipsis for item in items)
    dots = [k for k, item in enumerate(items) if item is Ellipsis]
    if used > ndim or len(dots) > 1:
        raise ctx.refuse("index", "too many indices: Python raises")
    at = dots[0] if dots else len(items)
    return [*items[:at], *[slice(None)] * (ndim - used), *items[at + 1 :]]


def as_indices(ctx: Context, item: Operand) -> ArrayRef:
    """An array of int64."""
    if isinstance(item, list) and not item:
        return ctx.new(ctx.builder.emit("empty", (), None, contiguous(INT, (0,))))
    ref = arguments.as_array(ctx, item)
    if ref.dtype.kind not in "iu":
        raise ctx.refuse("index", f"by an array of {ref.dtype}")
    return arguments.as_array(ctx, ref, INT)


def from_front(ctx: Context, index: Node, n: Size) -> Node:
    """Indices counted from the front; leaves where one is out of range."""
    b = ctx.builder
    if index in b.below and ctx.facts.prove("<=", b.below[index], n):
        return index
    length, zero = b.size(n), b.const(0)
    least, most = span(index)
    narrow = most < _NARROW and ctx.facts.prove("<", most, n) and ctx.facts.prove("<=", -least, n)
    if not narrow:
        reach = b.map("lt", (index, length), BOOL)
        if least < 0:
            reach = b.map("bit_and", (b.map("le", (b.size(-n), index), BOOL), reach), BOOL)
        axes = tuple(range(len(index.shape)))
        holds = b.emit("reduce", (reach,), Reduction("all", axes, False, BOOL), Scalar(BOOL, "np"))
        b.check(holds, "an index is out of range")
    if least >= 0:
        return index
    wrapped = b.map("add", (index, length), INT)
    return b.map("where", (b.map("lt", (index, zero), BOOL), wrapped, index), INT)


_NARROW = 2**16  # numbers that may be indices of arrays whose length is known


def span(index: Node) -> tuple[int, int]:
    """The least and the largest number that int64 indices can be, by the dtype that they had."""
    source = index.args[0].type if index.op == "cast" else index.type
    dtype = source.dtype if isinstance(source, (Array, Scalar)) else INT
    if dtype.kind == "b":
        return 0, 1
    info = np.iinfo(dtype if dtype.kind in "iu" and np.can_cast(dtype, INT) else INT)
    return int(info.min), int(info.max)


def offsets(ctx: Context, index: Node, stride: Size) -> Node:
    """How much further on each index is."""
    if stride == 1:
        return index
    return ctx.builder.map("mul", (index, ctx.builder.size(stride)), INT)


def total(ctx: Context, steps: Sequence[Node]) -> Node:
    """The sum of offsets."""
    found = steps[0]
    for step in steps[1:]:
        found = ctx.builder.map("add", (found, step), INT)
    return found


def _broadcast(ctx: Context, at: Sequence[Node], orders: Sequence[Shape]) -> tuple[Shape, ...]:
    """The strides of arrays over the shape that they are broadcast to."""
    shape = layout.broadcast_shapes(ctx.facts, *(node.shape for node in at))
    return tuple(
        layout.broadcast_strides(ctx.facts, node.shape, strides, shape)
        for node, strides in zip(at, orders)
    )


def aligned(ctx: Context, picks: Picks) -> Node:
    """``at`` with an axis of length 1 for each that stands behind it."""
    behind = len(picks.left)
    if not behind:
        return picks.at
    kind = picks.at.type
    assert isinstance(kind, Array)
    geometry = Geometry(0, (*kind.shape, *(1,) * behind), (*kind.strides, *(0,) * behind))
    return ctx.builder.read(picks.at, geometry)


# ------------------------------------------------------------------ layouts


def _layout(ctx: Context, picks: Picks) -> Shape:
    """NumPy's: the picked axes are slowest, in C order if anything is left, else in the order of
    the arrays; what is left is in the order of its strides, a new axis (stride 0) is fastest."""
    shape, count, front = picks.geometry.shape, len(picks.picked), picks.front
    left = [k for k in range(len(shape)) if not front <= k < front + count]
    if not left:
        return layout.k_strides(ctx.facts, shape, picks.orders)
    rest = tuple(shape[k] for k in left)
    strides = tuple(picks.geometry.strides[k] for k in left)
    layout.ask_all_strides(ctx.facts, rest, strides)
    order = layout.stride_order(ctx.facts, strides)
    inner = layout.fresh_strides(rest, order)
    outer = tuple(n * product(rest) for n in c_strides(picks.picked))
    return (*inner[:front], *outer, *inner[front:])


def _require_c_order(ctx: Context, picks: Picks, value: Node) -> None:
    """NumPy writes in the order of the arrays' and the value's memory, and from behind if all
    strides are negative."""
    count, front = len(picks.picked), picks.front
    shape = picks.geometry.shape
    orders = list(picks.orders)
    if isinstance(value.type, Array):
        strides = layout.broadcast_strides(ctx.facts, value.shape, value.type.strides, shape)
        orders.append(strides[front : front + count])
    order = layout.axis_order(ctx.facts, picks.picked, orders)
    forwards = all(ctx.facts.must("<=", 0, s) for strides in picks.orders for s in strides)
    if order != tuple(range(count)) or not forwards:
        raise ctx.refuse("assignment", "by arrays of indices that are not in C order")
