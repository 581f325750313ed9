"""Rebuilds a graph node by node; passes only say what becomes of one node."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping

from npcompile.core.records import replace
from npcompile.graph.builder import Builder, learn
from npcompile.graph.ir import (
    Check,
    Const,
    Get,
    Graph,
    Items,
    NewArray,
    Node,
    NumberOf,
    ObjectOf,
    Region,
    Resume,
    ResumeFrame,
    Tree,
    ViewOf,
)
from npcompile.graph.primitives import raises

#: gets the builder, the old node and its new arguments; None: the node stays as it is
Rule = Callable[[Builder, Node, tuple[Node, ...]], "Node | None"]
#: gets the builder and a node with its new regions; its results if it is not needed
Join = Callable[[Builder, Node], "list[Node] | None"]


def rewrite(graph: Graph, rule: Rule, join: Join | None = None) -> Graph:
    """The graph with every node replaced as the rule says; equal pure nodes become one."""
    return Rewriter(graph, rule, join).run()


class Rewriter:
    """``new`` has what became of each node so far."""

    def __init__(self, graph: Graph, rule: Rule, join: Join | None = None) -> None:
        self.graph, self.rule, self.join = graph, rule, join
        self.new: MutableMapping[Node, Node] = {}
        self.joined: dict[Node, list[Node]] = {}
        self.raising: list[Node] = []  # what was in arms, and must not get lost without them

    def run(self) -> Graph:
        graph = self.graph
        region = self.region(graph.region)
        region.ends_with([*region.results, *filter(set(region.nodes).__contains__, self.raising)])
        return Graph(
            graph.name,
            region,
            self.tree(graph.result),
            graph.facts,
            {index: self.new[node] for index, node in graph.finals.items()},
            {name: self.new[node] for name, node in graph.bound.items() if node in self.new},
            names={self.new[node]: name for node, name in graph.names.items() if node in self.new},
        )

    def region(self, old: Region) -> Region:
        builder, before = Builder(self.graph.facts), self.graph.facts.mark()
        builder.region.begins_with([self.param(param) for param in old.params])
        self.new.update(zip(old.params, builder.region.params))
        for node in old.nodes:
            self.new[node] = self.node(builder, node)
        edge = None if old.edge is None else self.resume(old.edge)
        builder.region.ends_with([self.new[node] for node in old.results], edge)
        if old.short:
            builder.region.shorten()
        self.graph.facts.undo(before)
        return builder.region

    def param(self, param: Node) -> Node:
        """A parameter of a nested region."""
        return param

    def parts(self, node: Node, args: tuple[Node, ...]) -> Node:
        """A node with regions."""
        return replace(node, args=args, regions=tuple(map(self.region, node.regions)))

    def node(self, builder: Builder, node: Node) -> Node:
        if node.op == "param":
            builder.region.nodes.append(node)
            return node
        builder.at(node.line)
        args = tuple([self.new[a] for a in node.args])
        if node.regions:
            made = self.parts(node, args)
            here = len(builder.region.nodes)
            found = self.join(builder, made) if self.join else None
            if found is None:
                builder.region.nodes.append(made)
                return made
            return self.instead(builder, made, here, found)
        if isinstance(node.attrs, Get) and args[0] in self.joined:
            return self.joined[args[0]][node.attrs.index]
        if isinstance(node.attrs, Check):
            if isinstance(args[0].attrs, Const) and args[0].attrs.value:
                return args[0]  # it always holds
            learn(builder.facts, args[0])
            resume = self.resume(node.attrs.resume)
            return builder.emit("check", args, Check(node.attrs.reason, resume), node.type)
        new = self.rule(builder, node, args)
        return builder.emit(node.op, args, node.attrs, node.type) if new is None else new

    def instead(self, builder: Builder, node: Node, here: int, results: list[Node]) -> Node:
        """Results take the place of a node with several; what computes them was emitted from
        ``here`` on."""
        self.raising += filter(raises, builder.region.nodes[here:])
        self.joined[node] = results
        return node

    # ------------------------------------------------------------------ trees of results

    def resume(self, resume: Resume) -> Resume:
        if not resume.frames:
            return resume
        return Resume(tuple(map(self.frame, resume.frames)), resume.graph_breaks)

    def frame(self, frame: ResumeFrame) -> ResumeFrame:
        local = tuple((name, self.tree(tree)) for name, tree in frame.local)
        return replace(frame, local=local, stack=tuple(map(self.tree, frame.stack)))

    def tree(self, tree: Tree) -> Tree:
        match tree:
            case NewArray(cell, node):
                return NewArray(cell, self.new[node])
            case NumberOf(node, ident):
                return NumberOf(self.new[node], ident)
            case ObjectOf(node):
                return ObjectOf(self.new[node])
            case ViewOf(_, NewArray() as base):
                return replace(tree, base=NewArray(base.cell, self.new[base.node]))
            case Items():
                return replace(tree, items=tuple(map(self.tree, tree.items)))
            case _:
                return tree
