"""Handlers of branches, of ``raise`` and of ``for``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npcompile.core.paths import defer
from npcompile.frontend.bytecode import Instruction
from npcompile.python.iterator import Iterator
from npcompile.python.values import NONE, Frame, Successors, Unreachable
from npcompile.tracing import control, operators
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
    return control.branch(t, frame, condition, *targets)


@on("JUMP_IF_FALSE_OR_POP", "JUMP_IF_TRUE_OR_POP")
def jump_or_pop(t: Tracer, frame: Frame, i: Instruction) -> Successors:
    condition = t.truth(frame.state.stack[-1])
    targets = (i.target, i.after) if "TRUE" in i.op else (i.after, i.target)
    return control.branch(t, frame, condition, *targets, popping=i.after)


@on(
    "POP_JUMP_IF_NONE", "POP_JUMP_FORWARD_IF_NONE", "POP_JUMP_BACKWARD_IF_NONE",
    "POP_JUMP_IF_NOT_NONE", "POP_JUMP_FORWARD_IF_NOT_NONE", "POP_JUMP_BACKWARD_IF_NOT_NONE",
)
def pop_jump_none(t: Tracer, frame: Frame, i: Instruction) -> Successors:
    is_none = operators.identical(t, pop(frame), NONE)
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
