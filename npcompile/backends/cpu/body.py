"""A program as ``define i64 @body(ptr %frame)``: statements in order (see :mod:`.frame`).

Whoever calls clears the slots of temporaries and results first.  Every way out frees the
temporaries that are left; result arrays are the caller's, however the body ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from npcompile.backends.cpu import choices, kernels, turns
from npcompile.backends.cpu.compile import Target
from npcompile.backends.cpu.frame import DONE, RAISED, Frame
from npcompile.backends.cpu.objects import ARRAY_DATA, NULL, HostCalls, Objects, new_array
from npcompile.backends.cpu.registers import Registers
from npcompile.backends.cpu.routines import Routines
from npcompile.backends.cpu.sizes import Sizes, fill
from npcompile.backends.cpu.text import Function, Module, Value, i64
from npcompile.core.sizes import Size, hint, is_known, product
from npcompile.graph.types import c_strides
from npcompile.program.ir import (
    Alloc,
    Bind,
    Buffer,
    Call,
    Check,
    For,
    Free,
    If,
    Kernel,
    Library,
    Program,
    Statement,
    Swap,
    While,
)

#: lines of a body that computes little in loops from which on it counts for less how well they
#: are compiled than how fast: what takes time is what it calls
CALLS = 300
FEW = 6  # turns of a loop that is not worth unrolling


@dataclass(frozen=True, slots=True)
class Emitted:
    """LLVM text with ``@body``; ``objects[N]`` says what ``@obj.N`` must be when it is loaded;
    ``optimise`` names the functions that LLVM passes help, ``routines`` the modules of routines of
    linear algebra that are called."""

    text: str
    objects: tuple[object, ...] = ()
    optimise: tuple[str, ...] = ()
    routines: tuple[str, ...] = ()


def emit(program: Program, frame: Frame, target: Target, parallel: bool = False,
         own: bool = False) -> Emitted:
    """The text of a program; ``parallel`` kernels are run by ``@npc_pool_call``; ``own``: products
    of matrices take nothing from a library."""
    return _Body(program, frame, target, parallel, own).emit()


@dataclass
class _Body:
    program: Program
    frame: Frame
    target: Target
    parallel: bool
    own: bool
    objects: Objects = field(default_factory=Objects)
    depth: int = 0  # of loops around the statement
    computed: int = 0  # lines that compute numbers in loops
    taken: Value | None = None  # whether the arm is taken that is computed in any case
    made: dict[Kernel, kernels.Made] = field(default_factory=dict)  # in parallel loops

    def __post_init__(self) -> None:
        self.module = Module()
        self.f = Function(self.module, "body", "i64", [("ptr", "frame")], internal=False)
        self.slots = Registers(self.f, self.frame, self.f.params[0], self.program)
        self.calls = HostCalls(self.slots, self.objects, lambda: self.fail("raised"))
        self.routines = Routines(self.slots, self.own)
        self.kernels = 0
        self.status = self.f.alloca("i64")
        self.shared = self.f.alloca("i64", 2)  # with the turns of a parallel loop
        self.failures: set[str] = set()  # labels to go to

    def emit(self) -> Emitted:
        f = self.f
        self.block(self.program.body)
        self.slots.flush(self.program.result)
        self.leave(i64(DONE))
        if "memory" in self.failures:
            f.label("memory")
            f.call("PyErr_NoMemory", ("ptr", 1))
            self.fail("raised")
        if "raised" in self.failures:
            f.label("raised")
            self.leave(i64(RAISED))
        f.label("leave")
        first, count = self.frame.temporaries
        rooms = self.slots.address(first)
        if count:
            with f.loop(i64(0), i64(count)) as turn:  # null if one is not there
                f.run("npc_give", f.load(f.offset(rooms, "ptr", turn.index), "ptr"))
        f.do(f"ret i64 {f.load(self.status, 'i64').text}")
        optimise = ("body",) if _scalar_loops(self.program.body) else ()
        f.hasty = not optimise and len(f) > max(CALLS, 8 * self.computed)
        routines = tuple(sorted(self.routines.used))
        return Emitted(self.module.text(), tuple(self.objects.listed), optimise, routines)

    def leave(self, status: Value) -> None:
        """Frees what is left and returns."""
        self.f.store(status, self.status)
        self.f.jump("leave")

    def fail(self, label: str) -> None:
        """Leaves with an exception that is set (``raised``) or that memory is short."""
        self.failures.add(label)
        self.f.jump(label)

    def fail_if(self, condition: Value, label: str) -> None:
        self.failures.add(label)
        on = self.f.name_for("on")
        self.f.branch(condition, label, on)
        self.f.label(on)

    def size(self, size: Size) -> Value:
        return Sizes(self.slots)(size)

    # ------------------------------------------------------------------ statements

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
            case Check():
                self.check(statement)
            case For(parallel=True):
                self.turns(statement)
            case For():
                self.loop(statement)
            case While():
                self.repeat(statement)
            case If():
                self.choose(statement)
            case Library():
                self.routines.emit(statement)
            case Call():
                self.calls.emit(statement)

    def check(self, check: Check) -> None:
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
            self.block(check.leaving)
            for result in self.program.resumes[check.number].held():
                self.slots.flush(result)
        self.leave(i64(check.number))
        self.f.label(on)

    def loop(self, loop: For) -> None:
        f, slots = self.f, self.slots
        start, stop, step = (self.size(s) for s in (loop.start, loop.stop, loop.step))
        single = loop.step == 1
        first, last = (start, stop) if single else (i64(0), kernels.trips(f, start, stop, step))
        changed = slots.joined(loop)
        self.depth += 1
        distance = loop.stop - loop.start
        short = single and is_known(distance) and hint(distance) < FEW
        with f.loop(first, last, 1, slots.get(changed), rolled=short) as running, slots.inside():
            slots.set(changed, running.carried)
            value = running.index
            if not single:
                value = f.binary("add", start, f.binary("mul", value, step))
            slots.set_symbol(loop.symbol, value)
            self.block(loop.body)
            running.next = slots.get(changed)
        slots.set(changed, running.results)
        self.depth -= 1

    def turns(self, loop: For) -> None:
        """A parallel loop."""
        f, sizes = self.f, Sizes(self.slots)
        name = f"k{self.kernels}"
        self.kernels += 1
        turns.emit(self.module, self.frame, loop, name, self.target, self.made)
        trips = kernels.trips(f, sizes(loop.start), sizes(loop.stop), sizes(loop.step))
        failed = f.offset(self.shared, "i64", i64(1))
        f.store(self.slots.pointer, self.shared)
        f.store(i64(0), failed)
        work = f.binary("mul", sizes(turns.work(loop)), trips)
        self.call(name, self.shared, trips, work, 1)
        self.fail_if(f.icmp("ne", f.load(failed, "i64"), i64(0)), "memory")

    def repeat(self, loop: While) -> None:
        slots = self.slots
        changed = slots.joined(loop)
        self.depth += 1
        with self.f.cycle(slots.get(changed)) as running, slots.inside():
            slots.set(changed, running.carried)
            self.block(loop.body)
            (running.again,) = slots.number(loop.again)
            running.next = slots.get(changed)
        slots.set(changed, running.next)
        self.depth -= 1

    def choose(self, choice: If) -> None:
        f, slots = self.f, self.slots
        (condition,) = slots.number(choice.condition)
        if self.depth and (self.taken is not None or choices.both(choice)):
            self.take_both(choice, condition)
            return
        yes, no, after = (f.name_for(stem) for stem in ("then", "else", "after"))
        changed = slots.joined(choice)
        f.branch(condition, yes, no)
        ends: list[tuple[list[Value], str]] = []
        for label, arm in ((yes, choice.then), (no, choice.orelse)):
            f.label(label)
            with slots.inside():
                self.block(arm)
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

    # ------------------------------------------------------------------ memory

    def free(self, buffer: Buffer) -> None:
        if buffer.kind == "owned":
            self.f.run("Py_DecRef", self.slots.object(buffer))
            self.slots.set_object(buffer, NULL)
            return
        self.f.run("npc_give", self.slots.data(buffer))
        self.slots.set_data(buffer, NULL)

    def alloc(self, buffer: Buffer) -> None:
        if buffer.kind == "temp":
            self.alloc_temp(buffer)
        else:
            self.alloc_result(buffer)

    def alloc_temp(self, buffer: Buffer) -> None:
        f = self.f
        count = self.size(product(buffer.shape))
        bytes_ = f.binary("mul", count, i64(buffer.dtype.itemsize))
        room = f.call("npc_take", ("ptr", 1), bytes_)
        self.fail_if(f.icmp("eq", room, NULL), "memory")
        self.slots.set_data(buffer, room)

    def alloc_result(self, buffer: Buffer) -> None:
        f = self.f
        sizes = Sizes(self.slots)
        strides = None
        if buffer.strides != c_strides(buffer.shape):
            strides = [sizes(s * buffer.dtype.itemsize) for s in buffer.strides]
        made = new_array(f, buffer.dtype, [sizes(n) for n in buffer.shape], strides)
        self.fail_if(f.icmp("eq", made, NULL), "raised")
        if self.depth:  # made anew in every turn
            f.run("Py_DecRef", self.slots.object(buffer))
        self.slots.set_object(buffer, made)
        place = f.offset(made, "i8", i64(ARRAY_DATA))
        self.slots.set_data(buffer, f.load(place, "ptr"))

    # ------------------------------------------------------------------ kernels

    def kernel(self, kernel: Kernel) -> None:
        if not kernel.axes:
            before = len(self.f)
            kernels.inline(self.f, self.slots, kernel, self.target)
            self.computed += len(self.f) - before if self.depth else 0
            return
        name = f"k{self.kernels}"
        self.kernels += 1
        made = kernels.emit(self.module, kernel, name, self.target, self.parallel)
        f, sizes = self.f, Sizes(self.slots)
        extent, block = sizes(made.extent), fill(self.slots, made.words)
        if made.extent == 1:
            f.run_here(made.name, block, i64(0), extent)
            return
        work = sizes(product(made.work) * kernels.weight(kernel))
        self.call(made.name, block, extent, work, made.unit)

    def call(self, name: str, argument: Value, extent: Value, work: Value, unit: int) -> None:
        """Runs a function over a range, by threads if there is enough to do."""
        f = self.f
        if not self.parallel:
            f.run_here(name, argument, i64(0), extent)
            return
        much = f.icmp("slt", i64(kernels.PARALLEL_WORK), work)
        f.run("npc_pool_call", Value(f"@{name}", "ptr"), argument, extent, i64(unit), much)


def _scalar_loops(body: Iterable[Statement]) -> bool:
    """Whether there is a loop that calls nothing: passes would gain little for any other."""
    for statement in _flat(body):
        if isinstance(statement, (For, While)) and not _is_call(statement):
            inside = list(_flat(statement.body))
            calls = any(map(_is_call, inside))
            if _scalar_loops(inside) or not calls:
                return True
    return False


def _is_call(statement: Statement) -> bool:
    if isinstance(statement, Kernel):
        return bool(statement.axes)
    return isinstance(statement, (Library, Call)) or (
        isinstance(statement, For) and statement.parallel
    )


def _flat(body: Iterable[Statement]) -> Iterator[Statement]:
    """Statements with those of branches in place of these."""
    for statement in body:
        if isinstance(statement, If):
            yield from _flat((*statement.then, *statement.orelse))
        else:
            yield statement
