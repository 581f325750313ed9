"""Handlers of subscripts and slices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npcompile.core.paths import defer
from npcompile.frontend.bytecode import Instruction
from npcompile.python.slices import Slice
from npcompile.python.values import NONE, Frame
from npcompile.tracing.opcodes import on, push, take

if TYPE_CHECKING:
    from npcompile.python import registry
    from npcompile.tracing import operator_methods
    from npcompile.tracing.services import Tracer
else:
    defer(globals(), "npcompile.tracing", "operator_methods")
    defer(globals(), "npcompile.python", "registry")


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
