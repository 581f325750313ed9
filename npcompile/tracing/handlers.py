"""Opcodes of variables, the stack, operators, subscripts and control flow."""

from __future__ import annotations

import builtins
import opcode
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from npcompile.core.paths import defer
from npcompile.frontend.bytecode import RETURN, VERSION, Instruction
from npcompile.guards import class_hooks
from npcompile.guards.sources import Global
from npcompile.python.values import (
    NULL,
    UNBOUND,
    Frame,
    Sequence,
    State,
    Static,
    Successors,
    Unreachable,
    Value,
)
from npcompile.tracing.opcodes import on, pop, push, take

if TYPE_CHECKING:
    from npcompile.tracing import attributes, iteration
    from npcompile.tracing.polyfills import consumers
    from npcompile.tracing.services import Tracer
else:
    defer(globals(), "npcompile.python", "registry")
    defer(
        globals(), "npcompile.tracing", "attributes", "iteration", "loops",
        "operator_methods",
    )
    defer(globals(), "npcompile.tracing.polyfills", "consumers")

_TABLES: Any = opcode  # those of operators have no public names

# ---------------------------------------------------------------------- variables


def _load(frame: Frame, index: int) -> None:
    value = frame.state.locals[index]
    if value is UNBOUND:
        raise Unreachable
    push(frame, value)


def _store(t: Tracer, frame: Frame, index: int) -> None:
    value = frame.state.locals[index] = pop(frame)
    t.name(value, frame.code.names[index])


@on("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_CLOSURE")
def load_fast(t: Tracer, frame: Frame, i: Instruction) -> None:
    _load(frame, i.arg)


@on("LOAD_FAST_AND_CLEAR")
def load_fast_and_clear(t: Tracer, frame: Frame, i: Instruction) -> None:
    push(frame, frame.state.locals[i.arg])
    frame.state.locals[i.arg] = UNBOUND


@on("LOAD_FAST_LOAD_FAST")
def load_two(t: Tracer, frame: Frame, i: Instruction) -> None:
    _load(frame, i.arg >> 4)
    _load(frame, i.arg & 15)


@on("STORE_FAST")
def store_fast(t: Tracer, frame: Frame, i: Instruction) -> None:
    _store(t, frame, i.arg)


@on("STORE_FAST_STORE_FAST")
def store_two(t: Tracer, frame: Frame, i: Instruction) -> None:
    _store(t, frame, i.arg >> 4)
    _store(t, frame, i.arg & 15)


@on("STORE_FAST_LOAD_FAST")
def store_and_load(t: Tracer, frame: Frame, i: Instruction) -> None:
    _store(t, frame, i.arg >> 4)
    _load(frame, i.arg & 15)


@on("DELETE_FAST")
def delete_fast(t: Tracer, frame: Frame, i: Instruction) -> None:
    if frame.state.locals[i.arg] is UNBOUND:
        raise Unreachable
    frame.state.locals[i.arg] = UNBOUND


def _global(t: Tracer, frame: Frame, name: str) -> Value:
    found = frame.space.get(name, UNBOUND)
    if found is UNBOUND:
        own = frame.space.get("__builtins__", builtins)
        if own is not builtins and own is not vars(builtins):
            raise t.refuse(name, "is looked for in builtins of the function's own")
        found = getattr(builtins, name, UNBOUND)
    if found is UNBOUND:
        raise Unreachable
    if frame.owner is consumers.OURS:
        return Static(found)
    return t.inputs.lift(found, Global(name, frame.owner))


@on("LOAD_GLOBAL")
def load_global(t: Tracer, frame: Frame, i: Instruction) -> None:
    value = _global(t, frame, frame.code.code.co_names[i.arg >> 1])
    if not i.arg & 1:
        push(frame, value)
    elif VERSION < (3, 13):
        push(frame, NULL, value)
    else:
        push(frame, value, NULL)


@on("LOAD_CONST")
def load_const(t: Tracer, frame: Frame, i: Instruction) -> None:
    push(frame, Static(frame.code.code.co_consts[i.arg]))


@on("LOAD_ASSERTION_ERROR")
def load_assertion_error(t: Tracer, frame: Frame, i: Instruction) -> None:
    push(frame, Static(AssertionError))


@on("IMPORT_NAME")
def import_name(t: Tracer, frame: Frame, i: Instruction) -> None:
    level, names = (t.static(v, "import") for v in take(frame, 2))
    name = frame.code.code.co_names[i.arg]
    module = sys.modules.get(name)
    if level or module is None or not class_hooks.is_library(module):
        raise t.refuse(f"import {name}", "only libraries that are imported already", "import it "
                       "at the top of the module")
    push(frame, Static(module if names else sys.modules[name.partition(".")[0]]))


@on("IMPORT_FROM")
def import_from(t: Tracer, frame: Frame, i: Instruction) -> None:
    module = frame.state.stack[-1]
    assert isinstance(module, Static) and isinstance(module.value, ModuleType)
    push(frame, attributes.load(t, module, frame.code.code.co_names[i.arg]))


# ---------------------------------------------------------------------- the stack


@on("POP_TOP", "END_FOR")
def pop_top(t: Tracer, frame: Frame, i: Instruction) -> None:
    pop(frame)


@on("PUSH_NULL")
def push_null(t: Tracer, frame: Frame, i: Instruction) -> None:
    push(frame, NULL)


@on("COPY")
def copy(t: Tracer, frame: Frame, i: Instruction) -> None:
    push(frame, frame.state.stack[-i.arg])


@on("SWAP")
def swap(t: Tracer, frame: Frame, i: Instruction) -> None:
    stack = frame.state.stack
    stack[-1], stack[-i.arg] = stack[-i.arg], stack[-1]


# ---------------------------------------------------------------------- operators


@on("BINARY_OP")
def binary_op(t: Tracer, frame: Frame, i: Instruction) -> None:
    symbol = _TABLES._nb_ops[i.arg][1]
    left, right = take(frame, 2)
    push(frame, t.binary(symbol, left, right, True))


@on("UNARY_NEGATIVE", "UNARY_INVERT", "UNARY_POSITIVE")
def unary_op(t: Tracer, frame: Frame, i: Instruction) -> None:
    symbol = {"UNARY_NEGATIVE": "-", "UNARY_INVERT": "~", "UNARY_POSITIVE": "+"}[i.op]
    push(frame, t.unary(symbol, pop(frame), True))


@on("CALL_INTRINSIC_1")
def call_intrinsic(t: Tracer, frame: Frame, i: Instruction) -> None:
    name = _TABLES._intrinsic_1_descs[i.arg]
    if name == "INTRINSIC_UNARY_POSITIVE":
        push(frame, t.unary("+", pop(frame), True))
    elif name == "INTRINSIC_LIST_TO_TUPLE":
        push(frame, Sequence(iteration.items(t, pop(frame))))
    else:
        raise t.refuse(name[len("INTRINSIC_1_") :].lower(), "is left to Python")


# ---------------------------------------------------------------------- indexing


# ---------------------------------------------------------------------- control


@on("RETURN_VALUE")
def return_value(t: Tracer, frame: Frame, i: Instruction) -> Successors:
    return Successors({RETURN: State([], [pop(frame)], frame.state.heap)})


@on("RETURN_CONST")
def return_const(t: Tracer, frame: Frame, i: Instruction) -> Successors:
    value = Static(frame.code.code.co_consts[i.arg])
    return Successors({RETURN: State([], [value], frame.state.heap)})
