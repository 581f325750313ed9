"""Exceptions of trace functions, which may raise between any two lines while a text is read."""

from __future__ import annotations


def from_tracer(error: Exception, package: str) -> bool:
    """Whether code outside a package raised an error, and not because a name is not there."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    inner = trace is None or trace.tb_frame.f_globals.get("__name__", "").startswith(package)
    return not inner and not isinstance(error, (AttributeError, ImportError))
