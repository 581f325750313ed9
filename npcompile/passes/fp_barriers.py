"""What ``np.errstate`` ignores and what it does not run apart, where both may raise one flag.

Flags are sticky: of a division by zero they don't tell whether it was one that the program wants
to hear of.  So a ``settle`` stands wherever operations of the one sort follow those of the other.
All that the region before it computes and that may raise such a flag is computed by then, and the
flags that it ignores become what they were when it began.
"""

from __future__ import annotations

from collections import defaultdict

from npcompile.core.records import replace
from npcompile.graph.builder import Builder
from npcompile.graph.ir import (
    WRITES,
    Extern,
    Geometry,
    Graph,
    Node,
    Region,
    held,
    result_nodes,
    walk,
)
from npcompile.graph.types import Array, Nothing, Scalar
from npcompile.ops.fp_errors import UNTOLD, raises
from npcompile.ops.record import OPERATORS
from npcompile.passes.rewrite import Rewriter

_FREE = frozenset({"param", "const", "size"})


def mixed(graph: Graph) -> str:
    """The first letters of what is ignored for some operations and not for others."""
    ignored, heard = set[str](), set[str]()
    for node in walk(graph.region) if graph.hushed else ():
        letters, hushed = set(_letters(node)), set(graph.hushed.get(node, ""))
        if UNTOLD not in hushed:  # else these few would come apart from all others
            ignored |= letters & hushed
        heard |= letters - hushed
    return "".join(sorted(ignored & heard))


def settle(graph: Graph) -> Graph:
    """The graph with such regions apart."""
    letters = mixed(graph)
    return _BarrierWriter(graph, letters).run() if letters else graph


def _letters(node: Node) -> str:
    """Python's own numbers raise exceptions."""
    return "" if getattr(node.type, "origin", "np") == "py" else raises(node)


class _QuietRegion:
    """Operations one after the other that ignore the same (``quiet``), and those of them that may
    raise what others ignore or don't."""

    def __init__(self, quiet: str) -> None:
        self.quiet = quiet
        self.nodes: list[Node] = []


class _BarrierWriter(Rewriter):
    """``before`` has the regions that end before a node, ``after`` those that a region ends."""

    def __init__(self, graph: Graph, letters: str) -> None:
        super().__init__(graph, lambda builder, node, args: None)
        self.letters = set(letters)
        self.before: dict[Node, _QuietRegion] = {}
        self.after: dict[Region, _QuietRegion] = {}
        self.users: defaultdict[Node, set[Node | None]] = defaultdict(set)
        self._count(graph.region)
        for node in (*result_nodes(graph.result), *graph.finals.values(), *graph.bound.values()):
            self.users[node].add(None)
        last = self._plan(graph.region)
        if last is not None and last.quiet:
            self.after[graph.region] = last

    def run(self) -> Graph:
        made = super().run()
        return replace(made, echoes={
            self.new[node] for node in self.graph.echoes if node in self.new})

    # ------------------------------------------------------------------ where

    def _count(self, region: Region) -> None:
        """Who uses each node; nobody knows when, if it is not a node of the same region."""
        here = set(region.nodes)
        for node in region.nodes:
            for arg in node.args:
                self.users[arg].add(node if arg in here else None)
            for value in held(node):
                self.users[value].add(None)
            for inner in node.regions:
                self._count(inner)
                for result in inner.results:
                    self.users[result].add(None)

    def _quiet(self, node: Node) -> str | None:
        """What an operation ignores, if it matters."""
        if self.letters.isdisjoint(_letters(node)):
            return None
        return "".join(sorted(self.letters.intersection(self.graph.hushed.get(node, ""))))

    def _plan(self, region: Region) -> _QuietRegion | None:
        """Finds the regions of a region; gives the last one, which has no end yet."""
        now: _QuietRegion | None = None
        for node in region.nodes:
            inside = {self._quiet(n) for inner in node.regions for n in walk(inner)} - {None}
            if len(inside) > 1:
                if now is not None:
                    self.before[node], now = now, None
                for inner in node.regions:
                    last = self._plan(inner)
                    if last is not None:
                        self.after[inner] = last
                continue
            quiet = inside.pop() if inside else self._quiet(node)
            if quiet is None:
                continue
            if now is not None and now.quiet != quiet:
                self.before[node], now = now, None
            now = now or _QuietRegion(quiet)
            if not node.regions:
                now.nodes.append(node)
        return now

    # ------------------------------------------------------------------ what

    def region(self, old: Region) -> Region:
        made = super().region(old)
        if old in self.after:
            builder = Builder(self.graph.facts, made)
            self._emit(builder, self.after[old])
        return made

    def node(self, builder: Builder, node: Node) -> Node:
        if node in self.before:
            self._emit(builder, self.before[node])
        return super().node(builder, node)

    def _emit(self, builder: Builder, region: _QuietRegion) -> None:
        """All nodes that are there by now have been made anew; what has several results is computed
        at its own place."""
        needed = dict.fromkeys(map(self._last, region.nodes))
        args = dict.fromkeys(self.new[node] for node in needed if node)
        attrs = Extern("settle", "errstate", region.quiet, quiet=True)
        builder.emit("settle", [n for n in args if n.op not in _FREE
                                and isinstance(n.type, (Array, Scalar))], attrs, Nothing())

    def _last(self, node: Node) -> Node | None:
        """What must be there for a node to be computed by now: the node itself, or what alone is
        made of it; nothing if it is in memory that has been changed since."""
        while True:
            users = self.users[node]
            past = [user for user in users if user and user in self.new]
            if any(_changes(user, node) for user in past):
                return None
            if len(users) > 1 or not past or not _takes_all(past[0], node):
                return node
            node = past[0]


def _changes(user: Node, node: Node) -> bool:
    """Whether a value is in memory of its own by then, which the user may write into.  A loop that
    carries a number, or leaves an array as it is, may go, and with it the need for the value."""
    if user.op in ("for_", "while_"):
        (region,) = user.regions
        results, params = region.results, region.params
        carried = zip(user.args, results[user.op == "while_":], params[user.op == "for_":],
                      strict=True)
        return any(isinstance(arg.type, Array) and arg is node and result is not param
                   for arg, result, param in carried)
    return user.op in WRITES and user.args[0] is node


def _takes_all(user: Node, node: Node) -> bool:
    """Whether computing one node computes all elements of another."""
    if user.op == "reduce":
        return user.args[0] is node
    if user.op == "write":
        assert isinstance(user.attrs, Geometry)
        return len(user.args) == 2 and user.args[1] is node and _shape(node) == user.attrs.shape
    record = OPERATORS.get(user.op)
    plain = user.op in ("cast", "copy") or (
        record is not None and record.kind.name == "elementwise" and user.op != "where")
    return plain and _shape(user) == _shape(node)


def _shape(node: Node) -> object:
    return node.type.shape if isinstance(node.type, (Array, Scalar)) else None
