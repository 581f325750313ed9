"""Joins the states after the two arms of a branch into one.

Arms that only bind numbers become ``where``.  Otherwise an ``if_`` node yields what differs:
numbers of one type, versions of arrays that an arm wrote, and arrays that both arms made.  All
else that one variable holds, by the path, stays apart as the options of an
:class:`~npcompile.python.values.TaggedUnion`: a join is exact, and decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from npcompile.core.errors import Refused
from npcompile.core.records import field, record, replace
from npcompile.core.sizes import Size, largest, symbols
from npcompile.frontend.bytecode import RETURN
from npcompile.graph.builder import Diverged
from npcompile.graph.ir import Geometry, Node, Region, SizeOf
from npcompile.graph.layout import is_packed_here
from npcompile.graph.primitives import PRIMITIVES
from npcompile.graph.types import Array, Scalar, c_strides
from npcompile.ops.operands import ArrayRef, Storage
from npcompile.python.composite import Composite
from npcompile.python.iterator import Iterator
from npcompile.python.iterators import LostIterator
from npcompile.python.values import (
    UNBOUND,
    Frame,
    HeapObject,
    State,
    Static,
    Successors,
    TaggedUnion,
    Value,
    Vector,
)
from npcompile.tracing import carried_sizes, trip_counts
from npcompile.tracing.escapes import Escape, as_number, carrier, retyped, spread
from npcompile.tracing.references import exclusive, reached
from npcompile.tracing.selectors import recoded, same

if TYPE_CHECKING:
    from npcompile.python.values import Object
    from npcompile.tracing.services import Progress, Tracer

OPTIONS = 5  #: of one value that depends on the path
#: what may be computed on a path that Python does not take: it never raises, warns or leaves
_SPECULATIVE = frozenset({"const", "size"}) | {
    name for name, p in PRIMITIVES.items() if not p.flags and name not in ("lookup", "call")
}


@record(eq=False, frozen=False)
class Arm:
    """One way to go on from a branch: where it starts, and what tracing it left behind.

    ``created`` are the cells and heap objects that it made, ``reached`` how far it has come,
    ``stand_ins`` what it yields in place of values that only the other arm has, ``stored`` and
    ``counts`` arrays and lengths that only it knows.
    """

    target: int
    state: State
    exits: Successors
    reached: Progress
    region: Region = field(default_factory=Region)
    created: set[Storage | HeapObject | Object] = field(default_factory=set)
    stand_ins: dict[Node, Node] = field(default_factory=dict)
    stored: dict[tuple[Node, Geometry, Size], Node] = field(default_factory=dict)
    counts: dict[Size, Node] = field(default_factory=dict)
    open: bool = False  # whether its nodes stand in the region around it
    added: dict[Any, Node] = field(default_factory=dict)
    inside: set[Node] = field(default_factory=set)

    def goes_on(
        self, exits: Successors, made: Iterable[Storage | HeapObject | Object], way: Progress
    ) -> None:
        """Goes on to other exits, as far as a way has come, on which some objects were made."""
        self.exits, self.reached = exits, way
        self.created.update(made)

    def store(self, t: Tracer, version: Node, geometry: Geometry, most: Size) -> Node:
        """An array that the arm has, in one with room for more."""
        key = version, geometry, most
        if key not in self.stored:
            self.stored[key] = carried_sizes.stored(t, self.region, *key)
        return self.stored[key]

    def count(self, t: Tracer, size: Size) -> Node:
        """A size that the arm knows as a number."""
        if size not in self.counts:
            with t.builder.inside(self.region):
                self.counts[size] = t.builder.size(size)
        return self.counts[size]
    def close(self, count: int) -> None:
        """Forgets what was added to it while it was open: that may refer to nodes which were
        taken back."""
        self.open = False
        del self.region.nodes[count:]
        for held in (self.stored, self.counts, self.stand_ins, self.inside):
            held.clear()

    def holds(self, node: Node) -> bool:
        """Whether a node is computed inside the arm."""
        nodes = self.region.nodes
        self.inside.update(nodes[len(self.inside) :])
        return not self.open and node in self.inside

    def add(self, t: Tracer, key: Any, make: Callable[[], Node]) -> Node:
        """A node at the arm's end; the same for the same key."""
        if key not in self.added:
            if self.open:
                return make()
            with t.builder.inside(self.region):
                self.added[key] = make()
        return self.added[key]


def join(t: Tracer, frame: Frame, condition: Node, a: Arm, b: Arm) -> Successors:
    """The exits of either arm."""
    if all(node.op in _SPECULATIVE for arm in (a, b) for node in arm.region.nodes):
        mark, counts = t.builder.mark(), [len(arm.region.nodes) for arm in (a, b)]
        t.builder.region.nodes.extend(a.region.nodes + b.region.nodes)
        a.open = b.open = True
        try:
            return _exits(t, frame, condition, a, b, lambda x, y: _where(t, condition, x, y))
        except Refused:
            t.builder.rollback(mark)
            a.close(counts[0])
            b.close(counts[1])
    return _regions(t, frame, condition, a, b)


def _where(t: Tracer, condition: Node, a: Node, b: Node) -> Node:
    if not isinstance(a.type, Scalar):
        raise t.refuse("if", "depends on data, and its arms bind different arrays")
    return t.builder.map("where", (condition, a, b), a.dtype, origin=a.type.origin)


def _regions(t: Tracer, frame: Frame, condition: Node, a: Arm, b: Arm) -> Successors:
    """An ``if_`` node; merging is tried first to find what the regions must yield."""
    pairs: dict[tuple[Node, Node], Node] = {}

    def note(x: Node, y: Node) -> Node:
        if (x, y) not in pairs:
            pairs[x, y] = t.builder.param(x.type)
        return pairs[x, y]

    mark = t.builder.mark()
    _exits(t, frame, condition, a, b, note)
    t.builder.drop(mark, {*a.region.nodes, *b.region.nodes, *pairs.values()})
    a.region.ends_with([x for x, _ in pairs])
    b.region.ends_with([y for _, y in pairs])
    results = dict(zip(pairs, t.builder.if_(condition, a.region, b.region)))
    return _exits(t, frame, condition, a, b, lambda x, y: results[x, y])


Export = Callable[[Node, Node], Node]


def _exits(t: Tracer, frame: Frame, condition: Node, a: Arm, b: Arm, export: Export) -> Successors:
    """The states that the arms end in, target by target, and which it is."""
    states = {}
    for target in dict.fromkeys((*a.exits.states, *b.exits.states)):
        x, y = a.exits.states.get(target), b.exits.states.get(target)
        if x is not None and y is not None:
            states[target] = _Merge(t, condition, a, b, x, y, export).state(frame, target)
        elif x is not None:
            states[target] = _alone(t, frame, target, a, b, x, export)
        else:
            assert y is not None
            states[target] = _alone(t, frame, target, b, a, y, lambda q, p: export(p, q))
    if len(states) == 1:
        return Successors(states)
    _one_memory(t, a, b, states, export)
    first, second = (
        arm.exits.selector or t.builder.const(next(iter(arm.exits.states))) for arm in (a, b)
    )
    selector = first if first is second else export(first, second)
    t.selectors[selector] = (condition, first, second)
    return Successors(states, selector)


def _one_memory(
    t: Tracer, a: Arm, b: Arm, states: dict[int, State], export: Export
) -> None:
    """Arrays from before the branch are one memory: what it holds does not depend on the target."""
    first, second = (next(iter(arm.exits.states.values())).heap for arm in (a, b))
    for storage in dict.fromkeys((*first, *second)):
        if isinstance(storage, Storage) and storage not in a.created and storage not in b.created:
            x, y = (heap.get(storage) or t.first(storage) for heap in (first, second))
            held = x if x is y else export(x, y)
            for state in states.values():
                state.heap[storage] = held


def _alone(
    t: Tracer, frame: Frame, target: int, arm: Arm, other: Arm, state: State, export: Export
) -> State:
    """The state of a target that only one arm goes to; the other arm yields anything."""
    if not arm.region.nodes and not arm.created:
        return _untouched(frame, target, state)
    beside = next(iter(other.exits.states.values()))

    def out(node: Node, like: Any) -> Node:
        return export(node, _stand_in(t, other, beside, node, like)) if arm.holds(node) else node

    escape = Escape(t, state, arm.created, out, partial(arm.store, t))
    live = frame.live(target)
    first_storage = frame.code.code.co_nlocals
    others = [*beside.locals, *[None] * (len(state.locals) - len(beside.locals))]
    variables: list[Value] = [
        escape.value(v, others[k]) if k in live or k >= first_storage else UNBOUND
        for k, v in enumerate(state.locals)
    ]
    stack = [escape.value(v) for v in state.stack]
    for storage, contents in state.heap.items():
        if storage in arm.created:
            continue
        if isinstance(storage, Storage):
            escape.heap[storage] = escape.node(contents, storage)
        else:
            escape.heap[storage] = escape.contents(contents)
    return State(variables, stack, escape.heap)


def _untouched(frame: Frame, target: int, state: State) -> State:
    """A state as it was before the branch, without what nobody needs any more."""
    live = frame.live(target)
    first_storage = frame.code.code.co_nlocals
    variables: list[Value] = [
        v if k in live or k >= first_storage else UNBOUND for k, v in enumerate(state.locals)
    ]
    return State(variables, list(state.stack), dict(state.heap))


def _stand_in(t: Tracer, arm: Arm, state: State, node: Node, like: Any) -> Node:
    """A value of a node's type that an arm has at hand, where nobody looks at it."""
    if isinstance(like, ArrayRef):
        like = like.storage
    if isinstance(like, Storage):
        like = state.heap.get(like) or (like.first if like in arm.created else t.first(like))
    if isinstance(like, Node) and like.type == node.type:
        return like
    if isinstance(like, Static):
        number = as_number(t, like)
        if number is not None and number.type == node.type:
            return number
    if isinstance(node.type, Scalar):
        return t.builder.const(node.dtype.type(0).item(), node.type)
    if node not in arm.stand_ins:
        with t.builder.inside(arm.region):
            arm.stand_ins[node] = unread(t, node)
    return arm.stand_ins[node]


def unread(t: Tracer, node: Node) -> Node:
    """An uninitialised array of a node's type; no later node reads its elements."""
    assert isinstance(node.type, Array)
    if not is_packed_here(node.type.shape, node.type.strides):
        raise t.refuse("array", "lies spread in memory, which only some paths or iterations give")
    return t.builder.emit("empty", (), None, node.type)


class _Merge:
    """Merges what two arms left; ``export`` gives the node that is either of two."""

    def __init__(
        self, t: Tracer, condition: Node, a: Arm, b: Arm, first: State, second: State,
        export: Export,
    ) -> None:
        self.t, self.condition, self.export = t, condition, export
        self.arms, self.states = (a, b), (first, second)
        self.name = ""  # of the variable that is being merged
        self.heap: dict[Storage | HeapObject, Any] = {}
        self.ones: dict[tuple[Value, Value], Value] = {}  # of equal objects of the arms
        self.hidden = t.builder.closed
        # what each thing that an arm made is from now on
        self.escapes: tuple[Escape, ...] = (
            Escape(t, first, a.created, partial(self._out, 0), partial(a.store, t)),
            Escape(t, second, b.created, partial(self._out, 1), partial(b.store, t)),
        )

    def state(self, frame: Frame, target: int) -> State:
        """The state after either arm; what is not live may differ."""
        a, b = self.states
        self.frame, self.target = frame, target
        self._old_heap(a, b)
        live = frame.live(target)
        first_storage = frame.code.code.co_nlocals
        variables: list[Value] = []
        for k, (x, y) in enumerate(zip(a.locals, b.locals)):
            self.name = frame.code.names[k]
            needed = k in live or k >= first_storage
            variables.append(self.value(x, y) if needed else x if same(x, y) else UNBOUND)
        self.name = ""
        stack = [self.value(x, y) for x, y in zip(a.stack, b.stack)]
        for escape in self.escapes:
            self.heap.update(escape.heap)
        made = State(variables, stack, self.heap)
        self._keep(made)
        self.escapes = ()  # they lead back here, and would keep the program's objects alive
        return made

    def _keep(self, made: State) -> None:
        """Keeps the contents of lists that only one path made and that a tagged union still refers
        to."""
        for value in reached((*made.locals, *made.stack), made):
            if isinstance(value, HeapObject) and value not in made.heap:
                for escape, state in zip(self.escapes, self.states):
                    if value in state.heap:
                        made.heap[value] = escape.contents(state.heap[value])

    def _old_heap(self, a: State, b: State) -> None:
        """Joins the contents of storages and heap objects that existed before the branch."""
        new = self.arms[0].created | self.arms[1].created
        for storage in dict.fromkeys((*a.heap, *b.heap)):
            if storage in new:
                continue
            if isinstance(storage, Storage):
                first = self.t.first
                x, y = (s.heap[storage] if storage in s.heap else first(storage) for s in (a, b))
                self.heap[storage] = self.node(x, y)
            elif storage in a.heap and storage in b.heap:  # else out of sight since a branch before
                self.heap[storage] = self.contents(a.heap[storage], b.heap[storage], storage)

    def position(self, a: Iterator, b: Iterator, parts: tuple[Value, ...]) -> Iterator:
        """An iterator that goes through one thing or the other."""
        if a.token is b.token:
            return type(a)(parts, token=a.token, itself=a.itself, begun=a.begun)
        stale = any(it.token in self.t.consumed and not it.begun for it in (a, b))
        if stale or a.begun != b.begun:
            raise self.differ("go through different things")
        return type(a)(parts, token=self.t.token(), itself=a.itself, begun=a.begun)

    def contents(self, a: Any, b: Any, *objects: HeapObject) -> Any:
        """Joins the contents of a list, dictionary, instance or closure cell."""
        if isinstance(a, Vector) and isinstance(b, Vector) and (a.item, a.home) == (b.item, b.home):
            columns: Any = tuple(map(self.value, a.columns, b.columns))
            if any(isinstance(column, TaggedUnion) for column in columns):
                raise self.differ("leave a list in either of two memories")
            return replace(a, length=self.node(a.length, b.length), columns=columns)
        if isinstance(a, Vector) or isinstance(b, Vector):
            raise self.differ("make lists of several kinds")
        if isinstance(a, tuple) and len(a) == len(b):
            return tuple(map(self.value, a, b))
        if isinstance(a, dict) and list(a) == list(b):
            return {key: self.value(a[key], b[key]) for key in a}
        if isinstance(a, tuple) and isinstance(b, tuple):
            heap = {k: v for state in self.states for k, v in state.heap.items()}
            for obj in objects:
                self.t.requests.columns_of(obj, (*a, *b), True, heap)
        if isinstance(a, (tuple, dict)):
            raise self.differ("change the length of a list or dictionary")
        return self.value(a, b)

    def value(self, a: Value, b: Value) -> Value:
        if same(a, b):
            return self.one(a, b)
        a, b = spread(a, b), spread(b, a)
        match a, b:
            case Iterator(), Iterator():
                if self.target < RETURN and trip_counts.alike(a, b):
                    parts = tuple(map(self.value, a.over, b.over))
                    if not any(isinstance(part, TaggedUnion) for part in parts):
                        return self.position(a, b, parts)
                if self.target < RETURN:
                    raise self.differ("go through different things")
                return LostIterator(())  # left on the stack by a loop that is left early
            case (ArrayRef(), ArrayRef()) | (HeapObject(), HeapObject()):
                joined: Value | None = self.pair(a, b)
                return self.union(a, b) if joined is None else joined
            case Composite(), Composite() if a.joins and a.alike(b):
                return a.rebuilt(map(self.value, a.parts(), b.parts()))
        first, second = as_number(self.t, a), as_number(self.t, b)
        if first is None or second is None or first.type != second.type:
            return self.union(a, b)
        return self.node(first, second)

    def one(self, a: Value, b: Value) -> Value:
        """One of two values that are equal: a new one where each arm has an object of its own,
        which another name may share in one arm and not in the other."""
        if a is b or not (isinstance(a, Composite) and isinstance(b, type(a)) and a.renewed):
            return a
        if a.is_object_of(b):
            return a
        if (a, b) not in self.ones:
            self.ones[a, b] = a.rebuilt(map(self.one, a.parts(), b.parts()))
        return self.ones[a, b]

    def node(self, a: Node, b: Node) -> Node:
        if a is b:
            return a
        if isinstance(a.attrs, SizeOf) and a.attrs == b.attrs and (
            self.hidden.isdisjoint(symbols(a.attrs.size))
        ):
            return self.t.builder.size(a.attrs.size)
        if a.type != b.type:
            raise self.differ(f"bind values of different types ({a.type!r}, {b.type!r})")
        if isinstance(a.type, Array):
            for size in (*a.type.shape, *a.type.strides):
                if not self.hidden.isdisjoint(symbols(size)):
                    raise self.differ("make arrays of sizes that only they know")
        return self.export(a, b)

    # ------------------------------------------------------------------ what the arms made

    def pair(self, a: Any, b: Any) -> Any:
        """Two things that the arms made and that are one from now on; None: they stay two."""
        x, y = self.escapes[0].made.get(a), self.escapes[1].made.get(b)
        if x is None and y is None:
            mark = [dict(escape.made) for escape in self.escapes]
            try:
                x = y = self._joined(a, b)
            except Refused:
                if self.arms[0].open:
                    raise  # with regions, they may become one
                for escape, made in zip(self.escapes, mark):
                    escape.back_to(made)
                return None
            self.escapes[0].made[a] = self.escapes[1].made[b] = x
        return x if x is y else None

    def _joined(self, a: Any, b: Any) -> ArrayRef | HeapObject | Storage:
        if isinstance(a, ArrayRef):
            return self._array(a, b)
        return self._obj(a, b) if isinstance(a, HeapObject) else self._storage(a, b)

    def _array(self, a: ArrayRef, b: ArrayRef) -> ArrayRef:
        fresh = self._moves(0, a) and self._moves(1, b)
        if fresh and all(self._single(side, ref) for side, ref in enumerate((a, b))):
            longer = self._lengths(a, b)
            if longer is not None:
                return longer
        alike = (a.geometry, a.dtype, a.writeable) == (b.geometry, b.dtype, b.writeable)
        trees = self.t.trees
        storage = None
        if fresh and alike and trees.owns(a) == trees.owns(b):
            storage = self.pair(a.storage, b.storage)
        if storage is None:
            raise self.differ("give one name to different arrays")
        made = ArrayRef(storage, a.geometry, a.dtype, a.writeable)
        if trees.owns(a):
            trees.own(made)
        return made

    def _lengths(self, a: ArrayRef, b: ArrayRef) -> ArrayRef | None:
        """One of two arrays of unlike lengths, as the beginning of one with room for both."""
        t, refs = self.t, (a, b)
        alike = a.ndim and (a.dtype, a.shape[1:]) == (b.dtype, b.shape[1:])
        if not alike or a.shape == b.shape or not all(map(t.trees.owns, refs)):
            return None
        first, second = (carried_sizes.room(t, ref.type) for ref in refs)
        if first is None or second is None:
            return None
        most = first if first == second else largest(first, second)
        stored = [
            arm.store(t, state.heap.get(ref.storage) or t.first(ref.storage), ref.geometry, most)
            for ref, arm, state in zip(refs, self.arms, self.states)
        ]
        counts = [arm.count(t, ref.shape[0]) for ref, arm in zip(refs, self.arms)]
        size = t.builder.size_of(self.export(*counts), 0)
        t.facts.limit(size, most)
        storage = t.register(Storage(self.export(*stored)))
        t.aliases.renames(storage, a.storage, b.storage)
        geometry = Geometry(0, (size, *a.shape[1:]), c_strides(a.shape))
        made = ArrayRef(storage, geometry, a.dtype)
        t.trees.own(made)
        return made

    def _single(self, side: int, ref: ArrayRef) -> bool:
        """Whether one variable holds the array, and nothing else its memory."""
        live = self.frame.live(self.target)
        return exclusive(self.t, self.frame, self.states[side], live, ref)

    def _moves(self, side: int, ref: ArrayRef) -> bool:
        """Whether an array is out of sight in all other places."""
        if ref.storage in self.arms[side].created:
            return True
        return self._single(side, ref)

    def _storage(self, a: Storage, b: Storage) -> Storage:
        x, y = (
            state.heap.get(storage) or self.t.first(storage)
            for state, storage in zip(self.states, (a, b))
        )
        made = self.t.register(Storage(x if x is y else self.node(x, y)))  # x: constants are equal
        self.t.aliases.renames(made, a, b)
        return made

    def _obj(self, a: HeapObject, b: HeapObject) -> HeapObject:
        first, second = self.states
        mine = a in self.arms[0].created and b in self.arms[1].created
        if a.kind is not b.kind or not mine or a.part_of is not None or b.part_of is not None:
            raise self.differ("give one name to different objects")
        made = self.t.register(self.t.like(a, b))
        self.heap[made] = self.contents(first.heap[a], second.heap[b], a, b)
        return made

    # ------------------------------------------------------------------ what stays apart

    def union(self, a: Value, b: Value) -> Value:
        """A value that is one or the other."""
        options = tuple(v.options if isinstance(v, TaggedUnion) else (v,) for v in (a, b))
        self._pair_arrays(*options)
        merged: list[Value] = []
        places: tuple[list[int], list[int]] = ([], [])
        numbers = self._numbers(options, merged)
        for side in (0, 1):
            for option in options[side]:
                number = as_number(self.t, option)
                if number is not None:
                    places[side].append(numbers[number.scalar])
                    continue
                if isinstance(option, Iterator):
                    raise self.differ("go through different things")
                moved = option if option is UNBOUND else self.escapes[side].value(option)
                found = [k for k, other in enumerate(merged) if same(other, moved)]
                places[side].append(found[0] if found else len(merged))
                merged += [] if found else [moved]
        if len(merged) == 1:
            return merged[0]
        if len(merged) > OPTIONS:
            raise self.differ("give one name to too many different things")
        self.t.sees_union()
        first, second = (self._tag(side, v, places[side]) for side, v in enumerate((a, b)))
        tag = first if first is second else self.export(first, second)
        self.t.selectors[tag] = (self.condition, first, second)
        return TaggedUnion(tag, tuple(range(len(merged))), tuple(merged))

    def _pair_arrays(self, first: tuple[Value, ...], second: tuple[Value, ...]) -> None:
        """Arrays of either side that nobody else holds become one, each with one at most."""
        left = [b for b in second if isinstance(b, ArrayRef) and b not in first]
        for a in first:
            if isinstance(a, ArrayRef) and a not in second and self._moves(0, a):
                for b in left:
                    alike = (a.geometry, a.dtype, a.writeable) == (b.geometry, b.dtype, b.writeable)
                    if alike and self._moves(1, b) and self.pair(a, b) is not None:
                        left.remove(b)
                        break

    def _numbers(
        self, options: tuple[tuple[Value, ...], ...], merged: list[Value]
    ) -> dict[Scalar, int]:
        """Adds the options that are numbers, one of each type; where each type is: there already,
        if the value of one side has them all."""
        found: dict[Scalar, tuple[Node | None, ...]] = {}
        for side in (0, 1) if len(options[0]) >= len(options[1]) else (1, 0):
            for option in options[side]:
                number = as_number(self.t, option)
                if number is not None:
                    held = found.get(number.scalar, (None, None))
                    found[number.scalar] = (number, held[1]) if side == 0 else (held[0], number)
        places = {type_: k for k, type_ in enumerate(found)}
        made: dict[Scalar, Node] = {}
        for dtype in dict.fromkeys(type_.dtype for type_ in found):
            types = [type_ for type_ in found if type_.dtype == dtype]
            carried = types[0] if len(types) == 1 else Scalar(dtype, "np")
            number = self._carried(carried, [found[type_] for type_ in types])
            made |= {type_: retyped(self.t, number, type_) for type_ in types}
        merged += (made[type_] for type_ in found)
        return places

    def _carried(self, type_: Scalar, found: list[tuple[Node | None, ...]]) -> Node:
        """One number for the options of one dtype."""
        pair: list[Node | None] = []
        for side, arm in enumerate(self.arms):
            node = next((numbers[side] for numbers in found if numbers[side] is not None), None)
            if node is not None and node.type != type_:
                base = carrier(node)
                node = base if base.type == type_ else arm.add(
                    self.t, (base, type_), partial(retyped, self.t, node, type_)
                )
            pair.append(node)
        first, second = pair
        if first is None or second is None:
            known = second if first is None else first
            assert known is not None
            other = self.t.builder.const(known.dtype.type(0).item(), type_)
            first, second = (other, known) if first is None else (known, other)
        return first if first is second else self.export(first, second)

    def _tag(self, side: int, value: Value, places: list[int]) -> Node:
        if not isinstance(value, TaggedUnion):
            return self.t.builder.const(places[0])
        codes = tuple(places)
        return self.arms[side].add(
            self.t, (value.tag, codes), lambda: recoded(self.t, value, codes)
        )

    def _out(self, side: int, node: Node, like: Any) -> Node:
        """Exports a node of one arm from the branch; the other arm yields a stand-in of the same
        type."""
        arm, other = self.arms[side], self.arms[1 - side]
        if not arm.holds(node):
            return node
        instead = _stand_in(self.t, other, self.states[1 - side], node, like)
        return self.export(node, instead) if side == 0 else self.export(instead, node)

    def differ(self, what: str) -> Refused:
        of = f" ({self.name})" if self.name else ""
        return self.t.refuse("if", f"depends on data, and its arms {what}{of}")


def same_states(t: Tracer, frame: Frame, a: Arm, b: Arm) -> State:
    """The state that both arms end in; :class:`Diverged` where they differ."""

    def differ(x: Node, y: Node) -> Node:
        raise Diverged

    condition = t.builder.const(True)
    return _Merge(t, condition, a, b, a.state, b.state, differ).state(frame, a.target)
