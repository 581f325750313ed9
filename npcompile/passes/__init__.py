"""Graph to graph: each pass is a function, their order is data."""

from __future__ import annotations

from collections.abc import Callable

from npcompile.core.config import Config
from npcompile.core.errors import refuse
from npcompile.core.records import record
from npcompile.core.sizes import Unhinted
from npcompile.graph.ir import Graph
from npcompile.passes.checks import merge_checks
from npcompile.passes.complexes import expand_complex
from npcompile.passes.dead import drop_dead, keep_flags
from npcompile.passes.decompose import decompose
from npcompile.passes.fp_barriers import settle
from npcompile.passes.halves import widen_halves
from npcompile.passes.hoist import hoist
from npcompile.passes.interruptible_loops import drop_edges
from npcompile.passes.kernel_functions import name_functions
from npcompile.passes.normalise import normalise
from npcompile.passes.ranges import narrow
from npcompile.passes.simplify import simplify
from npcompile.passes.split import split
from npcompile.passes.tables import tabulate
from npcompile.passes.wrapping import drop_wrapping


def everywhere(config: Config | None) -> bool:
    return True


def has_flags(config: Config | None) -> bool:
    """Whether what runs tells of floating-point errors by flags that it can take back."""
    return config is None or config.capabilities.flags


def inlines(config: Config | None) -> bool:
    """Whether the compiler of a device puts what is called in line."""
    return config is not None and config.capabilities.inlines


@record
class Pass:
    """``after`` names the passes that must have run before, ``reason`` says why; ``where`` says for
    which configurations it runs."""

    name: str
    run: Callable[[Graph], Graph]
    after: tuple[str, ...] = ()
    reason: str = ""
    where: Callable[[Config | None], bool] = everywhere


PASSES = (
    Pass("flags", keep_flags, (), "later, what the user wrote can't be told from our own"),
    Pass("settle", settle, ("flags",), "later, nodes of both sorts might become one", has_flags),
    Pass("wrapping", drop_wrapping, ("settle",), "later, answers rest on the checks"),
    Pass("normalise", normalise, ("wrapping",), "equal sizes make equal nodes one"),
    Pass("functions", name_functions, ("normalise",), "programs compare shapes", inlines),
    Pass("decompose", decompose, ("normalise",), "programs compare shapes"),
    Pass("halves", widen_halves, ("decompose",), "works on primitives"),
    Pass("complexes", expand_complex, ("decompose",), "works on primitives"),
    Pass("simplify", simplify, ("halves", "complexes"), "they leave casts and parts behind"),
    Pass("ranges", narrow, ("simplify",), "works on primitives"),
    Pass("split", split, ("ranges",), "lanes need loops without checks"),
    Pass("tables", tabulate, ("ranges", "split"), "its loops must be without checks"),
    Pass("hoist", hoist, ("simplify", "ranges", "tables"), "changes regions that it has made"),
    Pass("checks", merge_checks, ("hoist",), "conditions move one by one"),
    Pass("edges", drop_edges, ("simplify", "checks"), "conditions must be plain"),
    Pass("dead", drop_dead, ("simplify", "checks", "edges"), "rewriting orphans nodes"),
)


def check_order(passes: tuple[Pass, ...]) -> None:
    """Raises if a pass stands before one that it must come after."""
    seen: set[str] = set()
    for step in passes:
        missing = set(step.after) - seen
        if missing:
            raise ValueError(f"pass {step.name} must come after {missing}: {step.reason}")
        seen.add(step.name)


check_order(PASSES)


def run(graph: Graph, config: Config | None = None) -> Graph:
    """The graph in primitives, simplified, without dead code.

    Parameters
    ----------
    graph
        What the tracer recorded.
    config
        The options of the compiled function: where it is to run decides which passes do.

    Raises
    ------
    Refused
        A layout that a pass must choose is not known.
    """
    try:
        for step in PASSES:
            if not step.where(config):
                continue
            known = graph.facts.mark()
            graph = step.run(graph)
            assert graph.facts.mark() == known, f"{step.name} leaves facts that hold in one place"
    except Unhinted as unknown:
        reason = f"a layout depends on {unknown}, which only the run can tell"
        raise refuse("size", reason) from None
    return graph
