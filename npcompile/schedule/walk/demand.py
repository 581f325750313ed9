"""Positions, last uses and recomputation costs of nodes."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from npcompile.graph.ir import WRITES, Geometry, Get, Graph, Node, Region, held, result_nodes
from npcompile.graph.primitives import raises
from npcompile.graph.types import Array, Scalar

END = 1 << 60
#: costs of primitives in additions; what moves or converts bits is free
COSTS = {
    "div": 8, "sqrt": 8, "int_div": 20, "int_mod": 20, "fmod": 20, "floor_quotient": 16,
    "lookup": 4, "ldexp": 3, "call": 100,
    "const": 0, "size": 0, "iota": 0, "full": 0, "read": 0, "copy": 0, "cast": 1, "real": 0,
    "imag": 0, "complex": 0, "empty": 0, "write": 0, "gather": 4,
}
#: a value that costs more than this is stored rather than computed twice
HEAVY = 4
LIMIT = 1000
#: what one kernel computes at most (see :func:`code`): more than any one operator
MOST = 512

#: nodes that happen at their own place in the program
ORDERED = WRITES | {
    "extern", "settle", "host_call", "check", "reduce", "pack", "if_", "for_", "while_",
}


def code(op: str) -> int:
    """How much machine code a primitive is, in additions: calls are little."""
    return min(COSTS.get(op, 1), 8)


class _Use(NamedTuple):
    """A use of a value, at a position inside loops; ``user`` is None for what a check holds.
    ``passes``: whoever needs the user needs the value, too."""

    user: Node | None
    region: Region
    here: int
    loops: tuple[Node, ...]
    passes: bool = False


class Demand:
    """Static facts about the uses of a graph's nodes.

    Positions count all nodes, those of regions before the node that holds them.  A value from
    outside that a loop uses is needed until the loop ends.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.own_versions = _own_versions(graph)
        self.own_writes = {node for node in self.own_versions if node.op in WRITES}
        self.position: dict[Node, int] = {}
        self.start: dict[Node, int] = {}  # of a node with regions
        self.end: dict[Region, int] = {}  # where the results of a region are used
        self._skipped: frozenset[Region] = frozenset()
        self.initial: dict[Node, Node] = {}  # what a parameter of a loop's region is at first
        self._number(graph.region, 0)
        self._count()

    def without(self, region: Region) -> Demand:
        """The demand on paths that do not lead through a region."""
        made = copy(self)
        gone = set(_nested(region))
        made._skipped = self._skipped | gone
        made.consumers, made.last_use = dict(self.consumers), dict(self.last_use)
        made.last_need = dict(self.last_need)
        changed = {n for inner in gone for n in inner.results}
        changed.update(n for inner in gone for node in inner.nodes for n in node.args)
        changed.update(n for inner in gone for node in inner.nodes for n in held(node))
        made._again(changed)
        return made

    def confine(self, node: Node, region: Region) -> None:
        """Forgets the uses of a node behind a region: its contents are elsewhere for these."""
        end, last = self.end[region], -1
        for _, place, here, loops, _ in self._used[node]:
            if place not in self._skipped and here <= end:
                inner = tuple([loop for loop in loops if self.position[loop] <= end])
                last = max(last, self._until(node, here, inner))
        self.last_use[node] = last

    def _again(self, changed: set[Node]) -> None:
        """Counts again what some nodes are needed for, and what they are computed from."""
        queue = [(-self.position[node], id(node), node) for node in changed]
        heapify(queue)
        while queue:
            node = heappop(queue)[-1]
            before = self.last_need.get(node)
            self._evaluate(node)
            if self.last_need.get(node) != before and not self.ordered(node):
                for arg in node.args:
                    if arg not in changed:
                        changed.add(arg)
                        heappush(queue, (-self.position[arg], id(arg), arg))

    def _number(self, region: Region, position: int) -> int:
        for param in region.params:
            self.position[param] = position - 1
        for node in region.nodes:
            if node.regions:
                self.start[node] = position
                position += 1
            if node.op in ("for_", "while_"):
                self.initial.update((param, arg) for arg, param, _ in carried(node))
            for inner in node.regions:
                position = self.end[inner] = self._number(inner, position + 1)
                position += 1
            self.position[node] = position
            position += 1
        return position

    def _count(self) -> None:
        self.consumers: dict[Node, list[Node]] = {node: [] for node in self.position}
        self.last_use: dict[Node, int] = {}  # of the node itself
        self.last_need: dict[Node, int] = {}  # of it or of what is computed from it
        graph = self.graph
        self._results = {
            *result_nodes(graph.result), *graph.finals.values(), *graph.region.results
        }
        self.idle: dict[Region, list[Node]] = {}  # of inner regions: needed for flags only
        self._used: dict[Node, list[_Use]] = {node: [] for node in self.position}
        self._region(graph.region, ())
        for node in sorted(self.position, key=self.position.__getitem__, reverse=True):
            self._evaluate(node)

    def _region(self, region: Region, loops: tuple[Node, ...]) -> None:
        for node in reversed(region.nodes):
            around = loops if node.op == "if_" else (*loops, node)
            for inner in reversed(node.regions):
                for result in inner.results:
                    self._used[result].append(_Use(node, inner, self.end[inner], around))
                self._region(inner, around)
                self.idle[inner] = list(self._idle(inner))
                for idle in self.idle[inner]:
                    self._used[idle].append(_Use(None, inner, self.end[inner], around))
            here = self.start.get(node, self.position[node])
            for arg in node.args:
                self._used[arg].append(_Use(node, region, here, loops, not self.ordered(node)))
            # computed only if Python goes on there, from the same memory
            inside, around = (region, loops) if node.op == "check" else (None, (*loops, node))
            for value in held(node):
                self._used[value].append(_Use(None, inside or node.regions[0], here, around))

    def _idle(self, region: Region) -> Iterator[Node]:
        """Yields the nodes of which only the floating-point flags are needed; the flags are raised
        when the region ends, at the latest."""
        idle = set[Node]()
        for node in reversed(region.nodes):
            users = {use.user for use in self._used[node]} - {None}
            happens = (self.ordered(node) and node.op not in WRITES) or node.op == "get"
            if idle.issuperset(users) and not happens:
                idle.add(node)
                if raises(node):
                    yield node

    def _evaluate(self, node: Node) -> None:
        """When a node is needed, its users being known."""
        use = need = END if node in self._results else -1
        consumers = []
        for user, region, here, loops, passes in self._used[node]:
            if region in self._skipped:
                continue
            until = self._until(node, here, loops)
            use = max(use, until)
            if user is not None:
                consumers.append(user)
                later = self.last_need.get(user, -1) if passes else -1
                need = max(need, until if later <= here else self._until(node, later, loops))
        self.consumers[node] = consumers
        for known, position in ((self.last_use, use), (self.last_need, need)):
            known.pop(node, None)
            if position >= 0:
                known[node] = position

    def _until(self, value: Node, position: int, loops: tuple[Node, ...]) -> int:
        """A use at a position inside loops, some of which will need the value again."""
        for loop in loops:
            if self.position[value] < self.start[loop]:
                return max(position, self.position[loop])
        return position

    def ordered(self, node: Node) -> bool:
        """Whether a node happens at its own place; others are computed where they are needed."""
        return node.op in ORDERED and not self.replaces(node)

    def replaces(self, node: Node) -> bool:
        """Whether a write overwrites all of an array that is ours: then its value is the array."""
        if node.op != "write" or node in self.own_writes or len(node.args) > 2:
            return False
        whole = node.type
        assert isinstance(whole, Array)
        return node.attrs == Geometry(0, whole.shape, whole.strides)


def _nested(region: Region) -> Iterator[Region]:
    """A region and all regions in it."""
    yield region
    for node in region.nodes:
        for inner in node.regions:
            yield from _nested(inner)


def sources(node: Node) -> list[Node]:
    """Where the result that a ``get`` takes comes from: of each arm, or before and from a loop."""
    assert isinstance(node.attrs, Get)
    parent, k = node.args[0], node.attrs.index
    if parent.op == "if_":
        return [region.results[k] for region in parent.regions]
    if parent.op in ("for_", "while_"):
        arg, _, result = carried(parent)[k]
        return [arg, result]
    return []


def carried(loop: Node) -> list[tuple[Node, Node, Node]]:
    """For each carried value of a loop what it is at first, in an iteration, and in the next."""
    (region,) = loop.regions
    params, results = region.params, region.results
    if loop.op == "for_":
        params = params[1:]  # after the index
    else:
        results = results[1:]  # after the test
    return list(zip(loop.args, params, results, strict=True))


def _own_versions(graph: Graph) -> set[Node]:
    """The versions of parameters themselves (not of copies)."""
    found: set[Node] = set()
    stack = list(graph.finals.values())
    while stack:
        node = stack.pop()
        if node in found:
            continue
        found.add(node)
        if node.op in WRITES:
            stack.append(node.args[0])
        elif node.op == "get":
            stack += sources(node)
    return found


def is_number(node: Node) -> bool:
    return isinstance(node.type, Scalar)

