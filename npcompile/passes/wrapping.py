"""Python's integers of which only low bits are used need not fit 64 bits: their checks go.

``(a * x + c) & 0xFFFFFFFF`` is the same number whether the product wraps or not: sums, differences,
products, shifts to the left and bitwise operations give the low 64 bits of the exact result from
those of their operands.  So do hashes, checksums and random number generators.

What may differ from the exact number beyond those bits must not be seen: by a comparison, a
division, a float, an index, a store, an iteration of a loop, or Python, where a check that stays
fails.
"""

from __future__ import annotations

import numpy as np

from npcompile.graph.builder import Builder
from npcompile.graph.ir import Check, Const, Graph, Node, Region, held, integer, result_nodes, walk
from npcompile.graph.types import PY_INT, Scalar
from npcompile.ops.python_numbers import WIDE
from npcompile.passes.rewrite import rewrite

#: operations whose low 64 bits follow from those of their operands
_RING = frozenset({"add", "sub", "mul", "bit_and", "bit_or", "bit_xor", "bit_not"})
_CHECKED = frozenset({"add_overflows", "sub_overflows", "mul_overflows"})

Key = tuple[str, tuple[Node, ...]]


def drop_wrapping(graph: Graph) -> Graph:
    """The graph without checks of integers of which nobody sees more than their low bits."""
    if not any(map(_asks, walk(graph.region))):
        return graph
    found = _Wrapping(graph).found()
    if not found:
        return graph

    def rule(builder: Builder, node: Node, args: tuple[Node, ...]) -> Node | None:
        if node not in found:
            return None
        assert isinstance(node.type, Scalar)
        return builder.const(np.bool_(True), node.type)

    return rewrite(graph, rule)


class _Wrapping:
    """``tests`` are conditions that checks ask, by the operation that they are about."""

    def __init__(self, graph: Graph) -> None:
        self.users: dict[Node, list[Node]] = {}
        self.seen: set[Node] = (
            set()
        )  # what results, iterations and arms hand on, or sizes are made of
        self.held: dict[Node, list[Node]] = {}  # by which checks
        self.tests: dict[Key, list[Node]] = {}
        self.parts: dict[Node, Key] = {}  # of tests
        self.exact: dict[Node, bool] = {}
        self.made: dict[Key, list[Node]] = {}
        self._region(graph.region)
        self.seen.update(result_nodes(graph.result), graph.finals.values(), graph.bound.values())
        self._find_tests(graph)

    def _region(self, region: Region) -> None:
        for node in region.nodes:
            for arg in node.args:
                self.users.setdefault(arg, []).append(node)
            for value in held(node):
                self.held.setdefault(value, []).append(node)
            if node.type == PY_INT and (node.op in _RING or node.op == "shl"):
                self.made.setdefault((node.op, node.args), []).append(node)
            for inner in node.regions:
                self._region(inner)
        self.seen.update(region.results)

    def _find_tests(self, graph: Graph) -> None:
        for node in walk(graph.region):
            parts = _parts(node.args[0]) if _asks(node) else None
            if parts is not None:
                (test,), (key, nodes) = node.args, parts
                asked = all(isinstance(user.attrs, Check) for user in self.users[test])
                alone = all(set(self.users[part]) <= {test, *nodes} for part in nodes)
                if asked and alone and key in self.made:
                    self.tests.setdefault(key, []).append(test)
                    self.parts.update(dict.fromkeys((test, *nodes), key))

    def found(self) -> set[Node]:
        """The tests that need not hold."""
        return {test for key, tests in self.tests.items() if self._wraps(key) for test in tests}

    def _wraps(self, key: Key) -> bool:
        return not any(map(self._is_exact, self.made[key]))

    def _is_exact(self, node: Node) -> bool:
        """Whether more than the low 64 bits of an integer are needed."""
        if node not in self.exact:
            self.exact[node] = True  # what depends on itself
            self.exact[node] = (
                node in self.seen
                or any(self._shows(node, user) for user in self.users.get(node, ()))
                or any(not self._goes(check) for check in self.held.get(node, ()))
            )
        return self.exact[node]

    def _goes(self, check: Node) -> bool:
        """Whether a check is dropped."""
        key = self.parts.get(check.args[0])
        return key is not None and self._wraps(key)

    def _shows(self, node: Node, user: Node) -> bool:
        """Whether a user sees more than the low bits."""
        if user in self.parts:
            key = self.parts[user]
            return (key[0] != "shl" or node not in self.made[key]) and not self._wraps(key)
        if user.type != PY_INT or not all(isinstance(arg.type, Scalar) and arg.type.origin == "py"
                                          for arg in user.args):
            return True  # NumPy takes no wide integers
        if user.op == "bit_and" and any(_is_mask(arg) for arg in user.args if arg is not node):
            return False
        if user.op == "int_mod":
            return node is user.args[1] or not _is_power(user.args[1])
        passes = (
            user.op in _RING
            or (user.op == "shl" and node is user.args[0] and isinstance(user.args[1].attrs, Const))
            or (user.op == "where" and node is not user.args[0])
        )
        return not passes or self._is_exact(user)


def _asks(node: Node) -> bool:
    """Whether it is a check that an integer fits."""
    return isinstance(node.attrs, Check) and node.attrs.reason == WIDE


def _parts(test: Node) -> tuple[Key, tuple[Node, ...]] | None:
    """The operation that a test is about, and what else it is made of."""
    if test.op == "bit_not" and test.args[0].op in _CHECKED:
        (overflows,) = test.args
        return (overflows.op.partition("_")[0], overflows.args), (overflows,)
    if test.op == "eq" and test.args[0].op == "shr":
        back, number = test.args
        shifted, count = back.args
        if shifted.op == "shl" and shifted.args == (number, count) and (
                isinstance(count.attrs, Const)):
            return ("shl", shifted.args), (back,)
    return None


def _constant(node: Node) -> int | None:
    if isinstance(node.attrs, Const) and node.type == PY_INT:
        return integer(node.attrs.value)
    return None


def _is_mask(node: Node) -> bool:
    value = _constant(node)
    return value is not None and value >= 0


def _is_power(node: Node) -> bool:
    value = _constant(node)
    return value is not None and value > 0 and not value & (value - 1)
