"""Keeps the versions of a nested function for the next function of the same code.

A function inside another is made anew whenever that one runs; the earlier one is mostly gone by
then, and nobody can call its machine code any more.  So the next one takes over its versions: only
their guards are tested anew, and their entries are pointed at the new closure.  A function that is
still alive keeps its own; one that the garbage collector finds leaves nothing, because machine code
that belongs to a cycle is freed with it.
"""

from __future__ import annotations

from collections import deque
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING
from weakref import ref

import numpy as np

from npcompile.core.config import Config, capability
from npcompile.core.records import record

if TYPE_CHECKING:
    from npcompile.runtime.versions.dispatch import Dispatcher


@record(eq=False, frozen=False)
class _Legacy:
    """A dispatcher that has let go of its function, the kind of that, and whether it is gone:
    somebody may compile the same function once more."""

    kind: object
    former: ref[FunctionType]
    dispatcher: Dispatcher


#: functions whose code is kept, the last ones that went
LIMIT = 64
#: appended to and taken from without a lock: functions may go at any time
_left: deque[_Legacy] = deque(maxlen=LIMIT)


def kind(function: FunctionType, config: Config) -> object:
    """The key that nested functions share which may use each other's versions."""
    code = function.__code__
    cells = tuple(map(_contents, function.__closure__ or ()))
    # the code itself keeps its address from coming back
    return id(code), code, config, capability(), cells


def _contents(cell: CellType) -> object:
    """Refusals are kept too, and what is refused depends on this."""
    try:
        value = cell.cell_contents
    except ValueError:
        return "empty"
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.ndim, value.flags.c_contiguous
    place = value.__self__ if type(value) is BuiltinFunctionType else value
    if isinstance(place, (ModuleType, type, np.ufunc)) or (place is None and place is not value):
        return value  # what is refused of one function is not of the next
    kinds = (FunctionType, MethodType)  # other objects may make attributes when asked
    ours = type(value).__module__.partition(".")[0] == "npcompile"
    code = getattr(value, "__code__", None) if ours or isinstance(value, kinds) else None
    return type(value) if code is None else (type(value), code)


def leave(wanted: object, former: ref[FunctionType], dispatcher: Dispatcher) -> None:
    """Leaves a dispatcher that has let go of its function."""
    _left.append(_Legacy(wanted, former, dispatcher))


def inherit(wanted: object) -> Dispatcher | None:
    """The dispatcher of such a function that is no more."""
    for entry in reversed(list(_left)):
        if entry.former() is None and entry.kind == wanted and _taken(entry):
            return entry.dispatcher
    return None


def _taken(entry: _Legacy) -> bool:
    try:
        _left.remove(entry)
    except ValueError:  # another thread was first
        return False
    return True
