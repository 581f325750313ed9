"""Loops whose first or last iterations take other branches become a loop for each region of
iterations.

``for k in range(n): x = a[k] if k > 0 else 0.0`` runs the iteration 0, and then those in which the
condition holds: the branch is gone, and what it kept apart can be computed together (Griebl,
Feautrier and Lengauer, Index set splitting, International Journal of Parallel Programming 28,
2000).  A region of one iteration needs no loop.

A condition compares the loop's index with what does not change in the loop.  That regions follow
each other is a guard of the compiled code.  Loops are split where most of what they do stands in
such branches, and where arrays are computed there, or iterations might run in lanes.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Iterator

import numpy as np

from npcompile.core.records import replace
from npcompile.core.sizes import Poly, Predicate, Size, Symbol, hint, is_known, substitute, symbols
from npcompile.graph.builder import IMPURE, Builder
from npcompile.graph.ir import (
    WRITES,
    Attrs,
    Check,
    Const,
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
    integer,
    walk,
)
from npcompile.graph.primitives import raises
from npcompile.graph.types import BOOL, INT, Array, Scalar, Tuple, Type
from npcompile.passes.conditions import WRITTEN, holding
from npcompile.passes.ranges import narrow
from npcompile.passes.rewrite import Rewriter
from npcompile.passes.simplify import simplify

DEPTH = 2  # loops within one another that are split
PIECES = 3  # that a loop becomes
NODES = 600  # that all pieces of a loop may have

SMALL = 1 << 62  # far from what wraps

_LIGHT = frozenset({"const", "size", "get", "empty", "param"})  # nodes that cost nothing


def split(graph: Graph) -> Graph:
    """The graph with such loops in pieces."""
    for _ in range(DEPTH):
        work = Splitter(graph)
        if not work.cuts:
            break
        made = work.run()
        made.bound.update(work.bound)
        graph = narrow(simplify(made))
    return graph


class Splitter(Rewriter):
    """``cuts`` say where loops are split, of loops in each other the outermost, ``bound`` are the
    symbols of what was made in pieces."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph, lambda builder, node, args: None)
        self.bound: dict[Symbol, Node] = {}
        self.names: dict[Node, list[Symbol]] = {}
        for name, node in graph.bound.items():
            self.names.setdefault(node, []).append(name)
        self.cuts: dict[Node, list[Size]] = {}
        self._plan(graph.region)

    def node(self, builder: Builder, node: Node) -> Node:
        if node in self.cuts:
            assert isinstance(node.attrs, Loop)
            return self._pieces(builder, node, node.attrs, self.cuts[node])
        return super().node(builder, node)

    # ------------------------------------------------------------------ where

    def _plan(self, region: Region) -> None:
        for node in region.nodes:
            cuts = self._cuts(node, node.attrs) if isinstance(node.attrs, Loop) else []
            if cuts:
                self.cuts[node] = cuts
            else:
                for inner in node.regions:
                    self._plan(inner)

    def _cuts(self, node: Node, loop: Loop) -> list[Size]:
        """Where regions of iterations begin, but the first, in the order of the iterations."""
        if loop.step not in (1, -1) or not (is_known(loop.start) and is_known(loop.stop)):
            return []
        every = [inner for inner in walk(node.regions[0]) if inner.op not in _LIGHT]
        if any(map(_leaves, every)):
            return []
        found: dict[Size, None] = {}
        decided: set[Node] = set()
        for branch in every:
            ends = list(self._ends(loop, branch.args[0])) if branch.op == "if_" else []
            if ends:
                found.update(dict.fromkeys(ends))
                decided.add(branch)
                decided.update(n for arm in branch.regions for n in walk(arm)
                               if n.op not in _LIGHT)
        cuts = self._in_order(loop, found)
        worth = 2 * len(decided) >= len(every) and (
            any(map(_makes_array, decided)) or _may_have_lanes(node))
        if not worth or len(cuts) >= PIECES or (len(cuts) + 1) * len(every) > NODES:
            return []
        for one, other in zip((loop.start, *cuts), (*cuts, loop.stop)) if cuts else ():
            self.graph.facts.ask("<=", *((one, other) if loop.step == 1 else (other, one)))
        return cuts

    def _in_order(self, loop: Loop, ends: Iterable[Size]) -> list[Size]:
        """The ends that lie within a loop, for the sizes at hand."""
        step = 1 if loop.step == 1 else -1
        if step == -1:  # regions of k >= c and of k < c: one begins with c - 1
            ends = dict.fromkeys(end - 1 for end in ends)
        first, last = hint(loop.start), hint(loop.stop)
        cuts = [end for end in ends if (hint(end) - first) * step > 0 < (last - hint(end)) * step]
        return sorted(cuts, key=lambda cut: hint(cut) * step)

    def _ends(self, loop: Loop, condition: Node) -> Iterator[Size]:
        """The values of a loop's index from which on a condition has another outcome."""
        for truth in (True, False):
            for known, _ in holding(condition, truth):
                if known.op in WRITTEN:
                    left, right = map(_size, known.args)
                    if left is not None and right is not None:
                        yield from self._crossings(loop, known.op, right - left)

    def _crossings(self, loop: Loop, op: str, gap: Size) -> Iterator[Size]:
        iteration = Poly((((loop.symbol,), 1),))
        for sign in (1, -1):
            rest = gap - iteration * sign
            if loop.symbol in symbols(gap) and loop.symbol not in symbols(rest) and (
                    is_known(rest) and self.graph.bound.keys().isdisjoint(symbols(rest))):
                if op in ("eq", "ne"):
                    yield from (rest * -sign, rest * -sign + 1)
                else:  # 0 < gap or 0 <= gap
                    least = int(op == "lt")
                    yield least - rest if sign == 1 else rest + 1 - least

    # ------------------------------------------------------------------ pieces

    def _pieces(self, builder: Builder, node: Node, loop: Loop, cuts: list[Size]) -> Node:
        here, state = len(builder.region.nodes), [self.new[arg] for arg in node.args]
        facts = self.graph.facts
        for start, stop in zip((loop.start, *cuts), (*cuts, loop.stop)):
            before = facts.mark()
            piece = Piece(self)
            if stop - start == loop.step:
                state = piece.iteration(builder, node, start, state)
            else:
                state = piece.loop(builder, node, replace(loop, start=start, stop=stop), state)
            facts.undo(before)
            self.bound.update(piece.bound)
        return self.instead(builder, node, here, state)


class Piece(Rewriter):
    """Copies a loop for a region of its iterations; ``sizes`` are what symbols stand for there."""

    def __init__(self, whole: Splitter) -> None:
        super().__init__(whole.graph, lambda builder, node, args: None)
        self.new = ChainMap({}, whole.new)
        self.names = whole.names
        self.sizes: dict[Symbol, Size] = {}
        self.bound: dict[Symbol, Node] = {}

    def iteration(self, builder: Builder, node: Node, index: Size, state: list[Node]) -> list[Node]:
        """The results of a single iteration, without a loop."""
        (region,), loop = node.regions, node.attrs
        assert isinstance(loop, Loop)
        self.sizes[loop.symbol] = index
        number = builder.size(index)
        self.new.update(zip(region.params, (number, *state), strict=True))
        for param, known in zip(region.params[1:], state, strict=True):
            self.name(param, known)
        return self.inline(builder, region)

    def loop(self, builder: Builder, node: Node, loop: Loop, state: list[Node]) -> list[Node]:
        """The results of a loop over some iterations."""
        (region,), facts = node.regions, self.graph.facts
        attrs = self.renamed(loop, region.params[0])
        index = Poly((((attrs.symbol,), 1),))
        first, last = attrs.start, attrs.stop
        if loop.step == -1:
            first, last = last + 1, first + 1
        facts.learn(Predicate("<=", first, index))
        facts.learn(Predicate("<", index, last))
        made = Node("for_", tuple(state), attrs, self.type(node.type), node.line,
                    (self.region(region),))
        builder.region.nodes.append(made)
        return [builder.get(made, k) for k in range(len(state))]

    def renamed(self, loop: Loop, index: Node) -> Loop:
        """A loop with an index of its own."""
        name = Symbol(loop.symbol.name, loop.symbol.hint, loop.symbol.low)
        self.sizes[loop.symbol] = Poly((((name,), 1),))
        self.new[index] = self.bound[name] = Node("param", (), None, index.type, index.line)
        return replace(loop, symbol=name)

    def name(self, old: Node, new: Node) -> None:
        """The symbols of a node stand for what became of it."""
        for name in self.names.get(old, ()):
            if name not in self.sizes:
                known = _size(new)
                if known is None:
                    fresh = Symbol(name.name, name.hint, name.low)
                    known, self.bound[fresh] = Poly((((fresh,), 1),)), new
                self.sizes[name] = known

    # ------------------------------------------------------------------ nodes

    def region(self, old: Region) -> Region:
        builder, before = Builder(self.graph.facts), self.graph.facts.mark()
        for param in old.params:
            if param not in self.new:
                self.new[param] = Node("param", (), param.attrs, self.type(param.type), param.line)
                self.name(param, self.new[param])
        builder.region.begins_with([self.new[param] for param in old.params])
        results = self.inline(builder, old)
        builder.region.ends_with(results, None if old.edge is None else self.resume(old.edge))
        self.graph.facts.undo(before)
        return builder.region

    def inline(self, builder: Builder, region: Region) -> list[Node]:
        for node in region.nodes:
            self.new[node] = self.node(builder, node)
            self.name(node, self.new[node])
        return [self.new[node] for node in region.results]

    def node(self, builder: Builder, node: Node) -> Node:
        builder.at(node.line)
        args = tuple([self.new[arg] for arg in node.args])
        if node.op == "if_" and isinstance(args[0].attrs, Const):
            here = len(builder.region.nodes)
            taken = node.regions[0 if args[0].attrs.value else 1]
            return self.instead(builder, node, here, self.inline(builder, taken))
        if isinstance(node.attrs, Get) and args[0] in self.joined:
            return self.joined[args[0]][node.attrs.index]
        if node.regions:
            attrs = self.attrs(node.attrs)
            if isinstance(attrs, Loop):
                attrs = self.renamed(attrs, node.regions[0].params[0])
            regions = tuple(map(self.region, node.regions))
            if node.op == "if_":
                return self.branch(builder, node, args[0], *regions)
            made = Node(node.op, args, attrs, self.type(node.type), node.line, regions)
            builder.region.nodes.append(made)
            return made
        known = self.decided(builder, node, args)
        if known is not None:
            return known
        # a write keeps the type of its version, which may tell equal sizes by other names
        type_ = args[0].type if node.op in WRITES else self.type(node.type)
        return super().node(builder, replace(node, attrs=self.attrs(node.attrs), type=type_))

    def branch(self, builder: Builder, node: Node, condition: Node, then: Region,
               other: Region) -> Node:
        """A branch without the results that are the same in both arms; none if nothing is left."""
        pairs = list(zip(then.results, other.results, strict=True))
        shared = [self.shared(builder, one, two) for one, two in pairs]
        kept = [k for k, result in enumerate(shared) if result is None]
        for arm in (then, other):
            arm.ends_with([arm.results[k] for k in kept])
        here = len(builder.region.nodes)
        if kept or any(map(_acts, (*walk(then), *walk(other)))):
            found = iter(builder.if_(condition, then, other))
            shared = [next(found) if result is None else result for result in shared]
        return self.instead(builder, node, here, [result for result in shared if result])

    def shared(self, builder: Builder, one: Node, two: Node) -> Node | None:
        """What two arms have in common."""
        if isinstance(one.attrs, Const) and one.attrs == two.attrs and one.type == two.type:
            return builder.emit("const", (), one.attrs, one.type)
        return one if one is two else None

    def decided(self, builder: Builder, node: Node, args: tuple[Node, ...]) -> Node | None:
        """What a comparison, a choice or a sum of sizes comes to in these iterations."""
        if not isinstance(node.type, Scalar):
            return None
        if node.op == "where" and isinstance(args[0].attrs, Const):
            chosen = args[1 if args[0].attrs.value else 2]
            return chosen if chosen.type == node.type else None
        if len(args) != 2:
            return None
        left, right = map(_size, args)
        if left is None or right is None:
            return None
        prove = self.graph.facts.prove
        if node.op in WRITTEN and node.type.dtype == BOOL:
            holds = prove(WRITTEN[node.op], left, right)
            return None if holds is None else builder.const(np.bool_(holds), node.type)
        if node.op in ("add", "sub") and node.type.dtype == INT:
            made = left + right if node.op == "add" else left - right
            if prove("<=", -SMALL, made) and prove("<=", made, SMALL):
                return builder.emit("cast", (builder.size(made),), None, node.type)
        return None

    # ------------------------------------------------------------------ sizes

    def size(self, size: Size) -> Size:
        return substitute(size, self.sizes) if self.sizes else size

    def some(self, sizes: tuple[Size, ...]) -> tuple[Size, ...]:
        return tuple(map(self.size, sizes))

    def type(self, type_: Type) -> Type:
        if isinstance(type_, Array):
            return Array(type_.dtype, self.some(type_.shape), self.some(type_.strides))
        if isinstance(type_, Tuple):
            return Tuple(tuple(map(self.type, type_.items)))
        return type_

    def geometry(self, w: Geometry) -> Geometry:
        return Geometry(self.size(w.offset), self.some(w.shape), self.some(w.strides), w.part)

    def attrs(self, attrs: Attrs) -> Attrs:
        match attrs:
            case Geometry():
                return self.geometry(attrs)
            case Scatter():
                return replace(attrs, geometry=self.geometry(attrs.geometry))
            case SizeOf(size):
                return SizeOf(self.size(size))
            case Loop(start, stop, step, symbol):
                return Loop(self.size(start), self.size(stop), self.size(step), symbol)
        return attrs

    def tree(self, tree: Tree) -> Tree:
        made = super().tree(tree)
        return (
            replace(made, geometry=self.geometry(made.geometry))
            if isinstance(made, ViewOf)
            else made
        )


def _size(node: Node) -> Size | None:
    """The size that a number is, by itself."""
    if isinstance(node.attrs, SizeOf):
        return node.attrs.size
    if isinstance(node.attrs, Const) and isinstance(node.type, Scalar) and node.dtype == INT:
        return integer(node.attrs.value)
    return None


def _leaves(node: Node) -> bool:
    """Whether Python does a part of the work there."""
    return node.op == "host_call" or (
        isinstance(node.attrs, Check) and node.attrs.resume.graph_breaks)


def _acts(node: Node) -> bool:
    """Whether a node is there for more than its value."""
    return node.op in IMPURE or raises(node)


def _makes_array(node: Node) -> bool:
    return isinstance(node.type, Array) and node.type.ndim > 0 and node.op not in ("read", "write")


def _may_have_lanes(node: Node) -> bool:
    """Whether iterations might be computed side by side if they were alike: they make elements or
    sums of integers, and in their branches is what lanes can't choose."""
    inside = list(walk(node.regions[0]))
    loops = [node, *(n for n in inside if n.op == "for_")]
    numbers = [p for loop in loops for p in loop.args if isinstance(p.type, Scalar)]
    return all(p.dtype == INT for p in numbers) and not any(
        n.op in ("check", "extern", "while_") for n in inside
    ) and any(n.op == "write" for n in inside) and any(
        n.op == "read" for b in inside if b.op == "if_" for arm in b.regions for n in walk(arm))
