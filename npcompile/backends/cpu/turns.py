"""A parallel For as a function ``void name(ptr shared, i64 begin, i64 end)`` over its turns.

Its body holds kernels, loops of kernels, numbers of its own, and memory.

``shared`` is two words: the frame's address, and what becomes 1 where memory runs out.  Each call
works on a copy of the frame, so that symbols and buffers of a turn are its own, and takes memory
for all turns at once.
"""

from __future__ import annotations

from collections.abc import Iterator

from npcompile.backends.cpu import kernels
from npcompile.backends.cpu.compile import Target
from npcompile.backends.cpu.frame import Frame
from npcompile.backends.cpu.kernels import Made
from npcompile.backends.cpu.objects import NULL
from npcompile.backends.cpu.sizes import Sizes, Slots, fill
from npcompile.backends.cpu.text import Function, Module, Value, i64
from npcompile.core.sizes import (
    Poly,
    Size,
    floordiv,
    largest,
    product,
    substitute,
    symbols,
)
from npcompile.program.ir import Alloc, Buffer, For, Kernel, Load, Statement

LINE = 64
#: bytes between buffers beyond whole lines, so that the same rows of two never meet in the places
#: of the nearest cache
APART = 5 * LINE


def emit(module: Module, frame: Frame, loop: For, name: str, target: Target,
         known: dict[Kernel, Made]) -> None:
    """Writes the function and those of its kernels, ``name.k``; those in ``known`` are there."""
    members = list(_kernels(loop.body))
    for k, kernel in enumerate(members):
        if kernel not in known:
            known[kernel] = kernels.emit(module, kernel, f"{name}.{k}", target,
                                         total=_total(loop, members, kernel))
    f = Function(module, name, "void", [("ptr", "shared"), ("i64", "begin"), ("i64", "end")])
    shared, begin, end = f.params
    copy = f.alloca("i64", frame.size)
    f.run("llvm.memcpy.p0.p0.i64", copy, f.load(shared, "ptr"), i64(8 * frame.size),
          Value("false", "i1"))
    slots = Slots(f, frame, copy)
    sizes = Sizes(slots)
    start, step = sizes(loop.start), sizes(loop.step)
    room = _take(f, slots, sizes, [s.buffer for s in loop.body if isinstance(s, Alloc)], shared)
    with f.loop(begin, end) as turn:
        slots.set_symbol(loop.symbol, f.binary("add", start, f.binary("mul", turn.index, step)))
        _block(slots, loop.body, known, target)
    f.run("free", room)
    f.do("ret void")


def _kernels(body: tuple[Statement, ...]) -> Iterator[Kernel]:
    for statement in body:
        if isinstance(statement, Kernel) and statement.axes:
            yield statement
        elif isinstance(statement, For):
            yield from _kernels(statement.body)


def _block(
    slots: Slots, body: tuple[Statement, ...], known: dict[Kernel, Made], target: Target
) -> None:
    f, now = slots.f, Sizes(slots)
    for statement in body:
        if isinstance(statement, Kernel) and not statement.axes:
            kernels.inline(f, slots, statement, target)
        elif isinstance(statement, Kernel):
            made = known[statement]
            f.run_here(made.name, fill(slots, made.words), i64(0), now(made.extent))
        elif isinstance(statement, For):
            start, stop, step = map(now, (statement.start, statement.stop, statement.step))
            with f.loop(i64(0), kernels.trips(f, start, stop, step)) as turn:
                value = f.binary("add", start, f.binary("mul", turn.index, step))
                slots.set_symbol(statement.symbol, value)
                _block(slots, statement.body, known, target)


def _total(loop: For, members: list[Kernel], kernel: Kernel) -> Size:
    """Elements of a kernel in all turns; 0 if they are used again in theirs."""
    stored = {store.buffer for store in kernel.stores}
    for other in members:
        used = [v.buffer for v in other.values if isinstance(v, Load)]
        used += [store.buffer for store in other.stores if other is not kernel]
        if not stored.isdisjoint(used):
            return 0
    whole = {loop.symbol: loop.start}
    if isinstance(loop.step, Poly):
        whole |= dict.fromkeys(symbols(loop.step), loop.stop)
    return product([substitute(axis.extent, whole) for axis in kernel.axes])


def _take(f: Function, slots: Slots, sizes: Sizes, buffers: list[Buffer], shared: Value) -> Value:
    """Memory for all buffers in one piece."""
    if not buffers:
        return NULL
    total, places = i64(0), []
    for buffer in buffers:
        places.append(total)
        bytes_ = sizes(product(buffer.shape) * buffer.dtype.itemsize)
        lines = f.binary("and", f.binary("add", bytes_, i64(LINE - 1)), i64(-LINE))
        total = f.binary("add", total, f.binary("add", lines, i64(APART)))
    room = f.call("aligned_alloc", ("ptr", 1), i64(LINE), total)
    with f.when(f.icmp("eq", room, NULL)):
        f.store(i64(1), f.offset(shared, "i64", i64(1)))
    there, none = f.name_for("there"), f.name_for("none")
    f.branch(f.icmp("eq", room, NULL), none, there)
    f.label(none)
    f.do("ret void")
    f.label(there)
    for buffer, place in zip(buffers, places, strict=True):
        slots.set_data(buffer, f.offset(room, "i8", place))
    return room


def work(loop: For) -> Size:
    """Elements of the first turn, times what each costs."""
    total: Size = 0
    for statement in loop.body:
        if isinstance(statement, Kernel):
            elements = product([a.extent for a in statement.axes])
            total = total + elements * kernels.weight(statement)
        elif isinstance(statement, For):
            turns = floordiv(statement.stop - statement.start, statement.step)
            total = total + work(statement) * largest(turns, 1)
    return substitute(total, {loop.symbol: loop.start})
