"""From a trace to something that runs: passes, schedule, machine code."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from npcompile import passes
from npcompile.core.config import Config, Deterministic, strict
from npcompile.graph.ir import Check, Extern, Graph, HostCall, Site, walk
from npcompile.ops.record import OPERATORS
from npcompile.program.ir import Program
from npcompile.schedule import schedule
from npcompile.tracing.sources import Trace

#: what a version returns for leaves that it is not valid for
MISS = object()


class Left(Exception):
    """Compiled code was left, having raised floating-point ``flags``: a check failed (``number``,
    not negative), or it ran to its end and ``result`` is what it returned.

    ``held`` is what the frames of the check's exit hold: variables and stacks in order.
    """

    def __init__(
        self,
        reason: str,
        number: int = -1,
        flags: frozenset[str] = frozenset(),
        result: Any = None,
        held: Sequence[Any] = (),
    ) -> None:
        super().__init__(reason)
        self.reason, self.number, self.flags = reason, number, flags
        self.result, self.held = result, held


@dataclass(eq=False)
class Executable:
    """Runs leaves; raises :class:`Left`; returns :data:`MISS` if they don't fit.

    ``times`` are milliseconds spent in each stage of making it.
    """

    whole: Callable[[], Program]
    run: Callable[[tuple[Any, ...]], Any]
    address: int = 0  # of the machine-code entry, 0 if there is none
    text: str = ""
    optimise: tuple[str, ...] = ()  # functions of the text that LLVM passes help
    times: dict[str, float] = field(default_factory=dict)
    owner: Any = None
    keep: Any = None  # what the machine code needs alive

    @property
    def program(self) -> Program:
        """What it runs; without statements if another process has compiled it."""
        return self.whole()

    def __call__(self, leaves: tuple[Any, ...]) -> Any:
        return self.run(leaves)


_retired: list[Any] = []


def retire(executable: Executable) -> None:
    """Keeps machine code for ever that nobody calls any more: a thread may still be in it."""
    _retired.append(executable.keep)


class Stopwatch:
    """Milliseconds between laps."""

    def __init__(self) -> None:
        self.times: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.times[name] = 1e3 * (now - self._last)
        self._last = now


def lower(traced: Trace, config: Config, watch: Stopwatch) -> Program:
    """A trace as a program."""
    graph = passes.run(traced.graph, config)
    watch.lap("passes")
    program = schedule(graph, config)
    watch.lap("schedule")
    if strict():
        from npcompile.graph import verify as graphs
        from npcompile.program import verify as programs

        for made in (traced.graph, graph):
            graphs.verify(made)
        programs.verify(program)
    return program


# ------------------------------------------------------------------ questions about graphs


def unpromised(graph: Graph, mode: Deterministic, own: bool) -> list[str]:
    """The operators of a traced graph that can't keep a deterministic mode's promise; ``own``:
    products of matrices are computed without a library."""
    accepted = ("portable",) if mode == "portable" else ("portable", "machine")
    names = []
    for node in walk(graph.region):
        if isinstance(node.attrs, HostCall):
            record = next((o for o in OPERATORS.values() if node.attrs.path in o.aliases), None)
            if record is None or record.guarantee not in accepted:
                names.append(node.attrs.path.replace(":", "."))
        elif isinstance(node.attrs, Check) and node.attrs.resume.pauses:
            names.append(f"Python's part of the function ({node.attrs.reason})")
        elif isinstance(node.attrs, Site):
            if node.attrs.guarantee not in accepted:
                names.append(node.attrs.path)
        elif isinstance(node.attrs, Extern):
            exact = own or node.args[0].dtype.char not in "fdFD"
            if node.attrs.routine != "product" or not exact:
                names.append(node.attrs.name)
        elif node.op in OPERATORS and OPERATORS[node.op].guarantee not in accepted:
            names.append(node.op)
    return list(dict.fromkeys(names))


def effects(graph: Graph) -> bool:
    """Whether something outside could tell that a traced graph ran, beside its parameters."""
    return any(isinstance(n.attrs, Site) and n.attrs.effect for n in walk(graph.region))


def exact(graph: Graph) -> bool:
    """Whether a graph has no operator whose last bits may differ from NumPy's."""
    for node in walk(graph.region):
        record = OPERATORS.get(node.op)
        if isinstance(node.attrs, Extern) and node.args[0].dtype.char in "fdFD":
            return False
        inexact = record is not None and any(record.ulp.values())
        if inexact or isinstance(node.attrs, (HostCall, Site)):
            return False
    return True
