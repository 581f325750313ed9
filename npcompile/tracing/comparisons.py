"""Handlers of questions: truth, comparison, identity, membership."""

from __future__ import annotations

import opcode
from typing import TYPE_CHECKING

from npcompile.core.paths import defer
from npcompile.frontend.bytecode import VERSION, Instruction
from npcompile.python.values import Frame
from npcompile.tracing import questions
from npcompile.tracing.opcodes import on, pop, push, take

if TYPE_CHECKING:
    from npcompile.python import registry
    from npcompile.tracing.services import Tracer
else:
    defer(globals(), "npcompile.python", "registry")


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
    found = questions.identity(t, left, right)
    push(frame, t.negated(found) if i.arg else found)


@on("CONTAINS_OP")
def contains_op(t: Tracer, frame: Frame, i: Instruction) -> None:
    item, container = take(frame, 2)
    found = t.truth(registry.view(t, container).contains(item))
    push(frame, t.negated(found) if i.arg else found)
