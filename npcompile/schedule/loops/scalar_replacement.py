"""Elements that an iteration of a loop stores and the next one loads are carried as numbers.

``y[i] = f(y[i - 1])``: the processor would wait for its own store.  The first iteration's element
is loaded before the loop, if there is an iteration; so are elements that each iteration loads and
none changes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from npcompile.core.records import field, record, replace
from npcompile.core.sizes import Poly, substitute, symbols
from npcompile.graph.types import BOOL
from npcompile.program.ir import (
    Apply,
    Buffer,
    Constant,
    For,
    If,
    Index,
    Kernel,
    Load,
    SizeValue,
    Statement,
    Store,
    Value,
    with_blocks,
)
from npcompile.schedule.memory.allocate import touched

HERE = Index(0, ())


@record(frozen=False)
class ScalarReplacement:
    """Statements with such elements as numbers, and the buffers of these."""

    made: list[Buffer] = field(default_factory=list)

    def block(self, body: Sequence[Statement]) -> tuple[Statement, ...]:
        found: list[Statement] = []
        for statement in body:
            if isinstance(statement, For) and statement.parallel:
                found.append(statement)
            elif isinstance(statement, For):
                found += self._loop(with_blocks(statement, self.block))
            else:
                found.append(with_blocks(statement, self.block))
        return tuple(found)

    def _number(self, dtype: np.dtype) -> Buffer:
        made = Buffer(f"c{len(self.made)}", "scalar", dtype)
        self.made.append(made)
        return made

    def _loop(self, loop: For) -> list[Statement]:
        """A loop and what comes before it."""
        if loop.step != 1:
            return [loop]
        before: list[Kernel] = []
        for position, at in _recurrences(loop):
            kernel = loop.body[position]
            assert isinstance(kernel, Kernel)
            store = next(s for s in kernel.stores if s.buffer is at.buffer)
            carried = self._number(at.dtype)
            loop = _with_number(loop, position, at, store, carried)
            first = Load(at.buffer, _at_start(loop, at.at), at.dtype)
            ahead = Kernel("ahead", (), (first,), (Store(carried, HERE, 0),), (), kernel.lines)
            before.append(ahead)
        for load, lines in _steady(loop).items():
            number = self._number(load.dtype)
            loop = _with_loaded(loop, load, number)
            before.append(Kernel("ahead", (), (load,), (Store(number, HERE, 0),), (), lines))
        if not before:
            return [loop]
        some, numbers = self._number(BOOL), [buffer for k in before for buffer in k.written]
        test = (SizeValue(loop.start), SizeValue(loop.stop), Apply("lt", (0, 1), BOOL))
        else_any = tuple(Constant(b.dtype.type(0), b.dtype) for b in numbers)
        stores = [Store(buffer, HERE, at) for at, buffer in enumerate((some, *numbers), 2)]
        return [Kernel("turns", (), (*test, *else_any), tuple(stores)),
                If(some, tuple(before), ()), loop]


def _at_start(loop: For, at: Index) -> Index:
    return replace(at, offset=substitute(at.offset, {loop.symbol: loop.start}))


def _steady(loop: For) -> dict[Load, tuple[int, ...]]:
    """Elements that every iteration loads before anything may end it, and that none changes, with
    the lines that do so."""
    found: dict[Load, tuple[int, ...]] = {}
    for kernel in loop.body:
        if not isinstance(kernel, Kernel):
            break
        for value in kernel.values if not kernel.axes else ():
            if (isinstance(value, Load) and value.buffer.kind != "scalar" and value.by is None
                    and not value.at.part and value.dtype.kind != "c"
                    and loop.symbol not in symbols(value.at.offset)
                    and not any(_changes(s, value.buffer) for s in loop.body)):
                found.setdefault(value, kernel.lines)
    return found


def _with_loaded(loop: For, load: Load, number: Buffer) -> For:
    """The loop with a number in place of an element."""
    instead = Load(number, HERE, load.dtype)
    body = [
        replace(s, values=tuple(instead if v == load else v for v in s.values))
        if isinstance(s, Kernel) and not s.axes else s
        for s in loop.body
    ]
    return replace(loop, body=tuple(body))


def _recurrences(loop: For) -> list[tuple[int, Load]]:
    """(position of the kernel that stores, load) of the elements that the iteration before
    stored."""
    found: list[tuple[int, Load]] = []
    for number, kernel in enumerate(loop.body):
        if not isinstance(kernel, Kernel):
            break  # a check might leave before a later load
        for store in kernel.stores if not kernel.axes else ():
            load = _loaded_before(loop, number, store)
            if load is not None:
                found.append((number, load))
    return found


def _loaded_before(loop: For, number: int, store: Store) -> Load | None:
    """The load of the element that the iteration before stored, if no other statement changes the
    array."""
    buffer = store.buffer
    if buffer.kind == "scalar" or store.mask is not None or store.by is not None or store.at.part:
        return None
    if sum(_changes(s, buffer) for s in loop.body) != 1:
        return None
    iteration = Poly((((loop.symbol,), 1),))
    earlier = substitute(store.at.offset, {loop.symbol: iteration - 1})
    if earlier == store.at.offset:
        return None
    for kernel in loop.body[: number + 1]:
        for value in kernel.values if isinstance(kernel, Kernel) and not kernel.axes else ():
            if (isinstance(value, Load) and value.buffer is buffer and value.by is None
                    and value.at.offset == earlier and not value.at.part):
                return value
    return None


def _changes(statement: Statement, buffer: Buffer) -> int:
    """How often a statement may change an array."""
    if isinstance(statement, Kernel) and not statement.axes:
        return sum(store.buffer is buffer for store in statement.stores)
    return 2 * (buffer in touched(statement))


def _with_number(loop: For, number: int, load: Load, store: Store, carried: Buffer) -> For:
    """The loop with loads of the element before replaced, and the stored one kept."""
    body = list(loop.body)
    for position in range(number + 1):
        kernel = body[position]
        assert isinstance(kernel, Kernel)
        if kernel.axes:
            continue
        values: list[Value] = [
            Load(carried, HERE, v.dtype) if v == load else v for v in kernel.values
        ]
        stores = kernel.stores
        if position == number:
            stores = (*stores, Store(carried, HERE, store.value))
        body[position] = replace(kernel, values=tuple(values), stores=stores)
    return replace(loop, body=tuple(body))


