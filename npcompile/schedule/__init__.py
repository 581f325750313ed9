"""Graph to program: what is fused, in what order it runs, and which memory it uses."""

from __future__ import annotations

from collections.abc import Iterator

from npcompile.core.config import Config
from npcompile.core.errors import refuse
from npcompile.core.sizes import Unhinted
from npcompile.graph.ir import Graph, Node, Region
from npcompile.passes.normalise import normalise
from npcompile.program.ir import Program
from npcompile.schedule.finish import finish
from npcompile.schedule.reductions import ask_order
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
    try:
        scheduler = Scheduler(_ask(graph))
        scheduler.run()
        return finish(scheduler)
    except Unhinted as unknown:
        reason = f"a layout depends on {unknown}, which only the run can tell"
        raise refuse("size", reason) from None


def _ask(graph: Graph) -> Graph:
    """The graph in the normal names of its sizes once the orders of all sums are known."""
    known = len(graph.facts.guards)
    for node in _all(graph.region):
        if node.op == "reduce":
            ask_order(graph.facts, node)
    return normalise(graph) if len(graph.facts.guards) > known else graph


def _all(region: Region) -> Iterator[Node]:
    for node in region.nodes:
        yield node
        for inner in node.regions:
            yield from _all(inner)
