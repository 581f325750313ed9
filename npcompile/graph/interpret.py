"""The meaning of a graph, by NumPy: the oracle for every lowering.

Values are NumPy arrays and scalars.  A version of an array is a flat memory plus the strides of
its type, so that views are exact; ``write`` copies the memory.  Operator records and primitives
are looked up through ``meaning``, because records live in a room below this one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from npcompile.core.sizes import Size, Symbol, evaluate
from npcompile.graph.ir import (
    CallSite,
    Check,
    Const,
    Extern,
    Geometry,
    Get,
    Graph,
    HostCall,
    Items,
    Loop,
    NewArray,
    Node,
    NumberOf,
    ObjectOf,
    Param,
    Reduction,
    Region,
    Resume,
    SameParam,
    Scatter,
    SizeOf,
    StaticObject,
    Tree,
    ViewOf,
    container,
    keywords,
)
from npcompile.graph.primitives import PRIMITIVES
from npcompile.graph.routines import ROUTINES
from npcompile.graph.types import Array, Opaque, Scalar, Tuple, Type

Meaning = Callable[[str], Callable[..., Any]]


class CheckFailed(Exception):
    """A check failed: Python would go on at ``resume``."""

    def __init__(self, reason: str, resume: Resume) -> None:
        super().__init__(reason)
        self.resume = resume


def interpret(
    graph: Graph,
    args: Sequence[Any],
    meaning: Meaning = lambda name: PRIMITIVES[name].meaning,
    bound: Mapping[Symbol, Node] | None = None,
) -> Any:
    """Runs a graph; arguments are changed as the graph says and returned where it says.

    Parameters
    ----------
    graph
        The graph.
    args
        One array or number per parameter.
    meaning
        The NumPy meaning of an elementwise operator's name, or of ``"reduce"``, called with the
        operands and the node.
    bound
        Symbols that nodes bind.

    Raises
    ------
    Left
        A check failed; arguments are unchanged.
    """
    run = _GraphRun(graph, args, meaning, bound or graph.bound)
    run.region(graph.region)
    result = run.tree(graph.result)
    for index, node in graph.finals.items():
        memory = run.values[node]
        args[index][...] = memory
    return result


class _GraphRun:
    def __init__(
        self, graph: Graph, args: Sequence[Any], meaning: Meaning, bound: Mapping[Symbol, Node]
    ) -> None:
        self.args, self.meaning, self.bound = args, meaning, bound
        self.values: dict[Node, Any] = {}
        self.symbols: dict[Symbol, int] = {}
        self.objects: dict[object, Any] = {}
        for node, arg in zip(graph.params, args, strict=True):
            self._param(node, arg)

    def _param(self, node: Node, arg: Any) -> None:
        kind = node.type
        assert isinstance(node.attrs, Param)
        if isinstance(kind, Array):
            strides = [s // arg.dtype.itemsize for s in arg.strides]
            for size, value in zip((*kind.shape, *kind.strides), (*arg.shape, *strides)):
                self._learn(size, value)
            self.values[node] = _clone(arg)
        elif isinstance(kind, Opaque):
            self.values[node] = arg
        else:
            assert isinstance(kind, Scalar)
            if node.attrs.symbol is not None:
                self.symbols[node.attrs.symbol] = int(arg)
            self.values[node] = kind.dtype.type(arg)

    def _learn(self, size: Size, value: int) -> None:
        if not isinstance(size, int) and len(size.terms) == 1:
            atoms, coefficient = size.terms[0]
            if coefficient == 1 and len(atoms) == 1 and isinstance(atoms[0], Symbol):
                self.symbols.setdefault(atoms[0], value)

    def size(self, size: Size) -> int:
        return evaluate(size, self._symbol)

    def _symbol(self, name: Symbol) -> int:
        if name in self.symbols:
            return self.symbols[name]
        return int(self.values[self.bound[name]])

    # ------------------------------------------------------------------ nodes

    def region(self, region: Region) -> None:
        for node in region.nodes:
            if node not in self.values or node.op != "param":
                self.values[node] = self.node(node)

    def node(self, node: Node) -> Any:
        args = [self.values[a] for a in node.args]
        handler = getattr(self, "_op_" + node.op.rstrip("_"), None)
        if handler is not None:
            return handler(node, *args)
        with np.errstate(all="ignore"):
            value = self.meaning(node.op)(*args, **keywords(node.attrs, node.dtype))
        return self._typed(node, value)

    def _typed(self, node: Node, value: Any) -> Any:
        return self._as(node.type, value)

    def _as(self, kind: Type, value: Any) -> Any:
        if isinstance(kind, Scalar):
            return kind.dtype.type(value)
        if isinstance(kind, Array):
            fresh = self._empty(kind)
            fresh[...] = value
            return fresh
        return value

    def _empty(self, kind: Array) -> Any:
        """A fresh array laid out as its type says."""
        shape = tuple(map(self.size, kind.shape))
        if len(shape) < 2:
            return np.empty(shape, kind.dtype)
        strides = tuple(map(self.size, kind.strides))
        order = sorted(range(len(shape)), key=lambda a: -abs(strides[a]) if shape[a] != 1 else 0)
        return np.empty([shape[a] for a in order], kind.dtype).transpose(np.argsort(order))

    def _geometry(self, memory: Any, geometry: Geometry) -> Any:
        """A view; ``memory`` keeps the gaps and signs of its type's strides."""
        shape = tuple(map(self.size, geometry.shape))
        if geometry.part:
            memory = getattr(memory, geometry.part)
        unit = memory.dtype.itemsize * (2 if geometry.part else 1)
        strides = tuple(self.size(s) * unit for s in geometry.strides)
        if 0 in shape:
            return np.empty(shape, memory.dtype)
        start = np.asarray(_Pointer(memory, self.size(geometry.offset) * unit))
        return np.lib.stride_tricks.as_strided(start, shape, strides)

    def _op_const(self, node: Node) -> Any:
        assert isinstance(node.attrs, Const)
        return node.dtype.type(node.attrs.value)

    def _op_size(self, node: Node) -> Any:
        assert isinstance(node.attrs, SizeOf)
        size = self.size(node.attrs.size)  # where nobody looks at it, it may not fit
        return np.int64((size + 2**63) % 2**64 - 2**63)

    def _op_cast(self, node: Node, value: Any) -> Any:
        with np.errstate(all="ignore"):
            return self._typed(node, np.asarray(value).astype(node.dtype))

    def _op_copy(self, node: Node, value: Any) -> Any:
        return self._typed(node, value)

    def _op_full(self, node: Node, value: Any) -> Any:
        return self._typed(node, value)

    def _op_empty(self, node: Node) -> Any:
        assert isinstance(node.type, Array)
        return self._empty(node.type)

    def _op_iota(self, node: Node) -> Any:
        return np.arange(self.size(node.shape[0]), dtype=np.int64)

    def _op_read(self, node: Node, memory: Any) -> Any:
        view = self._geometry(memory, cast(Geometry, node.attrs))
        return _clone(view) if view.ndim else view[()]

    def _op_write(self, node: Node, memory: Any, value: Any, mask: Any = None) -> Any:
        fresh = _clone(memory)
        view = self._geometry(fresh, cast(Geometry, node.attrs))
        np.copyto(view, value, where=True if mask is None else mask)
        return fresh

    def _places(self, memory: Any, geometry: Geometry, at: Any) -> tuple[Any, Any]:
        """All elements of a memory as a row, and for each index of a view the one meant."""
        shape = tuple(map(self.size, geometry.shape))
        places = np.broadcast_to(at, shape) + self.size(geometry.offset)
        for grid, step in zip(np.indices(shape, sparse=True), map(self.size, geometry.strides)):
            places = places + grid * step
        low, high = (int(places.min()), int(places.max())) if places.size else (0, -1)
        row = Geometry(low, (high - low + 1,), (1,), geometry.part)
        return self._geometry(memory, row), places - low

    def _op_gather(self, node: Node, memory: Any, at: Any) -> Any:
        row, places = self._places(memory, cast(Geometry, node.attrs), at)
        return self._typed(node, row[places])

    def _op_scatter(self, node: Node, memory: Any, value: Any, at: Any) -> Any:
        attrs = cast(Scatter, node.attrs)
        fresh = _clone(memory)
        row, places = self._places(fresh, attrs.geometry, at)
        new = np.broadcast_to(value, places.shape)
        for index in np.ndindex(places.shape):
            one = new[index]
            if attrs.combine:
                with np.errstate(all="ignore"):
                    one = PRIMITIVES[attrs.combine].meaning(row[places[index]], one)
            row[places[index]] = one
        return fresh

    def _op_pack(self, node: Node, value: Any, mask: Any) -> Any:
        return self._typed(node, np.broadcast_to(value, mask.shape)[mask])

    def _op_reduce(self, node: Node, array: Any, initial: Any = None) -> Any:
        attrs = cast(Reduction, node.attrs)
        value = self.meaning("reduce")(array, attrs, initial)
        return self._typed(node, value)

    def _op_extern(self, node: Node, *args: Any) -> Any:
        attrs = cast(Extern, node.attrs)
        with np.errstate(all="ignore"):
            found = ROUTINES[attrs.routine].meaning(attrs.spec, *args)
        if isinstance(node.type, Tuple):
            return [self._as(kind, part) for kind, part in zip(node.type.items, found, strict=True)]
        return self._typed(node, found)

    def _op_settle(self, node: Node, *args: Any) -> None:
        """Flags are no part of a graph's meaning here."""

    def _op_host_call(self, node: Node, *args: Any) -> Any:
        if isinstance(node.attrs, CallSite):
            return self._site(node, node.attrs)
        call = cast(HostCall, node.attrs)
        module, _, names = call.path.partition(":")
        function: Any = __import__(module, fromlist=["_"])
        for name in names.split("."):
            function = getattr(function, name)
        split = len(args) - len(call.keywords)
        keywords = dict(zip(call.keywords, args[split:]))
        positional = list(args[:split])
        for where, value in call.statics:
            if isinstance(where, int):
                positional.insert(where, value)
            else:
                keywords[where] = value
        return self._typed(node, function(*positional, **keywords))

    def _site(self, node: Node, site: CallSite) -> list[Any]:
        found = site.function(*map(self._boxed, node.args))
        assert isinstance(node.type, Tuple)
        return [
            kind.dtype.type(value) if isinstance(kind, Scalar) else value
            for kind, value in zip(node.type.items, found, strict=True)
        ]

    def _boxed(self, node: Node) -> Any:
        """A value as the program sees it."""
        kind, value = node.type, self.values[node]
        python = isinstance(kind, Scalar) and kind.origin == "py"
        return node.scalar.python_type(value) if python else value

    def _op_check(self, node: Node, holds: Any) -> None:
        if not holds:
            attrs = cast(Check, node.attrs)
            raise CheckFailed(attrs.reason, attrs.resume)

    def _op_get(self, node: Node, values: Any) -> Any:
        return values[cast(Get, node.attrs).index]

    def _op_if(self, node: Node, condition: Any) -> Any:
        arm = node.regions[0 if condition else 1]
        self.region(arm)
        return [self.values[r] for r in arm.results]

    def _op_for(self, node: Node, *carried: Any) -> Any:
        loop, body = cast(Loop, node.attrs), node.regions[0]
        for index in range(self.size(loop.start), self.size(loop.stop), self.size(loop.step)):
            self.values.update(zip(body.params, (np.int64(index), *carried)))
            self.region(body)
            carried = tuple(self.values[r] for r in body.results)
        return list(carried)

    def _op_while(self, node: Node, *carried: Any) -> Any:
        body = node.regions[0]
        while True:
            self.values.update(zip(body.params, carried))
            self.region(body)
            again, *rest = (self.values[r] for r in body.results)
            carried = tuple(rest)
            if not again:
                return rest

    # ------------------------------------------------------------------ results

    def tree(self, tree: Tree) -> Any:
        match tree:
            case SameParam(index):
                return self.args[index]
            case NewArray(cell, node):
                if cell not in self.objects:
                    self.objects[cell] = _clone(self.values[node])
                return self.objects[cell]
            case ViewOf(ident, base, geometry, dtype, writeable):
                if ("view", ident) not in self.objects:
                    made = self._geometry(self.tree(base), geometry).view(dtype)
                    self.objects["view", ident] = made
                    if not writeable:
                        made.setflags(write=False)
                return self.objects["view", ident]
            case NumberOf(node, ident):
                if not ident:
                    return self._as_number(node)
                if ("number", ident) not in self.objects:
                    self.objects["number", ident] = self._as_number(node)
                return self.objects["number", ident]
            case ObjectOf(node):
                return self.values[node]
            case StaticObject():
                return tree.value
            case Items():
                return self._items(tree)

    def _as_number(self, node: Node) -> Any:
        kind, number = node.type, self.values[node]
        assert isinstance(kind, Scalar)
        return kind.python_type(number) if kind.origin == "py" else kind.dtype.type(number)

    def _items(self, tree: Items) -> Any:
        if tree.ident and ("items", tree.ident) in self.objects:
            return self.objects["items", tree.ident]
        items = [self.tree(item) for item in tree.items]
        made = container(tree.kind, items, tree.keys)
        if tree.ident:
            self.objects["items", tree.ident] = made
        return made


class _Pointer:
    """A 0-d array at a byte offset from element (0, ..., 0) of an array, which it keeps alive."""

    def __init__(self, memory: Any, offset: int) -> None:
        self.memory = memory
        self.__array_interface__ = {
            "version": 3,
            "shape": (),
            "typestr": memory.dtype.str,
            "data": (memory.__array_interface__["data"][0] + offset, False),
        }


def _clone(array: Any) -> Any:
    """A copy in fresh memory with the very same strides, gaps and signs."""
    if array.size == 0:
        return np.empty_like(array)
    spans = [(n - 1) * s for n, s in zip(array.shape, array.strides)]
    low = sum(min(s, 0) for s in spans)
    high = sum(max(s, 0) for s in spans) + array.dtype.itemsize
    flat = np.zeros(high - low, np.uint8)
    start = flat[-low : -low + array.dtype.itemsize].view(array.dtype)
    copy = np.lib.stride_tricks.as_strided(start, array.shape, array.strides)
    copy[...] = array
    return copy
