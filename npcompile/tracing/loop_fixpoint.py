"""One attempt at a loop as a region: what an iteration begins with, the iteration, what it ends
with."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from npcompile.core.records import replace
from npcompile.core.sizes import Size, lower_bound, symbol
from npcompile.frontend.bytecode import RETURN, Instruction
from npcompile.graph.builder import Carried
from npcompile.graph.ir import Geometry, Loop, Node, Region
from npcompile.graph.types import BOOL, PY_BOOL, PY_INT, Scalar
from npcompile.ops.operands import ArrayRef, Storage
from npcompile.python import range_bounds
from npcompile.python.composite import Composite
from npcompile.python.values import (
    UNBOUND,
    Frame,
    HeapObject,
    Scope,
    State,
    Successors,
    TaggedUnion,
    Value,
    Vector,
)
from npcompile.tracing import (
    carried_aliases,
    carried_sizes,
    carried_unions,
    control,
    interrupt_points,
    selectors,
    trip_counts,
    vectors,
)
from npcompile.tracing.carried_unions import Mixed
from npcompile.tracing.escapes import Escape, as_number, spread
from npcompile.tracing.joins import unread
from npcompile.tracing.loop_effects import (
    MayBeEmpty,
    Retry,
    TypeMismatch,
    closed_over,
    reruns,
    same_contents,
    stored,
)
from npcompile.tracing.references import movable
from npcompile.tracing.selectors import same
from npcompile.tracing.trip_counts import Iterations

if TYPE_CHECKING:
    from npcompile.python.values import Object
    from npcompile.tracing.loop_facts import LoopFacts
    from npcompile.tracing.loop_services import Path
    from npcompile.tracing.services import Tracer


def last_instruction(frame: Frame, header: int) -> Instruction:
    """The instruction that ends a header."""
    block = frame.code.blocks[header]
    found = block[-1] if block else frame.instruction
    assert found is not None
    return found


class LoopAttempt:
    """One attempt at a loop: ``over`` is what a ``for`` runs over."""

    def __init__(
        self, t: Tracer, frame: Frame, header: int, state: State, loop_facts: LoopFacts,
        over: Iterations | None, followed: int, nonempty: bool,
    ) -> None:
        self.t, self.frame, self.header, self.state = t, frame, header, state
        self.loop_facts, self.over = loop_facts, over
        self.rebound = frozenset(loop_facts.rebound)
        self.last = last_instruction(frame, header)
        self.body = frame.code.loops[header]
        self.live = frame.code.live[header]
        self.slots = stored(frame, self.body)
        self.region = Region()
        self.scope = Scope(state.heap, t.scope, t.builder.param)
        self.carried: dict[Node, Node | None] = {}  # parameter -> initial value, None: any
        self.next: dict[Node, Node] = {}  # parameter -> what the next iteration begins with
        self.extra: dict[Node, Node] = {}  # node of the region -> parameter that carries it out
        self.followed = followed  # iterations before this one
        #: and the parameters and the array that it is made of
        self.mixed: dict[TaggedUnion, tuple[Mixed, list[Node], ArrayRef | None]] = {}
        self.created: set[Storage | HeapObject | Object] = set()
        self.anew: dict[
            HeapObject, Any
        ] = {}  # lists, ... that each iteration makes anew, and their contents
        self.before: dict[
            HeapObject, HeapObject
        ] = {}  # and what stood in their place before the loop
        self.names = carried_aliases.Renamings()
        self.moves: list[tuple[Vector, Vector]] = []  # to where the next iteration finds them
        self.learned = (
            False  # whether there is more to know, and the iteration must be traced again
        )
        self.doubt: TypeMismatch | None = None  # raised if there is no more to know
        self.nonempty = nonempty  # whether a ``for`` is known to have an iteration
        self.index = t.builder.param(PY_INT)  # of a ``for``
        self.results: dict[Node, Node] = {}
        self.stored: dict[tuple[Node, Geometry, Size], Node] = {}  # arrays with room for more
        # parameter -> what is said of its length
        self.varying: dict[Node, carried_sizes.Varying] = {}
        self._inner: set[Node] | None = None
        self._of_next: dict[Node, Node] | None = None
        self.known = t.facts.mark()  # before the loop
        self.size: Size = 0  # the index of a ``for``

    def exits(self) -> Successors:
        t, frame, visible, created = self.t, self.frame, self.t.visible, len(self.t.created)
        if self.loop_facts.pairs and not carried_aliases.even(self):
            raise t.refuse("loop", "swaps arrays as often as only the run knows")
        begin = self.begin()
        t.takes_effect(self.loop_facts.writes)
        t.go_inside(self.scope)
        with t.builder.inside(self.region):
            for length, size, most in self.varying.values():
                t.builder.bind(size, length)
                t.facts.limit(size, most)
            begun = t.facts.mark()
            frame.enters_loop()
            parted = t.parted
            ends = self.run(begin.copy())
            if self.loop_facts.early and t.parted > parted:
                carried_unions.parts(self)
            frame.leaves_loop()
            if self.loop_facts.pairs and len(ends.states) > 1:
                raise t.refuse("loop", "swaps arrays and may be left early")
            back = ends.states.get(self.header)
            if back is None:
                raise TypeMismatch("never comes to a second iteration")
            frame.goes_on(back)
            self.compare(begin, back)
            if self.moves:
                vectors.move(self.t, self.moves, self.stays(ends))
            with t.facts.earlier(begun):
                self.region.goes_on_at(interrupt_points.edge(
                    t, frame, self.header, begin, self.over, self.size))
            self.versions(back)
            if self.over is not None and len(ends.states) > 1:
                self.count()
            again = self.again(ends)
            self.region.begins_with([self.index, *self.carried])
        t.go_inside(self.scope.outer)
        self.created.update(t.created[created:])
        self.effects(visible)
        frame.enters(self.header, self.state, self.last)
        t.builder.at(self.last.line)
        return self.finish(begin, ends, again)

    # ------------------------------------------------------------------ an iteration

    def begin(self) -> State:
        """The state that an iteration begins with."""
        state = self.state
        inside = State(list(state.locals), list(state.stack), {
            k: v for k, v in state.heap.items() if isinstance(k, HeapObject)})
        carried_aliases.count(self, inside)
        for slot in self.slots:
            live = slot in self.live
            inside.locals[slot] = self.enter(inside.locals[slot], (slot,)) if live else UNBOUND
        for slot in closed_over(self.frame, self.body):
            obj = inside.locals[slot]
            if isinstance(obj, HeapObject):
                inside.heap[obj] = self.enter(inside.heap[obj], (-1, slot))
        for obj in self.changing(inside):
            inside.heap[obj] = self.enter_contents(obj, inside.heap[obj])
        for made, held in self.anew.items():
            inside.heap[made] = held
        return inside

    def changing(self, state: State) -> list[HeapObject]:
        """The lists, dictionaries and instances that iterations change, in the order of the
        program."""
        return [b for b in state.heap if isinstance(b, HeapObject) and b in self.loop_facts.changed]

    def enter_contents(self, obj: HeapObject, held: Any) -> Any:
        """Maps the contents of a list, dictionary or instance that an iteration changes to contents
        of loop parameters (the entry phi)."""
        obj = self.before.get(obj, obj)  # of a name that the next attempt knows, too
        if isinstance(held, Vector):
            return replace(held, length=self.carry(held.length))
        if isinstance(held, dict):
            return {key: self.enter(item, ((obj, key),)) for key, item in held.items()}
        if isinstance(held, tuple):
            return tuple(self.enter(item, ((obj, k),)) for k, item in enumerate(held))
        return self.enter(held, ((obj, None),))

    def enter(self, value: Value, path: Path) -> Value:
        """Maps a variable's value before the loop to its value inside the loop (the entry phi)."""
        t = self.t
        if isinstance(value, TaggedUnion) or path in self.loop_facts.mixed:
            return carried_unions.enter(self, value, path)
        value = spread(value)
        number = as_number(t, value)
        if number is not None:
            return self.carry(number)
        if isinstance(value, Composite) and value.joins:
            return value.rebuilt(
                [self.enter(part, (*path, k)) for k, part in enumerate(value.parts())]
            )
        if isinstance(value, ArrayRef) and path[0] in self.rebound:
            return carried_aliases.enter(self, value, path[0])
        if isinstance(value, HeapObject) and path[0] in self.rebound:
            return self.enter_object(value, path[0])
        return value

    def enter_object(self, value: HeapObject, slot: Any) -> HeapObject:
        """Maps a list, dictionary or instance that each iteration makes anew to one inside the
        loop."""
        held = self.state.heap[value]
        if not movable(self.t, self.frame, self.state, self.live, value):
            raise TypeMismatch("gives one name to different objects")
        made = self.t.like(value, borrowed=slot in self.loop_facts.borrowed)
        self.t.homes[made] = self.scope
        self.created.add(made)
        self.before[made] = value
        self.anew[made] = self.enter_contents(made, held)
        return made

    def made(self, version: Node, geometry: Geometry, dtype: np.dtype) -> ArrayRef:
        """An array that stands for another one inside the loop."""
        ref = ArrayRef(Storage(version), geometry, dtype)
        self.t.homes[ref.storage] = self.scope
        self.created.add(ref.storage)
        self.t.trees.own(ref)
        return ref

    def carry(self, init: Node) -> Node:
        param = self.t.builder.param(init.type)
        self.carried[param] = init
        return param

    def run(self, state: State) -> Successors:
        """The exits of one iteration."""
        t, frame, over = self.t, self.frame, self.over
        inner = self.body - {self.header}
        if over is None:
            return control.run(t, frame, control.execute(t, frame, self.header, state), inner)
        size = symbol(f"i{len(t.builder.bound)}", None, _least(over))
        self.symbol = t.builder.bind(size, self.index)
        twice = self.loop_facts.pairs
        low, high = over.low, over.high
        if twice and range_bounds.is_positive(t, over.step):
            high = high - 1
        elif twice:
            low = low + 1
        t.facts.ranges[self.symbol] = (low, high)
        self.size = size
        ends = self.iteration(state, self.index, size, inner)
        if not twice:
            return ends
        if list(ends.states) != [self.header]:
            raise t.refuse("loop", "swaps arrays and may be left early")
        following = size + over.step
        return self.iteration(ends.states[self.header], t.builder.size(following), following, inner)

    def iteration(self, state: State, index: Node, size: Size, inner: set[int]) -> Successors:
        """Takes the item at an index, and runs the body."""
        t, frame, over = self.t, self.frame, self.over
        assert over is not None
        frame.enters(self.header, state)
        t.builder.at(self.last.line)
        stack = [*state.stack[:-1], over.standing(size, state.stack[-1])]
        frame.begins(self.last, stack, t.writes)
        item, rest = over.item(index, size)
        state.stack[-1] = rest
        state.stack.append(item)
        return control.run(t, frame, Successors({self.last.after: state}), inner)

    # ------------------------------------------------------------------ the back edge

    def compare(self, begin: State, back: State) -> None:
        """Connects every value that this iteration began with to the value that the next one begins
        with."""
        carried_aliases.swaps(self, begin, back)
        for slot in sorted(self.slots & self.live):
            try:
                self.match(begin, (slot,), begin.locals[slot], back.locals[slot], back)
            except TypeMismatch as unlike:
                raise TypeMismatch(f"{unlike} ({self.frame.code.names[slot]})") from None
        if self.learned:
            carried_aliases.settle(self, begin, back)
            raise Retry
        outer = slice(None, -1) if self.over is not None else slice(None)
        if not all(map(same, begin.stack[outer], back.stack[outer])):
            raise TypeMismatch("changes what an expression around it holds")
        carried = {begin.locals[k]: k for k in closed_over(self.frame, self.body)}
        for obj, contents in begin.heap.items():
            if obj in self.anew:
                continue
            if obj in carried:
                self.match(begin, (-1, carried[obj]), contents, back.heap[obj], back)
            elif isinstance(obj, HeapObject) and obj in self.loop_facts.changed:
                self.match_contents(begin, obj, contents, back)
            elif not same_contents(contents, back.heap[obj]):
                assert isinstance(obj, HeapObject)
                self.changed(obj, contents, back.heap[obj])
        if self.learned:
            raise Retry
        if self.doubt is not None:
            raise self.doubt

    def learn(self) -> None:
        """Notes that there is more to know about the loop: the iteration is traced again."""
        self.learned = True

    def mistrust(self, doubt: TypeMismatch) -> None:
        """Notes why the loop can't be a region, unless there is more to know about it."""
        self.doubt = doubt

    def rename(self, new: frozenset[Any]) -> None:
        """Counts names anew, some of which have turned out to be bound anew."""
        self.rebound, self.names = self.rebound | new, carried_aliases.Renamings()

    def stays(self, ends: Successors) -> Node | None:
        """Whether another iteration comes; None if the iteration does not tell."""
        if len(ends.states) == 1:
            return None
        assert ends.selector is not None
        return selectors.selects(self.t, ends.selector, self.header)

    def versions(self, back: State) -> None:
        """Hands the version of each carried storage to the next iteration."""
        for storage, param in self.scope.params.items():
            self.carried[param] = self.scope.inits[storage]
            self.next[param] = back.heap.get(storage, param)

    def changed(
        self, obj: HeapObject, first: Any, last: Any, other: HeapObject | None = None
    ) -> None:
        """A list, dictionary or instance that an iteration changes."""
        alike = (
            obj.kind is None
            or (isinstance(first, Vector) and isinstance(last, Vector))
            or (isinstance(first, dict) and isinstance(last, dict) and list(first) == list(last))
            or (isinstance(first, tuple) and isinstance(last, tuple) and len(first) == len(last))
        )
        if alike:
            self.loop_facts.changed.add(obj)
            self.learn()
            return
        if obj.kind is list:
            self.t.requests.columns_of_both((obj, other or obj), (first, last))
            raise self.t.refuse("loop", "a list grows by other items than numbers of one kind")
        raise TypeMismatch("changes the keys of a dictionary or object")

    def match_contents(
        self,
        begin: State,
        obj: HeapObject,
        first: Any,
        back: State,
        other: HeapObject | None = None,
    ) -> None:
        """Connects the contents of a list, dictionary or instance with those that the next
        iteration begins with; ``other``: it is another object in each iteration."""
        last = back.heap[other or obj]
        name = self.before.get(obj, obj)
        if isinstance(first, Vector) and isinstance(last, Vector):
            if (first.item, first.home) != (last.item, last.home):
                raise TypeMismatch("changes the type of a list's items")
            self.next[first.length] = last.length
            if other not in (None, obj):
                self.moves.append((first, last))
        elif isinstance(first, dict) and isinstance(last, dict) and list(first) == list(last):
            for key, item in first.items():
                self.match(begin, ((name, key),), item, last[key], back)
        elif isinstance(first, tuple) and isinstance(last, tuple) and len(first) == len(last):
            for k, (a, b) in enumerate(zip(first, last)):
                self.match(begin, ((name, k),), a, b, back)
        elif obj.kind is None:
            self.match(begin, ((name, None),), first, last, back)
        else:
            self.changed(obj, first, last, other)

    def match(self, begin: State, path: Path, first: Value, last: Value, back: State) -> None:
        """Connects the loop's value ``first`` with the value ``last`` that the next iteration
        begins with (the back edge of the phi)."""
        last = spread(last, first)
        if isinstance(first, TaggedUnion):
            carried_unions.match(self, path, first, last, back)
        elif isinstance(first, Node):
            number = as_number(self.t, last)
            if number is None or number.type != first.type:
                carried_unions.widen(
                    self, path, first, last, back, "changes the type of a variable"
                )
            else:
                self.next[first] = number
        elif isinstance(first, Composite) and first.joins and isinstance(last, type(first)):
            if not first.alike(last):
                raise TypeMismatch("changes the length of a tuple")
            for k, (a, b) in enumerate(zip(first.parts(), last.parts())):
                self.match(begin, (*path, k), a, b, back)
        elif (
            isinstance(first, HeapObject)
            and isinstance(last, HeapObject)
            and first.kind is last.kind
        ):
            self.match_object(begin, path, first, last, back)
        elif isinstance(first, ArrayRef) and path[0] in self.rebound:
            carried_aliases.match(self, path[0], first, last, back)
        elif isinstance(first, ArrayRef) and isinstance(last, ArrayRef) and first is not last:
            self.loop_facts.rebound.add(path[0])
            if carried_sizes.shorter(self.t, first, last):
                self.loop_facts.varying.add(path[0])
            self.learn()
        elif first is UNBOUND and last is not UNBOUND and isinstance(path[0], int):
            begin.locals[path[0]] = self.first_bound(path[0], last)
        elif not same(first, last):
            carried_unions.widen(self, path, first, last, back, "changes the kind of a variable")

    def match_object(
        self, begin: State, path: Path, first: HeapObject, last: HeapObject, back: State
    ) -> None:
        """A name that is bound to a list, dictionary or instance anew."""
        if first not in self.anew:
            if first is not last:
                self.loop_facts.rebound.add(path[0])
                raise Retry
            return
        if not movable(self.t, self.frame, back, self.live, last):
            raise TypeMismatch("gives one name to different objects")
        if last.borrowed and not first.borrowed:
            self.loop_facts.borrowed.add(path[0])
            raise Retry
        self.match_contents(begin, first, begin.heap[first], back, last)

    def first_bound(self, slot: int, last: Value) -> Value:
        """A variable that is bound in the loop and read only after it."""
        number = as_number(self.t, last)
        over = self.over
        read = over is None or slot in self.frame.code.live[self.last.after]
        if number is None or read or not self.runs():
            raise TypeMismatch("binds a variable for the first time")
        param = self.t.builder.param(number.type)
        self.carried[param] = None
        self.next[param] = number
        return param

    def runs(self) -> bool:
        """Whether there is a first iteration; what an iteration has found says nothing about it."""
        assert self.over is not None
        with self.t.facts.earlier(self.known):
            return self.nonempty or trip_counts.has_iterations(self.t, self.over)

    def count(self) -> None:
        """The index becomes a carried number: a loop that may be left early is a ``while_``."""
        t, over = self.t, self.over
        assert over is not None
        if not self.runs():
            raise MayBeEmpty
        self.carried[self.index] = None
        self.next[self.index] = t.builder.size(self.size + over.step)

    def again(self, ends: Successors) -> Node | None:
        """The tail test; None: a ``for_`` needs none."""
        t, over = self.t, self.over
        stays = self.stays(ends)
        if stays is None:
            if over is None:
                raise t.refuse("while", "never ends")
            return None
        if over is None:
            return stays
        following, stop = self.next[self.index], t.builder.size(over.stop)
        rising = range_bounds.is_positive(t, over.step)
        pair = (following, stop) if rising else (stop, following)
        more = t.builder.map("lt", pair, BOOL, origin="py")
        return t.builder.emit("bit_and", (stays, more), None, PY_BOOL)

    def effects(self, visible: int) -> None:
        """Checks in a loop that writes what the caller sees must know where Python goes on."""
        if self.t.visible > visible and not visible and not self.loop_facts.writes:
            self.loop_facts.sees_write()
            if reruns(self.region):
                raise Retry

    # ------------------------------------------------------------------ after the loop

    def finish(self, begin: State, ends: Successors, again: Node | None) -> Successors:
        """Emits the loop; what holds at each of its exits."""
        over = self.over
        del ends.states[self.header]
        mark = self.t.builder.mark()
        for target, state in ends.states.items():
            self.leave(target, state, self.note)
        self.t.builder.drop(mark, set(self.inner))
        if ends.selector is not None:
            self.note(ends.selector, None)
        self.emit(again)
        states = {
            target: self.leave(target, state, self.outside) for target, state in ends.states.items()
        }
        if over is None:
            selector = self.outside(ends.selector, None) if len(states) > 1 else None
            return Successors(states, selector)
        exhausted = self.exhausted(begin)
        if not states:
            return Successors({self.last.target: exhausted})
        return self.both(states, exhausted, self.outside(ends.selector, None))

    def leave(self, target: int, state: State, out: Callable[[Node, Any], Node]) -> State:
        """The state of an early exit, moved out of the region."""
        escape = Escape(self.t, state, self.created, out, self.store)
        live = self.frame.live(target)
        first_storage = self.frame.code.code.co_nlocals
        variables = [
            escape.value(v) if k in live or k >= first_storage else UNBOUND
            for k, v in enumerate(state.locals)
        ]
        depth = len(self.state.stack) if self.over is not None and target >= RETURN else 0
        stack = [*self.state.stack[:depth], *map(escape.value, state.stack[depth:])]
        heap = dict(self.state.heap)
        for storage, param in self.scope.params.items():
            version = state.heap.get(storage, param)
            if version is not param or self.next[param] is not param:
                heap[storage] = out(self.next[param], storage)  # one memory, at all exits
        for obj, contents in state.heap.items():
            if isinstance(obj, HeapObject) and obj not in self.created:
                heap[obj] = escape.contents(contents)
        return State(variables, stack, {**heap, **escape.heap})

    def store(self, version: Node, geometry: Geometry, most: Size) -> Node:
        """An array that an iteration made, in one with room for more."""
        key = version, geometry, most
        if key not in self.stored:
            self.stored[key] = carried_sizes.stored(self.t, self.region, *key)
            self._inner = None
        return self.stored[key]

    def note(self, node: Node, like: Any) -> Node:
        """Remembers that a node of the region is needed after it."""
        inside = node in self.inner
        if inside and node not in self.extra and node not in self.of_next:
            init = self.carried.get(node)
            if isinstance(like, Storage) and like in self.scope.inits:
                init = self.scope.inits[like]
            param = self.t.builder.param(node.type)
            self.extra[node] = param
            self.carried[param] = init
            self.next[param] = node
        return node

    def anything(self, node: Node) -> Node:
        """A value of a node's type that nobody looks at."""
        if isinstance(node.type, Scalar):
            return self.t.builder.const(node.dtype.type(0).item(), node.type)
        return unread(self.t, node)

    @property
    def inner(self) -> set[Node]:
        if self._inner is None:
            self._inner = {*self.region.nodes, *self.carried, self.index}
        return self._inner

    @property
    def of_next(self) -> dict[Node, Node]:
        """Which parameter carries a node to the next iteration."""
        if self._of_next is None:
            self._of_next = {node: param for param, node in reversed(self.next.items())}
        return self._of_next

    def outside(self, node: Node | None, like: Any) -> Node:
        """Maps a node of the loop's region to a node after the loop."""
        assert node is not None
        param = self.extra.get(node) or (self.of_next.get(node) if node in self.inner else None)
        return node if param is None else self.after(param)

    def after(self, param: Node) -> Node:
        """Maps a loop parameter to the loop's result; to its initial value if no iteration changes
        it."""
        init = self.carried[param]
        return init if init is not None and self.next[param] is param else self.results[param]

    def emit(self, again: Node | None) -> None:
        t = self.t
        if again is not None and self.over is not None:
            self.carried[self.index] = t.builder.size(self.over.start)
        found = [
            Carried(self.anything(param) if init is None else init, param, self.next[param])
            for param, init in self.carried.items()
        ]
        if again is None:
            over = self.over
            assert over is not None
            stride = over.step * 2 if self.loop_facts.pairs else over.step
            loop = Loop(over.start, over.stop, stride, self.symbol)
            node = t.builder.for_(loop, self.index, found, self.region)
        else:
            node = t.builder.while_(again, found, self.region)
        self.results = {c.param: t.builder.get(node, k) for k, c in enumerate(found)}

    def exhausted(self, begin: State) -> State:
        """The state after the last iteration of a ``for``."""
        live = self.frame.code.live[self.last.target]
        after = self.state.copy()
        after.stack.pop()
        for slot in self.slots:
            after.locals[slot] = self.rebuilt(begin.locals[slot]) if slot in live else UNBOUND
        for slot in closed_over(self.frame, self.body):
            obj = begin.locals[slot]
            if isinstance(obj, HeapObject):
                after.heap[obj] = self.rebuilt(begin.heap[obj])
        for obj in (*self.anew, *self.changing(begin)):
            after.heap[obj] = self.rebuilt_contents(begin.heap[obj])
        for storage, param in self.scope.params.items():
            if self.next[param] is not param:
                after.heap[storage] = self.after(param)
        return after

    def rebuilt_contents(self, held: Any) -> Any:
        """Maps the contents of a list, dictionary or instance inside the loop to its contents after
        it."""
        if isinstance(held, Vector):
            return replace(held, length=carried_sizes.of_list(self, held.length))
        if isinstance(held, dict):
            return {key: self.rebuilt(item) for key, item in held.items()}
        return tuple(map(self.rebuilt, held)) if isinstance(held, tuple) else self.rebuilt(held)

    def rebuilt(self, value: Value) -> Value:
        """Maps a value inside the loop to its value after the loop (the exit phi)."""
        if isinstance(value, Node) and value in self.carried:
            return self.after(value)
        if isinstance(value, TaggedUnion) and value in self.mixed:
            return carried_unions.after(self, value)
        if isinstance(value, Composite) and value.joins:
            return value.mapped(self.rebuilt)
        if isinstance(value, ArrayRef) and value.storage.first in self.varying:
            return carried_sizes.after(self, value)
        if isinstance(value, ArrayRef) and value.storage.first in self.carried:
            return carried_aliases.after(self, value)
        return value

    def both(self, states: dict[int, State], exhausted: State, selector: Node) -> Successors:
        """Early exits and exhaustion."""
        t, target = self.t, self.last.target
        if target in states:
            raise t.refuse("loop", "is left early for the place where it ends")
        ended = selectors.selects(t, selector, self.header)
        end = t.builder.const(target)
        early = t.builder.const(next(iter(states))) if len(states) == 1 else selector
        mixed = t.builder.map("where", (ended, end, early), end.dtype, origin="py")
        t.selectors[mixed] = (ended, end, early)
        return Successors({**states, target: exhausted}, mixed)


def _least(over: Iterations) -> int | None:
    return over.low if isinstance(over.low, int) else lower_bound(over.low)
