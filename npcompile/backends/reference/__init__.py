"""The reference backend: a program as an executable, by NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from npcompile.ops.canonical import pairwise
from npcompile.program.interpret import interpret
from npcompile.program.ir import Program


class ReferenceExecutable(Protocol):
    """A function of the parameters that gives (status, result); floating-point exceptions are
    added to ``flags``, by the names that ``np.errstate`` has for them."""

    def __call__(
        self, params: Sequence[Any], flags: set[str] | None = None
    ) -> tuple[int, Any]: ...


def load(program: Program) -> ReferenceExecutable:
    """The program as a function; see :func:`npcompile.program.interpret.interpret`."""

    def run(params: Sequence[Any], flags: set[str] | None = None) -> tuple[int, Any]:
        return interpret(program, params, pairwise, flags)

    return run
