"""Dead code: what no effect, no result and no computed size needs."""

from __future__ import annotations

from collections.abc import Iterator

from npcompile.core.sizes import Poly, Size, Symbol, symbols
from npcompile.graph.ir import (
    Check,
    Graph,
    Loop,
    Node,
    Region,
    SizeOf,
    Tree,
    Window,
    result_nodes,
)
from npcompile.graph.types import Array


def drop_dead(graph: Graph) -> Graph:
    """Checks and host calls stay; a write stays if its memory is seen."""
    live: set[Node] = set()
    work = [*result_nodes(graph.result), *graph.finals.values(), *graph.region.results]
    work += [node for node in graph.region.nodes if node.op in ("check", "host_call")]
    while work:
        node = work.pop()
        if node in live:
            continue
        live.add(node)
        work += node.args
        for region in node.regions:
            work += _needed(region)
        if isinstance(node.attrs, Check):
            for tree in _resumed(node.attrs):
                work += result_nodes(tree)
        if graph.bound:
            work += [graph.bound[name] for name in _symbols(node) if name in graph.bound]
    kept = [node for node in graph.region.nodes if node in live or node.op == "param"]
    bound = {name: node for name, node in graph.bound.items() if node in live}
    region = Region(graph.region.params, kept, graph.region.results)
    return Graph(graph.name, region, graph.result, graph.facts, graph.finals, bound)


def _needed(region: Region) -> Iterator[Node]:
    """Everything inside a region stays, with what it uses from outside."""
    for node in (*region.nodes, *region.results):
        yield node
        yield from node.args


def _resumed(check: Check) -> Iterator[Tree]:
    for frame in check.resume.frames:
        yield from (tree for _, tree in frame.local)
        yield from frame.stack


def _symbols(node: Node) -> Iterator[Symbol]:
    sizes: list[Size] = []
    if isinstance(node.type, Array):
        sizes += (*node.type.shape, *node.type.strides)
    if isinstance(node.attrs, Window):
        sizes += (node.attrs.offset, *node.attrs.shape, *node.attrs.strides)
    elif isinstance(node.attrs, SizeOf):
        sizes.append(node.attrs.size)
    elif isinstance(node.attrs, Loop):
        sizes += (node.attrs.start, node.attrs.stop, node.attrs.step)
    for size in sizes:
        if isinstance(size, Poly):
            yield from symbols(size)
