"""A small Context to call operators without a tracer, and two ways to run what they build."""

from __future__ import annotations

from typing import Any

import numpy as np

from npcompile import passes
from npcompile.core.errors import Refused, refuse
from npcompile.core.facts import Facts
from npcompile.core.sizes import symbol
from npcompile.graph.builder import Builder
from npcompile.graph.interpret import _clone, interpret
from npcompile.graph.ir import (
    Geometry,
    Graph,
    HostCall,
    Items,
    NewArray,
    Node,
    NumberOf,
    Param,
    SameParam,
    Scatter,
    StaticObject,
    Tree,
    ViewOf,
)
from npcompile.graph.primitives import PRIMITIVES
from npcompile.graph.types import PYTHON, Array, Scalar
from npcompile.ops.operands import ArrayRef, Operand, Storage
from npcompile.ops.record import OPERATORS


class TestContext:
    """Arrays and numbers become parameters; ``state`` holds the current version of each storage."""

    __test__ = False

    def __init__(self, symbolic: bool = False) -> None:
        self.builder = Builder(Facts())
        self.symbolic = symbolic
        self.state: dict[Storage, Node] = {}
        self.args: list[Any] = []

    @property
    def facts(self) -> Facts:
        return self.builder.facts

    # ------------------------------------------------------------ what operators may ask

    def read(self, ref: ArrayRef) -> Node:
        return self.builder.read(self.state[ref.storage], ref.geometry)

    def write(self, ref: ArrayRef, value: Node, mask: Node | None = None) -> None:
        self.state[ref.storage] = self.builder.write(
            self.state[ref.storage], value, ref.geometry, mask)

    def scatter(self, ref: ArrayRef, value: Node, at: Node, combine: str, distinct: bool) -> None:
        self.state[ref.storage] = self.builder.scatter(
            self.state[ref.storage], value, at, Scatter(ref.geometry, combine, distinct))

    def new(self, node: Node) -> ArrayRef:
        assert isinstance(node.type, Array)
        storage = Storage(node)
        self.state[storage] = node
        type_ = node.type
        return ArrayRef(storage, Geometry(0, type_.shape, type_.strides), type_.dtype)

    def host_call(self, call: HostCall, args: tuple[Operand, ...], result: Array) -> ArrayRef:
        raise self.refuse("host_call", "not in these tests")

    def refuse(self, construct: str, reason: str, hint: str = "") -> Refused:
        return refuse(construct, reason, 0, hint)

    # ------------------------------------------------------------ inputs

    def array(self, value: np.ndarray) -> ArrayRef:
        """A parameter that holds this array."""
        index = len(self.args)
        self.args.append(value)
        unit = value.dtype.itemsize
        shape: tuple[Any, ...] = value.shape
        strides: tuple[Any, ...] = tuple(s // unit for s in value.strides)
        if self.symbolic:
            shape = tuple(symbol(f"n{index}{k}", n, 0) for k, n in enumerate(shape))
            strides = tuple(symbol(f"t{index}{k}", n) for k, n in enumerate(strides))
        node = self.builder.emit("param", (), Param(index, f"a{index}"),
                                 Array(value.dtype, shape, strides))
        self.builder.region.params.append(node)
        ref = self.new(node)
        ref.storage.param = index
        return ref

    def number(self, value: Any) -> Node:
        """A traced number: Python's or NumPy's."""
        index = len(self.args)
        self.args.append(value)
        type_ = PYTHON.get(type(value)) or Scalar(np.asarray(value).dtype, "np")
        node = self.builder.emit("param", (), Param(index, f"x{index}"), type_)
        self.builder.region.params.append(node)
        return node

    def lift(self, value: Any) -> Operand:
        """An array or a number as a traced operand."""
        return self.array(value) if isinstance(value, np.ndarray) else self.number(value)

    # ------------------------------------------------------------ running

    def tree(self, result: Operand) -> Tree:
        if isinstance(result, tuple):
            return Items(tuple, tuple(map(self.tree, result)))
        if isinstance(result, Node):
            return NumberOf(result)
        if not isinstance(result, ArrayRef):
            return StaticObject(result)
        base: Any = SameParam(result.storage.param)
        if result.storage.param < 0:
            base = NewArray(id(result.storage), self.state[result.storage])
        whole = result.storage.type
        if result.geometry == Geometry(0, whole.shape, whole.strides):
            return base
        return ViewOf(id(result), base, result.geometry, result.dtype)

    def graph(self, result: Operand) -> Graph:
        finals = {c.param: n for c, n in self.state.items() if c.param >= 0 and n is not c.first}
        return Graph("test", self.builder.region, self.tree(result), self.facts, finals,
                     dict(self.builder.bound))


def _reduce(array: Any, attrs: Any, initial: Any) -> Any:
    assert attrs.kind == "all"
    return np.all(array, axis=attrs.axes)


def by_records(name: str) -> Any:
    """Meanings by the references of the records."""
    if name == "reduce":
        return _reduce
    return PRIMITIVES[name].meaning if name in PRIMITIVES else OPERATORS[name].oracle()


def by_primitives(name: str) -> Any:
    """Meanings of a decomposed graph: only primitives are left."""
    return _reduce if name == "reduce" else PRIMITIVES[name].meaning


Readings = tuple[Graph, Graph]


def readings(ctx: TestContext, result: Operand) -> Readings:
    """The graph of a result, as the records build it, and as a program over primitives."""
    graph = ctx.graph(result)
    return graph, passes.run(graph)


def run_readings(graphs: Readings, args: list[Any]) -> tuple[Any, Any]:
    """The result by the records' references, and by their programs over primitives."""
    copies = [_clone(a) if isinstance(a, np.ndarray) else a for a in args]
    first = interpret(graphs[0], copies, by_records)
    with np.errstate(all="ignore"):
        second = interpret(graphs[1], args, by_primitives)
    return first, second


def run_both(ctx: TestContext, result: Operand) -> tuple[Any, Any]:
    """Both results of what a test has built."""
    return run_readings(readings(ctx, result), ctx.args)
