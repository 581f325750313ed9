"""Handlers of branches, of ``raise`` and of ``for``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npcompile.core.paths import defer
from npcompile.core.sizes import Unhinted
from npcompile.frontend.bytecode import RETURN, Instruction
from npcompile.graph.ir import Node
from npcompile.graph.types import PY_INT
from npcompile.python.iterator import Iterator
from npcompile.python.values import (
    NONE,
    Frame,
    State,
    Successors,
    Unreachable,
    Value,
)
from npcompile.tracing import control, questions
from npcompile.tracing.opcodes import on, pop, push

if TYPE_CHECKING:
    from npcompile.tracing import iteration, loops, operator_methods
    from npcompile.tracing.services import Tracer
else:
    defer(globals(), "npcompile.tracing", "iteration", "loops", "operator_methods")


@on("RAISE_VARARGS", "RERAISE")
def raise_(t: Tracer, frame: Frame, i: Instruction) -> Successors:
    raise Unreachable


@on("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT")
def jump(t: Tracer, frame: Frame, i: Instruction) -> Successors:
    return Successors({i.target: frame.state})


@on(
    "POP_JUMP_IF_FALSE", "POP_JUMP_FORWARD_IF_FALSE", "POP_JUMP_BACKWARD_IF_FALSE",
    "POP_JUMP_IF_TRUE", "POP_JUMP_FORWARD_IF_TRUE", "POP_JUMP_BACKWARD_IF_TRUE",
)
def pop_jump(t: Tracer, frame: Frame, i: Instruction) -> Successors:
    condition = t.truth(pop(frame))
    targets = (i.target, i.after) if i.op.endswith("TRUE") else (i.after, i.target)
    return branch(t, frame, condition, *targets)


@on("JUMP_IF_FALSE_OR_POP", "JUMP_IF_TRUE_OR_POP")
def jump_or_pop(t: Tracer, frame: Frame, i: Instruction) -> Successors:
    condition = t.truth(frame.state.stack[-1])
    targets = (i.target, i.after) if "TRUE" in i.op else (i.after, i.target)
    return branch(t, frame, condition, *targets, popping=i.after)


@on(
    "POP_JUMP_IF_NONE", "POP_JUMP_FORWARD_IF_NONE", "POP_JUMP_BACKWARD_IF_NONE",
    "POP_JUMP_IF_NOT_NONE", "POP_JUMP_FORWARD_IF_NOT_NONE", "POP_JUMP_BACKWARD_IF_NOT_NONE",
)
def pop_jump_none(t: Tracer, frame: Frame, i: Instruction) -> Successors:
    is_none = questions.identical(t, pop(frame), NONE)
    jumps = is_none != i.op.endswith("NOT_NONE")
    return Successors({i.target if jumps else i.after: frame.state})


@on("GET_ITER")
def get_iter(t: Tracer, frame: Frame, i: Instruction) -> None:
    value = pop(frame)
    made = operator_methods.iterator(t, value)
    push(frame, iteration.begin(t, value if made is None else made))


@on("FOR_ITER")
def for_iter(t: Tracer, frame: Frame, i: Instruction) -> Successors | None:
    iterator = frame.state.stack[-1]
    assert isinstance(iterator, Iterator), iterator
    if iterator.left(t) is None:
        return loops.advance(t, frame, iterator)
    pop(frame)
    control.unrolls(t, iterator)
    step = iteration.advance(t, iterator)
    if step is None:
        return Successors({i.target: frame.state})
    item, following = step
    push(frame, following, item)
    return Successors({i.after: frame.state})


# ---------------------------------------------------------------------- branches


def branch(
    t: Tracer, frame: Frame, condition: Value, then: int, other: int, popping: int = RETURN
) -> Successors:
    """Goes on in block ``then`` if the condition holds, else in ``other``.

    On the way to ``popping`` the top of the stack is dropped.
    """

    def state(target: int) -> State:
        made = frame.state.copy()
        if target == popping:
            made.stack.pop()
        return made

    if not isinstance(condition, Node):
        _, held = t.known(condition)
        target = then if held else other
        return Successors({target: state(target)})
    raising = [target in frame.code.raises for target in (then, other)]
    if all(raising):
        raise Unreachable
    if any(raising):
        control.check(t, condition, raising[1], "an exception is raised")
        target = other if raising[0] else then
        return Successors({target: state(target)})
    decided = _decide(t, frame, condition)
    if decided is not None:
        target = then if decided else other
        return Successors({target: state(target)})
    then_arm, other_arm = (
        (target, state(target), _own(frame, target)) for target in (then, other)
    )
    return control.arms(t, frame, condition, then_arm, other_arm)


def _own(frame: Frame, target: int) -> set[int]:
    """The blocks that only an arm beginning at ``target`` reaches."""
    alone = frame.code.predecessors[target] == [frame.block]
    return frame.code.dominated[target] & frame.allowed if alone else set()


_ASKED = {"lt": "<", "le": "<=", "eq": "==", "ne": "!="}


def _decide(t: Tracer, frame: Frame, condition: Node) -> bool | None:
    """A comparison of sizes, and of integers that come from outside: decided now, and guarded.

    Conditions that end a loop are not: their value changes from trip to trip.
    """
    if condition.op == "bit_not":
        decided = _decide(t, frame, condition.args[0])
        return None if decided is None else not decided
    found = [t.builder.known_size(x) for x in condition.args if x.type == PY_INT]
    sizes = [size for size in found if size is not None]
    if condition.op not in _ASKED or len(sizes) != 2:
        return None
    targets = frame.code.successors[frame.block]
    loops = [body for body in frame.code.loops.values() if frame.block in body]
    if any(target not in body for body in loops for target in targets):
        return None
    try:
        return t.facts.ask(_ASKED[condition.op], *sizes)
    except Unhinted:
        return None
