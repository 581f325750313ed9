"""Graph to program: what is fused, in what order it runs, and which memory it uses."""

from __future__ import annotations

from npcompile.core.config import Config
from npcompile.graph.ir import Graph
from npcompile.program.ir import Program
from npcompile.schedule.finish import finish
from npcompile.schedule.scheduler import Scheduler


def schedule(graph: Graph, config: Config | None = None) -> Program:
    """The kernel program of a graph of primitives.

    Parameters
    ----------
    graph
        What :func:`npcompile.passes.run` returns.
    config
        The options of the compiled function; no rule depends on them so far.

    Raises
    ------
    Refused
        The graph has something that can't be scheduled.
    """
    scheduler = Scheduler(graph)
    scheduler.run()
    return finish(scheduler)
