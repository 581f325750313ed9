"""Masks: the elements where one holds, and writes to them."""

from __future__ import annotations

from collections.abc import Sequence

from npcompile.core.sizes import Size, product
from npcompile.graph.ir import Const, Node, Reduction
from npcompile.graph.types import BOOL, INT, Array, Scalar
from npcompile.ops import arguments, places
from npcompile.ops.assignment import picked_out
from npcompile.ops.operands import ArrayRef, Context, Operand
from npcompile.ops.slices import Axes


def is_mask(item: Operand) -> bool:
    return isinstance(item, ArrayRef) and item.dtype == BOOL and item.ndim > 0


def is_alone(items: Sequence[Operand]) -> bool:
    """Whether a key is nothing but a mask."""
    return len(items) == 1 and is_mask(items[0])


def is_whole(ref: ArrayRef, items: Sequence[Operand]) -> bool:
    """Whether it is a mask over all axes."""
    return is_alone(items) and items[0].ndim == ref.ndim


def count_of(ctx: Context, mask: Node) -> Size:
    """How many elements of a mask hold, as a size."""
    b = ctx.builder
    wide = b.cast(mask, INT)
    attrs = Reduction("sum", tuple(range(len(mask.shape))), False, INT)
    size = b.size_of(b.emit("reduce", (wide,), attrs, Scalar(INT, "np")), 0)
    ctx.facts.limit(size, product(mask.shape))
    return size


def read(ctx: Context, ref: ArrayRef, mask: ArrayRef) -> ArrayRef:
    """``ref[mask]`` for a mask of the same shape."""
    _same_shape(ctx, ref, mask)
    holds = ctx.read(mask)
    return ctx.new(ctx.builder.pack(ctx.read(ref), holds, count_of(ctx, holds)))


def _same_shape(ctx: Context, ref: ArrayRef, mask: ArrayRef) -> None:
    pairs = zip(mask.shape, ref.shape)
    if mask.ndim > ref.ndim or not all(ctx.facts.must("==", n, m) for n, m in pairs):
        raise ctx.refuse("index", "the mask has another shape than the array: Python raises")


def coordinates(ctx: Context, mask: Node) -> list[Node]:
    """For each axis of a mask the indices of the elements that hold, in C order."""
    b, count = ctx.builder, count_of(ctx, mask)
    found = [b.pack(along(ctx, mask.shape, axis), mask, count) for axis in range(len(mask.shape))]
    b.below.update(zip(found, mask.shape))
    return found


def along(ctx: Context, shape: tuple[Size, ...], axis: int) -> Node:
    """The index along one axis, for each element of a shape."""
    b = ctx.builder
    index = b.iota(shape[axis])
    strides = tuple(int(k == axis) for k in range(len(shape)))
    return b.read(index, arguments.geometry(shape, strides))


def as_places(ctx: Context, ref: ArrayRef, items: Sequence[Operand]) -> list[Operand]:
    """A key in which each mask is replaced by the indices of the elements that hold."""
    out: list[Operand] = []
    axis = 0
    dots = [k for k, item in enumerate(items) if item is Ellipsis]
    for k, item in enumerate(items):
        if isinstance(item, list) and item and all(map(_is_truth, item)):
            item = arguments.as_array(ctx, item)
        if not is_mask(item):
            out.append(item)
            axis += item is not None and item is not Ellipsis
            continue
        if any(k > d for d in dots):
            raise ctx.refuse("index", "a mask behind an Ellipsis")
        part = arguments.view(ref, ref.shape[axis:], ref.strides[axis:])
        _same_shape(ctx, part, item)
        axis += item.ndim
        out += [ctx.new(node) for node in coordinates(ctx, ctx.read(item))]
    return out


def _is_truth(item: Operand) -> bool:
    return isinstance(item, bool) or (isinstance(item, (ArrayRef, Node)) and item.dtype == BOOL)


def write(ctx: Context, ref: ArrayRef, mask: ArrayRef, value: Operand) -> None:
    """``ref[mask] = value``: one value for all elements, or one for each, in C order."""
    _same_shape(ctx, ref, mask)
    rest = ref.ndim - mask.ndim
    if isinstance(value, (list, tuple)):
        value = arguments.as_array(ctx, value, ref.dtype)
    if isinstance(value, ArrayRef) and not rest and value.ndim > 1:
        raise ctx.refuse("index", "values of several axes for what a mask holds: Python raises")
    if isinstance(value, ArrayRef) and value.ndim > rest:
        _write_each(ctx, ref, mask, value)
        return
    node = picked_out(ctx, ref, ref.shape[mask.ndim :], value)
    wide = arguments.view(mask, (*mask.shape, *[1] * rest), (*mask.strides, *[0] * rest))
    ctx.write(ref, node, ctx.read(wide))


#: what raises no floating-point flags where all operands are 1, nor where small sums of these are
_CALM = frozenset({
    "add", "subtract", "multiply", "square", "negative", "absolute", "conjugate", "minimum",
    "maximum", "fmin", "fmax", "floor", "ceil", "trunc", "rint", "sign", "sin", "cos", "tanh",
    "bitwise_and", "bitwise_or", "bitwise_xor", "invert", "logical_not", "where",
})


def spread(ctx: Context, node: Node, holds: Node) -> Node | None:
    """What an elementwise value of elements that stand together because a mask holds is where they
    came from, and something else where it does not; None if it is made otherwise."""
    b = ctx.builder
    if isinstance(node.type, Scalar):
        return node
    if node.op == "pack" and node.args[1] is holds:
        one = b.const(node.dtype.type(1))
        b.echoes.add(node)
        return b.map("where", (holds, node.args[0], one), node.dtype)
    if node.op == "write" and len(node.args) == 2 and _is_all(node):
        b.echoes.add(node)
        return spread(ctx, node.args[1], holds)
    if not _is_calm(node):
        return None
    args = [spread(ctx, arg, holds) for arg in node.args]
    given = [arg for arg in args if arg is not None]
    if len(given) < len(args):
        return None
    b.echoes.add(node)
    line, quiet = b.line, b.quiet
    b.at(node.line)
    b.ignore(b.hushed.get(node, ""))
    if node.op == "cast":
        made = b.cast(given[0], node.dtype)
    else:
        made = b.map(node.op, given, node.dtype, node.attrs)
    b.at(line)
    b.ignore(quiet)
    return made


def _is_calm(node: Node) -> bool:
    if node.op == "cast":
        return node.dtype.kind in "fc" or node.args[0].dtype.kind in "biu"
    if node.op == "divide":
        by = node.args[1]
        return by.op == "pack" or (isinstance(by.attrs, Const) and by.attrs.value != 0)
    return node.op in _CALM


def _is_all(write: Node) -> bool:
    """Whether all of an array is overwritten."""
    assert isinstance(write.type, Array)
    return write.attrs == arguments.geometry(write.type.shape, write.type.strides)


def _write_each(ctx: Context, ref: ArrayRef, mask: ArrayRef, value: ArrayRef) -> None:
    holds, b = ctx.read(mask), ctx.builder
    if ref.ndim == mask.ndim and value.ndim == 1:
        made = spread(ctx, ctx.read(value), holds)
        if made is not None and isinstance(made.type, Array):
            ctx.write(ref, picked_out(ctx, ref, ref.shape, ctx.new(made)), holds)
            return
    steps = [places.offsets(ctx, along(ctx, mask.shape, axis), stride)
             for axis, stride in enumerate(ref.strides[: mask.ndim])]
    at = b.pack(places.total(ctx, steps), holds, count_of(ctx, holds))
    left = Axes(0, list(ref.shape[mask.ndim :]), list(ref.strides[mask.ndim :]))
    picks = places.laid(ref, at, left, 0, ((1,),), distinct=True)
    places.assign(ctx, ref, picks, value)
