"""The table of opcode handlers, and what handlers do to the stack.

A handler returns None to go on with the next instruction, or the exits of its block.  Opcodes that
mean something else in another version are listed with the versions they are for.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from npcompile.frontend.bytecode import VERSION, Instruction
from npcompile.python.values import Frame, Successors, Value

if TYPE_CHECKING:
    from npcompile.tracing.services import Tracer

Handler = Callable[["Tracer", Frame, Instruction], Successors | None]
HANDLERS: dict[str, Handler] = {}

#: the opcodes of modules that are imported when a function has one of these opcodes
_ELSEWHERE = {
    "construction": """
        BUILD_TUPLE BUILD_LIST LIST_TO_TUPLE LIST_APPEND LIST_EXTEND BUILD_MAP
        BUILD_CONST_KEY_MAP MAP_ADD DICT_UPDATE DICT_MERGE UNPACK_SEQUENCE UNPACK_EX
        LOAD_ATTR LOAD_METHOD STORE_ATTR MAKE_FUNCTION SET_FUNCTION_ATTRIBUTE CALL CALL_KW
        CALL_FUNCTION_EX RETURN_GENERATOR YIELD_VALUE
    """,
    "formatting": "FORMAT_VALUE CONVERT_VALUE FORMAT_SIMPLE FORMAT_WITH_SPEC BUILD_STRING",
    "contexts": "BEFORE_WITH",
    "comparisons": """
        UNARY_NOT TO_BOOL COMPARE_OP IS_OP CONTAINS_OP
    """,
    "subscripts": """
        BINARY_SUBSCR BINARY_SLICE STORE_SUBSCR STORE_SLICE DELETE_SUBSCR BUILD_SLICE
    """,
    "jumps": """
        RAISE_VARARGS RERAISE JUMP_FORWARD JUMP_BACKWARD JUMP_BACKWARD_NO_INTERRUPT
        POP_JUMP_IF_FALSE POP_JUMP_FORWARD_IF_FALSE POP_JUMP_BACKWARD_IF_FALSE POP_JUMP_IF_TRUE
        POP_JUMP_FORWARD_IF_TRUE POP_JUMP_BACKWARD_IF_TRUE JUMP_IF_FALSE_OR_POP
        JUMP_IF_TRUE_OR_POP POP_JUMP_IF_NONE POP_JUMP_FORWARD_IF_NONE POP_JUMP_BACKWARD_IF_NONE
        POP_JUMP_IF_NOT_NONE POP_JUMP_FORWARD_IF_NOT_NONE POP_JUMP_BACKWARD_IF_NOT_NONE GET_ITER
        FOR_ITER
    """,
    "closure_variables": """
        MAKE_CELL COPY_FREE_VARS LOAD_DEREF STORE_DEREF DELETE_DEREF
    """,
    "super_attributes": "LOAD_SUPER_ATTR",
}
MODULES = {name: module for module, names in _ELSEWHERE.items() for name in names.split()}


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


def handler_of(name: str) -> Handler | None:
    """The handler of an opcode, or None."""
    if name in MODULES:  # another thread may be executing the module: the import waits for it
        importlib.import_module(f"npcompile.tracing.{MODULES[name]}")
    return HANDLERS.get(name)


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
