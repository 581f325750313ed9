"""Kernel programs as machine code of this CPU, by LLVM."""

from npcompile.backends.cpu.body import Emitted, emit
from npcompile.backends.cpu.compile import (
    Loaded,
    Target,
    compile,
    compiler_version,
    load,
    target,
)

__all__ = [
    "Emitted",
    "Loaded",
    "Target",
    "compile",
    "compiler_version",
    "emit",
    "load",
    "target",
]
