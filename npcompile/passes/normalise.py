"""Sizes that are known to be equal get one name."""

from __future__ import annotations

from dataclasses import replace

from npcompile.core.sizes import Facts, Size
from npcompile.graph.builder import Builder
from npcompile.graph.ir import Attrs, Graph, Items, Loop, Node, SizeOf, Tree, ViewOf, Window
from npcompile.graph.types import Array, Tuple, Type
from npcompile.passes.rewrite import rewrite


def normalise(graph: Graph) -> Graph:
    """Parameters keep the sizes that they are read by."""
    facts = graph.facts
    if not facts.replaced:
        return graph

    def rule(builder: Builder, node: Node, args: tuple[Node, ...]) -> Node:
        if node.op == "param":
            return node
        # a write keeps the type of its version, which is a parameter's own at the start
        type_ = args[0].type if node.op == "write" else _type(facts, node.type)
        return builder.emit(node.op, args, _attrs(facts, node.attrs), type_)

    new = rewrite(graph, rule)
    new.result = _tree(facts, new.result)
    return new


def _sizes(facts: Facts, sizes: tuple[Size, ...]) -> tuple[Size, ...]:
    return tuple(map(facts.norm, sizes))


def _type(facts: Facts, type_: Type) -> Type:
    if isinstance(type_, Array):
        return Array(type_.dtype, _sizes(facts, type_.shape), _sizes(facts, type_.strides))
    if isinstance(type_, Tuple):
        return Tuple(tuple(_type(facts, item) for item in type_.items))
    return type_


def _window(facts: Facts, w: Window) -> Window:
    return Window(facts.norm(w.offset), _sizes(facts, w.shape), _sizes(facts, w.strides), w.part)


def _attrs(facts: Facts, attrs: Attrs) -> Attrs:
    if isinstance(attrs, Window):
        return _window(facts, attrs)
    if isinstance(attrs, SizeOf):
        return SizeOf(facts.norm(attrs.size))
    if isinstance(attrs, Loop):
        return Loop(*map(facts.norm, (attrs.start, attrs.stop, attrs.step)))
    return attrs


def _tree(facts: Facts, tree: Tree) -> Tree:
    if isinstance(tree, ViewOf):
        return replace(tree, window=_window(facts, tree.window))
    if isinstance(tree, Items):
        return replace(tree, items=tuple(_tree(facts, item) for item in tree.items))
    return tree
