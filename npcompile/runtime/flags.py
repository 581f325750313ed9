"""Floating-point warnings of a run that can't be repeated: as NumPy would give them, as far as the
sticky flags tell (see docs/decisions/0002-floating-point-flags.md)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from types import FunctionType
from typing import Any

import numpy as np

CATEGORIES = {
    "divide": "divide by zero",
    "over": "overflow",
    "under": "underflow",
    "invalid": "invalid value",
}


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


def report(
    suspects: Mapping[str, tuple[str, int]], categories: list[str], function: FunctionType
) -> None:
    """Warns, or raises, at the line of the operation that is suspected of each category."""
    state: dict[str, Any] = {**np.geterr()}
    for category in categories:
        name, line = suspects[category]
        if not name:
            continue
        text = f"{CATEGORIES[category]} encountered in {name}"
        action = state[category]
        if action == "raise":
            raise FloatingPointError(text)
        if action == "warn":
            warnings.warn_explicit(text, RuntimeWarning, function.__code__.co_filename, line)
        elif action == "print":
            print(f"Warning: {text}")
        elif action == "call":
            handler = np.geterrcall()
            if callable(handler):
                handler(category, 0)
