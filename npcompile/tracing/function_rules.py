"""The rules for calls of functions that tracing knows: importing the module collects all."""

import importlib

from npcompile.tracing.builtin_functions import FUNCTIONS

__all__ = ["FUNCTIONS"]

#: the modules of rules beside those of Python's own functions
_MODULES = ("contexts", "iterator_functions", "super_attributes", "polyfills.appliers",
            "polyfills.heaps")

for _name in _MODULES:
    importlib.import_module(f"npcompile.tracing.{_name}")
