"""Loops and branches of a program in a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from npcompile.backends.cpu.kernels import kernel_functions
from npcompile.backends.cpu.llvm import access
from npcompile.backends.cpu.llvm.text import Value, i64, literal
from npcompile.backends.cpu.loops import if_conversion, signal_polls, work_estimate
from npcompile.core.sizes import Size, floordiv, hint, is_known, largest, symbols
from npcompile.program.ir import Buffer, Edge, For, If, Kernel, Load, While, branches
from npcompile.schedule.memory.allocate import bound

if TYPE_CHECKING:
    from npcompile.backends.cpu.loops.statements import Statements

FEW = 6  # iterations of a loop that is not worth unrolling


def loop(s: Statements, loop: For) -> None:
    """A loop over an index."""
    f, slots = s.f, s.slots
    start, stop, step = (s.size(end) for end in (loop.start, loop.stop, loop.step))
    single = loop.step == 1
    first, last = (
        (start, stop) if single else (i64(0), kernel_functions.trips(f, start, stop, step))
    )
    changed = slots.joined(loop)

    def place(iteration: Value) -> Value:
        return iteration if single else f.binary("add", start, f.binary("mul", iteration, step))

    rows = _addresses(s, loop)

    def iterations(first: Value, last: Value, cost: Value | None = None) -> None:
        _one_by_one(s, loop, (first, last), changed, place, rows, cost)

    def in_pieces() -> None:
        _in_pieces(s, loop, _piece(s, loop), (first, last), changed, place, iterations)

    if loop.edge is None or signal_polls.is_short(loop):
        iterations(first, last)
    elif signal_polls.calls(loop):
        iterations(first, last, i64(signal_polls.cost(loop)))
    elif s.depth and not signal_polls.has_loops(loop):  # mostly one piece
        few = f.icmp("sle", last, f.binary("add", first, _piece(s, loop)))
        _either(s, few, changed, lambda: iterations(first, last), in_pieces)
    else:
        in_pieces()


def _piece(s: Statements, loop: For) -> Value:
    """The iterations of a loop after which the clock may be looked at."""
    if not signal_polls.is_whole(loop):
        return i64(signal_polls.piece(loop))
    each = s.size(largest(floordiv(work_estimate.iteration(loop), work_estimate.SCALAR), 1))
    return s.f.binary(
        "add", i64(1), s.f.op(f"udiv i64 {signal_polls.MANY}, {each.text}", "i64")
    )


def _one_by_one(
    s: Statements, loop: For, ends: tuple[Value, Value], changed: list[Buffer],
    place: Callable[[Value], Value], rows: dict[tuple[Buffer, Size], Value],
    cost: Value | None,
) -> None:
    """Some iterations of a loop; ``place`` gives the index of one of them, ``cost`` is what an
    iteration counts, if the loop may be left before it."""
    f, slots = s.f, s.slots
    distance = loop.stop - loop.start
    few = loop.step == 1 and is_known(distance) and hint(distance) < FEW
    with s.deeper(), f.loop(*ends, 1, slots.get(changed), rolled=loop.rolled or few) as running, (
            slots.inside()):
        slots.set(changed, running.carried)
        slots.set_symbol(loop.symbol, place(running.index))
        if cost is not None and loop.edge is not None:
            edge(s, loop.edge, cost)
        slots.count_from(loop.symbol, rows)
        with s.counting(cost is not None and loop.edge is not None):
            s.block(loop.body)
        running.goes_on(slots.get(changed))
    slots.set(changed, running.results)


def _in_pieces(
    s: Statements, loop: For, piece: Value, ends: tuple[Value, Value], changed: list[Buffer],
    place: Callable[[Value], Value], iterations: Callable[[Value, Value], None],
) -> None:
    """The iterations of a loop, which may be left after each piece of them."""
    f, slots = s.f, s.slots
    assert loop.edge is not None
    first, last = ends
    with f.cycle([first, *slots.get(changed)]) as running, slots.inside():
        begin, *carried = running.carried
        slots.set(changed, carried)
        if loop.step != 1 or (isinstance(loop.start, int) and loop.start >= 0):
            begin = f.binary("and", begin, i64((1 << 62) - 1))  # as LLVM knows of the first
        end = f.intrinsic("smin", last, f.binary("add", begin, piece))
        iterations(begin, end)
        running.repeats(f.icmp("slt", end, last))
        after, on = f.name_for("piece"), f.name_for("on")
        f.branch(running.again, after, on)
        f.label(after)
        with slots.inside():
            slots.set_symbol(loop.symbol, place(end))
            edge(s, loop.edge, i64(signal_polls.MANY))
        f.jump(on)
        f.label(on)
        running.goes_on([end, *slots.get(changed)])
    slots.set(changed, running.next[1:])


def _addresses(s: Statements, loop: For) -> dict[tuple[Buffer, Size], Value]:
    """Addresses that the elements of a loop's iterations are counted from, computed before it:
    passes would look at all of them anew to find out that they don't change."""
    inside, moved = bound((loop,)), set(s.slots.moved(loop))
    found: dict[tuple[Buffer, Size], Value] = {}
    for statement in branches(loop.body):
        if isinstance(statement, Kernel) and not statement.axes:
            for buffer, offset in _elements(statement):
                rest, step = access.along(offset, loop.symbol)
                steady = buffer.kind != "owned" and buffer not in moved
                new = rest != 0 and step != 0 and (buffer, rest) not in found
                if steady and new and inside.isdisjoint(symbols(rest)):
                    found[buffer, rest] = s.f.frozen(s.slots.place(buffer, rest))
    return found


def repeat(s: Statements, loop: While) -> None:
    """A loop that ends on a condition."""
    f, slots = s.f, s.slots
    changed = slots.joined(loop)
    with s.deeper(), f.cycle(slots.get(changed)) as running, slots.inside():
        slots.set(changed, running.carried)
        with s.counting(loop.edge is not None):
            s.block(loop.body)
        running.repeats(s.again(loop))
        running.goes_on(slots.get(changed))
        if loop.edge is not None:
            more, done = f.name_for("more"), f.name_for("done")
            f.branch(running.again, more, done)
            f.label(more)
            with slots.anew():
                edge(s, loop.edge, i64(signal_polls.cost(loop)))
            f.jump(done)
            f.label(done)
    slots.set(changed, running.next)


def edge(s: Statements, edge: Edge, cost: Value) -> None:
    """Where a loop may be left between two iterations, after so many more operations."""
    f, place = s.f, s.left_over()
    f.module.declare("llvm.usub.with.overflow.i64", "{ i64, i1 }", ["i64", "i64"])
    budget = f.load(place, "i64")
    pair = f"call {{ i64, i1 }} @llvm.usub.with.overflow.i64({budget.typed}, {cost.typed})"
    both = f.op(pair, "i64", 1)
    f.store(f.op(f"extractvalue {{ i64, i1 }} {both.text}, 0", "i64", 1), place)
    used = f.op(f"extractvalue {{ i64, i1 }} {both.text}, 1", "i1", 1)
    look, out, on = (f.name_for(stem) for stem in ("look", "out", "on"))
    f.branch(f.negate(used), on, look, likely=True)
    f.label(look)
    f.store(i64(signal_polls.MANY), place)
    f.module.declare("npc_poll", "preserve_allcc i32", ["ptr"])  # loops keep their registers
    found = f.op(f"call preserve_allcc i32 @npc_poll({s.released.typed})", "i32", 1)
    f.branch(f.icmp("eq", found, literal("i32", 0)), on, out, likely=True)
    f.label(out)
    with s.slots.inside(), s.taking(None):
        s.depart(edge)
    f.label(on)


def choose(s: Statements, choice: If) -> None:
    """A branch."""
    slots = s.slots
    (condition,) = slots.number(choice.condition)
    small = if_conversion.both(choice) and slots.keeps(choice)
    if s.depth and (s.taken is not None or small):
        _take_both(s, choice, condition)
        return
    _either(s, condition, slots.joined(choice), lambda: s.block(choice.then),
                lambda: s.block(choice.orelse))


def _either(s: Statements, condition: Value, changed: list[Buffer], then: Callable[[], None],
           orelse: Callable[[], None]) -> None:
    """Writes one of two arms, which change such numbers."""
    f, slots = s.f, s.slots
    yes, no, after = (f.name_for(stem) for stem in ("then", "else", "after"))
    f.branch(condition, yes, no)
    ends: list[tuple[list[Value], str]] = []
    for label, arm in ((yes, then), (no, orelse)):
        f.label(label)
        with slots.inside():
            arm()
            ends.append((slots.get(changed), f.block))
        f.jump(after)
    f.label(after)
    (ones, one), (others, other) = ends
    slots.set(changed, [
        a if a == b else f.phi(a.elem, a.lanes, (a, one), (b, other))
        for a, b in zip(ones, others, strict=True)
    ])


def _take_both(s: Statements, choice: If, condition: Value) -> None:
    """Computes both arms and selects."""
    f, slots = s.f, s.slots
    changed = slots.joined(choice)
    ends: list[list[Value]] = []
    for arm, taken in ((choice.then, condition), (choice.orelse, f.negate(condition))):
        if s.taken is not None:
            taken = f.binary("and", s.taken, taken)
        with slots.inside(), s.taking(taken):
            s.block(arm)
            ends.append(slots.get(changed))
    slots.set(changed, [
        a if a == b else f.select(condition, a, b) for a, b in zip(*ends, strict=True)
    ])


def _elements(kernel: Kernel) -> Iterator[tuple[Buffer, Size]]:
    """What a kernel without axes touches of arrays."""
    for value in kernel.values:
        if isinstance(value, Load) and value.buffer.kind != "scalar":
            yield value.buffer, value.at.offset
    for store in kernel.stores:
        if store.buffer.kind != "scalar" and not store.packed:
            yield store.buffer, store.at.offset
