"""Generators are run to their end where they are made.

Python runs them piece by piece, between pieces of who consumes them.  Nobody can tell so long as

* nothing that a generator reads or looks at changes before it is done, and it writes nothing that
  others see, unless what follows takes all items at once;
* it comes to an end: its loops run over something.

All else is refused, as is an iterator over what a generator has read, where Python goes on with it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from numbers import Number
from typing import TYPE_CHECKING

from npcompile.core.paths import defer
from npcompile.frontend.bytecode import GENERATORS
from npcompile.graph.types import Scalar
from npcompile.ops.operands import ArrayRef, Storage
from npcompile.python.iterator import Iterator as Position
from npcompile.python.values import Frame, HeapObject, Static, Value, Vector, python_class
from npcompile.tracing.references import reached

if TYPE_CHECKING:
    from npcompile.python import iterators
    from npcompile.tracing.polyfills import consumers
    from npcompile.tracing.services import Tracer
else:
    defer(globals(), "npcompile.python", "iterators")
    defer(globals(), "npcompile.tracing.polyfills", "consumers")

_GENERATOR = 0x20  # CO_GENERATOR
#: what takes all items of an iterator; the first two whatever these are
_TAKERS = (list, tuple, sum, min, max, set, math.prod)
_HANDLING = frozenset({"PUSH_EXC_INFO", "BEFORE_WITH", "SEND", "GET_YIELD_FROM_ITER"})


class Generators:
    """Records which storages the generators of one trace have read and written, by the tokens of
    their iterators."""

    def __init__(self, t: Tracer) -> None:
        self.t = t
        self.running: list[set[Storage]] = []  # what those that are run now have read
        self.visible: list[int] = []  # what the caller could see when they began
        self.wrote: set[Storage] = set()  # and what they have written
        self.yielded: set[Storage] = set()
        self.read: dict[object, set[Storage]] = {}
        self.lists: set[Value] = set()  # that hold their items
        self.awaited: set[HeapObject] = set()  # lists, ... and variables that any may look at

    def reads(self, storage: Storage) -> None:
        """An array's memory is read."""
        for heap in self.running:
            heap.add(storage)

    def writes(self, storage: Storage, fresh: bool) -> None:
        """An array's memory is written; ``fresh``: it has had one name only."""
        if self.running:
            self.wrote.add(storage)
        if any(storage in heap or (heap and not fresh) for heap in self.read.values()):
            for value in self._waiting():
                read = self._behind(value)
                if storage in read or (read and not fresh):
                    raise self.t.refuse("generator", "reads what is written before it is done")

    def changes(self, obj: HeapObject) -> None:
        """A list, a dictionary, an instance or a variable that functions share changes."""
        if obj in self.awaited and self.waits():
            raise self.t.refuse("generator", "looks at what is changed before it is done")

    def stands_for(self, made: HeapObject, *objects: HeapObject) -> None:
        """A list, a dictionary, an instance or a variable takes the place of others."""
        if not self.awaited.isdisjoint(objects):
            self.awaited.add(made)

    def waits(self) -> bool:
        """Whether an iterator may give more of what a generator has computed."""
        return any(
            p.token in self.read or isinstance(p, iterators.LostIterator)
            or any(part in self.lists for part in p.over)
            for p in self._waiting()
        )

    def goes_on(self, items: Value, rest: Value) -> None:
        """Some items of a list are one of their own."""
        if items in self.lists:
            self.lists.add(rest)

    def pending(self, value: Position) -> bool:
        """Whether an iterator may go on with what a generator has read or looked at."""
        looked = self.awaited or self.t.effects.awaited
        if not looked and not any(self.read.values()):
            return False
        return any(p.gives_computed() or (looked and p.token in self.read)
                   for p in _positions([value], self.t))

    def _behind(self, value: Position) -> set[Storage]:
        """What the generator that an iterator goes on with has read."""
        if value.token in self.read:
            return self.read[value.token]
        if not value.gives_computed() or (
            isinstance(value, iterators.VectorIterator) and value.over[0] not in self.lists):
            return set()
        return set().union(*self.read.values())

    def _waiting(self) -> list[Position]:
        """The iterators that may give more items."""
        begun, roots = self.t.consumed, list[Value]()
        for frame in self.t.frames:
            held = [*frame.state.locals, *frame.closure]
            roots += [v for v in held if not (isinstance(v, Position) and v.token in begun)]
            roots += [*frame.state.stack, *frame.stack]
        return list(_positions(roots, self.t))

    # ------------------------------------------------------------------ functions

    def begin(self, frame: Frame) -> None:
        """A generator is made; refuses what can't be run at once."""
        t, code = self.t, frame.code
        self.visible.append(t.visible)
        self.running.append(set())
        given = list(reached([*frame.state.locals, *frame.closure], frame.state))
        for value in given:
            if isinstance(value, HeapObject):
                self.awaited.add(value)
            elif isinstance(value, iterators.ExternalListIterator):
                t.effects.looks(value.over[0])
        if _is_expression(frame):
            return
        unknown = (
            code.code.co_flags & GENERATORS != _GENERATOR
            or any(i.op in _HANDLING for block in code.blocks.values() for i in block)
            or any(code.blocks[header][0].op != "FOR_ITER" for header in code.loops)
            or any(isinstance(value, HeapObject) for value in given)
        )
        if unknown:
            raise t.refuse(code.code.co_name, "is a generator that may never end, or hears of its"
                           " end, or changes what others see")

    def yields(self, frame: Frame, value: Value) -> None:
        """A generator gives an item."""
        if _is_expression(frame):
            return
        for part in reached([value], frame.state):
            if isinstance(part, HeapObject):
                raise self.t.refuse("yield", "of a list, a dictionary or an instance")
            if isinstance(part, ArrayRef):
                self.yielded.add(part.storage)

    def end(self, frame: Frame, made: int, before: dict[Storage | HeapObject, object]) -> object:
        """A generator has been run; the token of the iterator over its items."""
        t, read, visible = self.t, self.running.pop(), self.visible.pop()
        own = set(t.created[made:])
        changed = t.visible > visible or self.wrote - own or any(
            isinstance(obj, HeapObject) and obj not in self.lists and t.heap.get(obj) is not held
            for obj, held in before.items()
        )
        expression = _is_expression(frame)
        if (changed and not (expression and self._all_taken(frame))) or (
            self.wrote & self.yielded and not expression
        ):
            raise t.refuse(frame.code.code.co_name, "is a generator that changes what others see")
        token = t.token()
        self.read[token] = read
        assert frame.yields is not None
        self.lists.add(frame.yields)
        if not self.running:
            self.wrote, self.yielded = set(), set()
        return token


    def _all_taken(self, frame: Frame) -> bool:
        """Whether the next instruction takes all items of the generator that a frame has run."""
        assert frame.yields is not None
        items = self.t.heap[frame.yields]
        numbers = isinstance(items.item, Scalar) if isinstance(items, Vector) else all(
            issubclass(python_class(item), Number) for item in items
        )
        for outer in reversed(self.t.frames):
            block, at = outer.code.blocks[outer.block], outer.instruction
            after = [i for i in block if at is not None and i.offset >= at.after]
            if not after or after[0].op != "RETURN_VALUE":
                called = [v.value for v in outer.state.stack[-2:] if isinstance(v, Static)]
                takers = _TAKERS if numbers else _TAKERS[:2]
                return bool(after) and (after[0].op == "LIST_EXTEND" or (
                    after[0].op == "CALL" and after[0].arg == 1
                    and any(function is taker for function in called for taker in takers)
                ))
        return False


def _is_expression(frame: Frame) -> bool:
    """Whether a generator is an expression, or a function of ours that is like one."""
    return frame.code.code.co_name == "<genexpr>" or frame.owner is consumers.OURS


def _positions(roots: list[Value], t: Tracer) -> Iterator[Position]:
    for value in reached(roots, t.frame.state):
        if isinstance(value, Position):
            yield value
