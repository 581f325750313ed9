"""The frame as the body sees it: numbers, symbols and addresses in SSA values.

Control flow is structured, so every join is known while it is written and gets its phis at once.
The frame itself holds what others look at: what kernels in functions of their own read is written
through, what they or host calls write stays there (*pinned*), and what an exit or the result hands
to Python is written on the way out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from npcompile.backends.cpu.llvm.access import along
from npcompile.backends.cpu.llvm.frame import FrameLayout
from npcompile.backends.cpu.llvm.scalar import Parts, register
from npcompile.backends.cpu.llvm.sizes import Slots
from npcompile.backends.cpu.llvm.text import COUNT, LLVMFunction, Value, literal
from npcompile.core.sizes import Atom, Size, Symbol, bound, symbols
from npcompile.graph.ir import Columns
from npcompile.program.ir import (
    Alloc,
    Bind,
    Buffer,
    BufferResult,
    Call,
    Edge,
    For,
    Free,
    If,
    ItemsResult,
    Kernel,
    Load,
    Program,
    Result,
    RoutineCall,
    ScalarResult,
    SideExit,
    SizeValue,
    Statement,
    Swap,
    ViewResult,
    While,
)

Numbers = dict[Buffer, Parts]
#: a loop's symbol, and addresses that its iterations count from, by what they are to the array's
Rows = tuple[Symbol, dict[tuple[Buffer, Size], Value]]


class Span(NamedTuple):
    """Where a statement with blocks begins and ends: among all uses of numbers, their writes, and
    what makes or frees arrays."""

    uses: tuple[int, int]
    writes: tuple[int, int]
    moves: tuple[int, int]


class Use:
    """What a program does to the frame, in one walk."""

    def __init__(self, program: Program) -> None:
        self.exits = program.resumes
        self.pinned: set[Buffer] = set()  # numbers that others write
        self.shared: set[Buffer | Symbol] = set()  # what kernels and calls read
        self.sent: set[Buffer | Symbol] = set()  # what parallel loops read
        self.first: dict[Buffer, int] = {}
        self.last: dict[Buffer, int] = {}
        self.writes: list[Buffer] = []
        self.moves: list[Buffer] = []
        self.lent: dict[Buffer, set[Buffer]] = {}  # buffers whose memories are exchanged
        self.spans: dict[Statement, Span] = {}
        self._clock = 0
        self._apart = False  # inside a parallel loop, which is a function of its own
        self._block(program.body)
        self._clock = sys.maxsize
        self._touch(numbers(program.result))

    def changed(self, span: Span) -> list[Buffer]:
        """The numbers that a statement changes and that others, too, read or write."""
        begin, end = span.uses
        written = dict.fromkeys(self.writes[slice(*span.writes)])
        return [b for b in written if self.first[b] < begin or self.last[b] >= end]

    def _touch(self, buffers: Iterable[Buffer], writes: bool = False) -> None:
        for buffer in buffers:
            if buffer.kind == "scalar":
                self.first.setdefault(buffer, self._clock)
                self.last[buffer] = self._clock
                if writes:
                    self.writes.append(buffer)
                elif self._apart:
                    self.sent.add(buffer)
        self._clock += 1

    def _now(self) -> tuple[int, int, int]:
        return self._clock, len(self.writes), len(self.moves)

    def _sizes(self, sizes: Iterable[Size]) -> None:
        if self._apart:
            self.sent.update(name for size in sizes for name in symbols(size))

    def _block(self, body: Iterable[Statement]) -> None:
        for statement in body:
            begin = self._now()
            self._statement(statement)
            if isinstance(statement, (For, While, If)):
                self.spans[statement] = Span(*zip(begin, self._now(), strict=True))

    def _statement(self, statement: Statement) -> None:
        match statement:
            case Kernel():
                self._kernel(statement)
            case Alloc(buffer) | Free(buffer):
                self.moves.append(buffer)
                self._sizes(buffer.shape)
            case Swap(first, second):
                self.moves += (first, second)
                mine, other = (self.lent.get(b, {b}) for b in (first, second))
                self.lent.update(dict.fromkeys(mine | other, mine | other))
            case Bind():
                self._touch([statement.buffer])
            case SideExit():
                self._touch([statement.buffer])
                self._leaving(statement)
            case RoutineCall():
                self._sizes(_call_sizes(statement))
                self._touch(view.buffer for view in statement.inputs)
                self._touch(statement.outputs, True)
            case Call():
                touched = [view.buffer for view in statement.inputs] + list(statement.outputs)
                self.pinned.update(b for b in touched if b.kind == "scalar")
            case For():
                if statement.edge is not None:
                    self._leaving(statement.edge)
                apart, self._apart = self._apart, self._apart or statement.parallel
                self._sizes((statement.start, statement.stop, statement.step))
                self._block(statement.body)
                self._apart = apart
                if statement.failed is not None:
                    self._touch([statement.failed], True)
            case While():
                if statement.edge is not None:
                    self._leaving(statement.edge)
                self._block(statement.body)
                self._touch([statement.again])
            case If():
                self._touch([statement.condition])
                self._block((*statement.then, *statement.orelse))

    def _leaving(self, way: SideExit | Edge) -> None:
        self._block(way.leaving)
        for result in self.exits[way.number].held():
            self._touch(numbers(result))

    def _kernel(self, kernel: Kernel) -> None:
        loads = [v.buffer for v in kernel.values if isinstance(v, Load)]
        stores = [store.buffer for store in kernel.stores]
        stores += [reduce.buffer for reduce in kernel.reductions]
        self._touch(loads)
        self._touch(stores, True)
        if kernel.axes:
            self.shared.update(b for b in loads if b.kind == "scalar")
            self.pinned.update(b for b in stores if b.kind == "scalar")
        self._sizes(_sizes(kernel))


def numbers(result: Result) -> Iterator[Buffer]:
    """The numbers that a result is made of."""
    if isinstance(result, ScalarResult):
        yield result.buffer
    elif isinstance(result, ItemsResult):
        for item in result.items:
            yield from numbers(item)


def names(result: Result) -> Iterator[Symbol]:
    """The symbols in the sizes of a result's views and lists."""
    if isinstance(result, ViewResult):
        for size in result.sizes:
            yield from symbols(size)
    elif isinstance(result, ItemsResult) and result.kind is Columns:
        for column in result.items:
            if isinstance(column, BufferResult):
                for size in column.buffer.shape:
                    yield from symbols(size)
            else:
                yield from names(column)
    elif isinstance(result, ItemsResult):
        for item in result.items:
            yield from names(item)


def _call_sizes(call: RoutineCall) -> Iterator[Size]:
    yield from call.sizes
    places = [view.geometry for view in call.inputs]
    for place in (*places, *([] if call.into is None else [call.into])):
        yield from (place.offset, *place.shape, *place.strides)


def _sizes(kernel: Kernel) -> Iterator[Size]:
    places = [v.at for v in kernel.values if isinstance(v, Load)]
    places += [store.at for store in kernel.stores]
    places += [reduce.at for reduce in kernel.reductions]
    for at in places:
        yield from (at.offset, *at.coefficients)
    yield from (axis.extent for axis in kernel.axes)
    yield from (v.size for v in kernel.values if isinstance(v, SizeValue))
    yield from (reduce.chunk for reduce in kernel.reductions)
    yield from (store.buffer.shape[0] for store in kernel.stores if store.packed)


class Registers(Slots):
    """Slots of the function that runs a program's statements; ``out`` are those that others read
    from the frame."""

    def __init__(self, f: LLVMFunction, frame: FrameLayout, pointer: Value, program: Program,
                 whole: Use) -> None:
        super().__init__(f, frame, pointer)
        self.own = f.module.memory("frame")
        self.whole = whole
        self.out = whole.shared | whole.sent
        self.numbers: Numbers = {}
        self.places: dict[Buffer, Value] = {}
        self.names: dict[Symbol, Value] = {}
        self.known: dict[Size | Atom, Value] = {}
        self.rows: Rows | None = None  # of the innermost loop
        self._given: dict[Buffer | Symbol, Parts] = {}  # read at entry
        self._named = {program.params[k]: name for k, name in program.int_symbols.items()}
        said = map(bound, program.guards)
        self._counts = {s[0] for s in said if s is not None and s[1] > 0 and s[2] >= 0}

    @property
    def sizes(self) -> dict[Size | Atom, Value]:
        return self.known

    def notes(self, buffer: Buffer) -> str:
        """The entry sees to it that no array that is written shares memory with another."""
        if buffer.kind == "scalar":
            return self.own
        return self.f.module.memory(frozenset(self.whole.lent.get(buffer, {buffer})))

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
        if buffer in self._named:
            return (self.symbol(self._named[buffer]),)
        if buffer not in self._given:
            with self.f.at_entry():
                self._given[buffer] = super().number(buffer)
        return self._given[buffer]

    def set_number(self, buffer: Buffer, parts: Parts) -> None:
        if self.holds(buffer):
            self.numbers[buffer] = parts
        if buffer in self.out or not self.holds(buffer):
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
            counts = name in self._counts or (name.low is not None and name.low >= 0)
            known = COUNT if counts else ""
            with self.f.at_entry():
                place = self.address(self.frame.symbol(name))
                self._given[name] = (self.f.load(place, "i64", notes=self.own + known),)
        return self._given[name][0]

    def set_symbol(self, name: Symbol, value: Value) -> None:
        self.names[name] = value
        if name in self.out:
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

    def count_from(self, symbol: Symbol, rows: dict[tuple[Buffer, Size], Value]) -> None:
        """Has elements in the loop of an index counted from addresses that are known before it."""
        self.rows = symbol, rows

    def row(self, buffer: Buffer, offset: Size) -> tuple[Value, Size]:
        if self.rows is not None:
            symbol, rows = self.rows
            rest, _ = along(offset, symbol)
            if (buffer, rest) in rows:
                return rows[buffer, rest], offset - rest
        return super().row(buffer, offset)

    # ------------------------------------------------------------------ blocks

    @contextmanager
    def inside(self) -> Iterator[None]:
        """What is written inside is known inside only."""
        before = self.numbers, self.places, self.names, self.known, self.rows
        self.numbers, self.places = dict(self.numbers), dict(self.places)
        self.names, self.known = dict(self.names), dict(self.known)
        yield
        self.numbers, self.places, self.names, self.known, self.rows = before

    @contextmanager
    def anew(self) -> Iterator[None]:
        """The same at the beginning of another iteration: what was computed in this one is
        unknown."""
        with self.inside():
            self.known, self.rows = {}, None
            yield

    def joined(self, statement: Statement) -> list[Buffer]:
        """The numbers that a statement with blocks changes for others to see, itself in another
        iteration included.  Addresses that change are unknown from here on."""
        for buffer in self.moved(statement):
            self.places.pop(buffer, None)
        return [b for b in self.whole.changed(self.whole.spans[statement]) if self.holds(b)]

    def keeps(self, statement: Statement) -> bool:
        """Whether nobody looks in the frame for the numbers that a statement with blocks writes."""
        written = self.whole.writes[slice(*self.whole.spans[statement].writes)]
        return all(self.holds(b) and b not in self.out for b in written)

    def moved(self, statement: Statement) -> list[Buffer]:
        """The arrays whose memory a statement with blocks makes, frees or exchanges."""
        return self.whole.moves[slice(*self.whole.spans[statement].moves)]

    def get(self, buffers: Sequence[Buffer]) -> list[Value]:
        """The parts of several numbers in a row."""
        return [part for buffer in buffers for part in self.number(buffer)]

    def set(self, buffers: Sequence[Buffer], values: Sequence[Value]) -> None:
        """Gives several numbers the values of a join; the frame has them already."""
        rest = iter(values)
        for buffer in buffers:
            self.numbers[buffer] = tuple(next(rest) for _ in self.number(buffer))


class ParallelRegisters(Registers):
    """The same for a function that runs the iterations of a parallel loop on a copy of the
    frame."""

    def __init__(self, f: LLVMFunction, outer: Registers, copy: Value, program: Program,
                 moves: set[Buffer]) -> None:
        """``moves`` are arrays that the iterations make."""
        super().__init__(f, outer.frame, copy, program, outer.whole)
        self.out = outer.whole.shared
        self.moves = moves

    def number(self, buffer: Buffer) -> Parts:
        if buffer in self.numbers or not self.holds(buffer) or buffer.index >= 0:
            return super().number(buffer)
        if buffer not in self._given:
            with self.f.at_entry():
                self._given[buffer] = Slots.number(self, buffer)
        return self._given[buffer]

    def data(self, buffer: Buffer) -> Value:
        if buffer in self.places or buffer in self.moves or buffer.kind in ("param", "scalar"):
            return super().data(buffer)
        if buffer not in self._given:
            with self.f.at_entry():
                self._given[buffer] = (Slots.data(self, buffer),)
        return self._given[buffer][0]
