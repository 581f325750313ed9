"""Makes a function's arguments values of the trace."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING

from npcompile.core.records import replace
from npcompile.frontend.bytecode import analyse
from npcompile.guards.sources import Arg, defaults
from npcompile.python.values import UNBOUND, Frame, Sequence, State, Static, Value

if TYPE_CHECKING:
    from npcompile.tracing.services import Tracer


def begin(tracer: Tracer, function: FunctionType, bound: dict[str, object]) -> Frame:
    """The frame of a function that is called with these arguments."""
    code = analyse(function.__code__)
    variables: list[Value] = [UNBOUND] * len(code.names)
    usual = defaults(function)
    for position, (name, held) in enumerate(bound.items()):
        source = Arg(name, position)
        lift = tracer.inputs.static if name in tracer.config.static else tracer.inputs.lift
        value = _fresh_containers(lift(held, source), function, name)
        if type(held) is int and held is usual.get(name):  # few calls give another
            value = Static(tracer.static(value, name))
        if held is usual.get(name):
            tracer.inputs.by_value.add(source)
        variables[code.names.index(name)] = value
    closure = tracer.free_variables(function, None)
    return Frame(code, function.__globals__, None, closure, State(variables, [], {}))


def _fresh_containers(value: Value, function: FunctionType, name: str) -> Value:
    """``*args`` is a tuple that this very call made: no object of the caller's."""
    varargs = function.__code__.co_flags & 0x04
    count = function.__code__.co_argcount + function.__code__.co_kwonlyargcount
    if varargs and isinstance(value, Sequence) and function.__code__.co_varnames[count] == name:
        return replace(value, whole=None)
    return value
