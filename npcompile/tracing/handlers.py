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
from npcompile.python.iterator import Iterator
from npcompile.python.values import (
    NONE,
    NULL,
    UNBOUND,
    Frame,
    HeapObject,
    Sequence,
    Slice,
    State,
    Static,
    Successors,
    Unreachable,
    Value,
)
from npcompile.tracing import control, operators
from npcompile.tracing.opcodes import on, pop, push, take

if TYPE_CHECKING:
    from npcompile.python import registry
    from npcompile.tracing import attributes, iteration, loops, operator_methods
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


@on("MAKE_CELL")
def make_cell(t: Tracer, frame: Frame, i: Instruction) -> None:
    frame.state.locals[i.arg] = t.allocate(None, frame.state.locals[i.arg])


@on("COPY_FREE_VARS")
def copy_free_variables(t: Tracer, frame: Frame, i: Instruction) -> None:
    frame.state.locals[len(frame.state.locals) - i.arg :] = frame.closure


@on("LOAD_DEREF")
def load_deref(t: Tracer, frame: Frame, i: Instruction) -> None:
    value = t.contents(frame.state.locals[i.arg])
    if value is UNBOUND:
        raise Unreachable
    push(frame, value)


def _own_storage(t: Tracer, frame: Frame, index: int) -> HeapObject:
    storage = frame.state.locals[index]
    if not isinstance(storage, HeapObject):
        name = frame.code.names[index]
        raise t.refuse(name, "is a variable of an enclosing function, which stays changed")
    return storage


@on("STORE_DEREF")
def store_deref(t: Tracer, frame: Frame, i: Instruction) -> None:
    storage = _own_storage(t, frame, i.arg)
    t.generators.changes(storage)
    t.heap[storage] = pop(frame)


@on("DELETE_DEREF")
def delete_deref(t: Tracer, frame: Frame, i: Instruction) -> None:
    storage = _own_storage(t, frame, i.arg)
    t.generators.changes(storage)
    t.heap[storage] = UNBOUND


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


@on("UNARY_NOT")
def unary_not(t: Tracer, frame: Frame, i: Instruction) -> None:
    push(frame, t.negated(t.truth(pop(frame))))


@on("TO_BOOL")
def to_bool(t: Tracer, frame: Frame, i: Instruction) -> None:
    push(frame, t.truth(pop(frame)))


_COMPARE_SHIFT = 0 if VERSION < (3, 12) else 4 if VERSION < (3, 13) else 5


@on("COMPARE_OP")
def compare_op(t: Tracer, frame: Frame, i: Instruction) -> None:
    symbol = opcode.cmp_op[i.arg >> _COMPARE_SHIFT]
    left, right = take(frame, 2)
    value = t.compare(symbol, left, right)
    as_bool = VERSION >= (3, 13) and i.arg & 16
    push(frame, t.truth(value) if as_bool else value)


@on("IS_OP")
def is_op(t: Tracer, frame: Frame, i: Instruction) -> None:
    left, right = take(frame, 2)
    found = operators.identity(t, left, right)
    push(frame, t.negated(found) if i.arg else found)


@on("CONTAINS_OP")
def contains_op(t: Tracer, frame: Frame, i: Instruction) -> None:
    item, container = take(frame, 2)
    found = t.truth(registry.view(t, container).contains(item))
    push(frame, t.negated(found) if i.arg else found)


# ---------------------------------------------------------------------- indexing


@on("BINARY_SUBSCR")
def binary_subscr(t: Tracer, frame: Frame, i: Instruction) -> None:
    container, key = take(frame, 2)
    found = operator_methods.called(t, container, "__getitem__", key, on_stack=True)
    push(frame, registry.view(t, container).getitem(key) if found is None else found)


@on("BINARY_SLICE")
def binary_slice(t: Tracer, frame: Frame, i: Instruction) -> None:
    container, start, stop = take(frame, 3)
    push(frame, registry.view(t, container).getitem(Slice(start, stop, NONE)))


@on("STORE_SUBSCR")
def store_subscr(t: Tracer, frame: Frame, i: Instruction) -> None:
    value, container, key = take(frame, 3)
    if not operator_methods.dropped(t, container, "__setitem__", key, value):
        registry.view(t, container).setitem(key, value)


@on("STORE_SLICE")
def store_slice(t: Tracer, frame: Frame, i: Instruction) -> None:
    value, container, start, stop = take(frame, 4)
    registry.view(t, container).setitem(Slice(start, stop, NONE), value)


@on("DELETE_SUBSCR")
def delete_subscr(t: Tracer, frame: Frame, i: Instruction) -> None:
    container, key = take(frame, 2)
    registry.view(t, container).delitem(key)


@on("BUILD_SLICE")
def build_slice(t: Tracer, frame: Frame, i: Instruction) -> None:
    parts = take(frame, i.arg)
    push(frame, Slice(*parts, *([NONE] * (3 - i.arg))))


# ---------------------------------------------------------------------- control


@on("RETURN_VALUE")
def return_value(t: Tracer, frame: Frame, i: Instruction) -> Successors:
    return Successors({RETURN: State([], [pop(frame)], frame.state.heap)})


@on("RETURN_CONST")
def return_const(t: Tracer, frame: Frame, i: Instruction) -> Successors:
    value = Static(frame.code.code.co_consts[i.arg])
    return Successors({RETURN: State([], [value], frame.state.heap)})


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
