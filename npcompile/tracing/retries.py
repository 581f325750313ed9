"""Traces a function, and again for each specialization request of an attempt."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import FunctionType, MappingProxyType
from typing import TYPE_CHECKING

from npcompile.core import sizes
from npcompile.core.config import Config
from npcompile.core.errors import Refusal, Refused
from npcompile.core.lines import SourceLine
from npcompile.core.paths import defer
from npcompile.core.records import replace
from npcompile.graph.ir import Graph, Tree, walk
from npcompile.guards.sources import Trace
from npcompile.ops.operands import Storage
from npcompile.python.values import Unreachable
from npcompile.tracing import graph_breaks as breaks
from npcompile.tracing import parameters
from npcompile.tracing.graph_breaks import GraphBreaks, ResumePoint
from npcompile.tracing.requests import Requests
from npcompile.tracing.tracer import FunctionTracer

if TYPE_CHECKING:
    from npcompile.tracing import external
else:
    defer(globals(), "npcompile.tracing", "external")

LIMIT = 9  #: attempts that may be refused while there are new requests


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
    attempt = partial(_attempt, function, bound, config, start, graph_breaks)
    found, requests = _fixpoint(attempt, Requests())
    if isinstance(found, Refused) and (requests.strings or requests.in_place):
        again, _ = _fixpoint(attempt, Requests(plain=True))
        found = found if isinstance(again, Refused) else again
    if isinstance(found, Refused):
        refusal, place = found.refusal, found.place
        del found  # a frame that an exception passes and holds would keep the arguments alive
        raise Refused(refusal, place)
    return found


Found = Trace | Refused


def _fixpoint(
    attempt: Callable[[Requests], tuple[Found, Requests]], requests: Requests
) -> tuple[Found, Requests]:
    """Attempts to trace with more and more requests, until an attempt makes no new one; the
    outcome, and all requests."""
    standing: Trace | None = None  # serves this call, whatever becomes of later attempts
    refused = 0
    while refused < LIMIT:
        found, more = attempt(requests)
        if isinstance(found, Trace):
            standing = found
        else:
            refused += 1
        together = requests | more
        if together == requests:
            break
        if not together.keep(requests):
            standing = None
        requests = together
    return standing or found, requests


def _attempt(
    function: FunctionType, bound: dict[str, object], config: Config, start: ResumePoint | None,
    graph_breaks: GraphBreaks, requests: Requests,
) -> tuple[Found, Requests]:
    """Traces once; the outcome, and the requests that it makes."""
    tracer = FunctionTracer(config, graph_breaks, requests)
    try:
        found = _located(tracer, function, bound, start)
        tracer.inputs.settle(found.graph)
        if tracer.looked:
            external.ask_for_pinned(tracer)
        return found, tracer.requests.of_trace()
    except Refused as refused:
        more = tracer.requests.of_refusal()
        if tracer.looked and requests | more == requests:
            external.ask_for_all(tracer)
            more = tracer.requests.of_refusal()
        return refused.again(), more
    finally:  # the arguments live no longer than the call
        tracer.release()


def _located(
    tracer: FunctionTracer, function: FunctionType, bound: dict[str, object],
    start: ResumePoint | None,
) -> Trace:
    """Traces once; refusals say where."""
    code = function.__code__
    tracer.builder.at(SourceLine(code.co_firstlineno, code.co_filename))
    try:
        return _trace(tracer, function, bound, start)
    except Unreachable:
        why = "every path raises an exception, so Python runs the call"
        raise tracer.refuse("raise", why) from None
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
    tracer: FunctionTracer, function: FunctionType, bound: dict[str, object],
    start: ResumePoint | None,
) -> Trace:
    if start is None:
        frame = parameters.begin(tracer, function, bound)
    else:
        frame = breaks.begin(tracer, function, bound, start)
    returned = tracer.enter(frame)
    tracer.frames.append(frame)
    result: Tree = tracer.effects.result(tracer.trees.result(returned))
    tracer.facts.check_suppositions(None)
    tracer.facts.undo((0, 0))
    finals = {
        storage.param: version
        for storage, version in frame.state.heap.items()
        if isinstance(storage, Storage) and storage.param >= 0
    }
    if tracer.opened and any(node.op == "host_call" for node in walk(tracer.root)):
        raise tracer.refuse("list", "is passed in or global, and Python's calls may change it")
    finalized = tracer.inputs.finalized() if tracer.effects.pending or tracer.graph_breaks else None
    if finalized is not None:  # its arguments keep it alive until the call returns
        reason = "has a finalizer, which runs when Python drops it"
        raise Refused(Refusal(finalized.text(), reason, general=True, finalizer=True))
    inputs, builder, params = tracer.inputs, tracer.builder, set(tracer.root.params)
    symbols = {name: node for name, node in builder.bound.items() if node not in params}
    called = {node: how for node, how in builder.calls.items() if node not in builder.shared}
    graph = Graph(
        function.__qualname__, tracer.root, result, tracer.facts, finals, symbols, builder.hushed,
        builder.echoes, builder.repeated, called, builder.outs, tracer.names)
    code = function.__code__
    return Trace(graph, inputs.leaves, inputs.guards, tracer.notes, code, tracer.graph_breaks,
                 inputs.device)
