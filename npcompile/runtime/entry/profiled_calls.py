"""Calls of machine code that a profiler sees: a Python function calls for the profiler's sake.

The gate (:mod:`npcompile.runtime.unsafe.gates`) hands such a call to the jitted function's
``profiled``, which runs a function with the name, the file and the line of the plain one.  That
function calls the machine code.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from npcompile.core.unseen import unseen
from npcompile.runtime.unsafe.native_functions import let_pass


def named(function: Any, plain: FunctionType) -> Callable[..., Any]:
    """Calls a jitted function; profiles show its row under the plain function's name."""

    def call(*args: Any, **kwargs: Any) -> Any:
        let_pass(function, True)
        try:
            return function(*args, **kwargs)
        finally:
            let_pass(function, False)

    code = plain.__code__
    own = call.__code__.replace(
        co_name=code.co_name, co_qualname=code.co_qualname, co_filename=code.co_filename,
        co_firstlineno=code.co_firstlineno,
    )
    return unseen(FunctionType(own, call.__globals__, closure=call.__closure__))
