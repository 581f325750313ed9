"""The frame as the body sees it: numbers, symbols and addresses in SSA values.

Control flow is structured, so every join is known while it is written and gets its phis at once.
The frame itself holds what others look at: what kernels in functions of their own read is written
through, what they or host calls write stays there (*pinned*), and what an exit or the result hands
to Python is written on the way out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from npcompile.backends.cpu.frame import Frame
from npcompile.backends.cpu.scalar import Parts, register
from npcompile.backends.cpu.sizes import Slots
from npcompile.backends.cpu.text import Function, Value, literal
from npcompile.core.sizes import Atom, Size, Symbol, symbols
from npcompile.program.ir import (
    Alloc,
    Bind,
    Buffer,
    Call,
    Check,
    Exit,
    For,
    Free,
    If,
    ItemsResult,
    Kernel,
    Library,
    Load,
    Program,
    Result,
    ScalarResult,
    SizeValue,
    Statement,
    ViewResult,
    While,
)

Numbers = dict[Buffer, Parts]


@dataclass
class Use:
    """What some statements do to the frame."""

    exits: Sequence[Exit]
    reads: Counter[Buffer] = field(default_factory=Counter)  # numbers
    writes: Counter[Buffer] = field(default_factory=Counter)
    moves: set[Buffer] = field(default_factory=set)  # arrays that are made or freed
    pinned: set[Buffer] = field(default_factory=set)  # numbers that others write
    shared: set[Buffer | Symbol] = field(default_factory=set)  # what others read

    def count(self, buffer: Buffer) -> int:
        return self.reads[buffer] + self.writes[buffer]

    def block(self, body: Iterable[Statement], elsewhere: bool = False) -> Use:
        """Adds statements; ``elsewhere``: they run in functions of their own."""
        for statement in body:
            self._statement(statement, elsewhere)
        return self

    def _statement(self, statement: Statement, elsewhere: bool) -> None:
        match statement:
            case Kernel():
                self._kernel(statement, elsewhere or bool(statement.axes))
            case Alloc(buffer) | Free(buffer):
                self.moves.add(buffer)
            case Bind():
                self.reads[statement.buffer] += 1
            case Check():
                self.reads[statement.buffer] += 1
                self.block(statement.leaving, elsewhere)
                for result in self.exits[statement.number].held():
                    self.reads.update(numbers(result))
            case Library():
                self.reads.update(v.buffer for v in statement.inputs if v.buffer.kind == "scalar")
                self.writes.update(b for b in statement.outputs if b.kind == "scalar")
            case Call():
                touched = [view.buffer for view in statement.inputs] + list(statement.outputs)
                self.pinned.update(b for b in touched if b.kind == "scalar")
            case For():
                if elsewhere or statement.parallel:
                    sizes = (statement.start, statement.step, statement.stop)
                    self.shared.update(name for size in sizes for name in symbols(size))
                self.block(statement.body, elsewhere or statement.parallel)
            case While():
                self.block(statement.body, elsewhere)
                self.reads[statement.again] += 1
            case If():
                self.reads[statement.condition] += 1
                self.block((*statement.then, *statement.orelse), elsewhere)

    def _kernel(self, kernel: Kernel, elsewhere: bool) -> None:
        loads = [v.buffer for v in kernel.values if isinstance(v, Load)]
        stores = [store.buffer for store in kernel.stores]
        stores += [reduce.buffer for reduce in kernel.reductions]
        self.reads.update(b for b in loads if b.kind == "scalar")
        self.writes.update(b for b in stores if b.kind == "scalar")
        if elsewhere:
            self.shared.update(b for b in loads if b.kind == "scalar")
            self.pinned.update(b for b in stores if b.kind == "scalar")
            self.shared.update(name for size in _sizes(kernel) for name in symbols(size))


def numbers(result: Result) -> Iterator[Buffer]:
    """The numbers that a result is made of."""
    if isinstance(result, ScalarResult):
        yield result.buffer
    elif isinstance(result, ItemsResult):
        for item in result.items:
            yield from numbers(item)


def names(result: Result) -> Iterator[Symbol]:
    """The symbols in the sizes of a result's views."""
    if isinstance(result, ViewResult):
        window = result.window
        for size in (window.offset, *window.shape, *window.strides):
            yield from symbols(size)
    elif isinstance(result, ItemsResult):
        for item in result.items:
            yield from names(item)


def _sizes(kernel: Kernel) -> Iterator[Size]:
    places = [v.at for v in kernel.values if isinstance(v, Load)]
    places += [store.at for store in kernel.stores]
    places += [reduce.at for reduce in kernel.reductions]
    for at in places:
        yield from (at.offset, *at.coefficients)
    yield from (axis.extent for axis in kernel.axes)
    yield from (v.size for v in kernel.values if isinstance(v, SizeValue))
    yield from (reduce.chunk for reduce in kernel.reductions)


class Registers(Slots):
    """Slots of the one function that runs a program's statements."""

    def __init__(self, f: Function, frame: Frame, pointer: Value, program: Program) -> None:
        super().__init__(f, frame, pointer)
        self.own = f.module.memory("frame")
        self.exits = program.resumes
        self.whole = Use(self.exits).block(program.body)
        self.whole.reads.update(numbers(program.result))
        self.numbers: Numbers = {}
        self.places: dict[Buffer, Value] = {}
        self.names: dict[Symbol, Value] = {}
        self.known: dict[Size | Atom, Value] = {}
        self._given: dict[Buffer | Symbol, Parts] = {}  # parameters, read at entry

    @property
    def sizes(self) -> dict[Size | Atom, Value]:
        return self.known

    def notes(self, buffer: Buffer) -> str:
        """The entry sees to it that no array that is written shares memory with another."""
        return self.own if buffer.kind == "scalar" else self.f.module.memory(buffer)

    # ------------------------------------------------------------------ numbers

    def holds(self, buffer: Buffer) -> bool:
        return buffer.kind == "scalar" and buffer not in self.whole.pinned

    def number(self, buffer: Buffer) -> Parts:
        if not self.holds(buffer):
            return super().number(buffer)
        if buffer in self.numbers:
            return self.numbers[buffer]
        if buffer.index < 0:  # nothing was stored yet
            zero = literal(register(buffer.dtype), 0)
            return (zero,) * (2 if buffer.dtype.kind == "c" else 1)
        if buffer not in self._given:
            with self.f.at_entry():
                self._given[buffer] = super().number(buffer)
        return self._given[buffer]

    def set_number(self, buffer: Buffer, parts: Parts) -> None:
        if self.holds(buffer):
            self.numbers[buffer] = parts
        if buffer in self.whole.shared or not self.holds(buffer):
            super().set_number(buffer, parts)

    def flush(self, result: Result) -> None:
        """Writes what boxing a result reads."""
        for buffer in numbers(result):
            if self.holds(buffer) and buffer.index < 0:
                super().set_number(buffer, self.number(buffer))
        for name in dict.fromkeys(names(result)):
            if name in self.names:
                super().set_symbol(name, self.names[name])

    # ------------------------------------------------------------------ symbols and addresses

    def symbol(self, name: Symbol) -> Value:
        if name in self.names:
            return self.names[name]
        if name not in self._given:
            with self.f.at_entry():
                self._given[name] = (super().symbol(name),)
        return self._given[name][0]

    def set_symbol(self, name: Symbol, value: Value) -> None:
        self.names[name] = value
        if name in self.whole.shared:
            super().set_symbol(name, value)

    def data(self, buffer: Buffer) -> Value:
        if buffer in self.places:
            return self.places[buffer]
        if buffer.kind != "param":
            return super().data(buffer)
        if buffer not in self._given:
            with self.f.at_entry():
                self._given[buffer] = (super().data(buffer),)
        return self._given[buffer][0]

    def set_data(self, buffer: Buffer, pointer: Value) -> None:
        super().set_data(buffer, pointer)
        self.places[buffer] = pointer

    # ------------------------------------------------------------------ blocks

    @contextmanager
    def inside(self) -> Iterator[None]:
        """What is written inside is known inside only."""
        before = self.numbers, self.places, self.names, self.known
        self.numbers, self.places = dict(self.numbers), dict(self.places)
        self.names, self.known = dict(self.names), dict(self.known)
        yield
        self.numbers, self.places, self.names, self.known = before

    def joined(self, statement: Statement) -> list[Buffer]:
        """The numbers that a statement with blocks changes for others to see, itself in another
        turn included.  Addresses that change are unknown from here on."""
        use = Use(self.exits).block((statement,))
        for buffer in use.moves:
            self.places.pop(buffer, None)
        return [b for b in use.writes if self.holds(b) and use.count(b) < self.whole.count(b)]

    def get(self, buffers: Sequence[Buffer]) -> list[Value]:
        """The parts of several numbers in a row."""
        return [part for buffer in buffers for part in self.number(buffer)]

    def set(self, buffers: Sequence[Buffer], values: Sequence[Value]) -> None:
        """Gives several numbers the values of a join; the frame has them already."""
        rest = iter(values)
        for buffer in buffers:
            self.numbers[buffer] = tuple(next(rest) for _ in self.number(buffer))
