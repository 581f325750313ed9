"""Bytecode to graph: :func:`trace` follows a Python function on symbolic values."""

from npcompile import special
from npcompile.linalg import compositions, factorisations, norms, sums
from npcompile.tracing.tracer import trace

__all__ = ["compositions", "factorisations", "norms", "special", "sums", "trace"]
