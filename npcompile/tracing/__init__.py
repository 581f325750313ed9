"""Bytecode to graph: :func:`~npcompile.tracing.retries.trace` follows a Python function on symbolic
values."""
