"""Arrays whose length changes from iteration to iteration, or that only a branch or an iteration
knows.

Outside of the region that knows its length, such an array is the beginning of one that has room
for the longest that it can be; how much of it counts is a number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from npcompile.core.sizes import Size, largest, symbol, symbols
from npcompile.graph.ir import Geometry, Node, Region
from npcompile.graph.types import Array, c_strides, contiguous
from npcompile.ops.operands import ArrayRef

if TYPE_CHECKING:
    from npcompile.tracing.loop_services import Attempt
    from npcompile.tracing.services import Tracer


class Varying(NamedTuple):
    """An array that is as long as a number says: ``length`` is that number's parameter, ``size``
    its symbol, ``most`` how long it may be."""

    length: Node
    size: Size
    most: Size


def hides(t: Tracer, kind: Array) -> bool:
    """Whether a type has sizes that only finished regions know."""
    closed = t.builder.closed
    return any(not closed.isdisjoint(symbols(s)) for s in (*kind.shape, *kind.strides))


def room(t: Tracer, kind: Array) -> Size | None:
    """How long an array may be along its first axis; None if that can't be said, or if anything
    else about it changes."""
    if not kind.shape or kind.strides != c_strides(kind.shape):
        return None
    if hides(t, contiguous(kind.dtype, kind.shape[1:])):
        return None
    return t.facts.most(kind.shape[0], t.builder.closed)


def stored(t: Tracer, region: Region, version: Node, geometry: Geometry, most: Size) -> Node:
    """Copies a view to the beginning of a new array with room for ``most`` rows, inside a region.
    """
    whole = contiguous(version.dtype, (most, *geometry.shape[1:]))
    with t.builder.inside(region):
        empty = t.builder.emit("empty", (), None, whole)
        begin = Geometry(0, geometry.shape, c_strides(geometry.shape))
        return t.builder.write(empty, t.builder.read(version, geometry), begin)


# ------------------------------------------------------------------ from iteration to iteration


def shorter(t: Tracer, first: ArrayRef, last: ArrayRef) -> bool:
    """Whether an array may be shorter than another, and is like it otherwise."""
    return bool(
        _alike(first, last) and not t.facts.prove("==", first.shape[0], last.shape[0])
        and first.strides == c_strides(first.shape)
        and t.facts.prove("<=", last.shape[0], first.shape[0])
    )


def _alike(first: ArrayRef, last: ArrayRef) -> bool:
    """Whether two C-contiguous arrays differ in length only."""
    same = (first.dtype, first.shape[1:]) == (last.dtype, last.shape[1:])
    return bool(first.ndim and last.ndim) and same and last.strides == c_strides(last.shape)


def enter(attempt: Attempt, value: ArrayRef) -> tuple[Node, Geometry]:
    """Maps an array that gets shorter from iteration to iteration to its parameter in the loop:
    full storage and current length."""
    t = attempt.t
    most = t.facts.norm(value.shape[0])
    begun = t.builder.emit("copy", (t.read(value),), None, contiguous(value.dtype, value.shape))
    param, length = attempt.carry(begun), attempt.carry(t.builder.size(most))
    size = symbol(f"n{len(t.builder.bound)}", low=0)
    attempt.varying[param] = Varying(length, size, most)
    return param, Geometry(0, (size, *value.shape[1:]), c_strides(value.shape))


def rebind(attempt: Attempt, param: Node, first: ArrayRef, last: ArrayRef) -> bool:
    """An array that is as long as before at most is the beginning of one with room for the
    longest; whether it is one."""
    t, (length, _, most) = attempt.t, attempt.varying[param]
    if first is last:
        attempt.next[param], attempt.next[length] = t.version(first.storage), length
        return True
    if not _alike(first, last) or not t.facts.prove("<=", last.shape[0], most):
        return False
    geometry = Geometry(0, last.shape, c_strides(last.shape))
    empty = t.builder.emit("empty", (), None, param.type)
    attempt.next[param] = t.builder.write(empty, t.read(last), geometry)
    attempt.next[length] = t.builder.size(last.shape[0])
    return True


def after(attempt: Attempt, ref: ArrayRef) -> ArrayRef:
    """Maps an array that got shorter in the loop to a copy of its remaining rows after it."""
    t, param = attempt.t, ref.storage.first
    length, _, most = attempt.varying[param]
    size = t.builder.size_of(attempt.after(length), 0)
    t.facts.limit(size, most)
    geometry = Geometry(0, (size, *ref.shape[1:]), ref.strides)
    held = t.builder.read(attempt.after(param), geometry)
    return t.new(t.builder.emit("copy", (held,), None, contiguous(ref.dtype, geometry.shape)))


def of_list(attempt: Attempt, length: Node) -> Node:
    """The length of a list after the last iteration: known where all iterations add as many
    items."""
    t, made, first = attempt.t, attempt.after(length), attempt.carried[length]
    over, builder = attempt.over, t.builder
    known = None if first is None else builder.known_size(first)
    begin, end = builder.known_size(length), builder.known_size(attempt.next[length])
    whole = attempt.index not in attempt.carried and not attempt.loop_facts.pairs
    if known is None or begin is None or end is None or over is None or not whole:
        return made
    more = t.facts.norm(end - begin)
    if isinstance(more, int) and over.step == 1:
        t.lengths[made] = known + largest(over.stop - over.start, 0) * more
    return made
