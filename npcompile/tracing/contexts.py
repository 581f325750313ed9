"""``with``, and ``np.errstate``: what is computed inside does not warn of what is ignored there.

Nodes that are made inside know the categories (by their first letters: divide, over, under,
invalid) that they need not tell of.  Which are ignored now is part of the state, so that it is
right on every path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from npcompile.frontend.bytecode import Instruction
from npcompile.python.bound_methods import Method
from npcompile.python.instances import HeldAttributes
from npcompile.python.registry import view
from npcompile.python.values import NONE, Frame, HeapObject, Static, Value
from npcompile.tracing.builtin_functions import Args, Keywords, rule
from npcompile.tracing.opcodes import on, pop, push

if TYPE_CHECKING:
    from npcompile.tracing.services import Tracer

CATEGORIES = ("divide", "over", "under", "invalid")


def _set(t: Tracer, categories: str) -> None:
    t.heap[t.errstate] = Static(categories)
    t.builder.ignore(categories)


@rule(np.errstate)
def _errstate(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    modes = {name: t.static(value, "errstate") for name, value in kwargs.items()}
    every = modes.pop("all", None)
    found = dict.fromkeys(CATEGORIES, every) if every is not None else {}
    found.update({name: mode for name, mode in modes.items() if mode is not None})
    if args or any(mode != "ignore" for mode in found.values()) or not set(found) <= set(
        CATEGORIES
    ):
        raise t.refuse("errstate", "that does more than to ignore is left to Python")
    return t.allocate(np.errstate, {"ignored": Static("".join(sorted(name[0] for name in found)))})


@on("BEFORE_WITH")
def before_with(t: Tracer, frame: Frame, i: Instruction) -> None:
    push(frame, *view(t, pop(frame)).enter())


class ErrorStateType(HeldAttributes):
    """An ``np.errstate`` that the program made."""

    t: Tracer

    def enter(self) -> tuple[Value, Value]:
        t, held = self.t, self.value
        if not isinstance(held, HeapObject) or "before" in t.heap[held]:
            return super().enter()
        before, more = t.ignored(), t.heap[held]["ignored"].value
        t.heap[held] = {**t.heap[held], "before": Static(before)}
        _set(t, "".join(sorted({*before, *more})))
        return Method(Static(np.errstate.__exit__), held), NONE


@rule(np.errstate.__exit__)
def _exit(t: Tracer, args: Args, kwargs: Keywords) -> Value:
    held = args[0]
    assert isinstance(held, HeapObject)
    _set(t, t.heap[held]["before"].value)
    return NONE
