"""Dead code: what no effect, no result and no computed size needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from npcompile.core.paths import defer
from npcompile.core.sizes import Poly, Size, Symbol, symbols
from npcompile.graph.builder import IMPURE
from npcompile.graph.ir import (
    GRAMMAR,
    WRITES,
    Extern,
    Geometry,
    Get,
    Graph,
    Loop,
    Node,
    Region,
    Scatter,
    SizeOf,
    Tree,
    ViewOf,
    handed,
    leaves,
    result_nodes,
)
from npcompile.graph.primitives import PRIMITIVES
from npcompile.graph.types import Array, Scalar

if TYPE_CHECKING:
    from npcompile.graph import routines
else:
    defer(globals(), "npcompile.graph", "routines")


def keep_flags(graph: Graph) -> Graph:
    """What may raise floating-point flags, on which NumPy warns, is a result of the graph's region:
    no pass loses it, whatever becomes of those who use it."""
    if graph.echoes:
        used = {*_held(graph, graph.result), *graph.finals.values(), *graph.bound.values()}
        _drop_echoes(graph, graph.region, used)
    nodes = graph.region.nodes
    roots = [node for node in nodes if node not in graph.echoes and _may_flag(node)]
    if not roots:
        return graph
    region = Region(graph.region.params, nodes, roots)
    return Graph(graph.name, region, graph.result, graph.facts, graph.finals, graph.bound,
                 graph.hushed, names=graph.names)


def drop_dead(graph: Graph) -> Graph:
    """Checks and host calls stay; a write stays if its memory is seen; so does of the results of
    the region itself, which :func:`keep_flags` has put there, what nobody else computes."""
    _drop_carried(graph)
    seen = _seen(graph)
    computed = reach(graph, seen, resumed=False)
    roots: list[Node] = []
    for node in dict.fromkeys(reversed(graph.region.results)):
        if not _is_computed(node, computed):
            roots.append(node)
            computed |= reach(graph, [node], resumed=False)
    live = reach(graph, seen + roots)
    kept = [node for node in graph.region.nodes if node in live or node.op == "param"]
    bound = {name: node for name, node in graph.bound.items() if node in live}
    region = Region(graph.region.params, kept, roots[::-1])
    return Graph(graph.name, region, graph.result, graph.facts, graph.finals, bound,
                 names=graph.names)


def _drop_carried(graph: Graph) -> None:
    """Turns of loops leave as they are integers of which nobody hears but these themselves."""
    every = list(_every(graph.region))
    loops = [node for node in every if node.op in ("for_", "while_")]
    used = {*graph.finals.values(), *graph.bound.values(), *_held(graph, graph.result),
            *graph.region.results} if loops else set()
    heard: dict[Node, set[int]] = {loop: set() for loop in loops}
    for node in every if loops else ():
        used.update(node.args)
        for region in node.regions:
            used.update(region.results)
        for tree in handed(node):
            used.update(_held(graph, tree))
    for node in every:
        if isinstance(node.attrs, Get) and node in used and node.args[0] in heard:
            heard[node.args[0]].add(node.attrs.index)
    for loop in loops:
        _silence(graph, loop, heard[loop])


def _silence(graph: Graph, loop: Node, heard: set[int]) -> None:
    (region,) = loop.regions
    params, skipped = region.params[loop.op == "for_":], int(loop.op == "while_")
    results = region.results[skipped:]
    silent = {k for k, param in enumerate(params)
              if k not in heard and isinstance(param.type, Scalar) and param.dtype.kind in "bi"
              and results[k] is not param}
    if silent:
        flagged = {node for node in region.nodes if _may_flag(node)}
        silent = {k for k in silent if flagged.isdisjoint(reach(graph, [results[k]]))}
        effects = [n for n in region.nodes if n.regions or n.op in IMPURE or n in flagged]
        effects += [n for tree in handed(loop) for n in _held(graph, tree)]
    alive = silent
    while alive:
        kept = [result for k, result in enumerate(results) if k not in silent]
        live = reach(graph, [*effects, *kept, *region.results[:skipped]])
        alive = {k for k in silent if params[k] in live}
        silent = silent - alive
    for k in silent:
        region.results[k + skipped] = params[k]


def _is_computed(node: Node, computed: set[Node]) -> bool:
    """Whether all is computed that may raise a value's flags."""
    work, seen = [node], {node}
    while work:
        node = work.pop()
        if node in computed or node.op in ("param", "const", "size"):
            continue
        primitive = PRIMITIVES.get(node.op)
        if primitive is None or primitive.flags:
            return False
        work += [arg for arg in node.args if arg not in seen]
        seen.update(node.args)
    return True


def _drop_echoes(graph: Graph, region: Region, used: set[Node]) -> None:
    """Takes out what nobody uses, backwards; others raise its flags."""
    used.update(region.results)
    kept = []
    for node in reversed(region.nodes):
        if node in graph.echoes and node not in used:
            continue
        kept.append(node)
        used.update(node.args)
        for tree in handed(node):
            used.update(_held(graph, tree))
        for inner in node.regions:
            _drop_echoes(graph, inner, used)
    region.nodes[:] = kept[::-1]


def _may_flag(node: Node) -> bool:
    """Python's own numbers raise exceptions, by checks, and no flags."""
    if not isinstance(node.type, (Array, Scalar)):
        return False
    if isinstance(node.type, Scalar) and node.type.origin == "py":
        return False
    floats = any(a.dtype.kind in "fc" for a in node.args if isinstance(a.type, (Array, Scalar)))
    if node.op in ("cast", "reduce"):
        return floats
    if isinstance(node.attrs, Extern):
        return floats and not node.attrs.quiet and routines.ROUTINES[node.attrs.routine].flags
    if node.op in GRAMMAR:
        return False
    primitive = PRIMITIVES.get(node.op)
    if primitive is not None and not primitive.flags:
        return False
    return floats or any(word in node.op for word in ("div", "remainder", "mod"))


def _seen(graph: Graph) -> list[Node]:
    """Results, parameters written, effects.  Regions stay whole: one that may raise flags is needed
    for them."""
    return [*_held(graph, graph.result), *graph.finals.values()] + [
        node for node in graph.region.nodes if any(
            inner.op in ("check", "host_call", "settle") or (inner is not node and _may_flag(inner))
            for inner in (node, *_inside(node)))
    ]


def _inside(node: Node) -> Iterator[Node]:
    """The nodes of all regions of a node."""
    for region in node.regions:
        yield from _every(region)


def _every(region: Region) -> Iterator[Node]:
    """The nodes of a region and of those in it."""
    for node in region.nodes:
        yield node
        yield from _inside(node)


def reach(graph: Graph, roots: list[Node], resumed: bool = True) -> set[Node]:
    """Everything that some nodes are computed from, and what their checks hand to Python if they
    are ``resumed``."""
    live: set[Node] = set()
    work = list(roots)
    while work:
        node = work.pop()
        if node in live:
            continue
        live.add(node)
        work += node.args
        for region in node.regions:
            work += _needed(region) if resumed else _computed(region, node.op != "if_")
        if isinstance(node.attrs, Get) and node.args[0].op == "if_":
            work += [region.results[node.attrs.index] for region in node.args[0].regions]
        for tree in handed(node) if resumed else ():
            work += _held(graph, tree)
        if graph.bound and (node.attrs is not None or isinstance(node.type, Array)):
            work += [graph.bound[name] for name in _symbols(node) if name in graph.bound]
    return live


def _needed(region: Region) -> Iterator[Node]:
    """Everything inside a region stays, with what it uses from outside."""
    for node in (*region.nodes, *region.results):
        yield node
        yield from node.args


def _computed(region: Region, results: bool) -> set[Node]:
    """What of a region is computed, and from what: what nobody needs and raises no flag is not,
    neither are ``results`` of a branch that nobody gets."""
    live = set(region.results) if results else set()
    for node in reversed(region.nodes):
        effect = node.op in IMPURE - WRITES  # what is written is a result, if somebody sees it
        if node in live or node.regions or effect or _may_flag(node):
            live.update((node, *node.args))
    return live


def _held(graph: Graph, tree: Tree) -> Iterator[Node]:
    """What the results in a tree need, the computed sizes of views too."""
    yield from result_nodes(tree)
    for leaf in leaves(tree):
        if isinstance(leaf, ViewOf):
            geometry = leaf.geometry
            for size in (geometry.offset, *geometry.shape, *geometry.strides):
                yield from (graph.bound[s] for s in symbols(size) if s in graph.bound)


def _symbols(node: Node) -> Iterator[Symbol]:
    sizes: list[Size] = []
    if isinstance(node.type, Array):
        sizes += (*node.type.shape, *node.type.strides)
    geometry = node.attrs.geometry if isinstance(node.attrs, Scatter) else node.attrs
    if isinstance(geometry, Geometry):
        sizes += (geometry.offset, *geometry.shape, *geometry.strides)
    elif isinstance(node.attrs, SizeOf):
        sizes.append(node.attrs.size)
    elif isinstance(node.attrs, Loop):
        sizes += (node.attrs.start, node.attrs.stop, node.attrs.step)
    for size in sizes:
        if isinstance(size, Poly):
            yield from symbols(size)
