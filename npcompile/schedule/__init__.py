"""Graph to program: what is fused, in what order it runs, and which memory it uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from npcompile.core.config import Config
from npcompile.core.errors import refuse
from npcompile.core.facts import Facts
from npcompile.core.paths import defer
from npcompile.core.sizes import Unhinted
from npcompile.graph.builder import learn
from npcompile.graph.ir import Graph, Reduction, Region
from npcompile.program.ir import Program
from npcompile.schedule.finish import finish
from npcompile.schedule.walk.scheduler import Scheduler

if TYPE_CHECKING:
    from npcompile.ops import canonical
    from npcompile.passes import normalise
else:
    defer(globals(), "npcompile.passes", "normalise")
    defer(globals(), "npcompile.ops", "canonical")


def schedule(graph: Graph, config: Config | None = None) -> Program:
    """The kernel program of a graph of primitives.

    Parameters
    ----------
    graph
        What :func:`npcompile.passes.run` returns.
    config
        The options of the compiled function: where it is to run decides what runs together.

    Raises
    ------
    Refused
        The graph has something that can't be scheduled.
    """
    try:
        scheduler = Scheduler(_ask(graph))
        scheduler.run()
        together = config is None or config.capabilities.shares_caches
        threads = together and (config is None or config.parallel)
        return finish(scheduler, together, threads, config is None or not config.deterministic)
    except Unhinted as unknown:
        reason = f"a layout depends on {unknown}, which only the run can tell"
        raise refuse("size", reason) from None


def _ask(graph: Graph) -> Graph:
    """The graph in the normal names of its sizes once the orders of all sums are known."""
    known = len(graph.facts.guards)
    _orders(graph.facts, graph.region)
    return normalise.normalise(graph) if len(graph.facts.guards) > known else graph


def _orders(facts: Facts, region: Region) -> None:
    before = facts.mark()
    for node in region.nodes:
        if node.op == "reduce":
            canonical.ask_order(facts, node.args[0].type, cast(Reduction, node.attrs))
        elif node.op == "check":
            learn(facts, node.args[0])
        for inner in node.regions:
            _orders(facts, inner)
    facts.undo(before)
