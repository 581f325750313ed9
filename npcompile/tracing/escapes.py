"""Values that leave the region they were computed in, with the arrays and boxes they refer to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.core.sizes import Poly, Size, Symbol, substitute, symbols
from npcompile.graph.ir import Const, Geometry, Node
from npcompile.graph.types import SUPPORTED, Array, Scalar, Type
from npcompile.ops.operands import ArrayRef, Storage
from npcompile.python.composite import Composite
from npcompile.python.values import (
    EMPTY,
    HeapObject,
    Object,
    State,
    Static,
    TaggedUnion,
    Value,
    Vector,
)
from npcompile.tracing import carried_sizes

if TYPE_CHECKING:
    from npcompile.tracing.services import Tracer


def as_number(t: Tracer, value: Value) -> Node | None:
    """A number as a node; None for anything else."""
    if isinstance(value, Node):
        return value
    if isinstance(value, Static):
        held = value.value
        plain = type(held) in (bool, int, float, complex)
        if plain or (isinstance(held, np.generic) and held.dtype.char in SUPPORTED):
            return t.builder.const(held)
    return None


def options_of(value: Value) -> tuple[Value, ...]:
    """The options of a tagged union; nothing for another value."""
    return value.options if isinstance(value, TaggedUnion) else ()


def spread(value: Value, like: Value = EMPTY) -> Value:
    """A constant of the same parts as another value: a tuple, item by item; a string like a
    character that the run knows."""
    return like.resembling(value) if isinstance(like, Composite) else value


def carrier(node: Node) -> Node:
    """The number that a number is but for its origin."""
    if node.op == "cast" and isinstance(node.type, Scalar):
        (arg,) = node.args
        if isinstance(arg.type, Scalar) and arg.dtype == node.dtype:
            return arg
    return node


def retyped(t: Tracer, node: Node, type_: Type) -> Node:
    """The same number with another origin."""
    if node.type == type_:
        return node
    assert isinstance(type_, Scalar) and node.dtype == type_.dtype
    if isinstance(node.attrs, Const):
        return t.builder.const(node.attrs.value, type_)
    base = carrier(node)
    return base if base.type == type_ else t.builder.emit("cast", (base,), None, type_)


class Escape:
    """Moves one state's values out of a region: ``out`` gives what a node is outside, ``created``
    are the cells and heap objects that were made inside.  ``store`` puts an array of the region
    into one with room for so many elements along the first axis."""

    def __init__(
        self, t: Tracer, state: State, created: set[Storage | HeapObject | Object],
        out: Callable[[Node, Value | Storage | None], Node],
        store: Callable[[Node, Geometry, Size], Node],
    ) -> None:
        self.t, self.state, self.created, self.out = t, state, created, out
        self.store = store
        self.made: dict[Any, Any] = {}
        self.heap: dict[Storage | HeapObject, Any] = {}
        self.symbols: dict[Symbol, Size] = {}

    def back_to(self, made: dict[Any, Any]) -> None:
        """Forgets what has moved out since it was such."""
        self.made = made

    def value(self, value: Value, like: Value | None = None) -> Value:
        """``like`` is what the same variable holds on another path."""
        match value:
            case Node():
                return self.node(value, like)
            case ArrayRef():
                array: ArrayRef = self._once(value, lambda: self._array(value, like))
                return array
            case Composite() if value.takes_after:
                others = like.parts() if isinstance(like, type(value)) else ()
                rest = iter(others)
                return value.mapped(lambda part: self.value(part, next(rest, None)))
            case Object() if value in self.created:
                raise self.t.refuse("object", "made in a branch or a loop and used after it")
            case HeapObject() if value in self.created:
                obj: HeapObject = self._once(value, lambda: self._obj(value))
                return obj
            case TaggedUnion(tag, codes, options):
                moved = tuple(map(self._option, options))
                return TaggedUnion(self.node(tag), codes, moved)
            case Composite():
                whole: Value = self._once(value, lambda: value.mapped(self.value))
                return whole
        return value

    def node(self, node: Node, like: Value | Storage | None = None) -> Node:
        if isinstance(node.attrs, Const) and isinstance(node.type, Scalar):
            return self.t.builder.const(node.attrs.value, node.type)
        size = self.t.builder.known_size(node)
        # other ints that are equal to a size may be large: arithmetic on them is checked
        if size is not None and node.op == "size" and (
            self.t.builder.closed.isdisjoint(symbols(size))
        ):
            return self.t.builder.size(size)
        if isinstance(node.type, Array):
            for part in (*node.type.shape, *node.type.strides):
                if not self.t.builder.closed.isdisjoint(symbols(part)):
                    raise self.t.refuse(
                        "array", "its size is computed in a loop or a branch, and it is used after")
        return self.out(node, like)

    def _option(self, value: Value) -> Value:
        """Options of one dtype go on sharing their number."""
        if isinstance(value, Node):
            return retyped(self.t, self.node(carrier(value)), value.type)
        return self.value(value)

    def _once(self, key: Any, make: Callable[[], Any]) -> Any:
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]

    def _array(self, ref: ArrayRef, like: Value | None) -> ArrayRef:
        t, storage = self.t, ref.storage
        if storage in self.created:
            other = like.storage if isinstance(like, ArrayRef) else None
            storage = self._once(storage, lambda: self._storage(ref.storage, other))
        geometry = self._geometry(ref.geometry)
        if storage is ref.storage and geometry == ref.geometry:
            return ref
        made = ArrayRef(storage, geometry, ref.dtype, ref.writeable)
        if t.trees.owns(ref):
            t.trees.own(made)
        return made

    def _storage(self, storage: Storage, like: Storage | None) -> Storage:
        version = self.state.heap.get(storage, storage.first)
        assert isinstance(version.type, Array)
        if carried_sizes.hides(self.t, version.type):
            most = carried_sizes.room(self.t, version.type)
            if most is not None:
                whole = Geometry(0, version.type.shape, version.type.strides)
                version = self.store(version, whole, most)
        made = self.t.register(Storage(self.node(version, like)))
        self.t.aliases.renames(made, storage)
        return made

    def _obj(self, obj: HeapObject) -> HeapObject:
        if obj not in self.state.heap:
            raise self.t.refuse("if", "depends on data, and only one path makes a list or object")
        whole = None if obj.part_of is None else self.value(obj.part_of)
        assert whole is None or isinstance(whole, HeapObject)
        made = self.t.register(self.t.like(obj, part_of=whole))
        self.heap[made] = self.contents(self.state.heap[obj])
        return made

    def contents(self, contents: Any) -> Any:
        """Maps the contents of a list, dictionary, instance or closure cell to contents outside the
        region."""
        if isinstance(contents, Vector):
            return contents.map(lambda length: self.out(length, None), self.value)
        if isinstance(contents, tuple):
            return tuple(map(self.value, contents))
        if isinstance(contents, dict):
            return {key: self.value(item) for key, item in contents.items()}
        return self.value(contents)

    def _geometry(self, geometry: Geometry) -> Geometry:
        return Geometry(
            self._size(geometry.offset),
            tuple(map(self._size, geometry.shape)),
            tuple(map(self._size, geometry.strides)),
            geometry.part,
        )

    def _size(self, size: Size) -> Size:
        """A size in which symbols of the region stand for what they were when it was left."""
        builder = self.t.builder
        for name in symbols(size):
            if name in builder.closed and name not in self.symbols:
                number = self.out(builder.bound[name], None)
                outside = builder.size_of(number, name.low)
                most = self.t.facts.most(Poly((((name,), 1),)), builder.closed)
                if most is not None:
                    self.t.facts.limit(outside, most)
                self.symbols[name] = outside
        return substitute(size, self.symbols) if self.symbols else size
