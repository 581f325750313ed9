"""Floating-point warnings of a run that can't be repeated: as NumPy would give them, as far as the
sticky flags tell (see docs/decisions/0002-floating-point-flags.md)."""

from __future__ import annotations

import sys
import warnings
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.core.lines import file_of
from npcompile.core.records import record
from npcompile.core.unseen import unseen

if TYPE_CHECKING:
    from npcompile.runtime.entry.outline import Outline

CATEGORIES = {
    "divide": "divide by zero",
    "over": "overflow",
    "under": "underflow",
    "invalid": "invalid value",
}
#: what NumPy passes for them
_NUMBERS = {"divide": 1, "over": 2, "under": 4, "invalid": 8}


@record
class Message:
    """A warning that a floating-point flag of this category stands for; or, if it is not
    ``certain``, one of all those that it may stand for."""

    category: str
    text: str
    file: str
    line: int
    certain: bool = True


def wanted(flags: frozenset[str]) -> list[str]:
    """The categories among raised flags that ``np.geterr()`` does not ignore, nor do the filters of
    warnings."""
    state: dict[str, Any] = {**np.geterr()}
    silent = {"ignore", "warn"} if flags and _unheard() else {"ignore"}
    return [name for name in CATEGORIES if name in flags and state[name] not in silent]


def _unheard() -> bool:
    """Whether the filters ignore every RuntimeWarning, whatever its text and place."""
    for action, message, category, module, line in warnings.filters:
        if issubclass(RuntimeWarning, category):
            if action != "ignore":
                return False
            if message is None and module is None and line == 0:
                return True
    return False


@unseen
def report(traced: Outline, categories: list[str], function: FunctionType) -> None:
    """Warns, or raises, at the line of the operation that is suspected of each category."""
    state: dict[str, Any] = {**np.geterr()}
    for category in categories:
        name, line = traced.suspects[category]
        if not name:
            continue
        text = f"{CATEGORIES[category]} encountered in {name}"
        action = state[category]
        if action == "raise":
            raise FloatingPointError(text)
        if action == "warn":
            file = file_of(line) or function.__code__.co_filename
            space = home(file, traced, function) or function.__globals__
            registry = space.setdefault("__warningregistry__", {})
            module = space.get("__name__", "<string>")  # as CPython's; None would be silence
            warnings.warn_explicit(text, RuntimeWarning, file, int(line), module, registry)
        elif action == "print":
            print(f"Warning: {text}", file=sys.stderr)
        elif action in ("call", "log"):
            handler: Any = np.geterrcall()
            if action == "log":
                handler.write(f"Warning: {text}\n")
            else:
                handler(CATEGORIES[category], _NUMBERS[category])


def home(file: str, traced: Outline, function: FunctionType) -> dict[str, Any] | None:
    """The globals of the functions in a file that a version follows; None if they are several."""
    spaces = {}
    for found in (function, *[guard.value for guard in traced.guards]):
        if isinstance(found, MethodType):
            found = found.__func__
        if isinstance(found, FunctionType) and found.__code__.co_filename == file:
            spaces[id(found.__globals__)] = found.__globals__
    return spaces.popitem()[1] if len(spaces) == 1 else None
