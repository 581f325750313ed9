"""Traces a function, and again for each specialization request of an attempt."""

from __future__ import annotations

from types import FunctionType, MappingProxyType

from npcompile.core import sizes
from npcompile.core.config import Config
from npcompile.core.errors import Refusal, Refused
from npcompile.core.lines import SourceLine
from npcompile.core.records import field, record, replace
from npcompile.graph.ir import Graph, Tree, walk
from npcompile.guards.sources import Source, Trace
from npcompile.ops.operands import Storage
from npcompile.python.values import Unreachable
from npcompile.runtime.unsafe import object_memory
from npcompile.tracing import external, item_requests, parameters
from npcompile.tracing import graph_breaks as breaks
from npcompile.tracing.graph_breaks import GraphBreaks, ResumePoint
from npcompile.tracing.side_effects import Attributes
from npcompile.tracing.tracer import Tracer

REQUESTS = 8  #: times a function is traced anew to make lists of other kinds


def trace(
    function: FunctionType, bound: dict[str, object], config: Config,
    start: ResumePoint | None = None, graph_breaks: GraphBreaks = MappingProxyType({}),
) -> Trace:
    """Follows a function's bytecode on symbolic values.

    Parameters
    ----------
    function
        A plain Python function.
    bound
        The arguments of the call at hand, by parameter name, defaults included.
    config
        Options; ``static`` names arguments that are taken by value.
    start
        Where in the function to begin; ``bound`` then names what is there.
    pauses
        Why the instructions at some offsets can't be followed: the trace leaves before them.

    Returns
    -------
    Trace
        The graph, where its parameters come from, and what must hold for it to be valid.

    Raises
    ------
    Refused
        The function runs as Python; the refusal says why and where.

    Examples
    --------
    >>> import numpy as np
    >>> def double(x):
    ...     return x * 2 + 1
    >>> found = trace(double, {"x": np.arange(3.0)}, Config())
    >>> [leaf.type for leaf in found.leaves]
    [float64[x.0]]
    """
    demands = _Demands()
    while True:
        try:
            return _trace_with(function, bound, config, start, graph_breaks, demands)
        except _Strings as more:
            demands.strings |= more.sources
        except Refused as refused:
            if not demands.strings and not demands.opened:
                raise
            told, place = refused.refusal, refused.place
            break
    try:
        demands = _Demands(plain=True)
        return _trace_with(function, bound, config, start, graph_breaks, demands)
    except Refused:
        raise Refused(told, place) from None


@record(frozen=False)
class _Demands:
    """The requests of earlier attempts: ``strings`` to be read as data, external lists to be
    ``opened`` (read in place).  ``plain``: neither is allowed."""

    plain: bool = False
    strings: set[Source] = field(default_factory=set)
    opened: bool = False


class _Strings(Exception):
    """Strings would better be data: what is static of them is compiled for each one anew."""

    def __init__(self, sources: set[Source]) -> None:
        self.sources = sources


def _trace_with(
    function: FunctionType, bound: dict[str, object], config: Config, start: ResumePoint | None,
    graph_breaks: GraphBreaks, demands: _Demands,
) -> Trace:
    """Traces until nothing more is asked for."""
    columns: dict[item_requests.Place, item_requests.Request] = {}
    stored: Attributes = {}
    ragged: frozenset[Source] = frozenset()
    packs: frozenset[Source] = frozenset()
    unrolled: Trace | None = None  # with all items of lists that were asked to be read in place
    attempts = 0
    while True:
        tracer = Tracer(config, graph_breaks)
        tracer.columns, tracer.inputs.ragged, tracer.packs = columns, ragged, packs
        tracer.stored, tracer.inputs.texts = stored, frozenset(demands.strings)
        readable = config.capabilities.host_memory and object_memory.readable()
        tracer.fetches = readable and not demands.plain
        try:
            try:
                found = _attempt(tracer, function, bound, start)
            finally:
                demands.opened |= bool(tracer.opened)
                if not demands.plain and tracer.inputs.wanted - demands.strings:
                    raise _Strings(tracer.inputs.wanted - demands.strings)
            more = tracer.inputs.settle(found.graph)
            if more or not tracer.packing <= packs:
                ragged, packs = ragged | more, packs | tracer.packing
                continue
            external.ask_for_pinned(tracer)
            fetched = external.fetched(tracer.requests)
            if unrolled is not None or fetched.keys() <= columns.keys():
                return found
            unrolled, columns = found, fetched
        except Refused:
            wishes, wanted = {**columns, **tracer.requests}, {**stored, **tracer.effects.wanted}
            attempts += 1
            if wishes == columns and len(wanted) == len(stored):
                external.ask_for_all(tracer)
                wishes = {**columns, **tracer.requests}
            if (wishes == columns and len(wanted) == len(stored)) or attempts > REQUESTS:
                if unrolled is not None:
                    return unrolled
                raise
            columns, stored = external.begun_anew(columns, wishes), wanted
        finally:  # the arguments live no longer than the call
            tracer.release()


def _attempt(
    tracer: Tracer, function: FunctionType, bound: dict[str, object], start: ResumePoint | None
) -> Trace:
    """Traces once; refusals say where."""
    code = function.__code__
    tracer.builder.line = SourceLine(code.co_firstlineno, code.co_filename)
    try:
        return _trace(tracer, function, bound, start)
    except Unreachable:
        raise tracer.refuse("raise", "every path raises: Python does") from None
    except RecursionError:
        raise tracer.refuse("function", "has calls or branches too deep in each other") from None
    except sizes.Unhinted as unknown:
        reason = f"a layout depends on {unknown}, which only the run can tell"
        raise Refused(tracer.refuse("size", reason).refusal, unknown.place) from None
    except Refused as refused:
        if refused.refusal.line:
            raise
        where = replace(refused.refusal, line=tracer.builder.line)
        raise Refused(where, refused.place) from None


def _trace(
    tracer: Tracer, function: FunctionType, bound: dict[str, object], start: ResumePoint | None
) -> Trace:
    if start is None:
        frame = parameters.begin(tracer, function, bound)
    else:
        frame = breaks.begin(tracer, function, bound, start)
    returned = tracer.enter(frame)
    tracer.frames.append(frame)
    result: Tree = tracer.effects.result(tracer.trees.result(returned))
    tracer.facts.suppose = None
    tracer.facts.undo((0, 0))
    finals = {
        storage.param: version
        for storage, version in frame.state.heap.items()
        if isinstance(storage, Storage) and storage.param >= 0
    }
    if tracer.opened and any(node.op == "host_call" for node in walk(tracer.root)):
        raise tracer.refuse("list", "from outside, beside calls of Python's, which may change it")
    finalized = tracer.inputs.finalized() if tracer.effects.pending or tracer.graph_breaks else None
    if finalized is not None:  # its arguments keep it alive until the call returns
        reason = "has a finalizer, which runs when Python drops it"
        raise Refused(Refusal(finalized.text(), reason, general=True, finalizer=True))
    graph = Graph(function.__qualname__, tracer.root, result, tracer.facts, finals)
    params = set(tracer.root.params)
    graph.bound.update((s, n) for s, n in tracer.builder.bound.items() if n not in params)
    graph.hushed, graph.echoes = tracer.builder.hushed, tracer.builder.echoes
    graph.repeated, graph.names = tracer.builder.repeated, tracer.names
    graph.called = {node: how for node, how in tracer.builder.calls.items()
                    if node not in tracer.builder.shared}
    graph.outs = tracer.builder.outs
    inputs = tracer.inputs
    code = function.__code__
    return Trace(graph, inputs.leaves, inputs.guards, tracer.notes, code, tracer.graph_breaks,
                 inputs.device)
