"""The tracer: runs bytecode on traced values and records the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import CellType, FunctionType
from typing import TYPE_CHECKING, Any

from npcompile.core import sizes
from npcompile.core.config import Config
from npcompile.core.errors import Refusal, Refused
from npcompile.core.facts import Facts
from npcompile.core.paths import defer
from npcompile.core.records import replace
from npcompile.frontend.bytecode import GENERATORS, RETURN, Code, Instruction
from npcompile.graph.builder import Builder
from npcompile.graph.ir import (
    Const,
    Geometry,
    HostCall,
    Node,
    ObjectOf,
    Resume,
    Scatter,
    SizeOf,
)
from npcompile.graph.types import PY_INT, PYTHON, Array, Calling
from npcompile.guards.class_hooks import SHOWN, own
from npcompile.guards.sources import Closure, Source
from npcompile.ops.bits import as_dtype, memory_dtype, written
from npcompile.ops.operands import ArrayRef, Operand, Storage, Tensor
from npcompile.python.composite import Composite
from npcompile.python.values import (
    UNBOUND,
    Fetched,
    Frame,
    HeapObject,
    Scope,
    Sequence,
    Static,
    Successors,
    TensorValue,
    Unreachable,
    Value,
    Vector,
)
from npcompile.tracing import control, handlers, operators, result_trees
from npcompile.tracing import (
    graph_breaks as breaks,
)
from npcompile.tracing.graph_breaks import GraphBreaks
from npcompile.tracing.heap import AliasAnalysis
from npcompile.tracing.inputs import Inputs, pinned
from npcompile.tracing.list_requests import ListRequests
from npcompile.tracing.requests import AsHashTable, Place, Requests
from npcompile.tracing.side_effects import SideEffects

if TYPE_CHECKING:
    from npcompile.guards import kinds
    from npcompile.python import functions, iterators, slices
    from npcompile.python.functions import Function
    from npcompile.python.iterator import Iterator as Position
    from npcompile.python.values import Object
    from npcompile.tracing import (
        attributes,
        calls,
        external,
        generators,
        iteration,
        operand_values,
        questions,
        references,
        texts,
        traced_containers,
        vectors,
    )
    from npcompile.tracing.dict_lookups import KeyLookups
    from npcompile.tracing.loop_facts import LoopFacts
    from npcompile.tracing.services import Made, Progress, Reached
else:
    defer(globals(), "npcompile.guards", "kinds")
    defer(globals(), "npcompile.python", "functions", "iterators", "slices")
    defer(
        globals(), "npcompile.tracing", "attributes", "calls", "external", "generators",
        "iteration", "operand_values", "questions", "references",
        "texts", "traced_containers", "vectors",
    )

HANDLED = handlers  #: fill the table of opcodes, beside rare ones that are imported when they occur
DEEPEST = 40  #: inlined calls within one another
RECURSIONS = 256  #: and those of functions by themselves, in all


class FunctionTracer:
    """Traces one function; operators know it as their :class:`~npcompile.ops.operands.Context`,
    Python's types as :class:`~npcompile.python.protocol.Tracing`, and the modules of this room as
    :class:`~npcompile.tracing.services.Tracer`."""

    def __init__(
        self, config: Config, graph_breaks: GraphBreaks, requests: Requests
    ) -> None:
        self.config = config
        self.recursions = 0
        self.graph_breaks = graph_breaks  # where Python executes what can't be followed
        self.places: dict[int, tuple[int, Instruction]] = {}  # of graph breaks, by target
        self.builder = Builder(Facts())
        self.builder.connect(self.resume)
        self.root = self.builder.region
        self.trees = result_trees.Trees(self)
        self.requests = ListRequests(requests, self)
        self.inputs = Inputs(self.builder, self.root, config, self.trees.own, self.requests)
        self.frames: list[Frame] = []
        #: on their stacks before the result of a call, which is dropped or not
        self.given: dict[Frame, tuple[tuple[Value, ...], bool]] = {}
        self.notes: list[str] = []
        self.blocks = 0  # executed so far
        self.created: list[Storage | HeapObject | Object] = []  # in order
        self.made = 0  # how many of them before the instruction at hand
        self.writes = 0  # versions written so far, but of what the instruction at hand made
        self.visible = 0  # of them, versions of memory that the caller can see
        self.consumed: set[object] = set()  # tokens of iterators that were run
        self.scope: Scope | None = None  # the innermost loop whose body is being traced
        self.homes: dict[object, Scope | None] = {}  # the loop it was made in
        self.undecided = False  # whether any value depends on the path that was taken
        self.forks = 0  # instructions that were traced once for each option
        self.parted = 0  # those of them that do not do the same for each
        self.trying = 0  # instructions that are executed for several options as one
        self.selectors: dict[Node, tuple[Node, Node, Node]] = {}  # condition, first, second
        self.aliases = AliasAnalysis(self)
        self._generators: generators.Generators | None = None
        self.effects = SideEffects(self)
        self.errstate = HeapObject(None)  # holds what ``np.errstate`` ignores now
        self.outside: dict[Source, Vector] = {}  # what lists from outside hold
        self.sizes: dict[str, sizes.Symbol] = {}  # of lists from outside, by what they are of
        self.looked: dict[Source, list[Any]] = {}  # lists from outside that were looked at
        self.opened: list[tuple[Static, Fetched]] = []  # those that are
        self.fetched: dict[
            HeapObject, tuple[Value, ...]
        ] = {}  # the list and indices that lead there
        self.lengths: dict[Node, sizes.Size] = {}  # of lists that a loop made
        self.learned: dict[tuple[Code, int], LoopFacts] = {}  # of loops, by their header
        self.names: dict[Node, str] = {}  # variables that held nodes first

    # ------------------------------------------------------------------ where the tracer stands

    def begin_instruction(self, frame: Frame, i: Instruction, stack: list[Value]) -> None:
        """Begins an instruction, which finds ``stack`` for Python."""
        frame.begins(i, stack, self.writes)
        self.made = len(self.created)
        self.builder.at(i.line)

    def count_block(self) -> int:
        """Counts a block that is executed; returns how many were."""
        self.blocks += 1
        return self.blocks

    def count_fork(self) -> int:
        """Counts an instruction that is traced once for each option; returns how many were."""
        self.forks += 1
        return self.forks

    def parts(self) -> None:
        """Counts an instruction that does not do the same for each option."""
        self.parted += 1

    @contextmanager
    def one_for_all(self) -> Iterator[None]:
        """Executes an instruction for several options as one."""
        self.trying += 1
        try:
            yield
        finally:
            self.trying -= 1

    def go_inside(self, scope: Scope | None) -> None:
        """Goes to the body of a loop, or back to the loop around it."""
        self.scope = scope

    def takes_effect(self, count: int = 1) -> None:
        """Counts effects that the caller can see."""
        self.visible += count

    def hides_writes(self, since: int) -> None:
        """Sets the count of writes back: the caller can't see the later ones."""
        self.writes = since

    # ------------------------------------------------------------------ what operators ask

    @property
    def facts(self) -> Facts:
        return self.builder.facts

    @property
    def generators(self) -> generators.Generators:
        """The generators that have run."""
        if self._generators is None:
            self._generators = generators.Generators(self)
        return self._generators

    @property
    def texts(self) -> texts.TracedTexts:
        """Strings whose characters only the run knows."""
        return texts.TracedTexts(self)

    @property
    def vectors(self) -> vectors.TracedVectors:
        """Lists whose length only the run knows."""
        return vectors.TracedVectors(self)

    @property
    def lookups(self) -> KeyLookups:
        """Searches for keys that only the run knows."""
        from npcompile.tracing.dict_lookups import KeyLookups

        return KeyLookups(self)

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    @property
    def heap(self) -> dict[Storage | HeapObject, Any]:
        return self.frames[-1].state.heap

    def name(self, value: Value, name: str) -> None:
        """A variable has got a value: what is computed is known by its first name."""
        node = value
        if isinstance(value, ArrayRef):
            whole, storage = value.geometry, value.storage
            if whole.offset != 0 or whole.shape != storage.type.shape:
                return
            node = self.heap.get(storage, storage.first)
        if isinstance(node, Node) and node.op not in ("param", "const", "size"):
            first = self.names.setdefault(node, name)
            if first != name and node.op in ("full", "copy"):
                self.names[node] = ""  # equal when they are made, and not for long

    def version(self, storage: Storage) -> Node:
        found: Node | None = self.heap.get(storage)
        return self.first(storage) if found is None else found

    def first(self, storage: Storage) -> Node:
        """The version of a cell that was not written since the loop around began."""
        scope, home = self.scope, self.homes.get(storage)
        return storage.first if scope is None or scope is home else scope.version(storage, home)

    def read(self, ref: ArrayRef) -> Node:
        if self._generators is not None:
            self._generators.reads(ref.storage)
        node = self.builder.read(self.version(ref.storage), ref.geometry)
        return as_dtype(self.builder, node, ref.dtype)

    def write(self, ref: ArrayRef, value: Node, mask: Node | None = None) -> None:
        if not ref.writeable:
            raise self.refuse("assignment", "the array is read-only: Python raises")
        value = written(self, ref, value)
        old = self.version(ref.storage)
        self._renew(ref.storage, self.builder.write(old, value, ref.geometry, mask))

    def scatter(self, ref: ArrayRef, value: Node, at: Node, combine: str, distinct: bool) -> None:
        if combine and ref.dtype != memory_dtype(ref):
            raise self.refuse("assignment", "what a view of another dtype makes of old and new")
        value = written(self, ref, value)
        attrs = Scatter(ref.geometry, combine, distinct)
        old = self.version(ref.storage)
        self._renew(ref.storage, self.builder.scatter(old, value, at, attrs))

    def _renew(self, storage: Storage, version: Node) -> None:
        self.aliases.writes(storage)
        if self._generators is not None:
            self._generators.writes(storage, not self.aliases.renamed(storage))
        self.heap[storage] = version
        self.writes += storage not in self.created[self.made :]
        self.visible += storage.param >= 0

    def new(self, node: Node) -> ArrayRef:
        assert isinstance(node.type, Array), node
        geometry = Geometry(0, node.type.shape, node.type.strides)
        made = ArrayRef(self.register(Storage(node)), geometry, node.type.dtype)
        self.aliases.made(made.storage)
        self.trees.own(made)
        return made

    def stand_in(self, made: ArrayRef, ref: ArrayRef) -> ArrayRef:
        self.aliases.stands_in(made.storage, ref.storage)
        return made

    def host_call(self, call: HostCall, args: tuple[Operand, ...], result: Array) -> ArrayRef:
        if self.catches():
            raise self.refuse(call.path, "may raise inside try")
        self.tells(call.path)
        nodes = [self._node(arg) for arg in args]
        return self.new(self.builder.emit("host_call", nodes, call, result))

    def catches(self) -> bool:
        """Whether the program, or a function that called it, handles what is raised here."""
        return any(
            frame.code.catches(frame.instruction.offset, frame.instruction.following)
            for frame in self.frames if frame.instruction
        )

    def ignored(self) -> str:
        """The first letters of the floating-point errors that ``np.errstate`` ignores now."""
        held = self.heap.get(self.errstate)
        return held.value if isinstance(held, Static) else ""

    def tells(self, path: str) -> None:
        """Refuses a call of a real function where its warnings would be ignored."""
        if self.builder.quiet:
            raise self.refuse(path, "may warn inside np.errstate")

    def _node(self, operand: Operand) -> Node:
        if isinstance(operand, ArrayRef):
            return self.read(operand)
        return operand if isinstance(operand, Node) else self.builder.const(operand)

    def refuse(self, construct: str, reason: str, hint: str = "") -> Refused:
        return Refused(Refusal(construct, reason, self.builder.line, hint))

    # ------------------------------------------------------------------ values and operands

    def operand(self, value: Value) -> Operand:
        """A value as operators take it."""
        if isinstance(value, Static) and value.source is None and type(value.value) in PYTHON:
            return value.value
        if isinstance(value, (Node, ArrayRef)):
            return value
        return operand_values.Operands(self).read(value)

    def items_outside(self, held: list[Any], source: Source) -> tuple[Value, ...]:
        """The items of a list from outside."""
        return external.items(self, held, source)

    def iterations_outside(self, held: list[Any], source: Source) -> tuple[Value, ...]:
        """The same, where a loop goes through them."""
        return external.iterations(self, held, source)

    def value(self, operand: Operand) -> Value:
        """Makes an operator's result a value of the trace."""
        if isinstance(operand, (Node, ArrayRef)):
            return operand
        if isinstance(operand, Tensor):
            return TensorValue(operand.memory)
        if isinstance(operand, tuple):
            return Sequence(tuple(map(self.value, operand)), type(operand))
        if type(operand) is list:
            return self.allocate(list, tuple(map(self.value, operand)))
        if type(operand) is dict:
            return self.allocate(dict, {k: self.value(v) for k, v in operand.items()})
        if isinstance(operand, slice):
            return slices.Slice(*map(self.value, (operand.start, operand.stop, operand.step)))
        return Static(operand)

    def allocate(
        self, kind: type | None, contents: Any, source: Source | None = None
    ) -> HeapObject:
        place = self.place() if kind in traced_containers.PLACED else None
        wanted = self.requests.given.lists.get(place) if place is not None else None
        if isinstance(wanted, AsHashTable):
            return traced_containers.hashed(self, kind, contents, wanted)
        made = self.register(HeapObject(kind, source, place))
        if wanted is not None and isinstance(contents, tuple):
            contents = vectors.begin(self, contents, wanted)
        self.heap[made] = contents
        return made

    def place(self) -> Place:
        """The instruction being executed, and the calls around it."""
        return tuple(
            (frame.code.code, frame.instruction.offset if frame.instruction else -1)
            for frame in self.frames
        )

    def like(
        self, obj: HeapObject, *others: HeapObject, borrowed: bool = False,
        part_of: HeapObject | None = None,
    ) -> HeapObject:
        """A heap object that takes the place of another one, or of several."""
        made = obj.like(*others, borrowed=borrowed, part_of=part_of)
        self.generators.stands_for(made, obj, *others)
        return made

    def mark(self) -> Reached:
        """How far the way has come, the iterators that were run and the loop around, for
        `back_to`."""
        return self.way(), set(self.consumed), self.scope

    def back_to(self, mark: Reached) -> None:
        """Goes back to a mark, to try another way."""
        way, consumed, self.scope = mark
        self.consumed = set(consumed)
        self.reach(way)

    def way(self) -> Progress:
        """How far the way to the instruction at hand has come, for `reach`."""
        return self.writes, self.visible, self.aliases.listed

    def reach(self, *ways: Progress) -> None:
        """Goes on from where a way has come, or from where several meet."""
        writes, visible, listed = zip(*ways)
        self.writes, self.visible = max(writes), max(visible)
        self.aliases.goes_on(listed)

    def sees_union(self) -> None:
        """Notes that a value depends on the path that was taken."""
        self.undecided = True

    def token(self) -> object:
        """The identity of an iterator that the program makes here."""
        made = object()
        self.homes[made] = self.scope
        return made

    def register(self, made: Made) -> Made:
        """Notes that the program made a cell, box or object here."""
        self.created.append(made)
        self.homes[made] = self.scope
        return made

    def known(self, value: Value) -> tuple[bool, Any]:
        """Whether a value is known now, and the object that it is."""
        match value:
            case Static(held, source):
                if source is not None and type(held) is FunctionType:  # may become a key
                    self.inputs.guard(kinds.IdentityGuard(source, held))
                return (source is None or pinned(held)) and own(type(held)) <= SHOWN, held
            case Node(op="const", attrs=Const(number)):
                return True, number
            case Node(op="size", attrs=SizeOf(size)):
                size = self.facts.norm(size)
                return isinstance(size, int), size
            case Composite() if value.builds is not None:
                known = [self.known(x) for x in value.parts()]
                if all(ok for ok, _ in known):
                    return True, value.builds(*(x for _, x in known))
        return False, None

    def static(self, value: Value, what: str) -> Any:
        """The object that a value is; integers are made static by a guard on their value."""
        known, held = self.known(value)
        if not known and isinstance(value, Node) and value.type == PY_INT:
            known, held = self._pin(value)
        if not known:
            raise self.refuse(what, "depends on data that only the run knows")
        return held

    def _pin(self, node: Node) -> tuple[bool, int]:
        """Makes an integer static, by its value in this call."""
        size = self.builder.known_size(node)
        try:
            number = sizes.hint(self.facts.norm(size)) if size is not None else None
        except sizes.Unhinted:
            number = None
        if size is None or number is None:
            return False, 0
        return self.facts.equal(size, number), number

    # ------------------------------------------------------------------ operators

    def operate(self, operator: Callable[..., Operand], *values: Any) -> Value:
        """``operator(ctx, operands...)`` with values; strings and known objects pass as they are.

        Where an operator refuses because it needs a static number, the integers among its operands
        are made static and it is tried again.
        """
        operands = [self._unwrap(v) for v in values]
        mark, writes = self.builder.mark(), self.writes
        try:
            return self.value(operator(self, *operands))
        except Refused:
            pinned = [self._pinned(x) for x in operands]
            same = all(a is b for a, b in zip(operands, pinned))
            if same or self.writes != writes:
                raise
        self.builder.rollback(mark)
        return self.value(operator(self, *pinned))

    def _unwrap(self, value: Any) -> Operand:
        if isinstance(value, tuple):
            return tuple(map(self._unwrap, value))
        if isinstance(value, dict):
            return {key: self._unwrap(item) for key, item in value.items()}
        return value if isinstance(value, str) else self.operand(value)

    def _pinned(self, operand: Operand) -> Operand:
        """An operand with its integers made static; the very same object if it has none."""
        if isinstance(operand, Node):
            known, number = self._pin(operand) if operand.type == PY_INT else (False, 0)
            return number if known else operand
        if type(operand) in (tuple, list):
            items = [self._pinned(x) for x in operand]
            if any(a is not b for a, b in zip(operand, items)):
                return type(operand)(items)
        if type(operand) is dict:
            named = {key: self._pinned(x) for key, x in operand.items()}
            if any(named[key] is not operand[key] for key in operand):
                return named
        return operand

    # ------------------------------------------------------------------ calls and operators

    def call(
        self, function: Value, args: tuple[Value, ...], kwargs: dict[str, Value],
        plain: bool = False,
    ) -> Value:
        """``function(*args, **kwargs)``; ``plain``: the result goes on the stack, nothing else."""
        return calls.call(self, function, args, kwargs, plain)

    def call_for(
        self, given: tuple[Value, ...], function: Value, args: tuple[Value, ...],
        kwargs: dict[str, Value], plain: bool, drops: bool = True,
    ) -> Value:
        """Calls a function; ``given`` goes on the stack, then its result unless that is dropped."""
        return calls.call_for(self, given, function, args, kwargs, plain, drops)

    def call_record(self, function: Any, args: tuple[Value, ...]) -> Value:
        """Calls the record of a function of Python's."""
        return calls.record(self, function, args)

    def follow(
        self, function: Function, args: tuple[Value, ...], kwargs: dict[str, Value]
    ) -> Value:
        """Follows a function of ours in the place of a library's."""
        return functions.enter(self, function, args, kwargs, transparent=True)

    def inlines(self, function: Value) -> bool:
        """Whether a call only hands its arguments to a function of the program."""
        return calls.inlines(self, function)

    def executed(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Value:
        """The value that a function gives of known objects."""
        return operators.executed(self, function, *args, **kwargs)

    def binary(self, symbol: str, left: Value, right: Value, on_stack: bool = False) -> Value:
        """``left + right``, ``left += right``, ..."""
        return operators.binary(self, symbol, left, right, on_stack)

    def unary(self, symbol: str, value: Value, on_stack: bool = False) -> Value:
        """``-value``, ..."""
        return operators.unary(self, symbol, value, on_stack)

    def compare(self, symbol: str, left: Value, right: Value) -> Value:
        """``left < right``, ..."""
        return questions.compare(self, symbol, left, right)

    def items(self, value: Value) -> tuple[Value, ...]:
        """All items of something."""
        return iteration.items(self, value)

    def begin(self, value: Value) -> Position:
        """``iter(value)``, whose items are taken from now on."""
        return iteration.begin(self, value)

    def special_method(self, value: Value, name: str) -> Value | None:
        """The plain function of a value's class that an operator or statement calls with it."""
        return attributes.method(self, value, name)

    def negated(self, value: Value) -> Value:
        """``not value``, of a truth."""
        return questions.negated(self, value)

    def truth(self, value: Value) -> Value:
        """``bool(value)``"""
        return questions.truth(self, value)

    # ------------------------------------------------------------------ leaving for Python

    def resume(self) -> Resume:
        """Where Python goes on if a check made now fails."""
        if not self.visible:
            return Resume(())
        hidden = [k for k, frame in enumerate(self.frames) if frame.transparent]
        waiting = self.frames[: hidden[0]] if hidden else self.frames
        inner = waiting[-1]
        if self.writes != inner.writes:
            raise self.refuse("check", "an array was written before it in the same operation")
        if hidden and references.touched(self, self.frames[hidden[0]]):
            raise self.refuse("check", "a list was changed before it in the same operation")
        return Resume(self.trees.frames(waiting))

    def release(self) -> None:
        """Lets go of all values, and of the program's objects that they stand for."""
        vars(self).clear()

    def resume_with(self, outcome: Node) -> Resume:
        """Where Python goes on after the instruction at hand, with its result."""
        inner, result = self.frame, ObjectOf(outcome)
        return Resume(tuple([
            self.trees.frame(f, f is inner, result if f is inner else None) for f in self.frames
        ]))

    def called(self, how: Calling | None) -> AbstractContextManager[None]:
        """A ufunc that is emitted inside is called so by the program, unless a function of ours
        that takes the place of a library's is being followed."""
        ours = any(frame.transparent for frame in self.frames)
        return self.builder.called(None if ours else how)

    # ------------------------------------------------------------------ frames

    def _recur(self, code: Code) -> None:
        """Counts calls of functions by themselves, each of which is followed for its own values."""
        self.recursions += 1
        if self.recursions > RECURSIONS:
            much = f"calls itself more than {RECURSIONS} times"
            refusal = self.refuse(code.code.co_name, much).refusal
            raise Refused(replace(refusal, general=True))  # no graph break would help

    def enter(self, frame: Frame) -> Value:
        """Runs a frame to its end and returns what it returns."""
        code = frame.code
        if len(self.frames) >= DEEPEST:
            raise self.refuse(code.code.co_name, "calls are nested too deeply")
        for name in code.seeing:
            raise self.refuse(name, "sees variables that compiled code has let go")
        if not code.reducible:
            raise self.refuse(code.code.co_name, "its control flow is irreducible")
        if any(f.code is code for f in self.frames):
            self._recur(code)
        line = self.builder.line
        self.frames.append(frame)
        if len(self.frames) == 1:
            if self.requests.given.in_place or self.requests.given.arrays:
                external.begin(self)
            self.effects.expect()
        made, before = len(self.created), frame.notes_heap()
        if code.code.co_flags & GENERATORS:
            if len(self.frames) == 1:
                raise self.refuse(code.code.co_name, "is a generator function, or asynchronous")
            self.generators.begin(frame)
            frame.collects(self.allocate(list, ()))
        try:
            exits = control.run(self, frame, Successors({code.entry: frame.state}), set(code.order))
        finally:
            self.frames.pop()
        if not self.frames:
            return breaks.finish(self, frame, exits)
        if not exits.states:
            raise Unreachable
        end = exits.states[RETURN]
        self.frame.state.holds(end.heap)
        self.builder.at(line)
        frame.goes_on(end)
        if frame.yields is not None:
            token = self.generators.end(frame, made, before)
            if isinstance(end.heap[frame.yields], Vector):
                return iterators.VectorIterator((frame.yields,), token=token)
            return iterators.ItemsIterator(end.heap[frame.yields], token=token)
        return end.stack[-1]

    def free_variables(self, function: FunctionType, source: Source | None) -> tuple[Value, ...]:
        """The closure of a function from outside."""
        heap = function.__closure__ or ()
        names = function.__code__.co_freevars
        return tuple(Static(c, Closure(n, source)) for c, n in zip(heap, names))

    def contents(self, storage: Value) -> Value:
        """The contents of a closure cell."""
        if isinstance(storage, HeapObject):
            held: Value = self.heap[storage]
            return held
        assert (
            isinstance(storage, Static) and isinstance(storage.value, CellType) and storage.source
        )
        try:
            return self.inputs.lift(storage.value.cell_contents, storage.source)
        except ValueError:  # an empty cell
            return UNBOUND
