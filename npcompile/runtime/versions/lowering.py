"""Lowers a trace to a program and its outline; only compiling needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npcompile import passes
from npcompile.core.config import Config, Deterministic, strict
from npcompile.core.paths import defer
from npcompile.graph.ir import CallSite, Check, Extern, Graph, HostCall, Node, Param, walk
from npcompile.graph.types import Array, Scalar
from npcompile.guards.sources import TensorMemory, Trace
from npcompile.ops.record import OPERATORS, of_path
from npcompile.program.ir import Program
from npcompile.program.stored import stores
from npcompile.runtime.entry.executables import Stopwatch
from npcompile.runtime.entry.fp_warnings import CATEGORIES
from npcompile.runtime.entry.outline import Outline
from npcompile.runtime.versions import fp_attribution
from npcompile.runtime.versions.numpy_cost import price
from npcompile.schedule import schedule
from npcompile.tracing.graph_breaks import is_heavy

if TYPE_CHECKING:
    from npcompile.graph import routines
    from npcompile.runtime.versions import tensor_bits
else:
    defer(globals(), "npcompile.graph", "routines")
    defer(globals(), "npcompile.runtime.versions", "tensor_bits")


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


def outline(traced: Trace, config: Config) -> Outline:
    """The outline of a trace that is compiled with a configuration."""
    graph = traced.graph
    params = [node.attrs for node in graph.params]
    written = [traced.leaves[k].source for k in sorted(graph.written)]
    modes: tuple[Deterministic, ...] = (True, "portable")
    operations, repeatable = fp_attribution.loud(graph), fp_attribution.repeatable(graph)
    heard = fp_attribution.audible(graph, operations) if config.capabilities.flags else operations
    return Outline(
        traced.leaves,
        traced.guards,
        traced.notes,
        graph.facts.guards,
        tuple([p.symbol if isinstance(p, Param) else None for p in params]),
        frozenset(graph.written),
        {category: fp_attribution.candidate(heard, category) for category in CATEGORIES},
        config.capabilities.reports_errors and fp_attribution.ambiguous(graph, heard),
        fp_attribution.late(graph, heard),
        fp_attribution.messages(graph),
        repeatable,
        not repeatable or stores(graph.result),
        fp_attribution.marked(graph) and not stores(graph.result),
        exact(graph) and (not any(isinstance(leaf.source, TensorMemory) for leaf in traced.leaves)
                          or tensor_bits.torchs(graph)),
        {mode: unpromised(graph, mode, bool(config.deterministic)) for mode in modes},
        is_heavy(graph),
        price(graph),
        fp_attribution.silent(graph, operations),
        traced.graph_breaks,
        tuple(source.base for source in written
              if isinstance(source, TensorMemory) and not traced.device),
        graph,
    )


# ------------------------------------------------------------------ questions about graphs


def unpromised(graph: Graph, mode: Deterministic, own: bool) -> list[str]:
    """The operators of a traced graph that can't keep a deterministic mode's promise; ``own``:
    products of matrices are computed without a library."""
    accepted = ("portable",) if mode == "portable" else ("portable", "machine")
    names = []
    for node in walk(graph.region):
        if isinstance(node.attrs, HostCall):
            if _guarantee(node.attrs) not in accepted:
                names.append(node.attrs.path.replace(":", "."))
        elif isinstance(node.attrs, Check) and node.attrs.resume.graph_breaks:
            names.append(f"Python's part of the function ({node.attrs.reason})")
        elif isinstance(node.attrs, CallSite):
            if node.attrs.guarantee not in accepted:
                names.append(node.attrs.path)
        elif isinstance(node.attrs, Extern):
            if routines.ROUTINES[node.attrs.routine].portable:
                continue
            exact = own or node.args[0].dtype.char not in "fdFD"
            if node.attrs.routine != "product" or not exact:
                names.append(node.attrs.name)
        elif node.op in OPERATORS and OPERATORS[node.op].guarantee not in accepted:
            names.append(node.op)
    return list(dict.fromkeys(names))


def exact(graph: Graph) -> bool:
    """Whether a graph has no operator whose last bits may differ from NumPy's; functions of a
    library are the library's own."""
    for node in walk(graph.region):
        record = OPERATORS.get(node.op)
        if isinstance(node.attrs, Extern) and node.args[0].dtype.char in "fdFD":
            return False
        if record is not None and any(record.ulp.get(char) for char in _characters(node)):
            return False
    return True


def _characters(node: Node) -> set[str]:
    """The types of what an operation takes and gives."""
    types = [node.type, *[operand.type for operand in node.args]]
    return {type_.dtype.char for type_ in types if isinstance(type_, (Array, Scalar))}


def _guarantee(called: HostCall | CallSite) -> str:
    """What is promised of a library function's bits."""
    if isinstance(called, CallSite):
        return called.guarantee
    record = of_path(called.path)
    return "" if record is None else record.guarantee
