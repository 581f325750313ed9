"""Graph to program: what is fused, in what order it runs, and which memory it uses."""

from __future__ import annotations

from npcompile.core.config import Config
from npcompile.core.errors import refuse
from npcompile.core.sizes import Unhinted
from npcompile.graph.ir import Graph
from npcompile.program.ir import Program
from npcompile.schedule.demand import END
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
    try:
        scheduler.run()
        return finish(scheduler)
    except Unhinted as unknown:
        line = graph.region.nodes[scheduler.now].line if scheduler.now != END else 0
        raise refuse("size", f"the layout depends on {unknown}, which only the run can tell",
                     line) from None
