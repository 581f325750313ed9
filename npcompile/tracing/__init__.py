"""Bytecode to graph: :func:`trace` follows a Python function on symbolic values."""

from npcompile import linalg, special
from npcompile.tracing.tracer import trace

__all__ = ["linalg", "special", "trace"]
