"""Sizes that are known to be equal get one name."""

from __future__ import annotations

from npcompile.core.facts import Facts
from npcompile.core.records import replace
from npcompile.core.sizes import Size
from npcompile.graph.builder import Builder
from npcompile.graph.ir import (
    WRITES,
    Attrs,
    Graph,
    Items,
    Loop,
    Node,
    Scatter,
    SizeOf,
    Tree,
    ViewOf,
    Window,
)
from npcompile.graph.types import Array, Tuple, Type
from npcompile.passes.rewrite import rewrite


def normalise(graph: Graph) -> Graph:
    """Parameters keep the sizes that they are read by."""
    return _Normaliser(graph.facts).run(graph) if graph.facts.replaced else graph


class _Normaliser:
    def __init__(self, facts: Facts) -> None:
        self.norm = facts.norm
        self.known: dict[tuple[Size, ...], tuple[Size, ...]] = {}

    def run(self, graph: Graph) -> Graph:
        new = rewrite(graph, self.rule)
        new.result = self.tree(new.result)
        return new

    def rule(self, builder: Builder, node: Node, args: tuple[Node, ...]) -> Node:
        # a write keeps the type of its version, which is a parameter's own at the start
        type_ = args[0].type if node.op in WRITES else self.type(node.type)
        return builder.emit(node.op, args, self.attrs(node.attrs), type_)

    def sizes(self, sizes: tuple[Size, ...]) -> tuple[Size, ...]:
        found = self.known.get(sizes)
        if found is None:
            found = self.known[sizes] = tuple(map(self.norm, sizes))
        return found

    def type(self, type_: Type) -> Type:
        if isinstance(type_, Array):
            return Array(type_.dtype, self.sizes(type_.shape), self.sizes(type_.strides))
        if isinstance(type_, Tuple):
            return Tuple(tuple(map(self.type, type_.items)))
        return type_

    def window(self, w: Window) -> Window:
        return Window(self.norm(w.offset), self.sizes(w.shape), self.sizes(w.strides), w.part)

    def attrs(self, attrs: Attrs) -> Attrs:
        if isinstance(attrs, Window):
            return self.window(attrs)
        if isinstance(attrs, Scatter):
            return replace(attrs, window=self.window(attrs.window))
        if isinstance(attrs, SizeOf):
            return SizeOf(self.norm(attrs.size))
        if isinstance(attrs, Loop):
            start, stop, step = map(self.norm, (attrs.start, attrs.stop, attrs.step))
            return Loop(start, stop, step, attrs.symbol)
        return attrs

    def tree(self, tree: Tree) -> Tree:
        if isinstance(tree, ViewOf):
            return replace(tree, window=self.window(tree.window))
        if isinstance(tree, Items):
            return replace(tree, items=tuple(map(self.tree, tree.items)))
        return tree
