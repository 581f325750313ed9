"""Writes: straight into the memory of the version before, in traced order."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from npcompile.core.errors import refuse
from npcompile.core.records import replace
from npcompile.core.sizes import symbols
from npcompile.graph.ir import Geometry, Node
from npcompile.graph.types import Array
from npcompile.schedule.memory.memories import BufferView, Footprint, Memory
from npcompile.schedule.memory.overlaps import conflict
from npcompile.schedule.walk.draft_statements import Exchange
from npcompile.schedule.walk.exits import may_flag
from npcompile.schedule.walk.nest import Nest, Put

if TYPE_CHECKING:
    from npcompile.schedule.walk.scheduler import Scheduler


def write(s: Scheduler, node: Node) -> None:
    """Schedules one write."""
    if s.demand.replaces(node) and node.args[0].dtype == node.args[1].dtype:
        _overwrite(s, node)
        return
    if _taken_over(s, node):
        return
    _, value, *mask = node.args
    whole = own(s, node)
    target = whole.geometry(cast(Geometry, node.attrs))
    stays = _stays(s, value, target) and not mask
    s.save(target, value if stays else None)
    for operand in (value, *mask):
        apart(s, node, operand, target)
    loud = target.memory.kind == "temp" and may_flag(s, value)
    s.put([value, *mask], target, node.line, loud)
    if stays:
        s.place[value] = target
    s.place[node] = whole
    s.writes(whole.memory)


def _overwrite(s: Scheduler, node: Node) -> None:
    """All of an array of ours is overwritten: from now on it is its new value.  What it was is
    computed only for the floating-point flags."""
    version, value = node.args
    if may_flag(s, version) and not _uses(s, value, version):
        s.flagged.add(s.materialise(version).memory)
    s.virtual_write(node)


def _uses(s: Scheduler, value: Node, version: Node) -> bool:
    """Whether computing a value computes a version as well."""
    seen, stack = {value}, [value]
    while stack:
        node = stack.pop()
        if node is version:
            return True
        fresh = [arg for arg in node.args if arg not in seen and node not in s.place]
        stack += fresh
        seen.update(fresh)
    return False


def assign(s: Scheduler, value: Node, target: BufferView, by: Node) -> None:
    """Brings a value into a memory of ours, where it can be found from then on."""
    if s.place.get(value) != target:
        s.save(target, value)
        apart(s, by, value, target)
        s.put([value], target, by.line)
        s.place[value] = target


def bring(s: Scheduler, value: Node, target: BufferView, by: Node) -> None:
    """The same at the end of an iteration: if the value is the beginning of memory that each
    iteration makes, this and the target change places."""
    begins = value.op == "write" and value.args[0].op == "empty"
    if not (begins and _exchange(s, value, target, by)):
        assign(s, value, target, by)


def _exchange(s: Scheduler, value: Node, target: BufferView, by: Node) -> bool:
    place = s.place.get(value)
    if place is None or not _begins(s, place, target) or target.memory.kind != "temp":
        return False
    if not _alone(s, place) or not _fits(s, place.memory, target.memory):
        return False
    s.save(target, value)
    copy = Nest(place.shape)
    axes = tuple(range(len(place.shape)))
    loaded = copy.load(copy.access(place, axes), value.dtype)
    copy.puts.append(Put(copy.access(target, axes), loaded))
    copy.lines.add(by.line)
    s.steps.append(Exchange(place.memory, target.memory, copy))
    for node, found in s.place.items():
        if found.memory is place.memory:
            s.place[node] = replace(found, memory=target.memory)
    return True


def _alone(s: Scheduler, place: BufferView) -> bool:
    """Whether no value that is needed later has other elements of the place's memory: where
    memories cannot change places, nothing but the place is copied."""
    return s.is_whole(place) or not any(
        found.memory is place.memory and s.demand.last_use.get(node, -1) > s.now
        and (found.shape, found.offset, found.strides) != (place.shape, place.offset, place.strides)
        for node, found in s.place.items()
    )


def _begins(s: Scheduler, place: BufferView, target: BufferView) -> bool:
    """Whether a place of ours, in memory that each iteration makes, is laid out as another one, and
    both stand at the beginning."""
    norm = s.facts.norm
    one, two = ((norm(p.offset), p.part, *map(norm, p.strides)) for p in (place, target))
    return (
        place.memory.kind == "temp" and place.memory is not target.memory
        and place.memory in s.memories[s.iteration :] and place.dtype == target.dtype
        and one == two and one[:2] == (0, "")
    )


def _fits(s: Scheduler, mine: Memory, other: Memory) -> bool:
    """Whether a memory is as large as another, or may become so: from now on they are alike."""
    mine, other = mine.model, other.model
    (small, step), (large, pace) = (
        (place.shape, place.strides) for place in (mine.whole(s.facts), other.whole(s.facts))
    )
    if step != pace or small[1:] != large[1:]:
        return False
    if small != large and not s.facts.prove("<=", small[0], large[0]):
        return False
    if mine is not other:
        if not _sized(s, mine, other):
            return False
        mine.may_be(other)
    return True


def _sized(s: Scheduler, mine: Memory, other: Memory) -> bool:
    """Whether the size of another memory was known when a memory, and all that are as large, were
    made."""
    sizes = (*other.shape, *other.strides)
    since = max([s.since.get(name, 0) for size in sizes for name in symbols(size)], default=0)
    return all(memory.model is not mine for memory in s.memories[:since])


def _taken_over(s: Scheduler, node: Node) -> bool:
    """Whether a write is the beginning of a fresh array, whose memory is that of the value."""
    base, value, *mask = node.args
    place, geometry = s.place.get(value), cast(Geometry, node.attrs)
    if mask or base.op != "empty" or s.demand.consumers[base] != [node] or place is None:
        return False
    if s.shape(value) != tuple(map(s.facts.norm, geometry.shape)):  # it is repeated
        return False
    given = s.place.get(base)
    if given is not None:
        if not s.is_whole(given) or not _exchange(s, value, given.geometry(geometry), node):
            return False
        s.place[node] = given
        return True
    made = s.fresh(node)
    if not _begins(s, place, made.whole(s.facts).geometry(geometry)) or not _fits(
        s, place.memory, made
    ):
        return False
    s.place[node] = replace(made.whole(s.facts), memory=place.memory)
    return True


def apart(s: Scheduler, by: Node, value: Node, target: BufferView, anywhere: bool = False) -> None:
    """Stores a value elsewhere if computing it would read what is written, which may be
    ``anywhere`` in the target's memory."""
    if _meets(s, value, target, anywhere):
        s.note(by, "the value reads memory that it is written to, so it goes through a temporary")
        s.materialise(value)
        if _meets(s, value, target, anywhere):
            s.place[value] = s.store(value, s.fresh(value))


def own(s: Scheduler, node: Node) -> BufferView:
    """The memory to write into: the old version's own, or a copy if that is somebody else's."""
    version = node.args[0]
    place = s.laid_out(version)
    if s.may_change(version, place) or node in s.demand.own_writes:
        return place
    s.note(node, "another array has the same contents: they are copied before one changes")
    copy = s.store(version, s.fresh(version))
    if copy.strides != place.strides:
        raise refuse("write", "into a copy that is laid out in another way", node.line)
    return copy


def _stays(s: Scheduler, value: Node, target: BufferView) -> bool:
    """Whether the value can be found in the target from now on."""
    return (
        isinstance(value.type, Array) and value not in s.place and not target.part
        and value.dtype == target.dtype and s.shape(value) == target.shape
        and tuple(map(s.facts.norm, value.type.strides)) == target.strides
        and s.demand.last_use[value] > s.now
    )


def _meets(s: Scheduler, operand: Node, target: BufferView, anywhere: bool) -> bool:
    """Whether a value reads elements of the target other than the one it is stored to."""
    work = s.collect(target.shape, [operand])
    by = 0 if anywhere else None  # any of the nest's values: no two places are told apart by it
    store = Footprint(target.memory, target.offset, target.strides, target.part, by)
    return any(conflict(s.facts, target.shape, load, store) for load in work.loads)
