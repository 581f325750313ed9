"""Graph to graph: each pass is a function, their order is data."""

from __future__ import annotations

from collections.abc import Callable

from npcompile.backends.target import here
from npcompile.core.config import Config
from npcompile.core.errors import refuse
from npcompile.core.paths import import_path
from npcompile.core.records import record
from npcompile.core.sizes import Unhinted
from npcompile.graph.ir import Check, Graph, Node, walk
from npcompile.graph.types import INT, Array, Scalar

Where = Callable[[Graph, Config | None], bool]


def everywhere(graph: Graph, config: Config | None) -> bool:
    return True


def has_flags(config: Config | None) -> bool:
    """Whether what runs tells of floating-point errors by flags that it can take back."""
    return config is None or config.capabilities.flags


def ignores_errors(graph: Graph, config: Config | None) -> bool:
    """Whether the program ignores floating-point errors that are told by flags."""
    return bool(graph.hushed) and has_flags(config)


def inlines(graph: Graph, config: Config | None) -> bool:
    """Whether the compiler of a device puts what is called in line."""
    return config is not None and config.capabilities.inlines


def orders_zeros(graph: Graph, config: Config | None) -> bool:
    """Whether results are those of a machine on which NumPy's loops have -0 < +0."""
    return here().orders_zeros and (config is None or config.deterministic != "portable")


def replaces_sizes(graph: Graph, config: Config | None) -> bool:
    """Whether sizes were found to be equal."""
    return bool(graph.facts.replaced)


def has_loops(graph: Graph, config: Config | None) -> bool:
    """Whether nodes have regions: loops and branches."""
    return any(node.regions for node in graph.region.nodes)


def has_checks(graph: Graph, config: Config | None) -> bool:
    return any(isinstance(node.attrs, Check) for node in walk(graph.region))


def has_integers(graph: Graph, config: Config | None) -> bool:
    """Whether scalars are made of two integers."""
    return any(isinstance(node.type, Scalar) and len(node.args) == 2
               and all(map(_is_integer, node.args)) for node in walk(graph.region))


def _is_integer(node: Node) -> bool:
    return isinstance(node.type, Scalar) and node.type.dtype == INT


def _of_kind(chars: str) -> Where:
    """Whether there are numbers of any of these dtypes, by their characters."""
    def found(graph: Graph, config: Config | None) -> bool:
        return any(isinstance(node.type, (Array, Scalar)) and node.type.dtype.char in chars
                   for node in walk(graph.region))

    return found


has_halves = _of_kind("e")
has_complex = _of_kind("FD")


@record
class Pass:
    """``uses`` is the import path of the function, below this room; ``after`` names the passes that
    must have run before, ``reason`` says why; ``where`` says for which graphs and configurations it
    runs: all in which it may find something."""

    name: str
    uses: str
    after: tuple[str, ...] = ()
    reason: str = ""
    where: Where = everywhere

    def run(self, graph: Graph) -> Graph:
        """The graph after the pass, whose module is imported when it first runs."""
        made: Graph = import_path(f"{__name__}.{self.uses}")(graph)
        return made


PASSES = (
    Pass("flags", "dead:keep_flags", (), "later, what the user wrote can't be told from our own"),
    Pass("settle", "fp_barriers:settle", ("flags",),
         "later, nodes of both sorts might become one", ignores_errors),
    Pass("wrapping", "wrapping:drop_wrapping", ("settle",),
         "later, answers rest on the checks", has_checks),
    Pass("normalise", "normalise:normalise", ("wrapping",),
         "equal sizes make equal nodes one", replaces_sizes),
    Pass("zeros", "zeros:order_zeros", ("normalise",), "programs compare shapes", orders_zeros),
    Pass("functions", "kernel_functions:name_functions", ("normalise",),
         "programs compare shapes", inlines),
    Pass("decompose", "decompose:decompose", ("normalise", "zeros"), "programs compare shapes"),
    Pass("halves", "halves:widen_halves", ("decompose",), "works on primitives", has_halves),
    Pass("complexes", "complexes:expand_complex", ("decompose",), "works on primitives",
         has_complex),
    Pass("simplify", "simplify:simplify", ("halves", "complexes"),
         "they leave casts and parts behind"),
    Pass("ranges", "ranges:narrow", ("simplify",), "works on primitives", has_integers),
    Pass("split", "split:split", ("ranges",), "lanes need loops without checks", has_loops),
    Pass("tables", "tables:tabulate", ("ranges", "split"), "its loops must be without checks",
         has_loops),
    Pass("hoist", "hoist:hoist", ("simplify", "ranges", "tables"),
         "changes regions that it has made", has_checks),
    Pass("checks", "checks:merge_checks", ("hoist",), "conditions move one by one", has_checks),
    Pass("edges", "interruptible_loops:drop_edges", ("simplify", "checks"),
         "conditions must be plain", has_loops),
    Pass("dead", "dead:drop_dead", ("simplify", "checks", "edges"), "rewriting orphans nodes"),
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
            if not step.where(graph, config):
                continue
            known = graph.facts.mark()
            graph = step.run(graph)
            assert graph.facts.mark() == known, f"{step.name} leaves facts that hold in one place"
    except Unhinted as unknown:
        raise refuse("size", f"a layout depends on {unknown}, which only the run tells") from None
    return graph
