"""The reference backend: a program as an executable, by NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from npcompile.ops.canonical import pairwise
from npcompile.program.interpret import interpret
from npcompile.program.ir import Program

Executable = Callable[[Sequence[Any]], tuple[int, Any]]


def load(program: Program) -> Executable:
    """A function of the parameters that gives (status, result); see :func:`interpret`."""

    def run(params: Sequence[Any]) -> tuple[int, Any]:
        return interpret(program, params, pairwise)

    return run
