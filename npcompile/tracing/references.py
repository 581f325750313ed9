"""The references to an array's memory, a list, a dictionary or an instance at one place of the
program.

A name may come to mean another array only if the memory that it meant before is then out of sight.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from npcompile.ops.operands import ArrayRef, Storage
from npcompile.python.composite import Composite
from npcompile.python.values import Frame, HeapObject, State, Value, Vector

if TYPE_CHECKING:
    from npcompile.tracing.services import Tracer

#: in a program: a frame, its state, the live variables
Place = tuple[Frame, State, "set[int]"]


def exclusive(
    t: Tracer, frame: Frame, state: State, live: set[int], ref: ArrayRef, names: int = 1
) -> bool:
    """Whether so many live variables or stack slots hold the array, and nothing else its
    memory."""
    if ref.storage.param >= 0 or not t.trees.owns(ref):
        return False
    found = storages_of(_roots(t, frame, state, live), state)
    return sum(storage is ref.storage for storage in found) == names


def unshared(t: Tracer, ref: ArrayRef) -> bool:
    """Whether an array that was taken off the stack has no other reference."""
    place = _after(t)
    return place is not None and bool(ref.writeable) and exclusive(t, *place, ref, names=0)


def sole(t: Tracer, obj: HeapObject) -> bool:
    """Whether a list that was taken off the stack has no other reference, and nothing shows its
    items."""
    place = _after(t)
    if place is None:
        return False
    _, state, _ = place
    found = reached(_roots(t, *place), state)
    return not any(obj in (value, *_shown(value, state)) for value in found)


def _after(t: Tracer) -> Place | None:
    """The place after the instruction at hand; None: before a frame's first one."""
    frame = t.frame
    if frame.instruction is None:
        return None
    return frame, frame.state, frame.code.live_at(frame.block, frame.instruction.following)


def alone(t: Tracer, frame: Frame, state: State, live: set[int], obj: HeapObject) -> bool:
    """Whether one live variable or stack slot holds a list, dictionary or instance, and nothing
    else."""
    return sum(value is obj for value in reached(_roots(t, frame, state, live), state)) == 1


def seen(t: Tracer, obj: HeapObject) -> bool:
    """Whether more than one iterator holds a list, which Python may change as it runs."""
    return sum(value is obj for value in everything(t)) > 1


def movable(t: Tracer, frame: Frame, state: State, live: set[int], obj: HeapObject) -> bool:
    """Whether a list, dictionary or instance has one reference, and shows nothing of another one,
    as none of it."""
    shows = isinstance(state.heap[obj], Vector) and state.heap[obj].home == "shown"
    return not shows and alone(t, frame, state, live, obj) and unseen(t, frame, state, live, obj)


def once(t: Tracer, items: tuple[Value, ...]) -> None:
    """Refuses that a list gets an array or a list twice: it would have two copies."""
    held = list(reached(items, t.frame.state))
    things: list[HeapObject | Storage] = [value for value in held if isinstance(value, HeapObject)]
    things += [v.storage for v in held if isinstance(v, ArrayRef) and t.trees.owns(v)]
    if len(set(things)) < len(things):
        raise t.refuse("list", "gets an array or list twice")


def unseen(t: Tracer, frame: Frame, state: State, live: set[int], obj: HeapObject) -> bool:
    """Whether nothing shows the items of a list, which others may hold."""
    found = reached(_roots(t, frame, state, live), state)
    return not any(obj in _shown(value, state) for value in found)


def _shown(value: Value, state: State) -> Iterator[HeapObject]:
    """The lists whose columns a list shows."""
    while isinstance(value, HeapObject) and isinstance(state.heap.get(value), Vector):
        if value.part_of is None:
            return
        value = value.part_of
        yield value


def touched(t: Tracer, frame: Frame) -> bool:
    """Whether a list or object has other contents than when a frame was entered."""
    held = {obj: v for obj, v in frame.before.items() if isinstance(obj, HeapObject)}
    return any(t.heap.get(obj, contents) is not contents for obj, contents in held.items())


def outside(t: Tracer, array: ArrayRef) -> list[Value]:
    """Lists the values that hold references other than the variables and stack slots that are the
    array itself."""
    frame = t.frame
    following = frame.instruction.following if frame.instruction else 0
    live = frame.code.live_at(frame.block, following)
    held = _held(frame, frame.state, live)
    return [*(v for v in held if v is not array), *_elsewhere(t, frame)]


def everything(t: Tracer) -> Iterator[Value]:
    """Yields all values that are reachable where the current instruction begins or ends."""
    frame = t.frame
    live: set[int] = set()
    if frame.instruction is not None:
        for offset in (frame.instruction.offset, frame.instruction.following):
            live |= frame.code.live_at(frame.block, offset)
    return reached(_roots(t, frame, frame.state, live), frame.state)


def _roots(t: Tracer, frame: Frame, state: State, live: set[int]) -> list[Value]:
    """Lists the values of live variables and of the stacks of all frames."""
    return [*_held(frame, state, live), *_elsewhere(t, frame)]


def _held(frame: Frame, state: State, live: set[int]) -> list[Value]:
    """Lists the values of the live variables and of the stack of a frame."""
    first_storage = frame.code.code.co_nlocals
    return [v for k, v in enumerate(state.locals) if k in live or k >= first_storage] + state.stack


def _elsewhere(t: Tracer, frame: Frame) -> list[Value]:
    """Lists the values that closures, side effects and the callers' frames hold."""
    roots: list[Value] = [*frame.closure]
    roots += [obj for _, obj in t.effects.pending.values()]
    for outer in t.frames[:-1]:
        after = outer.instruction.following if outer.instruction else 0
        needed = outer.code.live_at(outer.block, after)
        roots += [*_held(outer, outer.state, needed), *outer.closure]
    return roots


def storages_of(roots: Iterable[Value], state: State) -> Iterator[Storage]:
    """The cells that values refer to, one for each reference."""
    return (value.storage for value in reached(roots, state) if isinstance(value, ArrayRef))


def reached(roots: Iterable[Value], state: State) -> Iterator[Value]:
    """The values that values refer to, one for each reference."""
    seen: set[HeapObject] = set()
    work = list(roots)
    while work:
        value = work.pop()
        yield value
        match value:
            case HeapObject() if value not in seen and value in state.heap:
                seen.add(value)
                contents = state.heap[value]
                if isinstance(contents, Vector):
                    work += contents.columns
                elif isinstance(contents, dict):
                    work += contents.values()
                else:
                    work += contents if isinstance(contents, tuple) else (contents,)
            case Composite():
                work += value.parts()
