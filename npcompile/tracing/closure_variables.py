"""Handlers of the variables of closures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npcompile.frontend.bytecode import Instruction
from npcompile.python.values import UNBOUND, Frame, HeapObject, Unreachable
from npcompile.tracing.opcodes import on, pop, push

if TYPE_CHECKING:
    from npcompile.tracing.services import Tracer


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
