"""The rules for calls of functions that tracing knows: importing the module collects all."""

from npcompile.tracing import contexts, super_attributes
from npcompile.tracing.builtin_functions import FUNCTIONS
from npcompile.tracing.polyfills import appliers, heaps

__all__ = ["FUNCTIONS", "appliers", "contexts", "heaps", "super_attributes"]
