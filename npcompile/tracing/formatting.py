"""Opcodes of f-strings: values are formatted while a function is traced, or at each call."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from npcompile.frontend.bytecode import Instruction
from npcompile.guards.class_hooks import answer
from npcompile.ops import foreign
from npcompile.python.values import Frame, Value
from npcompile.tracing import external_calls
from npcompile.tracing.opcodes import on, pop, push, take

if TYPE_CHECKING:
    from npcompile.tracing.services import Tracer

_CONVERSIONS: dict[int, Callable[[object], str]] = {1: str, 2: repr, 3: ascii}
_FORMATS = (format, foreign.format_str, foreign.format_repr, foreign.format_ascii)


def _text(t: Tracer, function: Callable[..., str], *parts: Value) -> Value:
    """A string made of values: now if they are known, else at each call."""
    known = [t.known(part) for part in parts]
    if all(ok for ok, _ in known) and not answer(held for _, held in known):
        return t.executed(function, *(held for _, held in known))
    made = external_calls.call(t, function, parts, {}, plain=True)
    assert made is not None
    return made


def _format(t: Tracer, frame: Frame, conversion: int, spec: Value | None) -> None:
    parts = (pop(frame),) if spec is None else (pop(frame), spec)
    push(frame, _text(t, _FORMATS[conversion], *parts))


@on("FORMAT_VALUE")
def format_value(t: Tracer, frame: Frame, i: Instruction) -> None:
    _format(t, frame, i.arg & 3, pop(frame) if i.arg & 4 else None)


@on("CONVERT_VALUE")
def convert_value(t: Tracer, frame: Frame, i: Instruction) -> None:
    push(frame, _text(t, _CONVERSIONS[i.arg], pop(frame)))


@on("FORMAT_SIMPLE")
def format_simple(t: Tracer, frame: Frame, i: Instruction) -> None:
    _format(t, frame, 0, None)


@on("FORMAT_WITH_SPEC")
def format_with_spec(t: Tracer, frame: Frame, i: Instruction) -> None:
    _format(t, frame, 0, pop(frame))


@on("BUILD_STRING")
def build_string(t: Tracer, frame: Frame, i: Instruction) -> None:
    push(frame, _text(t, foreign.concatenated, *take(frame, i.arg)))
