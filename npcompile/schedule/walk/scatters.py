"""Writes to computed places, and elements that stand together because a mask holds for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from npcompile.graph.ir import Node, Scatter
from npcompile.program.ir import Apply
from npcompile.schedule.walk.demand import is_number
from npcompile.schedule.walk.nest import Nest, Put
from npcompile.schedule.walk.writes import apart, own

if TYPE_CHECKING:
    from npcompile.schedule.walk.scheduler import Scheduler, Work


DEAR = 16  # what places cost at least that are better computed in lanes


def scatter(s: Scheduler, node: Node) -> None:
    """Schedules writes to computed places, one after the other where they may meet."""
    attrs = cast(Scatter, node.attrs)
    _, *operands = node.args
    whole = own(s, node)
    s.save(whole, None)
    target = whole.geometry(attrs.geometry)
    for operand in operands:
        apart(s, node, operand, target, anywhere=True)
    places = operands[1]
    dear = places not in s.place and s.costs.get(places, 0) > DEAR and not is_number(places)
    if dear and not attrs.distinct:
        s.note(node, "elements are written one after the other, their places computed first")
        s.materialise(places)
    axes = tuple(range(len(target.shape)))
    work = s.collect(target.shape, operands)
    nest = Nest(target.shape, order=axes, ordered=not attrs.distinct)
    s.steps.append(nest)
    s.fill(nest, work)
    value, at = (nest.known[s.along(arg, target.shape)] for arg in operands)
    access = nest.access(target, axes, at)
    if attrs.combine:
        old = nest.load(access, target.dtype)
        value = nest.value(Apply(attrs.combine, (old, value), target.dtype))
    nest.puts.append(Put(access, value))
    nest.lines.add(node.line)
    s.place[node] = whole
    s.writes(whole.memory)


def pack(s: Scheduler, node: Node) -> None:
    """Schedules the elements of a value where a mask holds, beside others of the same mask."""
    shape = s.shape(node.args[1])
    work = s.collect(shape, node.args)
    nest = _packing(s, node.args[1], work)
    s.fill(nest, work)
    value, mask = (nest.known[s.along(arg, shape)] for arg in node.args)
    place = s.fresh(node).whole(s.facts)
    access = nest.access(place, (None,))
    nest.puts.append(Put(access, value, mask, packed=True))
    nest.lines.add(node.line)
    s.place[node] = place


def _packing(s: Scheduler, mask: Node, work: Work) -> Nest:
    """The last nest, if it packs by the same mask, or a new one."""
    shape = s.shape(mask)
    last = s.steps[-1] if s.steps else None
    if isinstance(last, Nest) and last.extents == shape and last.accepts(s.facts, work.loads, []):
        same = last.known.get(s.along(mask, shape))
        if any(put.packed and put.mask == same for put in last.puts):
            return last
    nest = Nest(shape, order=tuple(range(len(shape))))
    s.steps.append(nest)
    return nest
