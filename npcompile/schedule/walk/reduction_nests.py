"""Reductions: the canonical order, with what they reduce computed on the way if that keeps it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, cast

import numpy as np

from npcompile.core.errors import refuse
from npcompile.core.facts import Facts
from npcompile.core.records import record
from npcompile.core.sizes import Size
from npcompile.graph.ir import Const, Node, Number, Reduction
from npcompile.graph.layout import fresh_strides
from npcompile.graph.primitives import REDUCTIONS
from npcompile.graph.types import Array
from npcompile.ops.canonical import is_canonical, plan
from npcompile.program.ir import Apply
from npcompile.schedule.memory.memories import weight
from npcompile.schedule.walk.nest import Nest, PendingReduction

if TYPE_CHECKING:
    from npcompile.schedule.walk.scheduler import Scheduler, Work

#: cost of what is computed within a sum although others need it too; a sum's order may make its
#: vectors short, so what costs more had better be computed on its own
LIGHT = 16


@record
class Order:
    """Axes to loop over, slowest first; groups of them that are one loop; pieces of a run."""

    axes: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...] = ()
    chunk: Size = 0
    packed: bool = False  # whether runs span axes that are no single run of memory
    any: bool = False  # whether every order gives the same bits


def _norm(facts: Facts, sizes: tuple[Size, ...]) -> tuple[Size, ...]:
    return tuple(map(facts.norm, sizes))


def reduce(s: Scheduler, node: Node) -> None:
    """Schedules one reduction."""
    attrs = cast(Reduction, node.attrs)
    if attrs.running:
        _running(s, node, attrs)
        return
    operand = node.args[0]
    initial = _initial(node, attrs)
    order = _order(s, operand, attrs)
    if order.packed:
        s.note(node, "summed through a buffer, as NumPy does (for the same bits)")
        with _packed(s, operand, order):
            _reduce(s, node, order, initial)
    else:
        _reduce(s, node, order, initial)


def _reduce(s: Scheduler, node: Node, order: Order, initial: Number | None) -> None:
    attrs = cast(Reduction, node.attrs)
    operand = node.args[0]
    work = _collect(s, node, operand, order)
    extents = s.shape(operand)
    nest = _nest(s, extents, attrs, order, work)
    s.fill(nest, work)
    value = nest.known[operand, tuple(range(len(extents)))]
    if not attrs.kind.startswith("arg") and operand.dtype != attrs.loop:
        value = nest.value(Apply("cast", (value,), attrs.loop))
    memory = s.fresh(node)
    place = memory.whole(s.facts)
    along = _along(len(extents), attrs)
    access = nest.access(place, along)
    nest.folds.append(PendingReduction(attrs.kind, access, value, attrs.loop, initial, order.chunk))
    nest.lines.add(node.line)
    s.place[node] = place


def _running(s: Scheduler, node: Node, attrs: Reduction) -> None:
    """A running reduction: a nest of its own, whose axes stand as those of its result do."""
    (operand,), extents = node.args, s.shape(node)
    place = s.fresh(node).whole(s.facts)
    work = s.collect(extents, [operand])
    order = sorted(range(len(extents)), key=lambda k: weight(place.strides[k]), reverse=True)
    nest = Nest(extents, attrs.axes, tuple(order))
    s.steps.append(nest)
    s.fill(nest, work)
    axes = tuple(range(len(extents)))
    value = nest.known[operand, axes]
    if operand.dtype != attrs.loop:
        value = nest.value(Apply("cast", (value,), attrs.loop))
    access = nest.access(place, axes)
    nest.folds.append(
        PendingReduction(attrs.kind, access, value, attrs.loop, None, 0, running=True)
    )
    nest.lines.add(node.line)
    s.place[node] = place


def _initial(node: Node, attrs: Reduction) -> Number | None:
    """The accumulator's start, in the dtype of the loop."""
    given: Number | None = REDUCTIONS[attrs.kind][1]
    if len(node.args) > 1:
        start = node.args[1]
        if not isinstance(start.attrs, Const):
            raise refuse(attrs.kind, "initial= is computed", node.line)
        given = start.attrs.value
    if given is None:
        return None
    return cast(np.generic, np.asarray(given).astype(attrs.loop)[()])


def _order(s: Scheduler, operand: Node, attrs: Reduction) -> Order:
    """The canonical order; where every order gives the same bits, that of memory."""
    place = s.place.get(operand)
    assert isinstance(operand.type, Array)
    strides = _norm(s.facts, operand.type.strides)
    shape = _norm(s.facts, operand.type.shape)
    if is_canonical(attrs):
        if place is not None and _norm(s.facts, place.as_geometry().steps) != strides:
            raise refuse(attrs.kind, "of an array whose copy is laid out in another way",
                         operand.line)
        return _canonical(s, shape, strides, attrs, operand.dtype != attrs.loop)
    kept = [k for k in range(len(shape)) if k not in attrs.axes]
    if attrs.kind.startswith("arg"):
        return Order((*kept, *attrs.axes), any=True)
    axes = sorted(range(len(shape)), key=lambda k: weight(strides[k]), reverse=True)
    return Order(tuple(axes), any=True)


def _canonical(
    s: Scheduler, shape: tuple[Size, ...], strides: tuple[Size, ...], attrs: Reduction, casts: bool
) -> Order:
    found = plan(s.facts, shape, strides, attrs.axes, casts)
    axes = tuple([axis for group in found.axes for axis in group.axes])
    if not any(group.reduced for group in found.axes):  # all reduced axes have one element
        axes = (*axes, attrs.axes[-1]) if attrs.axes else axes
    parts = [group.axes for group in found.axes]
    packed = found.flat > 1 and attrs.kind == "sum"
    if packed:
        parts[-found.flat :] = [tuple([axis for part in parts[-found.flat :] for axis in part])]
    groups = tuple([part for part in parts if len(part) > 1])
    return Order(axes, groups, found.chunk if attrs.kind == "sum" else 0, packed)


@contextmanager
def _packed(s: Scheduler, operand: Node, order: Order) -> Iterator[None]:
    """For a while the operand's elements stand in memory in the order of the sum."""
    shape = s.shape(operand)
    units = [axis for axis in range(len(shape)) if axis not in order.axes]
    strides = fresh_strides(shape, (*units, *order.axes))
    memory = s.memory("t", "temp", operand.dtype, shape, strides)
    packed = s.store(operand, memory)
    before = s.place.get(operand)
    s.place[operand] = packed
    yield
    if before is None:
        del s.place[operand]
    else:
        s.place[operand] = before


def _collect(s: Scheduler, node: Node, operand: Node, order: Order) -> Work:
    """Collects the work of the nest: the operand's elements are computed in it, or loaded if they
    are stored before."""
    extents = s.shape(operand)
    work = s.collect(extents, [operand])
    if operand in s.place:
        return work
    if not _fits(extents, work, order):
        s.note(node, "the operand of the reduction is stored first: NumPy's order of summation "
                     "needs it in memory")
        s.materialise(operand)
        return s.collect(extents, [operand])
    elif not s.shared(extents, work):
        return work
    elif s.costs.get(operand, 0) <= LIGHT:
        s.note(node, "the operand of the reduction is used again, and stored on the way")
        return work
    s.note(node, "the operand of the reduction is expensive and used again, so it is stored first")
    s.materialise(narrow(s, operand))
    return s.collect(extents, [operand])


def narrow(s: Scheduler, node: Node) -> Node:
    """The node to store for a value: the narrower operand if the value is a widening cast."""
    if node.op != "cast" or node in s.returned or s.seen(node):
        return node
    arg = node.args[0]
    small = arg.dtype.itemsize < node.dtype.itemsize and np.can_cast(arg.dtype, node.dtype)
    alike = [_norm(s.facts, (*t.shape, *t.strides)) for t in (arg.type, node.type)
             if isinstance(t, Array)]
    fits = len(alike) == 2 and alike[0] == alike[1]
    return arg if small and fits and arg not in s.place else node


def _fits(extents: tuple[Size, ...], work: Work, order: Order) -> bool:
    """Whether axes that the order joins are also single runs of everything that is loaded."""
    joined = {axis for group in order.groups for axis in group}
    if not joined:
        return True
    if any(node.op == "iota" and axes[0] in joined for node, axes in work.order):
        return False
    return all(
        load.steps[outer] == load.steps[inner] * extents[inner]
        for group in order.groups
        for outer, inner in pairwise(group)
        for load in work.loads
    )


def _nest(
    s: Scheduler, extents: tuple[Size, ...], attrs: Reduction, order: Order, work: Work
) -> Nest:
    """The last nest, if it is a reduction over the same space, or a new one."""
    reduced = tuple(sorted(attrs.axes))
    last = s.steps[-1] if s.steps else None
    if (
        isinstance(last, Nest) and last.folds and last.extents == extents
        and last.reduced == reduced and last.order == order.axes and last.groups == order.groups
        and last.joins == order.any and not last.folds[0].running
        and _alike(last.folds, attrs, order) and last.accepts(s.facts, work.loads, [])
    ):
        return last
    nest = Nest(extents, reduced, order.axes, order.groups, order.any)
    s.steps.append(nest)
    return nest


def _alike(folds: list[PendingReduction], attrs: Reduction, order: Order) -> bool:
    """Whether the runs of another sum are cut into the same pieces and leaves: those of complex
    numbers are smaller."""
    sums = [fold for fold in folds if fold.kind == "sum" and fold.dtype.kind in "fc"]
    return attrs.kind != "sum" or attrs.loop.kind not in "fc" or all(
        (fold.chunk, fold.dtype.kind) == (order.chunk, attrs.loop.kind) for fold in sums)


def _along(ndim: int, attrs: Reduction) -> tuple[int | None, ...]:
    """For each axis of the result the axis of the nest, None for a kept axis of one element."""
    if attrs.keepdims:
        return tuple([None if k in attrs.axes else k for k in range(ndim)])
    return tuple([k for k in range(ndim) if k not in attrs.axes])


