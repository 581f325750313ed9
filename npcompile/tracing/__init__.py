"""Bytecode to graph: :func:`~npcompile.tracing.tracer.trace` follows a Python function on symbolic
values."""
