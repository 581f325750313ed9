"""Writes: straight into the memory of the version before, in traced order."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from npcompile.core.errors import refuse
from npcompile.graph.ir import Node, Window
from npcompile.graph.types import Array
from npcompile.schedule.memory import Access, Place, conflict

if TYPE_CHECKING:
    from npcompile.schedule.scheduler import Scheduler


def write(s: Scheduler, node: Node) -> None:
    """Schedules one write."""
    if s.demand.replaces(node) and node.args[0].dtype == node.args[1].dtype:
        s.virtual_write(node)
        return
    _, value, *mask = node.args
    whole = own(s, node)
    target = whole.window(cast(Window, node.attrs))
    stays = _stays(s, value, target) and not mask
    s.save(target, value if stays else None)
    for operand in (value, *mask):
        apart(s, node, operand, target)
    s.put([value, *mask], target, node.line)
    if stays:
        s.place[value] = target
    s.place[node] = whole
    s.written |= whole.memory.kind == "param"


def assign(s: Scheduler, value: Node, target: Place, by: Node) -> None:
    """Brings a value into a memory of ours, where it can be found from then on."""
    if s.place.get(value) != target:
        s.save(target, value)
        apart(s, by, value, target)
        s.put([value], target, by.line)
        s.place[value] = target


def apart(s: Scheduler, by: Node, value: Node, target: Place) -> None:
    """Stores a value elsewhere if computing it would read what is written."""
    if _meets(s, value, target):
        s.note(by, "the value reads what is written, at other places: it is stored first")
        s.materialise(value)
        if _meets(s, value, target):
            s.place[value] = s.store(value, s.fresh(value))


def own(s: Scheduler, node: Node) -> Place:
    """The memory to write into: the old version's own, or a copy if that is somebody else's."""
    version = node.args[0]
    place = s.laid_out(version)
    if s.may_change(version, place) or node in s.demand.own_writes:
        return place
    s.note(node, "another array has the same contents: they are copied first")
    copy = s.store(version, s.fresh(version))
    if copy.strides != place.strides:
        raise refuse("write", "into a copy that is laid out in another way", node.line)
    return copy


def _stays(s: Scheduler, value: Node, target: Place) -> bool:
    """Whether the value can be found in the target from now on."""
    return (
        isinstance(value.type, Array) and value not in s.place and not target.part
        and value.dtype == target.dtype and s.shape(value) == target.shape
        and tuple(map(s.facts.norm, value.type.strides)) == target.strides
        and s.demand.last_use[value] > s.now
    )


def _meets(s: Scheduler, operand: Node, target: Place) -> bool:
    """Whether a value reads elements of the target other than the one it is stored to."""
    work = s.collect(target.shape, [operand])
    store = Access(target.memory, target.offset, target.strides, target.part)
    return any(conflict(s.facts, target.shape, load, store) for load in work.loads)
