"""Runs operator records on real arrays: traces them into a graph and interprets it.

``run(program, *args)`` gives ``program`` a context and operands with symbolic sizes, as the tracer
would, checks the graph and the guards, and returns what NumPy would return.
"""

import numpy as np

from npcompile.core.errors import refuse
from npcompile.core.paths import import_path
from npcompile.core.sizes import symbol
from npcompile.graph.builder import Builder
from npcompile.graph.interpret import _clone, interpret
from npcompile.graph.ir import (
    Geometry,
    Graph,
    Items,
    NewArray,
    Node,
    NumberOf,
    Param,
    SameParam,
    Scatter,
    StaticObject,
    ViewOf,
)
from npcompile.graph.types import PYTHON, Array, Scalar, c_strides
from npcompile.graph.verify import verify
from npcompile.linalg import norms
from npcompile.ops import canonical
from npcompile.ops.operands import ArrayRef, Storage
from npcompile.ops.record import OPERATORS, resolve
from tests.support import oracle

assert norms  # its records are there when it is imported

class GraphContext:
    def __init__(self):
        self.builder = Builder()
        self.facts.suppose = self.builder.suppose
        self.versions = {}

    @property
    def facts(self):
        return self.builder.facts

    def version(self, storage):
        return self.versions.get(storage, storage.first)

    def read(self, ref):
        return self.builder.read(self.version(ref.storage), ref.geometry)

    def write(self, ref, value, mask=None):
        assert value.dtype == ref.dtype, (value.dtype, ref.dtype)
        node = self.builder.write(self.version(ref.storage), value, ref.geometry, mask)
        self.versions[ref.storage] = node

    def scatter(self, ref, value, at, combine, distinct):
        attrs = Scatter(ref.geometry, combine, distinct)
        old = self.version(ref.storage)
        self.versions[ref.storage] = self.builder.scatter(old, value, at, attrs)

    def new(self, node):
        kind = node.type
        assert isinstance(kind, Array)
        return ArrayRef(Storage(node), Geometry(0, kind.shape, kind.strides), kind.dtype)

    def host_call(self, call, args, result):
        nodes = [self.read(a) if isinstance(a, ArrayRef) else a for a in args]
        return self.new(self.builder.emit("host_call", nodes, call, result))

    def refuse(self, construct, reason, hint=""):
        return refuse(construct, reason, 1, hint)

    # ------------------------------------------------------------------ operands

    def param(self, index, value):
        name = f"a{index}"
        if not isinstance(value, np.ndarray):
            return self.number(index, name, value)
        shape = tuple(symbol(f"{name}.{k}", n, 0) for k, n in enumerate(value.shape))
        steps = [s // value.itemsize for s in value.strides]
        strides = tuple(symbol(f"{name}.s{k}", s) for k, s in enumerate(steps))
        if value.flags.c_contiguous:
            strides = c_strides(shape)
        kind = Array(value.dtype, shape, strides)
        node = Node("param", (), Param(index, name), kind)
        self.builder.region.params.append(node)
        return ArrayRef(Storage(node, index), Geometry(0, shape, strides), value.dtype)

    def number(self, index, name, value):
        size = symbol(name, value) if type(value) is int else None
        known = size.terms[0][0][0] if size is not None else None
        type_ = PYTHON.get(type(value)) or Scalar(np.asarray(value).dtype, "np")
        node = Node("param", (), Param(index, name, known), type_)
        self.builder.region.params.append(node)
        return node if size is None else self.builder.size(size)

    def tree(self, value, idents):
        if isinstance(value, Node):
            return NumberOf(value)
        if isinstance(value, ArrayRef):
            storage = value.storage
            first = storage.type
            number = idents.setdefault(id(storage), len(idents) + 1)
            base = SameParam(storage.param) if storage.param >= 0 else None
            base = base or NewArray(number, self.version(storage))
            if value.geometry == Geometry(0, first.shape, first.strides):
                return base
            return ViewOf(idents.setdefault(id(value), len(idents) + 1), base, value.geometry,
                          value.dtype)
        if isinstance(value, (tuple, list)):
            return Items(type(value), tuple(self.tree(v, idents) for v in value))
        return StaticObject(value)


def meaning(name):
    if name == "reduce":
        return canonical.meaning
    from npcompile.graph.primitives import PRIMITIVES

    return PRIMITIVES[name].meaning if name in PRIMITIVES else import_path(
        OPERATORS[name].reference)


def trace(program, *args):
    """The graph of ``program(ctx, *operands)`` for arguments like these."""
    ctx = GraphContext()
    operands = [ctx.param(k, a) for k, a in enumerate(args)]
    result = program(ctx, *operands)
    tree = ctx.tree(result, {})
    ctx.facts.undo((0, 0))
    finals = {}
    for ref in operands:
        if isinstance(ref, ArrayRef) and ref.storage in ctx.versions:
            finals[ref.storage.param] = ctx.versions[ref.storage]
    graph = Graph("test", ctx.builder.region, tree, ctx.facts, finals, bound=ctx.builder.bound)
    verify(graph)
    assert all(g.holds(lambda s: s.hint) for g in ctx.facts.guards)
    return graph


def holds(graph, *args):
    """Whether a graph is valid for other arguments."""
    values = {}
    for k, a in enumerate(args):
        if isinstance(a, np.ndarray):
            values |= {f"a{k}.{i}": n for i, n in enumerate(a.shape)}
            values |= {f"a{k}.s{i}": s // a.itemsize for i, s in enumerate(a.strides)}
        else:
            values[f"a{k}"] = a
    return all(g.holds(lambda s: values[s.name]) for g in graph.facts.guards)


def run(program, *args):
    """``program(ctx, *operands)`` for these arguments; arrays are changed as it says."""
    return interpret(trace(program, *args), args, meaning)


def call(function, *args, **kwargs):
    """Calls the record of a function (or of ``"name"``) inside a program."""
    op = OPERATORS[function] if isinstance(function, str) else resolve(function)
    assert op is not None, function
    return lambda ctx, *operands: op.kind.call(op, ctx, (*operands, *args), kwargs)


def check(program, function, *args):
    """Compares a program with a function of NumPy's: results and changed arguments."""
    ours, numpys = ([_clone(a) if isinstance(a, np.ndarray) else a for a in args] for _ in "ab")
    want = function(*numpys)
    got = run(program, *ours)
    oracle.check(got, want, oracle.MEANING)
    oracle.check(ours, numpys, oracle.MEANING)


def as_numpy(function, arrays, *args, **options):
    """``function(*arrays, *args, **options)`` gives what NumPy's does."""
    check(call(function, *args, **options), lambda *x: function(*x, *args, **options), *arrays)
