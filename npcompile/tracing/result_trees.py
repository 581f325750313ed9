"""Describes a function's result, and the contents of a frame, as result trees."""

from __future__ import annotations

from collections.abc import Sequence as Several
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.core.errors import Refused
from npcompile.core.paths import defer
from npcompile.core.records import replace
from npcompile.graph import ir
from npcompile.graph.ir import (
    Geometry,
    Items,
    NewArray,
    Node,
    NumberOf,
    ObjectOf,
    SameParam,
    StaticObject,
    Tree,
    ViewOf,
)
from npcompile.graph.types import contiguous
from npcompile.ops.operands import ArrayRef, Storage
from npcompile.python.composite import Composite, Reader
from npcompile.python.iterator import Iterator, RangeIterator
from npcompile.python.values import (
    NULL,
    UNBOUND,
    Frame,
    HeapObject,
    Marker,
    Static,
    Value,
    Vector,
    is_model,
)

if TYPE_CHECKING:
    from npcompile.core import tuples
    from npcompile.python import dictionary, iterator_adapters, iterators
    from npcompile.python.bound_methods import Method
    from npcompile.python.characters import TextValue
    from npcompile.python.functions import Function
    from npcompile.python.polyfills import containers
    from npcompile.python.values import Object, Sequence, TaggedUnion, TensorValue
    from npcompile.runtime.unsafe import object_memory
    from npcompile.tensors import tensor_functions, tensor_memory
    from npcompile.tracing import (
        item_types,
        object_identity,
        references,
        selectors,
        vectors,
    )
    from npcompile.tracing.services import Tracer
else:
    defer(globals(), "npcompile.core", "tuples")
    defer(globals(), "npcompile.tensors", "tensor_functions", "tensor_memory")
    defer(globals(), "npcompile.python",
          "dictionary", "iterator_adapters", "iterators")
    defer(globals(), "npcompile.python.polyfills", "containers")
    defer(globals(), "npcompile.runtime.unsafe", "object_memory")
    defer(
        globals(), "npcompile.tracing", "item_types", "iteration", "object_identity", "references",
        "selectors", "texts", "trip_counts", "vectors",
    )

#: a tuple iterator stands for every iterator whose remaining items are known
TUPLE_ITERATOR = type(iter(()))
RANGE_ITERATOR = type(iter(range(0)))


class Trees(Reader[Tree]):
    """Numbers the objects of one trace, so that one object stays one in all trees."""

    def __init__(self, t: Tracer) -> None:
        self.t = t
        self._numbers: dict[object, int] = {}
        self._objects: dict[Storage, ArrayRef] = {}
        self._exact: dict[
            Storage, Storage
        ] = {}  # copies without the room of arrays of varying length
        self._open: set[HeapObject] = set()  # whose trees are being made
        self._space: dict[str, Any] | None = None  # of functions that Python may get
        self._slots = _Slots(self)
        self._leaving = False  # whether what is asked for is where Python goes on
        self._graph_breaks = False  # and compiled code after it
        self._interrupted = False  # by a handler: numbers need not be the caller's objects

    def _number(self, thing: object) -> int:
        return self._numbers.setdefault(thing, len(self._numbers) + 1)

    def own(self, ref: ArrayRef) -> None:
        """``ref`` is the object whose memory its cell is, not a view of it."""
        self._objects[ref.storage] = ref

    def owns(self, ref: ArrayRef) -> bool:
        return self._objects.get(ref.storage) is ref

    def result(self, value: Value) -> Tree:
        """The tree of a value; refuses what can't be said."""
        return self.read(value)

    def read_number(self, value: Node) -> Tree:
        held = None
        if not self._interrupted:
            held = self.t.inputs.object_of(object_identity.given(self.t, value))
        return self._new_number(value) if held is None else ObjectOf(held)

    def read_object(self, value: Object) -> Tree:
        return ObjectOf(value.node)

    def read_tuple(self, value: Sequence) -> Tree:
        kind: Any = value.kind
        if value.whole is not None:
            return self.read_constant(value.whole)
        if hasattr(kind, "_fields") and not tuples.is_named_tuple(kind):
            raise self.t.refuse("return", f"of a {kind.__name__}, which only Python makes")
        return Items(kind, self._trees(value.items), (), self._number(value))

    def read_dict(self, value: HeapObject) -> Tree:
        return self.read_list(value)

    def read_instance(self, value: HeapObject) -> Tree:
        return self.read_list(value) if value.source or is_model(value) else self.refused(value)

    def read_union(self, value: TaggedUnion) -> Tree:
        place = selectors.place(self.t, value)
        return Items(ir.OneOf, (NumberOf(place), *map(self._option, value.options)))

    def read_built(self, value: Composite) -> Tree:
        return Items(value.builds, self._trees(value.parts()))

    def refused(self, value: Value) -> Tree:
        raise self.t.refuse("return", f"of a {_name(value)} is left to Python")

    def _trees(self, values: Several[Value]) -> tuple[Tree, ...]:
        return tuple(map(self.result, values))

    def _new_number(self, node: Node) -> Tree:
        """A number that the program has computed: one object wherever it is, unless equal ones
        became one node."""
        return NumberOf(node, 0 if node in self.t.builder.shared else self._number(node))

    def read_constant(self, value: Static) -> Tree:
        """A constant, or the very object that came from outside in this call."""
        held, source = value.value, value.source
        node = None if source is None else self.t.inputs.whole(held, source)
        return StaticObject(held, source) if node is None else ObjectOf(node)

    def _option(self, value: Value) -> Tree:
        return StaticObject(UNBOUND) if value is UNBOUND else self.result(value)

    def read_array(self, ref: ArrayRef) -> Tree:
        if self.t.aliases.is_item(ref):
            raise self.t.refuse("return", "of what may be an array in a list")
        base: SameParam | NewArray
        self.t.aliases.escapes(ref.storage, self._leaving)
        storage = ref.storage
        if storage.param >= 0:
            base = SameParam(storage.param)
        else:
            storage = storage if self._leaving else self._trimmed(storage)
            base = NewArray(self._number(storage), self.t.version(storage))
        kind = storage.type
        if self.owns(ref) and ref.geometry == Geometry(0, kind.shape, kind.strides):
            return base
        if ref.writeable is None:
            raise self.t.refuse("return", "of a view that warns when it is written")
        writeable = ref.writeable is not False  # as the owner is, another one in another call
        return ViewOf(self._number(ref), base, ref.geometry, ref.dtype, writeable)

    def _trimmed(self, storage: Storage) -> Storage:
        """The memory of an array without the room that it may not need (`lengths`), so that the
        result owns what it has."""
        owner = self._objects.get(storage)
        if owner is None or owner.geometry.strides != storage.type.strides:
            return storage
        if storage not in self._exact and owner.geometry.shape != storage.type.shape:
            exact = contiguous(owner.dtype, owner.geometry.shape)
            copy = self.t.builder.emit("copy", (self.t.read(owner),), None, exact)
            self._exact[storage] = self.t.new(copy).storage
        return self._exact.get(storage, storage)

    def read_tensor(self, value: TensorValue) -> Tree:
        """A torch tensor: the caller's, a new one, or a view of either."""
        ref = value.array
        tree = self.read_array(ref)
        base = tree.base if isinstance(tree, ViewOf) else tree
        if isinstance(base, SameParam) and base.index in self.t.inputs.tensors:
            held = self.read_constant(self.t.inputs.tensors[base.index])
        else:
            held = Items(tensor_memory.NewTensor, (base,), (), self._number(ref.storage))
        if base is tree:
            return held
        tensor_functions.require_elements(self.t, ref)
        view = tensor_memory.TensorView
        return Items(view, (tree, held), (), self._number((ref, view)))

    def read_text(self, value: TextValue) -> Tree:
        """A part of a string from outside."""
        held = value.array
        whole = self.read_constant(self.t.inputs.strings[held.storage.param])
        kind, size = held.storage.type, self.t.builder.size
        if held.geometry == Geometry(0, kind.shape, kind.strides):
            return whole
        places = held.geometry.offset, held.shape[0], held.geometry.strides[0]
        return Items(value.kind, (whole, *(NumberOf(size(n)) for n in places)))

    read_character = read_built

    def read_list(self, obj: HeapObject) -> Tree:
        if obj in self._open:
            raise self.t.refuse("return", "of something that holds itself is left to Python")
        self._open.add(obj)
        try:
            return self._contents(obj)
        finally:
            self._open.remove(obj)

    def _contents(self, obj: HeapObject) -> Tree:
        if obj not in self.t.heap:
            raise self.t.refuse("return", "of a list or dictionary that only one path makes")
        contents = self.t.heap[obj]
        if isinstance(contents, Vector) and contents.external:
            return self._fetched(obj)
        if obj.borrowed:
            self.t.aliases.row_escapes(obj)
        if isinstance(contents, Vector):
            if item_types.undecided_lines(contents.item):
                raise self.t.refuse("return", "of lists of numbers of Python's and of NumPy's")
            if item_types.holds_objects(contents.item):
                self.t.aliases.list_escapes()
            found = vectors.shown if self._interrupted else vectors.contents
            columns = found(self.t, contents)
            trees = tuple(map(self.result, columns))
            return Items(ir.Columns, trees, (contents.item,), self._number(obj))
        if isinstance(contents, dict):
            assert obj.kind is not None
            if issubclass(obj.kind, containers.Model):
                contents = {name: contents[name] for name in obj.kind.shown}
            items = tuple(map(self.result, contents.values()))
            return Items(obj.kind, items, tuple(contents), self._number(obj))
        return Items(list, tuple(map(self.result, contents)), (), self._number(obj))

    def _fetched(self, obj: HeapObject) -> Tree:
        """A list from outside, or one that it holds."""
        path = self.t.fetched.get(obj)
        if path is None:
            raise self.t.refuse("return", "of what may be a list in a list that is passed in")
        whole, *indices = map(self.result, path)
        if not indices:
            return whole
        return Items(object_memory.ExternalItem, (whole, *indices), (), self._number(obj))

    # ------------------------------------------------------------------ frames

    def at_edge(self, frames: Several[Frame]) -> tuple[ir.ResumeFrame, ...]:
        """Where frames go on in Python if they are interrupted."""
        self._interrupted = True
        try:
            return self.frames(frames)
        finally:
            self._interrupted = False

    def frames(self, frames: Several[Frame]) -> tuple[ir.ResumeFrame, ...]:
        """Where frames go on in Python, the innermost last; functions that they have made are made
        anew, and share variables with them."""
        if any(map(self._has_functions, frames)):
            self._space = frames[0].space
        try:
            return tuple([self.frame(frame, frame is frames[-1]) for frame in frames])
        finally:
            self._space = None

    def _has_functions(self, frame: Frame) -> bool:
        held = (*frame.state.locals, *frame.stack)
        contents = [
            self.t.heap[v] if isinstance(v, HeapObject) and v.kind is None else v for v in held
        ]
        return any(isinstance(v, Composite) and v.closed for v in contents) or any(
            isinstance(storage, HeapObject) for storage in frame.closure)

    def _storage(self, storage: HeapObject) -> Tree:
        """The cell of a variable."""
        if storage in self._open:
            raise self.t.refuse("return", "of a function that refers to itself")
        if storage not in self.t.heap:
            raise self.t.refuse("return", "of a variable that only one path makes")
        self._open.add(storage)
        try:
            value = self.t.heap[storage]
            items = () if value is UNBOUND else (self._held(value),)
            return Items(ir.SharedCell, items, (), self._number(storage))
        finally:
            self._open.remove(storage)

    def function(self, made: Function) -> Tree:
        """A function that the program has made; its globals are those of its frame."""
        heap = [storage for storage in made.closure if isinstance(storage, HeapObject)]
        if made.space is not self._space or len(heap) < len(made.closure):
            raise self.t.refuse("return", "of a function")
        named = made.keyword_defaults
        parts = [*map(self._held, (*made.annotations, *made.defaults, *named.values()))]
        parts += map(self._storage, heap)
        keys = (len(made.annotations), len(made.defaults), *named)
        return Items(ir.Defined, (StaticObject(made.code), *parts), keys, self._number(made))

    def frame(self, frame: Frame, innermost: bool, result: Tree | None = None) -> ir.ResumeFrame:
        """Where a frame goes on in Python.

        The innermost frame executes its instruction again, or has done so with a ``result``.
        Outer frames wait in a call, whose callee and arguments are popped.
        """
        self._leaving = True
        try:
            return self._frame(frame, innermost, result)
        finally:
            self._leaving = False

    def frame_with_a_graph_break(self, frame: Frame) -> ir.ResumeFrame:
        """The same where compiled code goes on after one instruction: loops with iterators of
        their own, which nobody else may take items from."""
        self._graph_breaks = True
        try:
            return self.frame(frame, True)
        finally:
            self._graph_breaks = False

    def _frame(self, frame: Frame, innermost: bool, result: Tree | None) -> ir.ResumeFrame:
        instruction = frame.instruction
        assert instruction is not None
        nested = (
            any(isinstance(storage, HeapObject) for storage in frame.closure)
            and self._space is None
        )
        if instruction.offset in frame.code.handling:
            raise self.t.refuse("except", "Python can't go on while an exception is handled")
        if not frame.resumable or nested:
            raise self.t.refuse("call", "Python can't go on inside it after an array was changed")
        again = innermost and result is None
        following = instruction.offset if again else instruction.following
        stack = frame.stack if again else frame.state.stack
        live = frame.code.live_at(frame.block, following)
        first_free = len(frame.code.names) - len(frame.code.code.co_freevars)
        variables = []
        for index, name in enumerate(frame.code.names[:first_free]):
            slot = frame.state.locals[index]
            if self._space is not None and isinstance(slot, HeapObject) and slot.kind is None:
                variables.append((name, self._storage(slot)))
                continue
            value = (
                self.t.heap[slot] if isinstance(slot, HeapObject) and slot.kind is None else slot
            )
            if value is not UNBOUND and (index in live or value is not slot):
                variables.append((name, self._held(value)))
        for name, storage in zip(frame.code.names[first_free:], frame.closure):
            if isinstance(storage, HeapObject):
                variables.append((name, self._storage(storage)))
        nothing: tuple[tuple[Value, ...], bool] = ((), False)
        given, drops = nothing if innermost else self.t.given.get(frame, nothing)
        held = tuple(map(self._held, (*stack, *given)))
        if result is not None:
            held = (*held, result)
        if innermost and self.t.effects.pending:
            variables, held = self._stored(variables, held)
        code, offset = frame.code.code, following if innermost else instruction.at
        made = ir.ResumeFrame(code, offset, tuple(variables), held, frame.owner, drops)
        if not object_identity.agree(self.t, made):
            raise self.t.refuse("is", "Python would find numbers in new objects")
        return made

    def _stored(
        self, variables: list[tuple[str, Tree]], stack: tuple[Tree, ...]
    ) -> tuple[list[tuple[str, Tree]], tuple[Tree, ...]]:
        """The same, with which objects get their attributes."""
        if variables:
            (name, tree), *rest = variables
            return [(name, self.t.effects.result(tree)), *rest], stack
        if not stack:
            raise self.t.refuse("attribute", "has another value, which Python can't see yet")
        return variables, (self.t.effects.result(stack[0]), *stack[1:])

    def _held(self, value: Value) -> Tree:
        """The result tree of a variable or a stack slot."""
        return StaticObject(NULL) if value is NULL else self._slots.read(value)

    @property
    def makes_functions(self) -> bool:
        """Whether Python may get functions."""
        return self._space is not None

    def bound(self, method: Method, parts: tuple[Tree, ...]) -> Tree:
        """A bound method."""
        return Items(ir.BoundMethod, parts, (), self._number(method))

    def iterator(self, value: Iterator) -> Tree:
        """An iterator where it stands."""
        standing = self.standing(value)
        tree = self.position(standing)
        named = isinstance(tree, Items) and standing.token is not None
        return replace(tree, ident=self._number(standing.token)) if named else tree

    def standing(self, value: Iterator) -> Iterator:
        """Where an iterator stands: its loop knows, not the variable that it came from."""
        if value.begun or value.token not in self.t.consumed:
            return value
        slots = [s for frame in self.t.frames for s in (*frame.stack, *frame.state.stack)]
        for slot in (
            () if self._graph_breaks or isinstance(value, iterators.FlatIterator) else slots
        ):  # which has an index
            if isinstance(slot, Iterator) and slot.begun and slot.token is value.token:
                return slot
        raise self.t.refuse("iterator", "of which items are taken")

    def position(self, value: Iterator) -> Tree:
        """An iterator for Python to go on with."""
        if self.t.generators.pending(value):
            raise self.t.refuse("generator", "Python can't go on in the middle of it")
        if isinstance(value, RangeIterator) and not value.position:
            kind = range if value.itself else RANGE_ITERATOR
            return Items(kind, tuple(map(self.result, value.over)))
        if isinstance(value, iterators.FlatIterator):
            return Items(np.flatiter, (self._held(value.over[1]),))
        if value.itself or self._over_table(value):
            raise self.t.refuse(value.kind, "of a dictionary, which Python would go on with")
        if self._over_seen_list(value):
            return self._live(value, value.position)
        rest = value.rest(self.t)
        if rest is not None:
            return Items(TUPLE_ITERATOR, tuple(map(self._held, rest)))
        value = value.after(self.t, 0)
        if isinstance(value, iterators.VectorIterator):
            whole = value.over[2]
            if isinstance(whole, HeapObject) and (
                    whole in self.t.fetched or references.seen(self.t, whole)):
                return self._grown(value)
        if value.result is not None:
            return Items(value.result, tuple(map(self._held, value.over)))
        raise self.t.refuse("return", f"of a {value.kind} iterator is left to Python")

    def _over_seen_list(self, it: Iterator) -> bool:
        """Whether it runs over a list that Python may change meanwhile."""
        if isinstance(it, iterators.ExternalListIterator):
            return True
        if isinstance(it, iterators.ListIterator):
            return references.seen(self.t, it.target())
        return any(map(self._over_seen_list, it.inner()))

    def _over_table(self, it: Iterator) -> bool:
        """Whether it runs over a dictionary from outside, or over a list of a hash table's, which
        Python has none of."""
        if dictionary.of_external(it):
            return True
        lists = {part for obj, held in self.t.heap.items()
                 if isinstance(obj, HeapObject) and is_model(obj)
                 for part in held.values() if isinstance(part, HeapObject)}
        return any(
            self._over_table(part) if isinstance(part, Iterator) else part in lists
            for part in it.over if isinstance(part, (Iterator, HeapObject))
        )

    def _live(self, it: Iterator, position: int) -> Tree:
        """An iterator that sees what happens to the list it runs over."""
        match it:
            case iterators.ExternalListIterator() | iterators.ListIterator():
                place = (self._held(it.over[0]), StaticObject(position))
                return Items(ir.LIST_ITERATOR, place)
            case iterator_adapters.ZipIterator():
                return Items(zip, tuple([self._moved(part, position) for part in it.over]))
            case iterator_adapters.EnumerateIterator() if isinstance(it.over[1], Static):
                first = StaticObject(it.over[1].value + position)
                return Items(enumerate, (self._moved(it.over[0], position), first))
        raise self.t.refuse("loop", "over a list that Python may change")

    def _grown(self, it: Iterator) -> Tree:
        """The same over a list of a length that only the run knows."""
        whole, *places = it.over[2:]
        if not places:
            raise self.t.refuse("loop", "over a list that Python may change")
        return Items(ir.LIST_ITERATOR, (self._held(whole), self.result(places[0])))

    def _moved(self, it: Value, by: int) -> Tree:
        assert isinstance(it, Iterator)
        return self._held(replace(it, position=it.position + by))


class _Slots(Reader[Tree]):
    """How Python gets a variable or a stack slot of a frame in which it goes on."""

    def __init__(self, trees: Trees) -> None:
        self.trees = trees

    def read(self, value: Value) -> Tree:
        return self.refused(value) if isinstance(value, (Node, ArrayRef)) else value.read_by(self)

    def refused(self, value: Value) -> Tree:
        """The tree of what a result may be, too."""
        try:
            return self.trees.result(value)
        except Refused as refused:
            reason = "Python can't go on with it after an array was changed"
            raise self.trees.t.refuse(refused.refusal.construct, reason) from None

    def read_function(self, value: Function) -> Tree:
        return self.trees.function(value) if self.trees.makes_functions else self.refused(value)

    def read_method(self, value: Method) -> Tree:
        """The tree of the exit of a ``with``."""
        return self.trees.bound(value, tuple(map(self.read, value.parts())))

    def read_iterator(self, value: Iterator) -> Tree:
        return self.trees.iterator(value)


def _name(value: Value) -> str:
    return value.name if isinstance(value, Marker) else type(value).__name__.lower()


