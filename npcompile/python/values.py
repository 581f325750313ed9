"""The values that a traced program computes with.

::

    value ::= Node                      a number (its type is a Scalar)
            | ArrayRef                  an array object; identity by object
            | Static(object, source)    known while tracing
            | Sequence(kind, items)     tuple or named tuple
            | TensorValue(memory)       torch tensor
            | HeapObject                list, dict, instance or closure cell; contents: State.heap
            | Object                    something that only library calls look into
            | TaggedUnion(tag, options) one of several values, which only the run knows
            | Iterator                  where a loop stands
            | Composite                 another one that is made of values, which stands beside its
                                        type: slice, function, bound method, string as data
            | NULL | UNBOUND
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, Union

import numpy as np

from npcompile.core.errors import Refused, refuse
from npcompile.core.paths import defer
from npcompile.core.records import field, field_names, record, replace
from npcompile.frontend.bytecode import NEXT, Code, Instruction
from npcompile.graph.ir import Node
from npcompile.graph.items import AnyOrigin, Line, Row
from npcompile.graph.types import Array, Scalar, Type
from npcompile.guards.class_hooks import SHOWN, own
from npcompile.guards.sources import Source
from npcompile.ops.operands import ArrayRef, Storage
from npcompile.python.composite import Composite, Read, Reader
from npcompile.python.iterator import Iterator

if TYPE_CHECKING:
    from npcompile.core import tuples
    from npcompile.python.polyfills import containers
    from npcompile.tensors import tensor_memory
else:
    defer(globals(), "npcompile.core", "tuples")
    defer(globals(), "npcompile.tensors", "tensor_memory")
    defer(globals(), "npcompile.python.polyfills", "containers")


_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE


#: longest tuple or list whose items are looked at one by one
LONGEST = 256


class Marker:
    """A stack slot or variable without a value."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> str:
        return self.name  # there is one of each

    def read_by(self, reader: Reader[Read]) -> Read:
        return reader.refused(self)


NULL = Marker("NULL")
UNBOUND = Marker("UNBOUND")


@record(eq=False)
class Static:
    """An object that is known; ``source`` says where it is found at each call (None: a constant).

    Lists, dicts and tuples that have a source are guarded item by item, when items are used.
    """

    value: Any
    source: Source | None = None

    def read_by(self, reader: Reader[Read]) -> Read:
        return reader.read_constant(self)


@record(eq=False)
class Sequence(Composite):
    """A tuple, or a named tuple of class ``kind``; ``whole``: the object, if it is from outside."""

    items: tuple[Value, ...]
    kind: type = tuple
    whole: Static | None = None

    joins = renewed = takes_after = True

    @property
    def python_class(self) -> type:
        return self.kind

    @property
    def builds(self) -> Any:
        """Makes the tuple; None where its class has code of its own beside what shows it."""
        return functools.partial(made, self.kind) if own(self.kind) <= SHOWN else None

    def parts(self) -> tuple[Value, ...]:
        return self.items

    def rebuilt(self, parts: Iterable[Value]) -> Value:
        return Sequence(tuple(parts), self.kind)

    def label(self) -> type:
        return self.kind

    def resembling(self, value: Value) -> Value:
        if isinstance(value, Static) and type(value.value) is tuple and value.source is None:
            return Sequence(tuple(map(Static, value.value)))
        return value

    def is_object_of(self, other: Value) -> bool:
        assert isinstance(other, Sequence)
        mine, others = self.whole, other.whole
        return mine is not None and others is not None and mine.source == others.source

    def read_by(self, reader: Reader[Read]) -> Read:
        return reader.read_tuple(self)


class Showing(Composite):
    """A value that shows one array."""

    __slots__ = ()
    joins = renewed = takes_after = True

    @property
    def array(self) -> ArrayRef:
        """The array that it shows."""
        (shown,) = self.parts()
        assert isinstance(shown, ArrayRef)
        return shown

    def rebuilt(self, parts: Iterable[Value]) -> Value:
        """The same of another array; of one of several arrays, it is one of several itself."""
        (shown,) = parts
        if isinstance(shown, TaggedUnion):
            return shown.rebuilt([self.rebuilt((option,)) for option in shown.options])
        return replace(self, **{field_names(self)[0]: shown})  # type: ignore[index]


@record(eq=False)
class TensorValue(Showing):
    """A torch tensor and the array that is its memory."""

    memory: Value

    @property
    def python_class(self) -> type:
        found: type = tensor_memory.tensor_class()
        return found

    def read_by(self, reader: Reader[Read]) -> Read:
        return reader.read_tensor(self)

    def parts(self) -> tuple[Value, ...]:
        return (self.memory,)

    def label(self) -> None:
        return None


@record(eq=False)
class HeapObject:
    """Something mutable that the program made: its contents are the state's to know.

    ``kind`` is list (contents: tuple of values, or :class:`Vector`), dict (a dict, replaced when
    changed), the class of an instance or of a model of a container (a dict of attributes) or None
    for a closure cell (its value).
    """

    kind: type | None
    source: Source | None = None  # of the class of an instance
    place: Any = None  # where the program made a list
    borrowed: bool = False  # whether it stands for a list that one of unknown length holds
    part_of: HeapObject | None = None  # the list of lists whose columns it shows

    def like(
        self, *others: HeapObject, borrowed: bool = False, part_of: HeapObject | None = None
    ) -> HeapObject:
        """A new one in its place, or in that of several."""
        borrowed = borrowed or any(obj.borrowed for obj in (self, *others))
        return HeapObject(self.kind, self.source, self.place, borrowed, part_of)

    def read_by(self, reader: Reader[Read]) -> Read:
        if self.kind is list:
            return reader.read_list(self)
        return reader.read_dict(self) if self.kind is dict else reader.read_instance(self)


@record
class Fetched:
    """The type of an external list that is read where it is (:mod:`.unboxed_lists`)."""

    kind: Kind


#: a number, one of several types of numbers, a tuple, or a list of such items
Kind = Union[Scalar, "frozenset[Scalar]", "tuple[Kind, ...]", Fetched]
Item = Union[Scalar, Array, AnyOrigin, Row, Line, Fetched, "frozenset[Scalar]", "tuple[Item, ...]"]
#: where the columns of a list lie: arrays of its own, views of those of the list that holds it, the
#: addresses of an external list's items (one column), arrays that an external list was copied to
Home = Literal["own", "shown", "boxed", "copied"]


@record(eq=False)
class Vector:
    """What a list holds whose length only the run knows, see :mod:`npcompile.tracing.vectors`.

    ``item`` is the type of its items: a number, an array, a tuple or list; ``columns`` hold
    the numbers, and whether they are NumPy's where that is each one's own; ``grows``: they have
    room for more; ``home``: where they lie.
    """

    length: Node
    columns: tuple[ArrayRef, ...]
    item: Item
    grows: bool
    home: Home = "own"

    @property
    def external(self) -> bool:
        """Whether the list is the caller's or a part of it: compiled code only reads it."""
        return self.home in ("boxed", "copied")

    def map(self, number: Callable[[Node], Node], array: Callable[[ArrayRef], Any]) -> Vector:
        """The same list elsewhere."""
        return replace(self, length=number(self.length), columns=tuple(map(array, self.columns)))


@record(eq=False)
class Object:
    """An object of class ``kind`` that ``node`` holds; ``sample`` is one of its kind, which results
    are predicted with."""

    node: Node
    kind: type
    sample: Any

    def read_by(self, reader: Reader[Read]) -> Read:
        return reader.read_object(self)


@record(eq=False)
class TaggedUnion(Composite):
    """What depends on the path that was taken: ``options[k]`` where ``tag``, a traced int, is
    ``codes[k]``.  Options that are numbers differ in their types.  Nobody looks at such a value:
    instructions that would are traced once for each option (see :mod:`.unions`)."""

    tag: Node
    codes: tuple[int, ...]
    options: tuple[Value, ...]

    def parts(self) -> tuple[Value, ...]:
        return self.options

    def rebuilt(self, parts: Iterable[Value]) -> TaggedUnion:
        return replace(self, options=tuple(parts))

    def label(self) -> tuple[Any, ...]:
        return self.tag, self.codes

    def read_by(self, reader: Reader[Read]) -> Read:
        return reader.read_union(self)


def sequence(items: tuple[Value, ...], kind: type = tuple) -> Value:
    """A tuple of values."""
    return Sequence(items, kind)


Value = Union[
    Node, ArrayRef, Static, Sequence, TensorValue, HeapObject, Object, TaggedUnion, Iterator,
    Composite, Marker,
]


class Unreachable(Exception):
    """Whatever comes next is never reached: Python raises here."""


NONE, TRUE, FALSE = Static(None), Static(True), Static(False)
EMPTY = Sequence(())


def boolean(value: bool) -> Static:
    return TRUE if value else FALSE


@record(eq=False, frozen=False)
class State:
    """All that changes while code runs: variables, stack, and what cells and heap objects hold.

    ``heap`` maps an array's Cell to its current version and a heap object to its contents; a Cell
    that is not there still has its first version.  Copies are cheap and independent.
    """

    locals: list[Value]
    stack: list[Value]
    heap: dict[Storage | HeapObject, Any]

    def copy(self) -> State:
        return State(list(self.locals), list(self.stack), dict(self.heap))

    def holds(self, heap: dict[Storage | HeapObject, Any]) -> None:
        """From now on cells and heap objects hold what they do in another state."""
        self.heap = heap


@record(eq=False, frozen=False)
class Scope:
    """A loop whose body is being traced: the versions that its iterations begin with.

    A cell from outside gets a parameter when it is first looked at; ``before`` is the state of
    cells where the loop begins, ``made`` gives a parameter its initial value.
    """

    before: dict[Storage | HeapObject, Any]
    outer: Scope | None
    param: Callable[[Type], Node]
    params: dict[Storage, Node] = field(default_factory=dict)
    inits: dict[Storage, Node] = field(default_factory=dict)

    def version(self, storage: Storage, home: Scope | None) -> Node:
        """What a cell, made in the loop ``home`` around this one, holds as an iteration begins."""
        found = self.params.get(storage)
        if found is None:
            found = self.inits[storage] = self.initial(storage, home)
            found = self.params[storage] = self.param(found.type)
        return found

    def take_back(self, count: int) -> list[tuple[Node, Node]]:
        """Takes back the parameters made since there were ``count``: they, and what they begin
        with."""
        heap = list(self.params)[count:]
        return [(self.params.pop(storage), self.inits.pop(storage)) for storage in heap]

    def initial(self, storage: Storage, home: Scope | None) -> Node:
        """What it holds where the loop begins."""
        found: Node | None = self.before.get(storage)
        if found is not None:
            return found
        if self.outer is None or self.outer is home:
            return storage.first
        return self.outer.version(storage, home)


@record(eq=False, frozen=False)
class Successors:
    """Where a region of code can go on: a state per target (a block, or RETURN).

    No targets: every path raises.  ``selector`` is the node that tells several apart.
    """

    states: dict[int, State]
    selector: Node | None = None


@record(eq=False, frozen=False)
class Frame:
    """One activation of a function.

    ``space`` are its globals, found through ``owner``.  ``instruction`` of ``block`` is being
    executed and found ``stack`` when it began, when ``writes`` versions had been written: that is
    where a failed check goes back to.  ``resumable``: the caller waits in a plain call.
    ``transparent``: where a check fails in it, Python executes the instruction that called it anew.
    ``before`` is what cells and heap objects held when it was entered.
    ``allowed`` are the blocks that may be run now, ``followed`` counts the iterations of ``while``
    loops that are followed one by one, by header, ``unrolled`` are those that can't be a region
    and why; ``regions`` counts the loops whose bodies are being traced.
    """

    code: Code
    space: dict[str, Any]
    owner: Source | None
    closure: tuple[Value, ...]
    state: State
    resumable: bool = True
    transparent: bool = False
    block: int = 0
    instruction: Instruction | None = None
    stack: list[Value] = field(default_factory=list)
    writes: int = 0
    visits: dict[int, int] = field(default_factory=dict)
    allowed: set[int] = field(default_factory=set)
    followed: dict[int, int] = field(default_factory=dict)
    unrolled: dict[int, Refused] = field(default_factory=dict)
    regions: int = 0
    before: dict[Storage | HeapObject, Any] = field(default_factory=dict)
    yields: HeapObject | None = None

    def goes_on(self, state: State) -> None:
        """Goes on with another state."""
        self.state = state

    def enters(self, block: int, state: State, instruction: Instruction | None = None) -> None:
        """Goes to a block, or to an instruction of it."""
        self.block, self.state = block, state
        self.instruction = self.instruction if instruction is None else instruction

    def begins(self, instruction: Instruction, stack: list[Value], writes: int) -> None:
        """Begins to execute an instruction, to which a failed check goes back."""
        self.instruction, self.stack, self.writes = instruction, list(stack), writes

    def back_to(self, before: Frame) -> None:
        """Goes back to the place where a copy of it stands."""
        self.state, self.block, self.stack = before.state, before.block, before.stack
        self.instruction, self.writes = before.instruction, before.writes
        self.regions, self.allowed = before.regions, before.allowed

    def enters_loop(self) -> None:
        """Begins to trace the body of a loop."""
        self.regions += 1

    def leaves_loop(self) -> None:
        """Has traced the body of a loop."""
        self.regions -= 1

    def notes_heap(self) -> dict[Storage | HeapObject, Any]:
        """Notes what cells and heap objects hold as the frame is entered, and returns it."""
        self.before = dict(self.state.heap)
        return self.before

    def allows(self, blocks: set[int]) -> None:
        """Runs no other blocks now."""
        self.allowed = blocks

    def collects(self, items: HeapObject) -> None:
        """The function is a generator's, whose items a list gets."""
        self.yields, self.transparent = items, True

    def live(self, target: int) -> set[int]:
        """The variables that are read from a target on."""
        if target == NEXT:
            assert self.instruction is not None
            return self.code.live_at(self.block, self.instruction.after)
        return self.code.live[target]


def made(kind: Any, *items: Any) -> Any:
    """`assembled`, of items one by one."""
    return assembled(kind, items)


def assembled(kind: Any, items: Iterable[Any]) -> Any:
    """A tuple, one of a class of its own, or another sequence of these items."""
    if not issubclass(kind, tuple):
        return kind(*items)
    return tuple.__new__(kind, items) if tuples.reads_as_tuple(kind) else kind(items)


def python_class(value: Value) -> type:
    """``type(value)`` as the program sees it."""
    if isinstance(value, Node):
        assert isinstance(value.type, Scalar)
        kind: type = value.dtype.type if value.type.origin == "np" else value.type.python_type
        return kind
    if isinstance(value, Static):
        return type(value.value)
    if isinstance(value, HeapObject) and value.kind is not None:
        return value.kind.of if issubclass(value.kind, containers.Model) else value.kind
    if isinstance(value, Object):
        return value.kind
    if isinstance(value, TaggedUnion):
        raise refuse("type", "of a value that depends on the path that was taken")
    if isinstance(value, Composite):
        return value.python_class
    return np.ndarray if isinstance(value, ArrayRef) else object


def is_model(value: Value) -> bool:
    """Whether it is a container whose methods are followed as Python code."""
    kind = value.kind if isinstance(value, HeapObject) else None
    return kind is not None and issubclass(kind, containers.Model)


def is_of_user(value: Value) -> bool:
    """Whether a value's class, and all that it inherits from, is written in Python."""
    if is_model(value):
        return False
    if not isinstance(value, (HeapObject, Static, Object)):
        return False
    kind = python_class(value)
    if issubclass(kind, type) or kind is object:
        return False
    return all(base is object or base.__flags__ & _HEAP_TYPE for base in kind.__mro__)


def shown(value: Value) -> ArrayRef:
    """The array that a tensor or a string shows."""
    assert isinstance(value, Showing)
    return value.array


def is_tensor(value: Any) -> bool:
    """Whether a value is a torch tensor."""
    return isinstance(value, TensorValue)


def described(value: Value) -> str:
    """The kind of a value in the user's terms, with an article, for messages."""
    if isinstance(value, TaggedUnion):
        return "a value that depends on the path that was taken"
    if isinstance(value, ArrayRef):
        return "an array"
    if isinstance(value, Marker):
        return value.name
    if isinstance(value, Iterator):
        kind = "iterator"
    elif isinstance(value, Static) and isinstance(value.value, type):
        return f"the class {value.value.__name__}"
    else:
        kind = python_class(value).__name__
    return f"an {kind}" if kind[0] in "aeiouAEIOU" else f"a {kind}"
