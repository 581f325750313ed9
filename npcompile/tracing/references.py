"""Who refers to an array's memory: a name may come to mean another array only if the memory that
it meant before is then out of sight."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from npcompile.ops.operands import ArrayRef, Cell
from npcompile.tracing.values import (
    Box,
    Either,
    Frame,
    Function,
    Growing,
    Method,
    Partial,
    Sequence,
    Slice,
    State,
    Super,
    Value,
)
from npcompile.tracing.values import Iterator as Position

if TYPE_CHECKING:
    from npcompile.tracing.tracer import Tracer


def exclusive(
    t: Tracer, frame: Frame, state: State, live: set[int], ref: ArrayRef, names: int = 1
) -> bool:
    """Whether so many live variables or stack slots hold the array, and nothing else its
    memory."""
    if ref.cell.param >= 0 or not t.trees.owns(ref):
        return False
    return sum(cell is ref.cell for cell in cells_of(_roots(t, frame, state, live), state)) == names


def alone(t: Tracer, frame: Frame, state: State, live: set[int], box: Box) -> bool:
    """Whether one live variable or stack slot holds a list, dictionary or instance, and nothing
    else."""
    return sum(value is box for value in reached(_roots(t, frame, state, live), state)) == 1


def movable(t: Tracer, frame: Frame, state: State, live: set[int], box: Box) -> bool:
    """Whether a list, dictionary or instance has one reference, and shows nothing of another one,
    as none of it."""
    shows = isinstance(state.cells[box], Growing) and box.part_of is not None
    return not shows and alone(t, frame, state, live, box) and unseen(t, frame, state, live, box)


def seen(t: Tracer, box: Box) -> bool:
    """Whether more than one iterator holds a list, which Python may change as it runs."""
    return sum(value is box for value in everything(t)) > 1


def unshared(t: Tracer, ref: ArrayRef) -> bool:
    """Whether an array that was taken off the stack has no other reference."""
    frame = t.frame
    if ref.cell.param >= 0 or not t.trees.owns(ref) or not ref.writeable or not frame.instruction:
        return False
    live = frame.code.live_at(frame.block, frame.instruction.following)
    roots = _roots(t, frame, frame.state, live)
    return all(cell is not ref.cell for cell in cells_of(roots, frame.state))


def sole(t: Tracer, box: Box) -> bool:
    """Whether a list that was taken off the stack has no other reference, and nothing shows its
    items."""
    frame = t.frame
    if frame.instruction is None:
        return False
    live = frame.code.live_at(frame.block, frame.instruction.following)
    found = reached(_roots(t, frame, frame.state, live), frame.state)
    return not any(box in (value, *_shown(value, frame.state)) for value in found)


def once(t: Tracer, items: tuple[Value, ...]) -> None:
    """Refuses that a list gets an array or a list twice: it would have two copies."""
    held = list(reached(items, t.frame.state))
    things: list[Box | Cell] = [value for value in held if isinstance(value, Box)]
    things += [v.cell for v in held if isinstance(v, ArrayRef) and t.trees.owns(v)]
    if len(set(things)) < len(things):
        raise t.refuse("list", "gets an array or list twice")


def unseen(t: Tracer, frame: Frame, state: State, live: set[int], box: Box) -> bool:
    """Whether nothing shows the items of a list, which others may hold."""
    found = reached(_roots(t, frame, state, live), state)
    return not any(box in _shown(value, state) for value in found)


def _shown(value: Value, state: State) -> Iterator[Box]:
    """The lists whose columns a list shows."""
    while isinstance(value, Box) and isinstance(state.cells.get(value), Growing):
        if value.part_of is None:
            return
        value = value.part_of
        yield value


def touched(t: Tracer, frame: Frame) -> bool:
    """Whether a list or object has other contents than when a frame was entered."""
    held = {box: v for box, v in frame.before.items() if isinstance(box, Box)}
    return any(t.cells.get(box, contents) is not contents for box, contents in held.items())


def outside(t: Tracer, array: ArrayRef) -> list[Value]:
    """What all others hold than the variables and the stack slots that are an array."""
    frame = t.frame
    following = frame.instruction.following if frame.instruction else 0
    live = frame.code.live_at(frame.block, following)
    held = _held(frame, frame.state, live)
    return [*(v for v in held if v is not array), *_elsewhere(t, frame)]


def everything(t: Tracer) -> Iterator[Value]:
    """What is held where the instruction at hand begins or ends."""
    frame = t.frame
    live: set[int] = set()
    if frame.instruction is not None:
        for offset in (frame.instruction.offset, frame.instruction.following):
            live |= frame.code.live_at(frame.block, offset)
    return reached(_roots(t, frame, frame.state, live), frame.state)


def _roots(t: Tracer, frame: Frame, state: State, live: set[int]) -> list[Value]:
    """What the live variables and the stacks of all frames hold."""
    return [*_held(frame, state, live), *_elsewhere(t, frame)]


def _held(frame: Frame, state: State, live: set[int]) -> list[Value]:
    """What the live variables and the stack of a frame hold."""
    first_cell = frame.code.code.co_nlocals
    return [v for k, v in enumerate(state.locals) if k in live or k >= first_cell] + state.stack


def _elsewhere(t: Tracer, frame: Frame) -> list[Value]:
    """What closures, objects and the callers' frames hold."""
    roots: list[Value] = [*frame.closure]
    roots += [box for _, box in t.stores.pending.values()]
    for outer in t.frames[:-1]:
        after = outer.instruction.following if outer.instruction else 0
        needed = outer.code.live_at(outer.block, after)
        roots += [*_held(outer, outer.state, needed), *outer.closure]
    return roots


def cells_of(roots: Iterable[Value], state: State) -> Iterator[Cell]:
    """The cells that values refer to, one for each reference."""
    return (value.cell for value in reached(roots, state) if isinstance(value, ArrayRef))


def reached(roots: Iterable[Value], state: State) -> Iterator[Value]:
    """The values that values refer to, one for each reference."""
    seen: set[Box] = set()
    work = list(roots)
    while work:
        value = work.pop()
        yield value
        match value:
            case Sequence():
                work += value.items
            case Either():
                work += value.options
            case Slice():
                work += (value.start, value.stop, value.step)
            case Position():
                work += value.parts
            case Method():
                work += (value.function, value.receiver)
            case Partial():
                work += (value.function, *value.args, *value.keywords.values())
            case Super():
                work += (value.after, value.receiver)
            case Function():
                work += (*value.defaults, *value.keyword_defaults.values(), *value.closure)
            case Box() if value not in seen and value in state.cells:
                seen.add(value)
                contents = state.cells[value]
                if isinstance(contents, Growing):
                    work += contents.columns
                elif isinstance(contents, dict):
                    work += contents.values()
                else:
                    work += contents if isinstance(contents, tuple) else (contents,)
