"""Walks a graph in traced order and writes loop nests.

Elementwise values are *virtual*: they are computed inside the nests of whoever needs them.  A
value gets memory of its own when a reduction, a host call, a view or a result needs it there,
when memory that it reads is about to change, or when it would be expensive to compute twice.
Writes happen at their own place, straight into the memory of the version before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from npcompile.core.errors import refuse
from npcompile.core.facts import Facts
from npcompile.core.lines import in_words
from npcompile.core.paths import defer, import_path
from npcompile.core.records import record
from npcompile.core.sizes import Size, Symbol
from npcompile.graph import layout
from npcompile.graph.builder import learn
from npcompile.graph.ir import Const as ConstAttrs
from npcompile.graph.ir import (
    Geometry,
    Get,
    Graph,
    Node,
    Param,
    Region,
    SizeOf,
    Subprogram,
    Table,
    result_nodes,
)
from npcompile.graph.primitives import PRIMITIVES
from npcompile.graph.types import BOOL, OBJECT, Array, Opaque, Scalar
from npcompile.program.ir import Apply, AxisIndex, Constant, SizeValue
from npcompile.schedule.memory.memories import BufferView, Footprint, Memory
from npcompile.schedule.walk.demand import COSTS, END, HEAVY, LIMIT, Demand, code, is_number
from npcompile.schedule.walk.draft_statements import Binding, Leave, Step
from npcompile.schedule.walk.exits import check, may_flag
from npcompile.schedule.walk.nest import AxisMap, Nest, Put
from npcompile.schedule.walk.splitting import WorkBounds

if TYPE_CHECKING:
    from npcompile.schedule.memory import overlaps
    from npcompile.schedule.walk import reduction_nests
else:
    defer(globals(), "npcompile.schedule.walk", "reduction_nests")
    defer(globals(), "npcompile.schedule.memory", "overlaps")

Key = tuple[Node, AxisMap]


class Scheduler:
    """State of one walk.  ``place`` says where the elements of placed nodes are; all others are
    virtual.  ``now`` is the position of the node at hand."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.facts: Facts = graph.facts
        self.demand = Demand(graph)
        self.place: dict[Node, BufferView] = {}
        self.live: dict[Node, None] = {}  # nodes seen so far whose last use is to come
        self.costs: dict[Node, int] = {}
        self.shapes: dict[Node, tuple[Size, ...]] = {}
        self.axis_of: dict[Node, AxisMap] = {}  # virtual views: base axis -> view axis
        self.steps: list[Step] = []
        self.memories: list[Memory] = []
        self.params: list[Memory] = []
        self.exits: list[Leave] = []
        self.notes: list[str] = []
        self.names: set[str] = set()
        self.parts = WorkBounds(self)
        self.now = -1
        self.iteration = 0  # how many memories there were before the iteration of a loop at hand
        self.kept: set[Node] = set()  # arrays that an iteration of the loop at hand must not change
        self.flagged: set[Memory] = set()  # computed only for floating-point flags
        self.written = False  # whether memory that the caller sees has been changed
        self.returned = {n for n in result_nodes(graph.result) if isinstance(n.type, Array)}
        self.binds: dict[Node, list[Symbol]] = {}
        for symbol, node in graph.bound.items():
            self.binds.setdefault(node, []).append(symbol)
        self.since: dict[Symbol, int] = {}  # how many memories were older than a symbol's value
        for node in graph.params:
            self._param(node)

    def run(self) -> None:
        """Schedules every node; results are the caller's to ask for."""
        for node in self.graph.params:
            if node in self.binds:
                self.bind(node)
        found = self.facts.mark()
        self.walk(self.graph.region)
        self.facts.undo(found)
        self.now = END

    def walk(self, region: Region) -> None:
        """Schedules the nodes of a region."""
        for node in region.nodes:
            self.now = self.demand.position[node]
            _handler(node.op)(self, node)
            if self.demand.last_use.get(node, -1) > self.now:
                self.live[node] = None
            if node in self.binds and node.op != "param":
                self.bind(node)

    def go_to(self, position: int) -> None:
        """Goes to a position of the graph."""
        self.now = position

    def begin_iteration(self) -> None:
        """Begins an iteration of a loop, or an arm, which keeps what was made before it."""
        self.iteration = len(self.memories)

    def foresee(self, demand: Demand, written: bool) -> None:
        """Goes on with what is still asked for, and whether memory that the caller sees has been
        changed."""
        self.demand, self.written = demand, written

    def writes(self, memory: Memory) -> None:
        """Notes that a memory is changed."""
        self.written |= memory.kind == "param"

    @contextmanager
    def aside(self, steps: list[Step]) -> Iterator[None]:
        """Schedules into other steps; what they compute is unknown afterwards."""
        before = self.steps, self.place, self.live, self.kept, self.iteration
        found = self.facts.mark()
        self.steps, self.place, self.live = steps, dict(self.place), dict(self.live)
        self.kept = set(self.kept)
        try:
            yield
        finally:
            self.steps, self.place, self.live, self.kept, self.iteration = before
            self.facts.undo(found)

    # ------------------------------------------------------------------ memories

    def memory(
        self,
        stem: str,
        kind: Literal["result", "temp", "owned", "scalar", "object"],
        dtype: np.dtype,
        shape: tuple[Size, ...] = (),
        strides: tuple[Size, ...] = (),
        title: str = "",
    ) -> Memory:
        """New memory.  Strides are a request, as they may be a view's, but of what others make."""
        if kind != "owned":
            strides = layout.packed_strides(self.facts, shape, strides)
        name = self.name(f"{stem}{len(self.memories)}")
        made = Memory(name, kind, dtype, shape, strides, title=title)
        self.memories.append(made)
        return made

    def name(self, request: str) -> str:
        while request in self.names:
            request += "_"
        self.names.add(request)
        return request

    def fresh(self, node: Node, kind: Literal["result", "temp"] = "temp") -> Memory:
        """Memory for all of a node's elements, laid out as NumPy lays out a fresh array."""
        title = self.graph.names.get(node, "")
        if is_number(node):
            return self.memory("s", "scalar", node.dtype, title=title)
        type_ = node.type
        assert isinstance(type_, Array)
        return self.memory("r" if kind == "result" else "t", kind, type_.dtype, type_.shape,
                           type_.strides, title)

    def shape(self, node: Node) -> tuple[Size, ...]:
        """A node's shape in the sizes' normal names (a parameter's type has its own)."""
        found = self.shapes.get(node)
        if found is None:
            assert isinstance(node.type, (Array, Scalar))
            found = self.shapes[node] = tuple(map(self.facts.norm, node.type.shape))
        return found

    def _param(self, node: Node) -> None:
        attrs = cast(Param, node.attrs)
        name = self.name(attrs.name if attrs.name.isidentifier() else f"p{attrs.index}")
        if isinstance(node.type, Array):
            made = Memory(name, "param", node.type.dtype, node.type.shape, node.type.strides,
                          attrs.index)
        elif isinstance(node.type, Opaque):
            made = Memory(name, "object", OBJECT, index=attrs.index)
        else:
            made = Memory(name, "scalar", node.dtype, index=attrs.index)
        self.params.append(made)
        self.place[node] = made.whole(self.facts)
        if self.demand.last_use.get(node, -1) >= 0:
            self.live[node] = None

    def is_whole(self, place: BufferView) -> bool:
        """Whether a place is all of its memory.  Sizes are compared in the names that are normal
        now: questions asked on the way may have found some of them equal."""
        norm, whole = self.facts.norm, place.memory.whole(self.facts)
        return (place.part, norm(place.offset)) == ("", 0) and (
            tuple(map(norm, place.shape)), tuple(map(norm, place.strides))
        ) == (whole.shape, whole.strides)

    def may_change(self, node: Node, place: BufferView) -> bool:
        """Whether an array's memory is nobody else's, so that its next version may take it."""
        return (
            place.memory.kind != "param" and self.is_whole(place) and node not in self.kept
        )

    # ------------------------------------------------------------------ nodes

    def _virtual(self, node: Node) -> None:
        if node.op not in PRIMITIVES and node.op not in _FREE:
            raise refuse(node.op, "can't be scheduled yet", node.line)
        if is_number(node) and node.dtype.kind not in "biufc":
            raise refuse(node.op, f"a number of dtype {node.dtype}", node.line)
        self._cost(node, node.args)

    def _cost(self, node: Node, args: Sequence[Node]) -> None:
        total = COSTS.get(node.op, 1)
        shape = self.shape(node)
        for arg in args:
            if arg not in self.place and not (is_number(arg) and not is_number(node)):
                cost = self.costs.get(arg, 0)
                dear = cost > HEAVY and self.shape(arg) != shape
                # what is dear and broadcast will be stored
                total += 0 if dear and self._rank(arg) < self._rank(node) else cost
        self.costs[node] = min(total, LIMIT)
        self.parts.bound(node, args)

    def _rank(self, node: Node) -> int:
        """Axes of more than one element."""
        return 0 if is_number(node) else sum(not _is_one(n) for n in self.shape(node))

    def _param_node(self, node: Node) -> None:
        assert node in self.place

    def _read(self, node: Node) -> None:
        version = node.args[0]
        geometry = cast(Geometry, node.attrs)
        if version not in self.place:
            axes = axis_geometry(version, geometry)
            if axes is not None:
                self.axis_of[node] = axes
                self._cost(node, node.args)
                return
            self.note(node, "a slice of a computed value, which is stored first")
        self.place[node] = self.laid_out(version).geometry(geometry)

    def laid_out(self, version: Node) -> BufferView:
        """Where a version is, its strides being those of its type, so that views fit."""
        place = self.materialise(version)
        assert isinstance(version.type, Array)
        norm = self.facts.norm
        if tuple(map(norm, place.strides)) != tuple(map(norm, version.type.strides)):
            raise refuse("view", "of an array whose copy is laid out in another way", version.line)
        return place

    def _gather(self, node: Node) -> None:
        self.laid_out(node.args[0])
        self._cost(node, node.args[1:])

    def _get(self, node: Node) -> None:
        assert isinstance(node.attrs, Get)
        if node not in self.place:
            raise refuse("get", "of a value that has no parts in memory", node.line)

    def _check(self, node: Node) -> None:
        check(self, node)
        learn(self.facts, node.args[0])

    def bind(self, node: Node, but: Symbol | None = None) -> None:
        """From here on symbols, ``but`` a loop's own, stand for a computed number."""
        for symbol in self.binds[node]:
            if symbol is but:
                continue
            self.steps.append(Binding(symbol, self.number(node)))
            self.since[symbol] = len(self.memories)

    def virtual_write(self, node: Node) -> None:
        """All of an array of ours is overwritten: from now on it is its new value."""
        self._cost(node, node.args[1:2])

    # ------------------------------------------------------------------ making values

    def materialise(self, node: Node) -> BufferView:
        """Where a node's elements are; they are computed now if they are nowhere yet."""
        found = self.place.get(node)
        if found is not None:
            return found
        if node.op == "empty":
            place = self.fresh(node).whole(self.facts)
        else:
            place = self.store(node, self.fresh(node))
        self.place[node] = place
        return place

    def number(self, node: Node) -> Memory:
        """The scalar memory that holds a number."""
        place = self.place.get(node)
        if place is None or place.memory.kind != "scalar":
            place = self.place[node] = self.store(node, self.fresh(node))
        return place.memory

    def store(self, node: Node, memory: Memory) -> BufferView:
        """Computes or copies all of a node's elements into a memory.  What is overwritten before
        anybody reads it has raised its flags."""
        place = memory.whole(self.facts)
        self.put([node], place, node.line, may_flag(self, node))
        return place

    def put(
        self, nodes: Sequence[Node], target: BufferView, line: int, loud: bool = False
    ) -> None:
        """Stores ``nodes[0]`` (where ``nodes[1]`` holds, if given) into a place, broadcast;
        ``loud``: it may raise flags that nobody else does."""
        if nodes[0].op == "empty" and len(nodes) == 1:
            return  # undefined contents, whatever the place holds
        work = self.collect(target.shape, nodes)
        work.roots = frozenset(nodes[:1])
        nest = self.open_nest(target.shape, work, target)
        self.fill(nest, work)
        positions = [nest.known[self.along(node, target.shape)] for node in nodes]
        nest.lines.add(line)
        access = nest.access(target, tuple(range(len(target.shape))))
        mask = positions[1] if positions[1:] else None
        nest.puts.append(Put(access, positions[0], mask, loud=loud))

    def open_nest(self, extents: tuple[Size, ...], work: Work, target: BufferView) -> Nest:
        """The last nest, if these statements may run inside it, or a new one."""
        stores = [whole_access(target)]
        last = self.steps[-1] if self.steps else None
        position = len(self.steps)
        if not extents and isinstance(last, Nest) and last.extents and self._may_precede(
            last, work, target
        ):
            position -= 1
            last = self.steps[position - 1] if position else None
        if (
            isinstance(last, Nest) and last.extents == extents and not last.folds
            and last.order is None and last.has_room(self._code(work))
            and last.accepts(self.facts, work.loads, stores)
        ):
            return last
        nest = Nest(extents)
        self.steps.insert(position, nest)
        return nest

    def _code(self, work: Work) -> int:
        return sum(code(node.op) for node, _ in work.order if node not in self.place)

    def _may_precede(self, nest: Nest, work: Work, target: BufferView) -> bool:
        """Whether numbers may be computed before the last nest: they don't depend on it."""
        touched = {load.memory for load in work.loads}
        return target.memory.kind == "scalar" and not any(
            nest.stores_to(memory) for memory in touched
        ) and target.memory not in nest.memories()

    # ------------------------------------------------------------------ what a nest computes

    def collect(self, extents: tuple[Size, ...], roots: Sequence[Node]) -> Work:
        """Everything that must be computed inside a nest over ``extents`` for some roots.

        What is heavy and smaller than the nest, and numbers that an array nest needs, are stored
        before it.
        """
        while True:
            work, first = self._walk(extents, roots)
            if not first:
                return work
            for node in first:
                if is_number(node):
                    self.number(node)
                else:
                    self.materialise(node)

    def _walk(self, extents: tuple[Size, ...], roots: Sequence[Node]) -> tuple[Work, list[Node]]:
        probe = Nest(extents)
        keys: dict[Key, None] = {}
        loads: list[Footprint] = []
        first: dict[Node, None] = {}
        stack = [self.along(node, extents) for node in roots]
        while stack:
            key = stack.pop()
            if key in keys:
                continue
            node, axes = key
            keys[key] = None
            place = self.place.get(node)
            if extents and is_number(node) and node.op not in _CONSTANT and (
                place is None or place.memory.kind != "scalar"
            ):
                first[node] = None
            elif place is not None:
                loads.append(probe.access(place, axes))
            elif self._too_small(node, axes, extents):
                first[node] = None
            else:
                stack += self._operands(node, axes)
                if node.op == "gather":
                    loads.append(probe.access(self.gathered(node), axes, 0))
        order = sorted(keys, key=lambda key: self.demand.position[key[0]])
        return Work(order, loads), list(first)

    def _too_small(self, node: Node, axes: AxisMap, extents: tuple[Size, ...]) -> bool:
        along = {axis for axis in axes if axis is not None}
        repeated = len(along) < sum(not _is_one(extent) for extent in extents)
        return bool(extents) and repeated and self.costs.get(node, 0) > HEAVY

    def _operands(self, node: Node, axes: AxisMap) -> list[Key]:
        """What a virtual node computes its elements from."""
        if node.op == "read":
            base = node.args[0]
            picked = self.axis_of[node]
            return [(base, tuple([None if k is None else axes[k] for k in picked]))]
        if node.op == "gather":
            return [self._align(node.args[1], node, axes)]
        if node.op == "write":
            return [self._align(node.args[1], node, axes)]
        return [self._align(arg, node, axes) for arg in node.args]

    def along(self, node: Node, extents: tuple[Size, ...]) -> Key:
        """A node broadcast to a nest."""
        return node, broadcast(self.shape(node), extents)

    def gathered(self, node: Node) -> BufferView:
        """Where a ``gather`` counts from."""
        return self.place[node.args[0]].geometry(cast(Geometry, node.attrs))

    def _align(self, arg: Node, node: Node, axes: AxisMap) -> Key:
        """An operand of an elementwise node, and the nest's axes that its axes run along."""
        mine, wide = self.shape(arg), self.shape(node)
        if mine == wide:
            return arg, axes
        lead = len(wide) - len(mine)
        return arg, tuple([
            None if _is_one(size) and not _is_one(wide[lead + k]) else axes[lead + k]
            for k, size in enumerate(mine)
        ])

    def fill(self, nest: Nest, work: Work) -> None:
        """Computes the collected values inside a nest, and stores those that others will need."""
        for key in work.order:
            node, axes = key
            if key in nest.known:
                continue
            place = self.place.get(node)
            if place is not None:
                nest.known[key] = nest.load(nest.access(place, axes), node.dtype)
            else:
                operands = [nest.known[k] for k in self._operands(node, axes)]
                if node.op == "gather":
                    access = nest.access(self.gathered(node), axes, operands[0])
                    nest.known[key] = nest.load(access, node.dtype)
                else:
                    name = self.graph.names.get(node, "")
                    nest.known[key] = _compute(nest, node, axes, operands, name)
                if operands:
                    nest.lines.add(node.line)
        self._share(nest, work)

    def _share(self, nest: Nest, work: Work) -> None:
        """Stores heavy values of this nest that something outside it needs too."""
        for node in self.shared(nest.extents, work):
            place = self.fresh(node).whole(self.facts)
            axes = tuple(range(len(nest.extents)))
            nest.puts.append(Put(nest.access(place, axes), nest.known[node, axes]))
            self.place[node] = place

    def shared(self, extents: tuple[Size, ...], work: Work) -> list[Node]:
        """The heavy values of a nest, as large as the nest, that something outside it needs.
        Of numbers, whatever is computed: a register costs nothing."""
        whole = tuple(range(len(extents)))
        inside = {node for node, _ in work.order}
        again: dict[Node, bool] = {}  # whether it would be computed again elsewhere
        found = []
        for node, axes in reversed(work.order):
            if node in self.place or node in found or (extents and node in work.roots):
                continue
            again[node] = node in self.returned or any(
                self._asks(user, inside, again) for user in self.demand.consumers[node]
            )
            least = HEAVY if node.dtype != BOOL else 1  # a byte is soon stored
            dear = self.costs.get(node, 0) > least or node in self.returned or self.seen(node)
            dear = dear or (not extents and (node.op == "cast" or node.op in PRIMITIVES))
            if again[node] and dear and axes == whole and self.shape(node) == extents:
                found.append(reduction_nests.narrow(self, node))
                again[node] = False
        return found

    def seen(self, node: Node) -> bool:
        """Whether some elements of it will be read, for which all are stored."""
        return any(
            user.op == "read" and self.demand.position[user] > self.now
            and axis_geometry(node, cast(Geometry, user.attrs)) is None
            for user in self.demand.consumers[node]
        )

    def _asks(self, user: Node, inside: set[Node], again: dict[Node, bool]) -> bool:
        """Whether a consumer will compute its operands later, outside the nest at hand."""
        if self.demand.position[user] > self.now:
            return True
        if user in self.place or self.demand.ordered(user):
            return False
        if user in inside:
            return again.get(user, False)
        return self.demand.last_need.get(user, -1) > self.now

    # ------------------------------------------------------------------ memory that changes

    def save(self, target: BufferView, but: Node | None) -> None:
        """Before a place changes, stores every value that reads it and is needed later."""
        known: dict[Node, bool] = {}
        for node in list(self.live):
            if self.demand.last_use.get(node, -1) <= self.now:
                del self.live[node]
            elif node is not but and self.touches(node, target, known):
                self.note(node, "a value is stored: memory that it reads is about to change")
                self.place[node] = self.store(node, self.fresh(node))
                known[node] = False

    def touches(self, root: Node, target: BufferView, known: dict[Node, bool]) -> bool:
        """Whether a value is in a place or computed from what is there."""
        seen = {root}
        stack = [root]
        while stack:
            node = stack.pop()
            found = known.get(node)
            place = self.place.get(node)
            if found is None and place is not None:
                found = known[node] = overlaps.overlap(self.facts, place, target)
            if found:
                return True
            if found is None:
                operands = node.args[1:2] if node.op == "write" else node.args
                stack += [arg for arg in operands if arg not in seen]
                seen.update(operands)
        return False

    def note(self, node: Node, text: str) -> None:
        where = f"{in_words(node.line)}: " if node.line else ""
        self.notes.append(where + text)


@record(frozen=False)
class Work:
    """Values for one nest in traced order, and the memory that they load."""

    order: list[Key]
    loads: list[Footprint]
    roots: frozenset[Node] = frozenset()


# ------------------------------------------------------------------ index arithmetic


def _is_one(size: Size) -> bool:
    return size.__class__ is int and size == 1


def broadcast(shape: tuple[Size, ...], extents: tuple[Size, ...]) -> AxisMap:
    """The nest's axes that a value's axes run along when it is broadcast to the nest."""
    lead = len(extents) - len(shape)
    return tuple([
        None if _is_one(size) and not _is_one(extents[lead + k]) else lead + k
        for k, size in enumerate(shape)
    ])


def axis_geometry(version: Node, geometry: Geometry) -> AxisMap | None:
    """A view that only permutes and repeats axes: for each axis of the version the one of the
    view that runs along it.  One that shows less would lose floating-point flags."""
    if geometry.part or geometry.offset != 0:
        return None
    whole = version.type
    assert isinstance(whole, Array)
    axes: list[int | None] = [None] * whole.ndim
    for k, (size, stride) in enumerate(zip(geometry.shape, geometry.strides)):
        if stride == 0 or _is_one(size):
            continue
        match = [
            a for a in range(whole.ndim)
            if axes[a] is None and whole.strides[a] == stride and whole.shape[a] == size
        ]
        if not match:
            return None
        axes[match[0]] = k
    if any(axis is None and not _is_one(size) for axis, size in zip(axes, whole.shape)):
        return None
    return tuple(axes)


def whole_access(place: BufferView) -> Footprint:
    """The access of a nest over exactly this place."""
    return Footprint(place.memory, place.offset, place.strides, place.part)


# ------------------------------------------------------------------ one value


def _compute(nest: Nest, node: Node, axes: AxisMap, args: list[int], name: str) -> int:
    """The number of a virtual node's value inside a nest; ``name`` is the user's, if any."""
    match node.op:
        case "const":
            value = node.dtype.type(cast(ConstAttrs, node.attrs).value)
            return nest.value(Constant(value, node.dtype))
        case "size":
            return nest.value(SizeValue(cast(SizeOf, node.attrs).size))
        case "iota":
            if axes[0] is None:
                return nest.value(Constant(np.int64(0), node.dtype))
            return nest.value(AxisIndex(axes[0]))
        case "empty":
            return nest.value(Constant(node.dtype.type(0), node.dtype))
        case "full" | "copy" | "read" | "write" | "cast":
            if nest.values[args[0]].dtype == node.dtype:
                return args[0]
            return nest.value(Apply("cast", (args[0],), node.dtype, None, node.line, name))
    attrs = node.attrs if isinstance(node.attrs, (Table, Subprogram)) else None
    return nest.value(Apply(node.op, tuple(args), node.dtype, attrs, node.line, name))


_FREE = frozenset({"cast", "copy", "full", "empty", "iota", "const", "size"})
_CONSTANT = frozenset({"const", "size"})
Handler = Callable[[Scheduler, Node], None]
_HANDLERS: dict[str, Handler] = {
    "param": Scheduler._param_node,
    "read": Scheduler._read,
    "gather": Scheduler._gather,
    "get": Scheduler._get,
    "check": Scheduler._check,
}
#: functions of this room's other modules, which are imported when a graph has such a node
_ELSEWHERE = {
    "write": "writes:write",
    "scatter": "scatters:scatter",
    "pack": "scatters:pack",
    "reduce": "reduction_nests:reduce",
    "extern": "call_sites:call_routine",
    "settle": "call_sites:settle",
    "host_call": "call_sites:call",
    "if_": "control_flow:choose",
    "for_": "control_flow:repeat",
    "while_": "control_flow:repeat",
}


@cache
def _handler(op: str) -> Handler:
    """The function that schedules the nodes of an operation."""
    if op in _ELSEWHERE:
        found: Handler = import_path(f"npcompile.schedule.walk.{_ELSEWHERE[op]}")
        return found
    return _HANDLERS.get(op, Scheduler._virtual)
