"""A parallel For as a function ``void name(ptr shared, i64 begin, i64 end)`` over its iterations.

``shared`` is two words: the frame's address, and a status: DONE, MEMORY where that runs out, or the
number of a check that failed, in whichever iteration.  Each call works on a copy of the frame, so
that symbols and buffers of an iteration are its own, and takes memory for all its iterations at
once, where its size is the same in all.
"""

from __future__ import annotations

from collections import Counter
from functools import partial, reduce
from typing import TYPE_CHECKING

from npcompile.backends.cpu.kernels import kernel_functions
from npcompile.backends.cpu.kernels.kernel_functions import KernelFunction, KernelPart
from npcompile.backends.cpu.llvm.frame import DONE
from npcompile.backends.cpu.llvm.scalar import register
from npcompile.backends.cpu.llvm.sizes import SizeEmitter, bytes_of, fill
from npcompile.backends.cpu.llvm.text import LLVMFunction, LLVMModule, Value, i64, literal
from npcompile.backends.cpu.loops.python_objects import NULL
from npcompile.backends.cpu.loops.registers import ParallelRegisters, Registers
from npcompile.backends.cpu.loops.statements import ROUTINES, Statements, scalar_loops
from npcompile.backends.target import Target
from npcompile.core.paths import import_path
from npcompile.core.records import replace
from npcompile.core.sizes import Poly, Size, floordiv, largest, product, substitute, symbols
from npcompile.program.ir import (
    Alloc,
    Buffer,
    Call,
    Edge,
    For,
    If,
    Kernel,
    Load,
    Program,
    RoutineCall,
    SideExit,
    While,
    flat,
)
from npcompile.schedule.memory.allocate import bound

if TYPE_CHECKING:
    from npcompile.backends.cpu.linalg.routine_calls import Routines

LINE = 64
#: bytes between buffers beyond whole lines, so that the same rows of two never meet in the places
#: of the nearest cache
APART = 5 * LINE
ROOM = 1 << 14  # bytes on the stack, where to take and give memory would cost more than to fill it
MEMORY = -2  #: the status where memory has run out
#: what the iterations of a region begin with
ZEROS = {"sum": 0, "max": -(2**63), "min": 2**63 - 1, "or": False, "and": True}


def emit(module: LLVMModule, outer: Registers, program: Program, loop: For, name: str,
         target: Target, known: dict[Kernel, KernelFunction], called: set[str]) -> bool:
    """Writes the function and those of its kernels, ``name.k``; those in ``known`` are there;
    ``called`` takes the modules of routines.  Whether LLVM's passes would help it."""
    f = LLVMFunction(module, name, "void", [("ptr", "shared"), ("i64", "begin"), ("i64", "end")])
    iterations = _ParallelFor(f, outer, program, loop, target, known)
    iterations.emit()
    if iterations.routines is not None:
        called |= iterations.routines.used
    return scalar_loops((replace(loop, parallel=False),))


class _ParallelFor(Statements):
    def __init__(self, f: LLVMFunction, outer: Registers, program: Program, loop: For,
                 target: Target, known: dict[Kernel, KernelFunction]) -> None:
        self.over, self.known = loop, known
        self.shared = f.params[0]
        self.every = list(flat(loop.body))
        self.members = [s for s in self.every if isinstance(s, Kernel) and s.axes]
        made = [s.buffer for s in self.every if isinstance(s, Alloc)]
        named = bound((loop,))
        self.varying = {b: f.alloca("ptr") for b in made
                        if not named.isdisjoint(symbols(product(b.shape)))}
        self.lasting = [b for b in made if b not in self.varying]
        copy = f.alloca("i64", outer.frame.size)
        with f.at_entry():
            f.run("llvm.memcpy.p0.p0.i64", copy, f.load(self.shared, "ptr"),
                  i64(8 * outer.frame.size), Value("false", "i1"))
        super().__init__(f, ParallelRegisters(f, outer, copy, program, set(made)), program, target)
        self.status = f.offset(self.shared, "i64", i64(1))
        before = f.load(f.offset(self.shared, "i64", i64(2)), "i64")
        self.begin, self.end = (f.binary("add", iteration, before) for iteration in f.params[1:])
        self.stops = leaves(loop)
        self.depth = 1
        self.past: list[tuple[int, Size]] = []  # most elements that stay in the cache, and all
        self.totals: dict[Kernel, Size] = {}
        self.routines: Routines | None = None

    def emit(self) -> None:
        f, loop, sizes = self.f, self.over, SizeEmitter(self.slots)
        start, step = sizes(loop.start), sizes(loop.step)
        for place in self.varying.values():
            f.store(NULL, place)
        room = self.take()
        zeros = {number: literal(register(number.dtype), ZEROS[kind])
                 for number, kind in loop.folds}
        held = list(filter(self.slots.holds, zeros))
        for number in zeros.keys() - set(held):
            self.slots.set_number(number, (zeros[number],))
        first = [zeros[number] for number in held]
        with f.loop(self.begin, self.end, carried=first) as iteration, self.slots.inside():
            if self.stops:
                self.go_on()
            index = f.binary("add", start, f.binary("mul", iteration.index, step))
            self.slots.set_symbol(loop.symbol, index)
            self.slots.set(held, iteration.carried)
            self.block(loop.body)
            iteration.goes_on(self.slots.get(held))
        self.slots.set(held, iteration.results)
        self.fold()
        self.fence()
        f.jump("leave")
        f.label("leave")
        for place in self.varying.values():
            f.run("npc_give", f.load(place, "ptr"))
        f.run("npc_give", room)
        f.do("ret void")

    def fence(self) -> None:
        """Lets others see what these iterations have stored past the cache."""
        f, inside = self.f, bound(self.over.body)
        beyond = [
            f.icmp("slt", i64(most), self.size(total)) if inside.isdisjoint(symbols(total))
            else literal("i1", True) for most, total in dict.fromkeys(self.past)
        ]
        if beyond:
            with f.when(reduce(partial(f.binary, "or"), beyond)):
                f.run("npc.streamed")

    def total(self, kernel: Kernel) -> Size:
        if kernel not in self.totals:
            self.totals[kernel] = _total(self.over, self.members, kernel)
        return self.totals[kernel]

    def is_kept(self, kernel: Kernel, rank: int) -> bool:
        """Whether an array of that many axes or more is stored for later."""
        return not kernel.reductions and len(kernel.axes) >= rank and self.total(kernel) != 0

    def fold(self) -> None:
        """Brings what these iterations have made into the frame."""
        f = self.f
        frame = f.load(self.shared, "ptr") if self.over.folds else self.shared
        for number, kind in self.over.folds:
            (value,) = self.slots.number(number)
            place = f.offset(frame, "i64", i64(self.slots.frame.number(number)))
            wide = f.convert("zext", value, "i8") if value.elem == "i1" else value
            how = kind if kind in ("or", "and", "max", "min") else "add"
            f.op(f"atomicrmw {how} ptr {place.text}, {wide.typed} monotonic", wide.elem)

    # ------------------------------------------------------------------ leaving

    @property
    def released(self) -> Value:
        return NULL

    def hand_over(self, check: SideExit | Edge) -> None:
        """Others do."""

    def left(self) -> Value:
        """Whether an iteration has left, on whichever thread."""
        status = self.f.op(f"load atomic i64, ptr {self.status.text} monotonic, align 8", "i64")
        return self.f.icmp("ne", status, i64(DONE))

    def go_on(self) -> None:
        on = self.f.name_for("on")
        self.f.branch(self.left(), "leave", on)
        self.f.label(on)

    def leave(self, status: Value) -> None:
        self.f.do(f"store atomic {status.typed}, ptr {self.status.text} monotonic, align 8")
        self.f.jump("leave")

    def again(self, loop: While) -> Value:
        """No iteration goes on for ever that Python would not have begun."""
        again = super().again(loop)
        return self.f.binary("and", again, self.f.negate(self.left())) if self.stops else again

    # ------------------------------------------------------------------ memory

    def take(self) -> Value:
        """Memory for what is as large in all iterations, in one piece: on the stack, if that is
        small; what is to be freed."""
        f = self.f
        if not self.lasting:
            return NULL
        total, places = i64(0), []
        for buffer in self.lasting:
            places.append(total)
            lines = _lines(f, bytes_of(self.slots, buffer))
            total = f.binary("add", total, f.binary("add", lines, i64(APART)))
        near, before = f.alloca("i8", ROOM), f.block
        with f.when(f.icmp("slt", i64(ROOM), total)):
            far, block = self.allocated(total, "ret void"), f.block
        room = f.phi("ptr", 1, (near, before), (far, block))
        taken = f.phi("ptr", 1, (NULL, before), (far, block))
        for buffer, place in zip(self.lasting, places, strict=True):
            self.slots.set_data(buffer, f.offset(room, "i8", place))
        return taken

    def allocated(self, count: Value, otherwise: str) -> Value:
        f = self.f
        room = f.call("npc_take", ("ptr", 1), count)
        there, none = f.name_for("there"), f.name_for("none")
        f.branch(f.icmp("eq", room, NULL), none, there)
        f.label(none)
        f.do(f"store atomic i64 {MEMORY}, ptr {self.status.text} monotonic, align 8")
        f.do(otherwise)
        f.label(there)
        return room

    def alloc(self, buffer: Buffer) -> None:
        if buffer in self.varying:
            f, place = self.f, self.varying[buffer]
            f.run("npc_give", f.load(place, "ptr"))
            f.store(NULL, place)
            count = _lines(f, bytes_of(self.slots, buffer))
            room = self.allocated(f.binary("add", count, i64(LINE)), "br label %leave")
            f.store(room, place)
            self.slots.set_data(buffer, room)

    def free(self, buffer: Buffer) -> None:
        """Memory is kept for the next iteration."""

    # ------------------------------------------------------------------ kernels

    def iterations(self, loop: For) -> None:
        raise AssertionError("parallel iterations inside of parallel iterations")

    def call(self, statement: RoutineCall | Call) -> None:
        if not isinstance(statement, RoutineCall):
            raise AssertionError("iterations that call are not independent")
        if self.routines is None:
            self.routines = import_path(ROUTINES)(self.slots, False)
        self.routines.emit(statement)

    def run(self, kernel: Kernel) -> None:
        if kernel not in self.known:
            name = f"{self.f.name}.{len(self.known)}"
            part = KernelPart(self.total(kernel), *_ahead(self.over, kernel, self.target.foresees),
                        not any(self.is_kept(k, len(kernel.axes)) for k in self.members))
            self.known[kernel] = kernel_functions.emit(
                self.f.module, kernel, name, self.target, part=part
            )
        made = self.known[kernel]
        if made.past is not None:
            self.past.append((made.past, self.total(kernel)))
        extent = self.size(made.extent)
        self.f.run_here(made.name, fill(self.slots, made.words), i64(0), extent)


def leaves(loop: For) -> bool:
    """Whether an iteration may leave for Python."""
    return any(isinstance(statement, SideExit) for statement in flat(loop.body))


def uneven(loop: For) -> bool:
    """Whether iterations may take more time than others."""
    return any(
        isinstance(s, While) or (isinstance(s, If) and any(
            isinstance(inner, (For, While, Kernel)) and getattr(inner, "axes", True)
            for inner in flat((*s.then, *s.orelse))
        )) or (isinstance(s, For) and loop.symbol in symbols(s.stop - s.start))
        for s in flat(loop.body)
    )


def _lines(f: LLVMFunction, count: Value) -> Value:
    """Bytes in whole lines."""
    return f.binary("and", f.binary("add", count, i64(LINE - 1)), i64(-LINE))


def _total(loop: For, members: list[Kernel], kernel: Kernel) -> Size:
    """Elements of a kernel in all iterations; 0 if they are used again in theirs."""
    stored = {store.buffer for store in kernel.stores}
    for other in members:
        used = [v.buffer for v in other.values if isinstance(v, Load)]
        used += [store.buffer for store in other.stores if other is not kernel]
        if not stored.isdisjoint(used):
            return 0
    whole = {loop.symbol: loop.start}
    if isinstance(loop.step, Poly):
        whole |= dict.fromkeys(symbols(loop.step), loop.stop)
    one = product([substitute(axis.extent, whole) for axis in kernel.axes])
    return one * _places(loop, kernel)


def _places(loop: For, kernel: Kernel) -> Size:
    """In how many places iterations of a loop have a kernel store, the extent of an iteration
    apart."""
    moving = {name for store in kernel.stores
              for size in (store.at.offset, *store.at.coefficients) for name in symbols(size)}
    found: Size = 1
    for around in reversed(_around(loop, kernel)):
        step = around.step
        if around.symbol in moving and (around is not loop or isinstance(step, int)):
            moving.update(symbols(around.start))
            if (around.start, around.start + 1) != (around.start, around.stop):
                found = found * largest(floordiv(around.stop - around.start + step - 1, step), 1)
    return found


def _around(loop: For, kernel: Kernel) -> list[For]:
    """The loops around a kernel, the outermost first."""
    for statement in loop.body:
        if statement is kernel:
            return [loop]
        if isinstance(statement, For):
            found = _around(statement, kernel)
            if found:
                return [loop, *found]
    return []


def _ahead(loop: For, kernel: Kernel, foresees: bool) -> tuple[tuple[Size | None, ...], bool]:
    """See :class:`KernelPart`.  The first kernel of an iteration that loads something waits for it,
    the second one has it in the cache, and time to ask for what the next iteration needs, if that
    needs asking."""
    if kernel not in loop.body:
        return (None,) * len(kernel.values), True
    every = [s for s in loop.body if isinstance(s, Kernel)]
    before = every[:every.index(kernel)]
    loads = {k: {v.buffer for v in k.values if isinstance(v, Load)} for k in every}
    loaded = Counter(buffer for k in before for buffer in loads[k])
    later = {buffer for k in every[len(before) + 1:] for buffer in loads[k]}
    stored = {buffer for k in before for buffer in k.written}
    then = {loop.symbol: Poly((((loop.symbol,), 1),)) + loop.step}

    def ahead(load: Load) -> Size | None:
        if foresees or load.buffer in stored or loaded[load.buffer] > 1:
            return 0
        if not loaded[load.buffer]:
            return 0 if load.buffer in later else None
        return substitute(load.at.offset, then) - load.at.offset

    new = {buffer for buffer in loads[kernel] if buffer not in stored and not loaded[buffer]}
    fresh = bool(new if foresees else new - later)
    return tuple([ahead(v) if isinstance(v, Load) else None for v in kernel.values]), fresh
