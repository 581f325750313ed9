"""Runs programs by the reference backend, with the checks that the machine-code entry makes."""

from __future__ import annotations

from typing import Any

from npcompile.backends import reference
from npcompile.graph.ir import Graph
from npcompile.program.ir import Program
from npcompile.runtime import match
from npcompile.runtime.build import MISS, Executable, Left
from npcompile.tracing.sources import Trace


def interpreted(traced: Trace, graph: Graph, program: Program) -> Executable:
    """An executable over the program interpreter."""
    execute = reference.load(program)

    def run(leaves: tuple[Any, ...]) -> Any:
        if not match.accepts(traced, leaves):
            return MISS
        status, result = execute(leaves)
        if status >= 0:
            raise Left(f"check {status}", status)
        return result

    return Executable(graph, program, run)
