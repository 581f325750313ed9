"""Runs programs by the reference backend, with the checks that the machine-code entry makes."""

from __future__ import annotations

from typing import Any

from npcompile.backends import reference
from npcompile.program.ir import Program
from npcompile.runtime import match
from npcompile.runtime.build import MISS, Executable, Left
from npcompile.runtime.entry import FLAGS
from npcompile.runtime.outline import Outline


def interpreted(traced: Outline, program: Program) -> Executable:
    """An executable over the program interpreter."""
    execute = reference.load(program)

    def run(leaves: tuple[Any, ...]) -> Any:
        if not match.accepts(traced, leaves):
            return MISS
        raised: set[str] = set()
        status, result = execute(leaves, raised)
        if status >= 0:
            reason = program.resumes[status].reason
            raise Left(reason, status, frozenset(raised), held=result or ())
        if raised:
            raise Left("floating-point exceptions", FLAGS, frozenset(raised), result)
        return result

    return Executable(lambda: program, run)
