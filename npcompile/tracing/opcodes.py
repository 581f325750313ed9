"""The table of opcode handlers, and what handlers do to the stack.

A handler returns None to go on with the next instruction, or the exits of its block.  Opcodes that
mean something else in another version are listed with the versions they are for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from npcompile.frontend.bytecode import VERSION, Instruction
from npcompile.python.values import Frame, Successors, Value

if TYPE_CHECKING:
    from npcompile.tracing.tracer import Tracer

Handler = Callable[["Tracer", Frame, Instruction], Successors | None]
HANDLERS: dict[str, Handler] = {}


def on(
    *names: str, since: tuple[int, int] = (3, 11), until: tuple[int, int] = (4, 0)
) -> Callable[[Handler], Handler]:
    """Registers a handler for opcodes of the versions ``since <= version < until``."""

    def register(handler: Handler) -> Handler:
        if since <= VERSION < until:
            for name in names:
                HANDLERS[name] = handler
        return handler

    return register


def push(frame: Frame, *values: Value) -> None:
    frame.state.stack.extend(values)


def pop(frame: Frame) -> Value:
    return frame.state.stack.pop()


def take(frame: Frame, count: int) -> list[Value]:
    """The topmost values, in the order they were pushed."""
    stack = frame.state.stack
    taken = stack[len(stack) - count :]
    del stack[len(stack) - count :]
    return taken
