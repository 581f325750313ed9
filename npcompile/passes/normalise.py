"""Sizes that are known to be equal get one name."""

from __future__ import annotations

from npcompile.core.records import replace
from npcompile.core.sizes import Size
from npcompile.graph.builder import Builder
from npcompile.graph.ir import (
    WRITES,
    Attrs,
    Geometry,
    Graph,
    Loop,
    Node,
    Scatter,
    SizeOf,
    Tree,
    ViewOf,
)
from npcompile.graph.types import Array, Tuple, Type
from npcompile.passes.rewrite import Rewriter


def normalise(graph: Graph) -> Graph:
    """Parameters keep the sizes that they are read by."""
    return _Normaliser(graph).run() if graph.facts.replaced else graph


class _Normaliser(Rewriter):
    def __init__(self, graph: Graph) -> None:
        super().__init__(graph, self.normal)
        self.norm = graph.facts.norm
        self.known: dict[tuple[Size, ...], tuple[Size, ...]] = {}

    def param(self, param: Node) -> Node:
        made = self.type(param.type)
        given = param in self.graph.region.params
        return param if given or made == param.type else replace(param, type=made)

    def parts(self, node: Node, args: tuple[Node, ...]) -> Node:
        made = super().parts(node, args)
        return replace(made, attrs=self.attrs(made.attrs), type=self.type(made.type))

    def normal(self, builder: Builder, node: Node, args: tuple[Node, ...]) -> Node:
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

    def geometry(self, w: Geometry) -> Geometry:
        return Geometry(self.norm(w.offset), self.sizes(w.shape), self.sizes(w.strides), w.part)

    def attrs(self, attrs: Attrs) -> Attrs:
        if isinstance(attrs, Geometry):
            return self.geometry(attrs)
        if isinstance(attrs, Scatter):
            return replace(attrs, geometry=self.geometry(attrs.geometry))
        if isinstance(attrs, SizeOf):
            return SizeOf(self.norm(attrs.size))
        if isinstance(attrs, Loop):
            start, stop, step = map(self.norm, (attrs.start, attrs.stop, attrs.step))
            return Loop(start, stop, step, attrs.symbol)
        return attrs

    def tree(self, tree: Tree) -> Tree:
        if isinstance(tree, ViewOf):
            tree = replace(tree, geometry=self.geometry(tree.geometry))
        return super().tree(tree)
