"""The behaviour of Python's types: one class for each, one file for each class.

Values have two protocols.  *Structure* is what a value consists of: :class:`.values.Composite`.
*Behaviour* is what the language asks of it, ``container[key]``, ``len(x)``, ``for``, ``with``: a
:class:`PythonType`, which :func:`.registry.view` makes of a value.  A value's own class says how it
is represented, not what type it has (a ``dict`` is one that the program made, or an external one),
so a class of this protocol has one subclass for each representation where they differ.

:class:`Tracing` is all that this room knows of tracing.
"""

from __future__ import annotations

from collections.abc import Callable, Sized
from typing import Any, ClassVar, Protocol

import numpy as np

from npcompile.core.sizes import Size
from npcompile.graph.ir import Node
from npcompile.guards.class_hooks import ask
from npcompile.guards.sources import Attribute, Source
from npcompile.ops.operands import Context
from npcompile.python.iterator import Iterator
from npcompile.python.values import (
    NULL,
    Frame,
    HeapObject,
    Static,
    Value,
    Vector,
    boolean,
    described,
)

#: objects whose length and truth stay what they are
LASTING = (str, bytes, tuple, range, frozenset, bool, int, float, complex, np.generic, np.dtype)


class Lookups(Protocol):
    """Searches for a key that only the run knows, among keys that are known."""

    def item(self, held: dict[Any, Value], key: Value, default: Value | None = None) -> Value: ...
    def replaced(self, held: dict[Any, Value], key: Value, value: Value) -> dict[Any, Value]: ...
    def equal_item(self, items: tuple[Value, ...], item: Value) -> Value: ...
    def among(self, keys: list[Any], key: Value) -> Value: ...
    def chosen(self, items: tuple[Value, ...], index: Node) -> Value: ...
    def wants_table(self, obj: HeapObject, key: Value, value: Value) -> bool: ...


class Texts(Protocol):
    """Strings and bytes whose characters only the run knows."""

    def item(self, text: Value, key: Value) -> Value: ...
    def item_of_constant(self, held: str | bytes, key: Value) -> Value | None: ...
    def length(self, text: Value) -> Value: ...
    def holds(self, text: Value, item: Value) -> Value | None: ...


class PendingEffects(Protocol):
    """The stores to external objects, which happen when the call ends."""

    def load(self, target: Value, name: Any) -> Value | None: ...
    def put(self, target: Value, key: Any, value: Value) -> bool: ...
    def looks(self, target: Value) -> None: ...
    def added(self, target: Static) -> list[Any]: ...
    def removed(self, target: Static) -> set[Any]: ...
    def remove(self, target: Static, keys: tuple[Any, ...]) -> bool: ...


class Guarding(Protocol):
    """The guards of a trace, and the external values that it uses."""

    def guard_length(self, source: Source, held: Sized) -> None: ...
    def guard_keys(self, source: Source, held: dict[Any, Any]) -> None: ...
    def guard_class(self, source: Source, kind: type) -> None: ...
    def guard_code(self, source: Source, function: Any) -> None: ...
    def guard_presence(self, source: Attribute, there: bool) -> None: ...
    def lift(self, held: Any, source: Source) -> Value: ...
    def wants_text(self, value: Value) -> None: ...


class SuspendedGenerators(Protocol):
    """The generators that may still look at what changes."""

    def changes(self, obj: HeapObject) -> None: ...
    def goes_on(self, items: Value, rest: Value) -> None: ...


class Vectors(Protocol):
    """The lists whose length only the run knows."""

    def same_length(self, a: Node, b: Node) -> bool: ...
    def size(self, held: Vector) -> Size: ...
    def load(self, obj: HeapObject, held: Vector, at: Size) -> Value: ...
    def rest(
        self, obj: HeapObject, held: Vector, start: Size, count: Size, step: int
    ) -> HeapObject: ...


class Tracing(Context, Protocol):
    """The services of tracing that Python's types use, beside an operator's: at most 30."""

    @property
    def heap(self) -> dict[Any, Any]: ...
    @property
    def inputs(self) -> Guarding: ...
    @property
    def effects(self) -> PendingEffects: ...
    @property
    def generators(self) -> SuspendedGenerators: ...
    @property
    def lookups(self) -> Lookups: ...
    @property
    def texts(self) -> Texts: ...
    @property
    def vectors(self) -> Vectors: ...
    def known(self, value: Value) -> tuple[bool, Any]: ...
    def static(self, value: Value, what: str) -> Any: ...
    def value(self, operand: Any) -> Value: ...
    def operand(self, value: Value) -> Any: ...
    def operate(self, operator: Callable[..., Any], *values: Any) -> Value: ...
    def allocate(
        self, kind: type | None, contents: Any, source: Source | None = None
    ) -> HeapObject: ...
    def call(
        self, function: Value, args: tuple[Value, ...], kwargs: dict[str, Value],
        plain: bool = False,
    ) -> Value: ...
    def call_for(
        self, given: tuple[Value, ...], function: Value, args: tuple[Value, ...],
        kwargs: dict[str, Value], plain: bool, drops: bool = True,
    ) -> Value: ...
    def follow(
        self, function: Any, args: tuple[Value, ...], kwargs: dict[str, Value]
    ) -> Value: ...
    def inlines(self, function: Value) -> bool: ...
    def enter(self, frame: Frame) -> Value: ...
    def binary(self, symbol: str, left: Value, right: Value) -> Value: ...
    def special_method(self, value: Value, name: str) -> Value | None: ...
    def items(self, value: Value) -> tuple[Value, ...]: ...
    def begin(self, value: Value) -> Iterator: ...
    def token(self) -> object: ...
    def truth(self, value: Value) -> Value: ...
    def compare(self, symbol: str, left: Value, right: Value) -> Value: ...


class PythonType:
    """The behaviour of a value of one type; by default Python's, to which the call is left.

    ``METHODS`` are the descriptors of the type's methods that can be followed, those by which it
    answers ``|`` or ``+=`` among them; the class has a method of the same name and parameters for
    each.  ``subclasses``: classes that inherit from the
    type behave alike, unless they say otherwise.
    """

    METHODS: ClassVar[tuple[Any, ...]] = ()
    subclasses: ClassVar[bool] = False

    def __init__(self, t: Tracing, value: Any) -> None:
        self.t = t
        self.value = value

    @classmethod
    def construct(cls, t: Tracing, /, *args: Any, **kwargs: Any) -> Value:
        """``type(...)``; NULL where the general rules for calls apply.  Parameters have the names
        that the type gives them: calls that do not fit are Python's."""
        return NULL

    @classmethod
    def of(cls, t: Tracing, value: Value) -> PythonType:
        """The behaviour of a value, by its representation."""
        return cls(t, value)

    @classmethod
    def external(cls, inputs: Guarding, held: Any, source: Source) -> Value:
        """The value of an external object whose parts are looked at, with its guards."""
        raise NotImplementedError

    def getitem(self, key: Value) -> Value:
        """``value[key]``"""
        raise self.t.refuse("subscript", f"of {described(self.value)} is left to Python")

    def setitem(self, key: Value, value: Value) -> None:
        """``value[key] = value``"""
        raise self.t.refuse("change", f"of {described(self.value)} is left to Python")

    def delitem(self, key: Value) -> None:
        """``del value[key]``"""
        raise self.t.refuse("change", f"of {described(self.value)} is left to Python")

    def contains(self, item: Value) -> Value:
        """``item in value``: TRUE, FALSE or a traced bool."""
        if isinstance(self.value, Node):
            raise self.t.refuse("in", "of an array is left to Python")
        wanted = self.t.static(item, "in")
        return boolean(wanted in [self.t.static(x, "in") for x in self.t.items(self.value)])

    def length(self) -> Value | None:
        """``len(value)``; None if it has none that is known here."""
        if not isinstance(self.value, Static) or not hasattr(self.value.value, "__len__"):
            return None
        held = self.value.value
        ask(self.t, held, "len")
        if self.value.source is not None and not isinstance(held, LASTING):
            raise self.t.refuse("len", f"of a {type(held).__name__} that may change")
        return Static(len(held))

    def truth(self) -> Value | None:
        """``bool(value)``: TRUE, FALSE or a traced bool; None: the truth of a number or array."""
        return None

    def attribute(self, name: str, plain: bool = False) -> Value | None:
        """``value.name``, where that is no method; None: it is left to Python.  ``plain``: it goes
        on the stack, nothing else."""
        return None

    def has_attribute(self, name: str) -> bool | None:
        """``hasattr(value, name)``; None: as its class has it."""
        return None

    def assign(self, name: str, value: Value, plain: bool = False) -> bool:
        """``value.name = value``; false: no class of a type does it.  ``plain``: nothing else is
        done."""
        return False

    def method(self, name: str) -> Value | None:
        """The function that ``value.name(...)`` calls with ``value`` first; None: the one that the
        general rules for attributes find."""
        return None

    def call(
        self, args: tuple[Value, ...], kwargs: dict[str, Value], plain: bool = False
    ) -> Value:
        """``value(*args, **kwargs)``; ``plain``: the result goes on the stack, nothing else."""
        raise self.t.refuse("call", f"of {described(self.value)}")

    def inlines(self) -> bool:
        """Whether a call only hands its arguments to a function of the program."""
        return False

    def iterate(self) -> Iterator:
        """``iter(value)``"""
        raise self.t.refuse("iteration", f"over {described(self.value)} is left to Python")

    def unpacked(self, exactly: int = -1) -> tuple[Value, ...]:
        """All items; ``exactly``: how many the program wants (-1: all there are)."""
        iterator = self.t.begin(self.value)
        count = iterator.left(self.t)
        if count is None and exactly >= 0 and self.has(exactly):
            count = exactly
        if count is None:
            raise self.t.refuse("unpacking", "of as many items as only the run knows")
        return tuple([iterator.item(self.t, iterator.position + k) for k in range(count)])

    def has(self, count: int) -> bool:
        """Whether there are so many items where only the run knows, which is guarded."""
        return False

    def enter(self) -> tuple[Value, Value]:
        """What a ``with`` statement begins with: the bound ``__exit__``, and the result of
        ``__enter__``."""
        raise self.t.refuse("with", "is left to Python")
