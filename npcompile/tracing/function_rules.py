"""The rules for calls of functions that tracing knows: importing the module collects most."""

from __future__ import annotations

import importlib
from types import BuiltinFunctionType
from typing import Any

from npcompile.tracing.builtin_functions import FUNCTIONS, Rule

#: the modules of rules beside those of Python's own functions
_MODULES = ("contexts", "iterator_functions", "polyfills.appliers")
#: functions whose rules are imported when one of them is called, and modules of C functions
_LATER = {super: "super_attributes", object.__init__: "super_attributes"}
_LATER_OF_MODULES = {"_heapq": "polyfills.heaps"}

for _name in _MODULES:
    importlib.import_module(f"npcompile.tracing.{_name}")


def rule_of(function: Any) -> Rule | None:
    """The rule for calls of a function, which can be hashed; or None."""
    later = _LATER.get(function)
    if type(function) is BuiltinFunctionType:
        later = _LATER_OF_MODULES.get(function.__module__)
    if later is not None:
        importlib.import_module(f"npcompile.tracing.{later}")
    return FUNCTIONS.get(function)
