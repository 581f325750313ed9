"""Expressions that are too large for one kernel: values on the way are stored.

LLVM's time grows faster than a function does, and so does ours where it looks at all that a value
is computed from.  No kernel computes more than :data:`~npcompile.schedule.walk.demand.MOST`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from npcompile.graph.ir import Node
from npcompile.schedule.walk.demand import MOST, code, is_number

if TYPE_CHECKING:
    from npcompile.schedule.walk.scheduler import Scheduler


class WorkBounds:
    """How much work each virtual node is, an upper bound in O(1) a node."""

    def __init__(self, s: Scheduler) -> None:
        self.s = s
        self.total = 0  # of all nodes so far
        self.before: dict[Node, int] = {}  # the total before it
        self.begins: dict[Node, int] = {}  # the total before the first node that it needs
        self.work: dict[Node, int] = {}

    def bound(self, node: Node, args: Sequence[Node]) -> None:
        """Notes a virtual node; if it is too much work for a kernel, stores some of what it is
        computed from."""
        own, before = code(node.op), self.total
        virtual = [arg for arg in args if self._is_virtual(arg, node)]
        self.total += own
        self.before[node] = before
        self.begins[node] = min([before, *(self.begins.get(arg, before) for arg in virtual)])
        most = own + sum(self.work.get(arg, 0) for arg in virtual)
        self.work[node] = min(most, self.total - self.begins[node])
        while self.work[node] > MOST:
            order = self._order(node)
            self.work[node] = sum(code(inner.op) for inner in order)
            self.begins[node] = min(self.before.get(inner, 0) for inner in order)
            if self.work[node] <= MOST or not self._store(order):
                break

    def _is_virtual(self, arg: Node, user: Node) -> bool:
        return arg not in self.s.place and is_number(arg) == is_number(user)

    def _operands(self, node: Node) -> Iterator[Node]:
        args = node.args[1:2] if node.op in ("gather", "write") else node.args
        return (arg for arg in args if self._is_virtual(arg, node))

    def _order(self, root: Node) -> list[Node]:
        """The virtual nodes that a value is computed from, in traced order."""
        seen, stack = {root}, [root]
        while stack:
            fresh = [arg for arg in self._operands(stack.pop()) if arg not in seen]
            seen.update(fresh)
            stack += fresh
        return sorted(seen, key=self.s.demand.position.__getitem__)

    def _store(self, order: list[Node]) -> bool:
        """Stores what nodes at the beginning hand to later ones, where that is least: between
        operators rather than within one, whose steps share more."""
        last = {arg: at for at, node in enumerate(order) for arg in self._operands(node)}
        ends: dict[int, list[Node]] = {}
        for node, at in last.items():
            ends.setdefault(at, []).append(node)
        handed: dict[Node, None] = {}
        best: list[Node] = []
        work = 0
        for at, node in enumerate(order[:-1]):
            work += code(node.op)
            for done in ends.get(at, ()):
                handed.pop(done, None)
            if self.work[node]:
                handed[node] = None
            if MOST // 4 <= work <= MOST and (not best or len(handed) <= len(best)):
                best = list(handed)
        for node in best:
            if node not in self.s.place:
                self.s.number(node) if is_number(node) else self.s.materialise(node)
        return bool(best)
