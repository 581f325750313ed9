"""``a.shape = shape``: the array object itself gets another layout, under all of its names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npcompile.ops import views
from npcompile.ops.operands import ArrayRef
from npcompile.python.values import Value
from npcompile.tracing.references import outside, reached

if TYPE_CHECKING:
    from npcompile.tracing.services import Tracer


def assign(t: Tracer, array: ArrayRef, shape: Value) -> None:
    """Variables and the stack of the running function get an array of the other shape.

    An array with memory of its own moves into new memory: what it gives back must own it, too.
    """
    owner = t.trees.owns(array)
    if owner and array.storage.param >= 0:
        raise t.refuse(".shape =", "changes an array that is passed in or global")
    if t.scope is not None:  # a loop carries the variables that it assigns to
        raise t.refuse(".shape =", "in a loop")
    made = t.operate(views.reshape, array, shape)
    assert isinstance(made, ArrayRef)
    if made.storage is not array.storage:
        raise t.refuse(".shape =", "of an array that is not contiguous: Python raises")
    state = t.frame.state
    for value in reached(outside(t, array), state):
        if value is array or (
            owner and isinstance(value, ArrayRef) and value.storage is array.storage
        ):
            raise t.refuse(".shape =", "of an array that others than variables refer to")
    if owner:
        made = t.new(t.builder.emit("copy", (t.read(made),), None, made.type))
    state.locals[:] = [made if value is array else value for value in state.locals]
    state.stack[:] = [made if value is array else value for value in state.stack]
