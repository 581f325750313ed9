"""What is needed when: positions, last uses and what a value costs to compute again."""

from __future__ import annotations

from npcompile.graph.ir import Graph, Node, Window, result_nodes
from npcompile.graph.types import Array, Scalar
from npcompile.schedule.exits import held

END = 1 << 60
#: costs of primitives in additions; what moves or converts bits is free
COSTS = {
    "div": 8, "sqrt": 8, "int_div": 20, "int_mod": 20, "fmod": 20, "lookup": 4, "ldexp": 3,
    "const": 0, "size": 0, "iota": 0, "full": 0, "read": 0, "copy": 0, "cast": 1, "real": 0,
    "imag": 0, "complex": 0, "empty": 0, "write": 0,
}
#: a value that costs more than this is stored rather than computed twice
HEAVY = 4
LIMIT = 1000

#: nodes that happen at their own place in the program
ORDERED = frozenset({"write", "host_call", "check", "reduce", "if_", "for_", "while_"})


class Demand:
    """Static facts about the uses of a graph's nodes."""

    def __init__(self, graph: Graph) -> None:
        nodes = graph.region.nodes
        self.position = {node: k for k, node in enumerate(nodes)}
        for param in graph.params:
            self.position.setdefault(param, -1)
        self.own_writes = _own_writes(graph)
        self.consumers: dict[Node, list[Node]] = {node: [] for node in self.position}
        self.last_use: dict[Node, int] = {}  # of the node itself
        self.last_need: dict[Node, int] = {}  # of it or of what is computed from it
        for node in (
            *result_nodes(graph.result), *graph.finals.values(), *graph.region.results
        ):
            self.last_use[node] = self.last_need[node] = END
        for node in reversed(nodes):
            self._uses(node)

    def _uses(self, node: Node) -> None:
        here = self.position[node]
        need = here if self.ordered(node) else max(here, self.last_need.get(node, here))
        for arg in node.args:
            self.consumers[arg].append(node)
            self.last_use[arg] = max(self.last_use.get(arg, -1), here)
            self.last_need[arg] = max(self.last_need.get(arg, -1), need)
        for value in held(node):  # computed only if the check fails, but from the same memory
            self.last_use[value] = max(self.last_use.get(value, -1), here)

    def ordered(self, node: Node) -> bool:
        """Whether a node happens at its own place; others are computed where they are needed."""
        return node.op in ORDERED and not self.replaces(node)

    def replaces(self, node: Node) -> bool:
        """Whether a write overwrites all of an array that is ours: then its value is the array."""
        if node.op != "write" or node in self.own_writes or len(node.args) > 2:
            return False
        whole = node.type
        assert isinstance(whole, Array)
        return node.attrs == Window(0, whole.shape, whole.strides)


def _own_writes(graph: Graph) -> set[Node]:
    """The writes that make the versions of parameters themselves (not of copies)."""
    found: set[Node] = set()
    for node in graph.finals.values():
        while node.op == "write":
            found.add(node)
            node = node.args[0]
    return found


def is_number(node: Node) -> bool:
    return isinstance(node.type, Scalar)

