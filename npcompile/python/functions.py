"""Functions that the program defines: how a call binds its arguments and enters the code."""

from __future__ import annotations

import types
from collections.abc import Iterable
from itertools import islice
from typing import Any

from npcompile.core.records import field, record, replace
from npcompile.frontend.bytecode import analyse
from npcompile.guards.sources import Source
from npcompile.python.composite import Composite, Read, Reader
from npcompile.python.protocol import Tracing
from npcompile.python.registry import RepresentedType
from npcompile.python.values import TRUE, UNBOUND, Frame, Sequence, State, Unreachable, Value

_VARARGS, _VARKEYWORDS = 0x04, 0x08  #: flags of a code object that takes ``*args``, ``**kwargs``


@record(eq=False)
class Function(Composite):
    """A function that the program defined; ``owner`` is where its globals are found.
    ``annotations`` are names and what they are given, in turns."""

    code: types.CodeType
    space: dict[str, Any]
    owner: Source | None
    name: str
    defaults: tuple[Value, ...] = ()
    keyword_defaults: dict[str, Value] = field(default_factory=dict)
    closure: tuple[Value, ...] = ()
    annotations: tuple[Value, ...] = ()

    closed = True
    python_class = types.FunctionType

    def parts(self) -> tuple[Value, ...]:
        named = self.keyword_defaults.values()
        return (*self.annotations, *self.defaults, *named, *self.closure)

    def rebuilt(self, parts: Iterable[Value]) -> Function:
        rest = iter(parts)
        noted, defaults, named = (
            tuple(islice(rest, len(held)))
            for held in (self.annotations, self.defaults, self.keyword_defaults)
        )
        keywords = dict(zip(self.keyword_defaults, named))
        return replace(self, annotations=noted, defaults=defaults, keyword_defaults=keywords,
                       closure=tuple(rest))

    def read_by(self, reader: Reader[Read]) -> Read:
        return reader.read_function(self)


class DefinedType(RepresentedType):
    """A function with its defaults and its closure."""

    represents = Function
    value: Function

    def call(
        self, args: tuple[Value, ...], kwargs: dict[str, Value], plain: bool = False
    ) -> Value:
        return enter(self.t, self.value, args, kwargs, plain)

    def inlines(self) -> bool:
        return True

    def truth(self) -> Value:
        return TRUE


def enter(
    t: Tracing, function: Function, args: tuple[Value, ...], kwargs: dict[str, Value],
    plain: bool = False, transparent: bool = False,
) -> Value:
    """Follows a function; see :class:`~npcompile.python.values.Frame` for the options."""
    variables = _bind(t, function, args, kwargs)
    code = analyse(function.code)
    variables += [UNBOUND] * (len(code.names) - len(variables))
    state = State(variables, [], t.heap)
    return t.enter(Frame(
        code, function.space, function.owner, function.closure, state, plain, transparent))


def _bind(
    t: Tracing, f: Function, args: tuple[Value, ...], kwargs: dict[str, Value]
) -> list[Value]:
    """Arguments as local variables; where they do not fit, Python raises."""
    code = f.code
    positional, total = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    names = code.co_varnames[:total]
    variables: list[Value] = [UNBOUND] * total
    variables[: min(len(args), positional)] = args[:positional]
    extra: dict[str, Value] = {}
    for name, value in kwargs.items():
        place = names.index(name, code.co_posonlyargcount) if (
            name in names[code.co_posonlyargcount :]
        ) else -1
        if place < 0:
            extra[name] = value
        elif variables[place] is UNBOUND:
            variables[place] = value
        else:
            raise Unreachable
    first = positional - len(f.defaults)
    for place in range(total):
        if variables[place] is UNBOUND:
            if place >= positional and names[place] in f.keyword_defaults:
                variables[place] = f.keyword_defaults[names[place]]
            elif first <= place < positional:
                variables[place] = f.defaults[place - first]
            else:
                raise Unreachable
    return variables + _rest(t, f, args[positional:], extra)


def _rest(
    t: Tracing, f: Function, args: tuple[Value, ...], kwargs: dict[str, Value]
) -> list[Value]:
    """``*args`` and ``**kwargs``."""
    rest: list[Value] = []
    if f.code.co_flags & _VARARGS:
        rest.append(Sequence(args))
    elif args:
        raise Unreachable
    if f.code.co_flags & _VARKEYWORDS:
        rest.append(t.allocate(dict, dict(kwargs)))
    elif kwargs:
        raise Unreachable
    return rest
