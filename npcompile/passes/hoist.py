"""Checks of what the call itself decides move to the front.

Where one fails there, nothing has happened yet and Python runs the function from the start.  Later,
after an effect or in each iteration of a loop, Python would need everything computed so far.
Checks inside the arms of an ``if_`` stay: their arm may never be taken.
"""

from __future__ import annotations

from npcompile.core.sizes import symbols
from npcompile.graph.builder import Builder
from npcompile.graph.ir import Check, Graph, Node, Region, Resume, SizeOf
from npcompile.graph.primitives import PRIMITIVES
from npcompile.graph.types import Scalar

_PURE = frozenset({"const", "cast", "size", *PRIMITIVES})


def hoist(graph: Graph) -> Graph:
    """The graph with such checks first; its regions are changed, those of an earlier pass."""
    return _Hoist(graph).run()


def _tests(node: Node) -> bool:
    """Whether it is a check that must hold; where Python has a part, it leaves in any case."""
    return isinstance(node.attrs, Check) and not node.attrs.resume.graph_breaks


class _Hoist:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.first = Builder(graph.facts)
        self.made: dict[Node, Node | None] = {param: param for param in graph.params}

    def run(self) -> Graph:
        region = self.graph.region
        found = self._certain(region)
        if found:
            for condition, check in found.items():
                assert isinstance(check.attrs, Check)
                self.first.at(check.line)
                attrs = Check(check.attrs.reason, Resume())
                self.first.emit("check", (condition,), attrs, check.type)
            self._drop(region, found)
            params = [n for n in region.nodes if n.op == "param"]
            rest = [n for n in region.nodes if n.op != "param"]
            region.consists_of([*params, *self.first.region.nodes, *rest])
        return self.graph

    def _certain(self, region: Region) -> dict[Node, Node]:
        """Conditions that are checked on every way through a region, and a check of each."""
        found: dict[Node, Node] = {}
        for node in region.nodes:
            if _tests(node):
                condition = self._known(node.args[0])
                if condition is not None:
                    found.setdefault(condition, node)
            elif node.op == "if_":
                one, other = map(self._certain, node.regions)
                found = {**{c: check for c, check in one.items() if c in other}, **found}
            elif node.regions:
                found = {**self._certain(node.regions[0]), **found}
        return found

    def _drop(self, region: Region, found: dict[Node, Node]) -> None:
        """Removes checks of what has been checked at the front."""
        region.consists_of([
            n for n in region.nodes if not _tests(n) or self._known(n.args[0]) not in found
        ])
        for node in region.nodes:
            for inner in node.regions:
                self._drop(inner, found)

    def _known(self, node: Node) -> Node | None:
        """The same number at the front, if it follows from the arguments' numbers without a
        floating-point flag."""
        if node not in self.made:
            self.made[node] = self._again(node)
        return self.made[node]

    def _again(self, node: Node) -> Node | None:
        if not isinstance(node.type, Scalar) or node.op not in _PURE:
            return None
        primitive = PRIMITIVES.get(node.op)
        if node.type.origin != "py" and primitive is not None and primitive.flags:
            return None
        if isinstance(node.attrs, SizeOf) and not self.graph.bound.keys().isdisjoint(
            symbols(node.attrs.size)
        ):
            return None
        args = [self._known(arg) for arg in node.args]
        known = [arg for arg in args if arg is not None]
        if len(known) < len(args):
            return None
        self.first.at(node.line)
        return self.first.emit(node.op, known, node.attrs, node.type)
