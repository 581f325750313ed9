"""Jitted functions in pickles: by reference where a plain function would be, else by value.

`pickle` writes a function as its name, and cloudpickle does so unless the function is one of
``__main__`` or of a module registered to be written by value.  ``__reduce_ex__`` is not told which
pickler asks, so it answers with functions, of which each pickler decides by itself::

    reduced  ::= arrived, (mark | None), state
    state    ::= carrier | contents
    contents ::= plain function, options, attributes

A jitted function ``f`` that is found under its own name has two functions ``f._twins.mark`` and
``f._twins.carrier``.  A pickler that writes them as these names writes a reference: the mark that
is read is the one of the function there.  A pickler that writes them by value writes the carrier's
defaults, which are the contents; the mark that is read belongs to no function.  Any other jitted
function is its contents.  The state is written when the pickler already knows the jitted function,
so functions may refer to themselves and to each other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from npcompile.api.jit import Jit
    from npcompile.core.config import Config

Contents = tuple[FunctionType, "Config", dict[str, Any]]

_TWINS = "_twins"
#: the first protocol that writes dotted names as they are
_DOTTED = 4
_MISSING = object()


def _empty() -> None:
    """Stands as the code of marks and carriers, which are never called."""


class Twins:
    """The two functions that are pickled in the place of one that is found under its name."""

    __slots__ = ("carrier", "mark")

    def __init__(self, function: Jit[..., Any]) -> None:
        self.mark = _named(f"{function.__qualname__}.{_TWINS}.mark", function.__module__)
        self.carrier = _named(f"{function.__qualname__}.{_TWINS}.carrier", function.__module__)


def _named(qualname: str, module: str) -> FunctionType:
    code: CodeType = _empty.__code__
    return FunctionType(code.replace(co_qualname=qualname), {"__name__": module})


def reduced(
    function: Jit[..., Any],
    arrived: Callable[[FunctionType | None], Jit[..., Any]],
    protocol: int,
) -> Any:
    """What ``__reduce_ex__`` returns."""
    contents = _contents(function)
    if found(function.__module__, function.__qualname__) is not function:
        return arrived, (None,), contents
    if protocol < _DOTTED:
        return function.__qualname__
    twins = function._twins
    twins.carrier.__defaults__ = contents
    return arrived, (twins.mark,), twins.carrier


def _contents(function: Jit[..., Any]) -> Contents:
    plain = cast(FunctionType, function.__wrapped__)
    attributes = {name: value for name, value in vars(function).items()
                  if name != "__wrapped__" and getattr(plain, name, _MISSING) is not value}
    return plain, function.config, attributes


def marked(mark: FunctionType) -> object:
    """The function of this process that a mark belongs to; None if the mark came by value."""
    name = mark.__qualname__.removesuffix(f".{_TWINS}.mark")
    known = found(mark.__module__, name)
    twins = getattr(known, _TWINS, None)
    return known if isinstance(twins, Twins) and twins.mark is mark else None


def found(module: str, qualname: str) -> object:
    """The object of this name in a module that is imported; None if there is none."""
    held: object = sys.modules.get(module)
    for name in qualname.split("."):
        held = getattr(held, name, None)
    return held
