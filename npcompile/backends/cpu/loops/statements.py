"""Statements of a program in a function: what the body and the iterations of parallel loops
share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from npcompile.backends.cpu.kernels import kernel_functions
from npcompile.backends.cpu.llvm import access
from npcompile.backends.cpu.llvm.sizes import SizeEmitter
from npcompile.backends.cpu.llvm.text import LLVMFunction, Value, i64, literal
from npcompile.backends.cpu.loops import work_estimate
from npcompile.backends.cpu.loops.registers import Registers
from npcompile.backends.target import Target
from npcompile.core.paths import defer
from npcompile.core.sizes import Size, floordiv, hint, is_known, largest, symbols
from npcompile.program.ir import (
    Alloc,
    Bind,
    Buffer,
    Call,
    Edge,
    For,
    Free,
    If,
    Kernel,
    Load,
    Program,
    RoutineCall,
    SideExit,
    Statement,
    Swap,
    While,
)
from npcompile.schedule.memory.allocate import bound

if TYPE_CHECKING:
    from npcompile.backends.cpu.loops import if_conversion, signal_polls
else:
    defer(globals(), "npcompile.backends.cpu.loops", "if_conversion", "signal_polls")

FEW = 6  # iterations of a loop that is not worth unrolling
#: lines of a function that computes little in loops from which on it counts for less how well they
#: are compiled than how fast: what takes time is what it calls
CALLS = 80

#: the class that emits calls of routines, which a program without them does not import
ROUTINES = "npcompile.backends.cpu.linalg.routine_calls:Routines"


class Statements(ABC):
    """Writes statements into a function; what depends on which function that is, others say."""

    def __init__(self, f: LLVMFunction, slots: Registers, program: Program, target: Target) -> None:
        self.f, self.slots, self.program, self.target = f, slots, program, target
        self.depth = 0  # of loops around the statement
        self.budget: Value | None = None  # operations until the clock is looked at
        self.counted = 0  # loops around the statement in which kernels count, too
        self.computed = 0  # lines that compute numbers in loops
        self.taken: Value | None = None  # whether the arm is taken that is computed in any case

    def hasty(self, scalar: bool) -> bool:
        """Whether the function had better be compiled in haste; ``scalar``: it has loops that
        LLVM's passes help."""
        return not scalar and (not self.computed or len(self.f) > max(CALLS, 8 * self.computed))

    @abstractmethod
    def leave(self, status: Value) -> None:
        """Ends the function before its time: a check has failed."""

    @property
    @abstractmethod
    def released(self) -> Value:
        """Where the thread's state is while the GIL is released; null if it never is."""

    @abstractmethod
    def alloc(self, buffer: Buffer) -> None:
        """Makes memory."""

    @abstractmethod
    def free(self, buffer: Buffer) -> None:
        """Gives memory back."""

    @abstractmethod
    def run(self, kernel: Kernel) -> None:
        """Calls a kernel with axes."""

    @abstractmethod
    def iterations(self, loop: For) -> None:
        """A parallel loop."""

    @abstractmethod
    def call(self, statement: RoutineCall | Call) -> None:
        """Calls a routine of a library or a function of Python's."""

    def size(self, size: Size) -> Value:
        return SizeEmitter(self.slots)(size)

    def block(self, body: tuple[Statement, ...]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        match statement:
            case Kernel():
                self.kernel(statement)
            case Alloc(buffer):
                self.alloc(buffer)
            case Free(buffer):
                self.free(buffer)
            case Swap(first, second):
                places = self.slots.data(first), self.slots.data(second)
                self.slots.set_data(second, places[0])
                self.slots.set_data(first, places[1])
            case Bind():
                (value,) = self.slots.number(statement.buffer)
                dtype = statement.buffer.dtype
                signed = "sext" if dtype.kind == "i" else "zext"
                wide = value if dtype.itemsize == 8 else self.f.convert(signed, value, "i64")
                self.slots.set_symbol(statement.symbol, wide)
            case SideExit():
                self.check(statement)
            case For(parallel=True):
                self.iterations(statement)
            case For():
                self.loop(statement)
            case While():
                self.repeat(statement)
            case If():
                self.choose(statement)
            case RoutineCall() | Call():
                if isinstance(statement, RoutineCall):
                    self.count(work_estimate.multiplications(statement))
                self.call(statement)

    def check(self, check: SideExit) -> None:
        (holds,) = self.slots.number(check.buffer)
        out, on = self.f.name_for("out"), self.f.name_for("on")
        if self.taken is not None:  # first what can be foretold
            fails = self.f.name_for("fails")
            self.f.branch(holds, on, fails, likely=True)
            self.f.label(fails)
            self.f.branch(self.taken, out, on)
        else:
            self.f.branch(holds, on, out, likely=True)
        self.f.label(out)
        with self.slots.inside(), self.taking(None):
            self.depart(check)
        self.f.label(on)

    def depart(self, way: SideExit | Edge) -> None:
        """Leaves for Python, which goes on."""
        self.hand_over(way)
        self.leave(i64(way.number))

    def hand_over(self, check: SideExit | Edge) -> None:
        """Makes what Python needs where a check has failed."""
        self.make(check.leaving)
        for result in self.program.resumes[check.number].held():
            self.slots.flush(result)

    def make(self, leaving: tuple[Statement, ...]) -> None:
        """Runs what is only run where the function is left."""
        self.block(leaving)

    def loop(self, loop: For) -> None:
        f, slots = self.f, self.slots
        start, stop, step = (self.size(s) for s in (loop.start, loop.stop, loop.step))
        single = loop.step == 1
        first, last = (
            (start, stop) if single else (i64(0), kernel_functions.trips(f, start, stop, step))
        )
        changed = slots.joined(loop)

        def place(iteration: Value) -> Value:
            return iteration if single else f.binary("add", start, f.binary("mul", iteration, step))

        rows = self.rows(loop)

        def iterations(first: Value, last: Value, cost: Value | None = None) -> None:
            self.iteration_by_iteration(loop, (first, last), changed, place, rows, cost)

        def in_pieces() -> None:
            self.in_pieces(loop, self.piece(loop), (first, last), changed, place, iterations)

        if loop.edge is None or signal_polls.is_short(loop):
            iterations(first, last)
        elif signal_polls.calls(loop):
            iterations(first, last, i64(signal_polls.cost(loop)))
        elif self.depth and not signal_polls.has_loops(loop):  # mostly one piece
            few = f.icmp("sle", last, f.binary("add", first, self.piece(loop)))
            self.either(few, changed, lambda: iterations(first, last), in_pieces)
        else:
            in_pieces()

    def piece(self, loop: For) -> Value:
        """The iterations of a loop after which the clock may be looked at."""
        if not signal_polls.is_whole(loop):
            return i64(signal_polls.piece(loop))
        each = self.size(largest(floordiv(work_estimate.iteration(loop), work_estimate.SCALAR), 1))
        return self.f.binary(
            "add", i64(1), self.f.op(f"udiv i64 {signal_polls.MANY}, {each.text}", "i64")
        )

    def iteration_by_iteration(
        self, loop: For, ends: tuple[Value, Value], changed: list[Buffer],
        place: Callable[[Value], Value], rows: dict[tuple[Buffer, Size], Value],
        cost: Value | None,
    ) -> None:
        """Some iterations of a loop; ``place`` gives the index of one of them, ``cost`` is what an
        iteration counts, if the loop may be left before it."""
        f, slots = self.f, self.slots
        self.depth += 1
        distance = loop.stop - loop.start
        few = loop.step == 1 and is_known(distance) and hint(distance) < FEW
        with f.loop(*ends, 1, slots.get(changed), rolled=loop.rolled or few) as running, (
                slots.inside()):
            slots.set(changed, running.carried)
            slots.set_symbol(loop.symbol, place(running.index))
            if cost is not None and loop.edge is not None:
                self.edge(loop.edge, cost)
            slots.rows = loop.symbol, rows
            with self.counting(cost is not None and loop.edge is not None):
                self.block(loop.body)
            running.goes_on(slots.get(changed))
        slots.set(changed, running.results)
        self.depth -= 1

    def in_pieces(
        self, loop: For, piece: Value, ends: tuple[Value, Value], changed: list[Buffer],
        place: Callable[[Value], Value], iterations: Callable[[Value, Value], None],
    ) -> None:
        """The iterations of a loop, which may be left after each piece of them."""
        f, slots = self.f, self.slots
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
                self.edge(loop.edge, i64(signal_polls.MANY))
            f.jump(on)
            f.label(on)
            running.goes_on([end, *slots.get(changed)])
        slots.set(changed, running.next[1:])

    def rows(self, loop: For) -> dict[tuple[Buffer, Size], Value]:
        """Addresses that the elements of a loop's iterations are counted from, computed before it:
        passes would look at all of them anew to find out that they don't change."""
        inside, moved = bound((loop,)), set(self.slots.moved(loop))
        found: dict[tuple[Buffer, Size], Value] = {}
        for statement in branches(loop.body):
            if isinstance(statement, Kernel) and not statement.axes:
                for buffer, offset in _elements(statement):
                    rest, step = access.along(offset, loop.symbol)
                    steady = buffer.kind != "owned" and buffer not in moved
                    new = rest != 0 and step != 0 and (buffer, rest) not in found
                    if steady and new and inside.isdisjoint(symbols(rest)):
                        found[buffer, rest] = self.f.frozen(self.slots.place(buffer, rest))
        return found

    def repeat(self, loop: While) -> None:
        f, slots = self.f, self.slots
        changed = slots.joined(loop)
        self.depth += 1
        with f.cycle(slots.get(changed)) as running, slots.inside():
            slots.set(changed, running.carried)
            with self.counting(loop.edge is not None):
                self.block(loop.body)
            running.repeats(self.again(loop))
            running.goes_on(slots.get(changed))
            if loop.edge is not None:
                more, done = f.name_for("more"), f.name_for("done")
                f.branch(running.again, more, done)
                f.label(more)
                with slots.anew():
                    self.edge(loop.edge, i64(signal_polls.cost(loop)))
                f.jump(done)
                f.label(done)
        slots.set(changed, running.next)
        self.depth -= 1

    # ------------------------------------------------------------------ edges

    def left_over(self) -> Value:
        """Where it is counted how many operations are left until the clock is looked at."""
        if self.budget is None:
            self.budget = self.f.alloca("i64")
            with self.f.at_entry():
                self.f.store(i64(signal_polls.MANY), self.budget)
        return self.budget

    @contextmanager
    def counting(self, counts: bool) -> Iterator[None]:
        self.counted += counts
        yield
        self.counted -= counts

    def count(self, elements: Size) -> None:
        """Counts the elements of a kernel, or what a routine does, in a loop that may be left."""
        if self.counted:
            place = self.left_over()
            budget = self.f.load(place, "i64")
            self.f.store(self.f.intrinsic("usub.sat", budget, self.size(elements)), place)

    def edge(self, edge: Edge, cost: Value) -> None:
        """Where a loop may be left between two iterations, after so many more operations."""
        f, place = self.f, self.left_over()
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
        found = f.op(f"call preserve_allcc i32 @npc_poll({self.released.typed})", "i32", 1)
        f.branch(f.icmp("eq", found, literal("i32", 0)), on, out, likely=True)
        f.label(out)
        with self.slots.inside(), self.taking(None):
            self.depart(edge)
        f.label(on)

    def again(self, loop: While) -> Value:
        """Whether there is another iteration."""
        (again,) = self.slots.number(loop.again)
        return again

    def choose(self, choice: If) -> None:
        slots = self.slots
        (condition,) = slots.number(choice.condition)
        small = if_conversion.both(choice) and slots.keeps(choice)
        if self.depth and (self.taken is not None or small):
            self.take_both(choice, condition)
            return
        self.either(condition, slots.joined(choice), lambda: self.block(choice.then),
                    lambda: self.block(choice.orelse))

    def either(self, condition: Value, changed: list[Buffer], then: Callable[[], None],
               orelse: Callable[[], None]) -> None:
        """Writes one of two arms, which change such numbers."""
        f, slots = self.f, self.slots
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

    def take_both(self, choice: If, condition: Value) -> None:
        """Computes both arms and selects."""
        f, slots = self.f, self.slots
        changed = slots.joined(choice)
        ends: list[list[Value]] = []
        for arm, taken in ((choice.then, condition), (choice.orelse, f.negate(condition))):
            if self.taken is not None:
                taken = f.binary("and", self.taken, taken)
            with slots.inside(), self.taking(taken):
                self.block(arm)
                ends.append(slots.get(changed))
        slots.set(changed, [
            a if a == b else f.select(condition, a, b) for a, b in zip(*ends, strict=True)
        ])

    @contextmanager
    def taking(self, taken: Value | None) -> Iterator[None]:
        before, self.taken = self.taken, taken
        yield
        self.taken = before

    def kernel(self, kernel: Kernel) -> None:
        if kernel.axes:
            self.run(kernel)
            return
        before = len(self.f)
        kernel_functions.inline(self.f, self.slots, kernel, self.target)
        self.computed += len(self.f) - before if self.depth else 0


def _elements(kernel: Kernel) -> Iterator[tuple[Buffer, Size]]:
    """What a kernel without axes touches of arrays."""
    for value in kernel.values:
        if isinstance(value, Load) and value.buffer.kind != "scalar":
            yield value.buffer, value.at.offset
    for store in kernel.stores:
        if store.buffer.kind != "scalar" and not store.packed:
            yield store.buffer, store.at.offset


def scalar_loops(body: Iterable[Statement]) -> bool:
    """Whether there is a loop that calls nothing: passes would gain little for any other."""
    for statement in branches(body):
        if isinstance(statement, (For, While)) and not _is_call(statement):
            inside = list(branches(statement.body))
            if scalar_loops(inside) or not any(map(_calls, inside)):
                return True
    return False


def _calls(statement: Statement) -> bool:
    """Whether it calls something, or loops in it do."""
    if isinstance(statement, (For, While)) and not _is_call(statement):
        return any(map(_calls, branches(statement.body)))
    return _is_call(statement)


def _is_call(statement: Statement) -> bool:
    if isinstance(statement, Kernel):
        return bool(statement.axes)
    return isinstance(statement, (RoutineCall, Call)) or (
        isinstance(statement, For) and statement.parallel
    )


def branches(body: Iterable[Statement]) -> Iterator[Statement]:
    """Statements with those of branches in place of these."""
    for statement in body:
        if isinstance(statement, If):
            yield from branches((*statement.then, *statement.orelse))
        else:
            yield statement
