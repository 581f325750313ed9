"""Arguments bound to parameters by CPython itself.

A function with the same parameters is made, whose body is nothing but a dictionary of them.

>>> def f(x, /, y=2, *rest, z, **more): ...
>>> Parameters(f).bind((1,), {"z": 3, "w": 4})
{'x': 1, 'y': 2, 'rest': (), 'z': 3, 'more': {'w': 4}}
>>> Parameters(f).bind((), {}) is None
True
"""

from __future__ import annotations

import inspect
from functools import cached_property
from types import FunctionType
from typing import Any

_REST, _NAMED = inspect.CO_VARARGS, inspect.CO_VARKEYWORDS


class Parameters:
    """The parameters of one function.

    ``positional`` are the names of those that can be given by position; ``plain``: there are no
    others.
    """

    def __init__(self, function: FunctionType) -> None:
        code = function.__code__
        self.function = function
        self.positional = code.co_varnames[: code.co_argcount]
        self.plain = not (code.co_kwonlyargcount or code.co_flags & (_REST | _NAMED))

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any] | None:
        """Arguments by parameter name with defaults filled in, or None if they don't fit."""
        if self.plain and not kwargs and len(args) == len(self.positional):
            return dict(zip(self.positional, args))
        try:
            return self.demand(args, kwargs)
        except TypeError:
            return None

    def demand(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """As ``bind``; raises what the function itself would.

        Raises
        ------
        TypeError
            If the arguments don't fit.
        """
        bind, function = self._bind, self.function
        bind.__defaults__, bind.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
        bind.__qualname__ = function.__qualname__
        found: dict[str, Any] = bind(*args, **kwargs)
        return found

    @cached_property
    def _bind(self) -> Any:
        """``def bind(x, y, *rest): return {"x": x, "y": y, "rest": rest}``."""
        code = self.function.__code__
        names, first = code.co_varnames, code.co_posonlyargcount
        last = code.co_argcount + code.co_kwonlyargcount
        parts = [*names[:first], *(["/"] if first else []), *names[first : code.co_argcount]]
        rest = [names[last]] if code.co_flags & _REST else []
        named = list(names[code.co_argcount : last])
        parts += [f"*{rest[0]}"] if rest else ["*"] if named else []
        more = [names[last + len(rest)]] if code.co_flags & _NAMED else []
        parts += [*named, *(f"**{name}" for name in more)]
        order = [*self.positional, *rest, *named, *more]
        pairs = ", ".join(f"{name!r}: {name}" for name in order)
        scope: dict[str, Any] = {}
        exec(f"def bind({', '.join(parts)}): return {{{pairs}}}", scope)
        return scope["bind"]
