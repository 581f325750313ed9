"""Plain functions lowered for callers that know nothing of Python."""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any

from npcompile import passes
from npcompile.backends import cpu
from npcompile.backends.cpu.llvm.frame import FrameLayout
from npcompile.core.config import Config
from npcompile.core.errors import refuse
from npcompile.core.records import record
from npcompile.guards.matching import Match, matcher
from npcompile.guards.sources import Global, Source, Trace, is_given
from npcompile.passes import restarts
from npcompile.program.ir import Kernel, Load, Program, SideExit, flat
from npcompile.runtime.threads import pool
from npcompile.runtime.unsafe.parameters import Parameters
from npcompile.runtime.versions.compiling import Compiler
from npcompile.schedule import schedule

if TYPE_CHECKING:
    from npcompile.guards.kinds import Guard


#: the user's function in the globals of the traced one that calls it
CALLED = Global("function")


@record(eq=False)
class LoweredFunction:
    """A traced function of arrays or numbers as a program, with what it takes for granted."""

    trace: Trace
    program: Program
    guards: tuple[Guard, ...]  # those on globals and closures
    match: Match
    constants: tuple[int, ...]  # the leaves that are not given
    emitted: Any
    frame: FrameLayout

    @property
    def given(self) -> list[int]:
        """The leaves that are arguments."""
        return [k for k in range(len(self.trace.leaves)) if k not in self.constants]

    @property
    def rewritten(self) -> bool:
        """Whether a second run would find in an argument what the first one has written before
        it was left."""
        statements = list(flat(self.program.body))
        written = {self.program.params[k] for k in self.program.written}
        read = {value.buffer for kernel in statements if isinstance(kernel, Kernel)
                for value in kernel.values if isinstance(value, Load)}
        return any(isinstance(s, SideExit) for s in statements) and not written.isdisjoint(read)


def lower(function: FunctionType, bound: Mapping[str, Any], config: Config) -> LoweredFunction:
    """Traces and lowers a function that no call of Python's interrupts.

    Raises
    ------
    Refused
        It can't be compiled whole.
    """
    compiler = Compiler(function, config, Parameters(function), None)
    trace = compiler.follow(dict(bound), False)
    graph = passes.run(restarts.uninterrupted(trace.graph), config)
    program = schedule(restarts.restarting(graph), config)
    frame = FrameLayout(program)
    emitted = cpu.emit(program, frame, cpu.target(), config.parallel and pool.supported())
    if emitted.objects or emitted.routines or any(b.kind == "owned" for b in program.buffers):
        raise refuse("function", "needs Python or a library in the middle")
    constants = tuple(k for k, leaf in enumerate(trace.leaves) if not is_given(leaf.source))
    ours = tuple([guard for guard in trace.guards
                  if not is_given(guard.source) and not _is_fixed(guard.source)])
    match = matcher(ours, [trace.leaves[k] for k in constants])
    return LoweredFunction(trace, program, ours, match, constants, emitted, frame)


def _is_fixed(source: Source | None) -> bool:
    """Whether it is a global of the traced function beside ``CALLED``: a built-in that this one
    uses, which npcompile has written."""
    return isinstance(source, Global) and source.owner is None and source != CALLED
