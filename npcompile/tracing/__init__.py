"""Bytecode to graph: :func:`trace` follows a Python function on symbolic values."""

from npcompile import special
from npcompile.linalg import factorisations
from npcompile.tracing.tracer import trace

__all__ = ["factorisations", "special", "trace"]
