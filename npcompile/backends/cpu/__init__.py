"""Kernel programs as machine code of this CPU, by LLVM.

What writes programs is imported when the first one is written, not where code is only loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from npcompile.backends.cpu.loader.compile import (
    Loaded,
    compile,
    compiler_version,
    lasting,
    load,
    target,
)
from npcompile.backends.target import Target

if TYPE_CHECKING:
    from npcompile.backends.cpu.body import Emitted
    from npcompile.backends.cpu.llvm.frame import FrameLayout
    from npcompile.core.recorder import Recorder
    from npcompile.program.ir import Program


def emit(
    program: Program, frame: FrameLayout, target: Target, parallel: bool = False, own: bool = False,
    releases: bool = False, recorder: Recorder | None = None, thorough: bool = False,
) -> Emitted:
    """The text of a program: see :class:`npcompile.backends.cpu.body.ProgramBody`; with a
    ``recorder`` its statements note their times."""
    rest = parallel, own, releases
    if recorder is not None:
        from npcompile.backends.cpu import recorded_body  # few programs are profiled

        return recorded_body.RecordedBody(program, frame, target, *rest, recorder).emit(thorough)
    from npcompile.backends.cpu import body

    return body.ProgramBody(program, frame, target, *rest).emit(thorough)


__all__ = [
    "Loaded",
    "Target",
    "compile",
    "compiler_version",
    "emit",
    "lasting",
    "load",
    "target",
]
