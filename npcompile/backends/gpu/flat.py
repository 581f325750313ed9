"""Subprograms without branches, where calls of one subprogram are put together.

Lanes side by side compute both arms of a branch and choose from them, and Triton puts every call in
line.  So calls that need different lanes become one, of operands that are chosen; others that do
not need each other become the iterations of one loop.  What a lane gets does not depend on the
others: its bits stay.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from npcompile.graph.ir import Attrs, Const, Get, Node, Region, Subprogram
from npcompile.graph.subprograms import region_of
from npcompile.graph.types import BOOL, Scalar, Type

WORTH = 60  # nodes of a subprogram whose calls are put together

#: conditions of branches, with the arm that is taken
Path = tuple[tuple[Node, bool], ...]
#: calls of one subprogram as iterations of a loop, of which each has calls of different lanes
Iterations = tuple[tuple[Node, ...], ...]


class Flat:
    """A region without ``if_``.

    ``nodes`` are in order, ``results`` among them or before them.  ``active`` are the lanes that
    need a call or a loop, ``bodies`` the loops' regions; the lanes that go on are the last
    parameter of a body.
    """

    def __init__(self, region: Region, active: Node, outer: Flat | None = None,
                 names: Mapping[Node, str] | None = None) -> None:
        self.names: dict[Node, str] = {}  # of nodes, by those of the region's
        self._requests = names or {}
        self.params = [*region.params, active]
        self.nodes: list[Node] = []
        self.active: dict[Node, Node] = {}
        self.bodies: dict[Node, Flat] = {}
        self._lanes = active
        self._paths: dict[Node, Path] = {}
        self._values: ChainMap[Node, Node] = outer._values.new_child() if outer else ChainMap()
        self._known: ChainMap[object, Node] = outer._known.new_child() if outer else ChainMap()
        self._ends: dict[Node, list[Node]] = {}
        self._put(region, ())
        self.results = [self._value(node) for node in region.results]

    def _value(self, node: Node) -> Node:
        return self._values.get(node, node)

    def _put(self, region: Region, path: Path) -> None:
        for node in region.nodes:
            args = tuple([self._value(a) for a in node.args])
            if node.op == "if_":
                self._choose(node, args[0], path)
            elif node.op == "while_":
                lanes = self._taken(path)
                self._values[node] = loop = self._new(Node("while_", args, None, node.type))
                self.active[loop] = lanes
                running = Node("param", (), None, Scalar(BOOL, "np"))
                self.bodies[loop] = Flat(node.regions[0], running, self)
            elif isinstance(node.attrs, Subprogram):
                self._values[node] = self._call(node, args, path)
            elif node.args and node.args[0] in self._ends:
                assert isinstance(node.attrs, Get)
                self._values[node] = self._ends[node.args[0]][node.attrs.index]
            elif node.op != "const":
                made = self._values[node] = self._pure(node.op, args, node.attrs, node.type)
                if node in self._requests:
                    self.names.setdefault(made, self._requests[node])

    def _new(self, node: Node) -> Node:
        self.nodes.append(node)
        return node

    def _pure(self, op: str, args: tuple[Node, ...], attrs: Attrs, kind: Type) -> Node:
        """A node that is the same in all lanes that need it."""
        key = (op, tuple([a.attrs if isinstance(a.attrs, Const) else a for a in args]),
               tuple([a.type for a in args]), attrs, kind)
        if key not in self._known:
            self._known[key] = self._new(Node(op, args, attrs, kind))
        return self._known[key]

    def _choose(self, node: Node, condition: Node, path: Path) -> None:
        ends = []
        for arm, holds in zip(node.regions, (True, False)):
            self._put(arm, (*path, (condition, holds)))
            ends.append([self._value(result) for result in arm.results])
        self._ends[node] = [
            yes if yes is no else self._pure("where", (condition, yes, no), None, yes.type)
            for yes, no in zip(*ends)
        ]

    def _call(self, node: Node, args: tuple[Node, ...], path: Path) -> Node:
        """A call that is made already on these lanes, or a new one."""
        for call in self.nodes:
            if (call.attrs is node.attrs and call.args == args
                    and path[: len(self._paths[call])] == self._paths[call]):
                return call
        lanes = self._taken(path)
        call = self._new(Node("call", args, node.attrs, node.type))
        self._paths[call], self.active[call] = path, lanes
        return call

    def _taken(self, path: Path) -> Node:
        """The lanes that take a path."""
        lanes, kind = self._lanes, Scalar(BOOL, "np")
        for condition, holds in path:
            if not holds:
                condition = self._pure("bit_not", (condition,), None, kind)
            lanes = self._pure("bit_and", (lanes, condition), None, kind)
        return lanes

    # ------------------------------------------------------------------ order

    def units(self) -> Iterator[Node | Iterations]:
        """What the results need, in order: nodes by themselves, and calls put together."""
        iterations = {
            call: group for group in self._together() for iteration in group for call in iteration
        }
        done: set[Node] = set()
        own = set(self.nodes)
        for result in self.results:
            stack: list[Node] = [result]
            while stack:
                unit = [
                    call
                    for iteration in iterations.get(stack[-1], ((stack[-1],),))
                    for call in iteration
                ]
                missing = [n for node in unit for n in self._needs(node)
                           if n in own and n not in done]
                if stack[-1] in done or stack[-1] not in own:
                    stack.pop()
                elif missing:
                    stack.extend(reversed(missing))
                else:
                    done.update(unit)
                    yield iterations.get(stack.pop(), unit[0])

    def _needs(self, node: Node) -> Iterator[Node]:
        """The nodes without which there is no text of a node."""
        yield from node.args
        if node in self.active:
            yield self.active[node]
        if node in self.bodies:
            body = self.bodies[node]
            yield from body.results
            for inner in body.nodes:
                yield from body._needs(inner)

    def _together(self) -> list[Iterations]:
        """The calls that are put together."""
        called: dict[Node, set[Node]] = {}  # by each node, before it
        for node in self.nodes:
            before = set()
            for needed in self._needs(node):
                before |= called.get(needed, set())
                before |= {needed} if needed in self._paths else set()
            called[node] = before
        needs = {call: called[call] for call in self._paths}
        groups: dict[Subprogram, list[list[Node]]] = {}
        for call in self._paths:
            assert isinstance(call.attrs, Subprogram)
            if size(call.attrs) < WORTH:
                continue
            several = groups.setdefault(call.attrs, [])
            for group in several:
                if needs[call].isdisjoint(group) and all(call not in needs[c] for c in group):
                    group.append(call)
                    _join(group, needs)
                    break
            else:
                several.append([call])
        return [self._iterations(group) for several in groups.values() for group in several
                if len(group) > 1]

    def _iterations(self, group: Sequence[Node]) -> Iterations:
        """Calls in one iteration need different lanes or have the same operands."""
        iterations: list[list[Node]] = []
        for call in group:
            for iteration in iterations:
                if all(self._apart(call, other) for other in iteration):
                    iteration.append(call)
                    break
            else:
                iterations.append([call])
        return tuple(map(tuple, iterations))

    def _apart(self, one: Node, other: Node) -> bool:
        taken = dict(self._paths[one])
        return one.args == other.args or any(
            taken.get(condition, holds) != holds for condition, holds in self._paths[other])


def _join(group: Sequence[Node], needs: dict[Node, set[Node]]) -> None:
    """Who needs one of a group needs all of them, and what each of them needs."""
    members = set(group)
    before = set().union(*(needs[call] for call in group))
    for call in group:
        needs[call] = before
    for call, others in needs.items():
        if not others.isdisjoint(members):
            needs[call] = others | members | before


@cache
def size(what: Subprogram) -> int:
    """The number of nodes of a subprogram with all that it calls."""
    return _size(region_of(what))


def _size(region: Region) -> int:
    return len(region.nodes) + sum(
        size(node.attrs) if isinstance(node.attrs, Subprogram) else sum(map(_size, node.regions))
        for node in region.nodes)
