"""Runs programs from Python, by NumPy or on a device, with the checks that the machine-code entry
makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from npcompile.backends import reference
from npcompile.core.config import Config
from npcompile.program.ir import Program
from npcompile.runtime.cache.disk import Made, kept
from npcompile.runtime.entry import leaf_matching
from npcompile.runtime.entry.executables import FLAGS, MISS, Executable, Left
from npcompile.runtime.entry.outline import Outline


def interpreted(traced: Outline, program: Program, config: Config) -> Executable:
    """An executable over the reference backend, or over one that launches kernels on a device."""
    if config.capabilities.host_memory:
        execute = reference.load(program)
    else:
        from npcompile.backends import gpu

        execute = gpu.load(program, config.device, kept if config.cache else made)

    def run(leaves: tuple[Any, ...]) -> Any:
        if not leaf_matching.accepts(traced, leaves):
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


def made(key: tuple[object, ...], make: Callable[[], Made]) -> Made:
    """As ``kept``, without a cache."""
    return make()
